# SPDX-License-Identifier: MIT
"""The parts of this machine: GPUs, backends, and the simulated GPU."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from typing import Any, Dict, List, NamedTuple, Optional, SupportsIndex, Union

from .. import _barmap
from . import brought
from .error import Error
from .naming import backend_name
from .numbers import unsigned
from .own_python import command_of


class Engine(NamedTuple):
    """A copy engine of a GPU, or of its driver: it copies by itself between host and GPU memory.

    `state` is "usable", "absent" or "broken", and `reason` says why; `advice` what to do about it.
    `start_us` is how long it took to start, in microseconds. `copies` and `nbytes` count the copies
    and the bytes that it has made in this process, `failures` the copies that it did not end in
    time: after three it stays off.

    Examples
    --------
    >>> engine = barmap.devices()[0].engines()[-1]
    >>> engine.name, engine.state, engine.failures
    ('driver', 'usable', 0)
    """

    name: str
    state: str
    reason: str
    advice: str
    start_us: float
    copies: int
    nbytes: int
    failures: int


class CopyCrossover(NamedTuple):
    """From `from_nbytes` bytes on, up to the next one, copies are made by this method.

    `direction` is "to the GPU" or "to the CPU"; `host` says whether the host memory is "pageable"
    or "pinned" by CUDA; `method` is "mapping", which are loads and stores, or an engine's name.

    Examples
    --------
    >>> {each.direction for each in barmap.devices()[0].copy_crossovers()} == {
    ...     "to the GPU", "to the CPU"}
    True
    """

    direction: str
    host: str
    from_nbytes: int
    method: str


class Device(NamedTuple):
    """One GPU. Sizes of BAR1 are in bytes; 0 if unknown.

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

    def engines(self) -> List[Engine]:
        """The copy engines that `Mapping.read` and `Mapping.write` may use, in order of preference.

        Starts those that have not been needed so far.

        Raises
        ------
        barmap.Error
            If the GPU cannot be opened.

        Examples
        --------
        >>> [engine.name for engine in barmap.devices()[0].engines() if engine.state == "usable"]
        ['driver']
        """
        return [Engine(**row) for row in _barmap.engines(self.ordinal)]

    def copy_crossovers(self, backend: Optional[str] = None) -> List[CopyCrossover]:
        """From which size on copies through a backend's mappings are made by which method.

        Starts the engines and measures, unless a copy has done so before.

        Parameters
        ----------
        backend : str, optional
            Its name; the first usable one, if not given.

        Raises
        ------
        barmap.Error
            If the backend, or the engine that BARMAP_ENGINE names, is not usable.

        Examples
        --------
        >>> barmap.devices()[0].copy_crossovers()[0]
        CopyCrossover(direction='to the GPU', host='pageable', from_nbytes=0, method='mapping')
        """
        rows = _barmap.copy_crossovers(self.ordinal, backend_name(backend))
        return [CopyCrossover(**row) for row in rows]


def ordinal_of(device: Union[None, SupportsIndex, Device]) -> int:
    """The ordinal of a GPU; of the current one, if none is named.

    That is the GPU whose context is current in this thread, as ``torch.cuda.set_device`` and
    ``cupy.cuda.Device.use`` make it; GPU 0 if there is no context.
    """
    if device is None:
        return _barmap.current_device()
    return unsigned(device.ordinal if isinstance(device, Device) else device, "device", 31)


def devices() -> List[Device]:
    """The GPUs that CUDA shows to this process; none where there is no driver.

    Before this process has used a GPU by barmap, another process looks for them, in about half a
    second: this one then starts no CUDA, and a child that is forked later can use GPUs. From then
    on this process opens each of them for a moment, which uses its primary context.

    Raises
    ------
    barmap.Error
        In a forked child of a process that used a GPU.

    Examples
    --------
    >>> [gpu.name for gpu in barmap.devices()]
    ['barmap simulated GPU']
    """
    rows = None if _barmap.driver_is_used() else _rows_of_another_process()
    if rows is None:
        rows = _rows_of_gpus()
    return [
        Device(
            ordinal, row["name"], row["pci"], row["simulated"], row["bar1"]["total"], row["bar1"]["available"]
        )
        for ordinal, row in enumerate(rows)
    ]


def _rows_of_gpus() -> List[Dict[str, Any]]:
    return [_barmap.gpu(ordinal) for ordinal in range(_barmap.gpu_count())]


def _print_gpus() -> None:
    print(json.dumps(_rows_of_gpus()))


def _rows_of_another_process() -> Optional[List[Dict[str, Any]]]:
    """The GPUs that another process finds; None if there can be none, or if it fails: this one then says why."""
    command = command_of("from barmap._base import machine; machine._print_gpus()")
    if not command or _INSIDE in os.environ:
        return None
    try:
        done = subprocess.run(command, capture_output=True, text=True, check=False, env=_environment_inside())
        rows: List[Dict[str, Any]] = json.loads(done.stdout)
    except (OSError, ValueError):
        return None
    return rows if done.returncode == 0 else None


# Set for the process that devices() starts, lest a program that has Python inside start itself without end.
_INSIDE = "_BARMAP_INFO"


def _environment_inside() -> Dict[str, str]:
    without = {name: value for name, value in os.environ.items() if name != "PYTHONINSPECT"}
    return {**without, _INSIDE: "1"}


def _refused(operation: str, reason: str, advice: str) -> Error:
    error = Error(f"cannot {operation}: " + "; ".join(filter(None, (reason, advice))))
    error.operation = operation
    error.advice = advice
    return error


def info() -> Dict[str, Any]:
    """The output of ``barmap info --json``: GPUs, backends and CPU copy routines.

    Runs that program, in which every backend is started on every GPU; this process stays as it is.
    Where there is no GPU, every backend is listed as absent, with the reason.

    Returns
    -------
    dict
        "barmap", the version; "machine"; and "results", a list of dictionaries, whose "kind" says
        what each is about: "gpu", "backend" (with the ordinal of its "gpu", or None),
        "copy_routine"; "engines", the copy engines; "batches", those for batches; and
        "crossovers", which method copies by size.

    Raises
    ------
    barmap.Error
        If this build of the package has no program, or the program fails.

    Examples
    --------
    >>> rows = barmap.info()["results"]
    >>> [row["name"] for row in rows if row["kind"] == "backend" and row["state"] == "usable"]
    ['dmabuf']
    """
    program = str(brought.PROGRAM)
    if not brought.PROGRAM.exists():
        raise _refused("run `barmap info`", "there is no program", brought.NO_PROGRAM)
    try:
        done = subprocess.run(["barmap", "info", "--json"], executable=program, capture_output=True, text=True,
                              check=False)
    except OSError as failure:
        raise _refused("run `barmap info`", f"cannot start {program}: {failure.strerror}",
                       "install the package again") from failure
    if done.returncode:
        raise _refused("run `barmap info`", done.stderr.strip(), "")
    try:
        found: Dict[str, Any] = json.loads(done.stdout)
    except ValueError as wrong:
        raise _refused("run `barmap info`", f"{program} printed something else: {done.stdout[:80]!r}",
                       "install the package again") from wrong
    return found


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
        raise _refused(
            "turn the simulated GPU on", "barmap has already looked for a GPU",
            "call barmap.sim() before anything else",
        )
    os.environ["BARMAP_SIM"] = "1"


def flush_stores() -> None:
    """Makes all that this thread has posted leave the CPU. `Mapping.write` also does this.

    Examples
    --------
    >>> word = barmap.alloc(1, "u8")
    >>> word.post(7, 0)
    >>> barmap.flush_stores()
    """
    _barmap.flush_stores()
