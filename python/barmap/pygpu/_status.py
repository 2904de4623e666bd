# SPDX-License-Identifier: MIT
"""The answers of the runtime's calls, as objects."""

from __future__ import annotations

from .._barmap import pygpu as _runtime
from .._base.error import Error


class cudaError_t(int):
    """The answer of a call: 0 for success, else the code of what failed.

    An ``int`` with a name: it compares with other codes and with integers, can be a key, and is
    true if something failed, as the code in C is: ``if err: ...`` handles a failure. On AMD it is a
    hipError_t; the common codes are the same.

    Examples
    --------
    >>> err = pygpu.cudaSetDevice(0)
    >>> err, err == 0, bool(err)
    (<cudaError: code=0>, True, False)
    >>> pygpu.cudaGetErrorString(pygpu.cudaSetDevice(99))
    'invalid device ordinal'
    """

    __slots__ = ()

    def as_int(self) -> int:
        """The code as a plain integer."""
        return int(self)

    def __repr__(self) -> str:
        return f"<cudaError: code={int(self)}>"

    __str__ = __repr__


_ADVICE = {
    2: "free arrays that are no longer needed, or use smaller ones; cudaMemGetInfo() says what is "
    "left",
    3: "a forked child cannot use the GPU: start processes with multiprocessing's spawn",
    35: "install the vendor's driver; with BARMAP_SIM=1 the GPU is simulated",
    100: "give a GPU to this process; with BARMAP_SIM=1 one is simulated",
    709: "make new arrays, streams and events after cudaDeviceReset()",
}
_COMMON_ADVICE = "see the documentation of this code in the vendor's runtime"


def check(status: int, operation: str) -> None:
    """Raises what the runtime answered, unless it is success.

    Raises
    ------
    barmap.Error
        With the code, of category "cuda runtime" or "hip runtime".
    """
    if status == 0:
        return
    vendor = _runtime.vendor()
    advice = _ADVICE.get(int(status), _COMMON_ADVICE)
    name, text = _runtime.error_name(status), _runtime.error_string(status)
    error = Error(f"cannot {operation}: {text} ({name}, {int(status)}); {advice}")
    error.operation = operation
    error.code = int(status)
    error.category = f"{vendor} runtime"
    error.advice = advice
    raise error
