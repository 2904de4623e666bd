# SPDX-License-Identifier: MIT
"""What this machine has: GPUs, backends, and the simulated GPU."""

from __future__ import annotations

import os
from typing import Any, Dict, List, NamedTuple

from . import _barmap
from ._error import Error


class Device(NamedTuple):
    """One GPU. Sizes of BAR1 are in bytes; 0 where no backend can tell.

    Examples
    --------
    >>> gpu = barmap.devices()[0]
    >>> gpu.ordinal, gpu.pci_address, gpu.simulated
    (0, '0000:01:00.0', True)
    """

    ordinal: int
    name: str
    pci_address: str
    simulated: bool
    bar1_total: int
    bar1_available: int


def devices() -> List[Device]:
    """The GPUs that CUDA shows to this process; none where there is no driver.

    Opens each of them for a moment, which uses its primary context.

    Raises
    ------
    barmap.Error
        In a forked child of a process that used a GPU.

    Examples
    --------
    >>> [gpu.name for gpu in barmap.devices()]
    ['barmap simulated GPU']
    """
    found = []
    for ordinal in range(_barmap.gpu_count()):
        row = _barmap.gpu(ordinal)
        found.append(
            Device(
                ordinal,
                row["name"],
                row["pci"],
                row["simulated"],
                row["bar1"]["total"],
                row["bar1"]["available"],
            )
        )
    return found


def info() -> Dict[str, Any]:
    """What ``barmap info --json`` tells: the version, GPUs, backends and CPU copy routines.

    Starts every backend on every GPU. Where there is no GPU, every backend is listed as absent,
    with the reason.

    Returns
    -------
    dict
        "barmap", the version; and lists of dictionaries "gpus", "backends" (each with the ordinal
        of its "gpu", or None) and "copy_routines". "driver" of a GPU is the CUDA version it offers.

    Examples
    --------
    >>> [row["name"] for row in barmap.info()["backends"] if row["state"] == "usable"]
    ['dmabuf']
    """
    gpus = [_barmap.gpu(ordinal) for ordinal in range(_barmap.gpu_count())]
    for gpu in gpus:
        gpu["driver"] = f"{gpu['driver'] // 1000}.{gpu['driver'] % 1000 // 10}"
    backends = [
        {"gpu": gpu["ordinal"], **row} for gpu in gpus for row in _barmap.backends(gpu["ordinal"])
    ]
    if not gpus:
        backends = _absent_backends()
    return {
        "barmap": _barmap.version,
        "gpus": gpus,
        "backends": backends,
        "copy_routines": _barmap.copy_routines(),
    }


def _absent_backends() -> List[Dict[str, Any]]:
    reason, advice = "there is no GPU", ""
    try:
        _barmap.gpu(0)
    except Error as error:
        reason, advice = f"there is no GPU: {error}", error.advice
    same = {"state": "absent", "reason": reason, "advice": advice}
    unknown = {"allocates": None, "events": False, "start_us": 0.0}
    return [{"gpu": None, "name": name, **same, **unknown} for name in _barmap.backend_names()]


def sim() -> None:
    """Turns the simulated GPU on, for this process and those that it starts.

    The same as ``BARMAP_SIM=1`` in the environment. Calling it again is allowed. Not for a process
    that also loads CUDA: a library that asks for ``libcuda.so.1`` may be given the simulated one.

    Raises
    ------
    barmap.Error
        If barmap has used a driver already.

    Examples
    --------
    >>> barmap.sim()
    >>> barmap.devices()[0].simulated
    True
    """
    if _barmap.driver_is_used() and not (_barmap.gpu_count() and _barmap.gpu(0)["simulated"]):
        error = Error(
            "cannot turn the simulated GPU on: barmap has looked for a GPU already; "
            "call barmap.sim() before anything else"
        )
        error.operation = "turn the simulated GPU on"
        error.advice = "call barmap.sim() before anything else"
        raise error
    os.environ["BARMAP_SIM"] = "1"


def flush_stores() -> None:
    """Makes all that this thread has posted leave the CPU. `Mapping.write` does so by itself.

    Examples
    --------
    >>> word = barmap.alloc(1, "u8")
    >>> word.post(7, 0)
    >>> barmap.flush_stores()
    """
    _barmap.flush_stores()
