# SPDX-License-Identifier: MIT
"""The headers for kernels."""

from __future__ import annotations

import os

_PACKAGE = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))


def include_dir() -> str:
    """The directory that compilers of kernels search for ``barmap/gpu/ring.cuh``.

    The headers below it need no others. They compile with nvcc, NVRTC, clang and, except for
    ``kernel_queue.cuh``, hipcc, and as C++11 for the CPU.

    Returns
    -------
    str
        An absolute path, for the option ``-I``.

    Raises
    ------
    FileNotFoundError
        If this installation of the package lacks the headers.

    Examples
    --------
    >>> import os
    >>> sorted(os.listdir(os.path.join(barmap.include_dir(), "barmap", "gpu")))
    ['copy_commands.cuh', 'counter.cuh', 'kernel_queue.cuh', 'list_in_memory.cuh', 'log.cuh', 'queue_handle.cuh',
     'ring.cuh', 'rpc.cuh', 'shared_queue.cuh', 'slots.cuh', 'status.cuh', 'step.cuh', 'warp.cuh', 'warp_ring.cuh',
     'words.cuh']
    """
    # Of an installed package; of one that is used where its sources are.
    found = [
        os.path.join(_PACKAGE, "include"),
        os.path.normpath(os.path.join(_PACKAGE, "..", "..", "core", "include")),
    ]
    for each in found:
        if os.path.isfile(os.path.join(each, "barmap", "gpu", "ring.cuh")):
            return each
    raise FileNotFoundError(
        f"there is no barmap/gpu/ring.cuh in {' or '.join(found)}: reinstall the package"
    )
