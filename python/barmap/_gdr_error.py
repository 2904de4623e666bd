# SPDX-License-Identifier: MIT
"""The exceptions of `barmap.gdrcopy`."""

from __future__ import annotations

import errno
from typing import Any, Optional, Tuple

from ._barmap import gdrapi


class GDRError(Exception):
    """A refusal of libgdrapi.

    Parameters
    ----------
    code : int
        An errno value.
    message : str, optional

    Attributes
    ----------
    code, errno : int
    message : str
        The attempted operation, the reason of the refusal, and the advice.

    Examples
    --------
    >>> with gdrcopy.GDRCopy() as gdr:
    ...     try:
    ...         gdr.pin_buffer(0x1000, 64)
    ...     except gdrcopy.GDRError as error:
    ...         print(error.code, "CUDA knows no live allocation there" in error.message)
    22 True
    """

    def __init__(self, code: int, message: str = "") -> None:
        self.code = code
        self.message = message or f"libgdrapi returns {_name_of(code)}"
        super().__init__(self.message)

    @property
    def errno(self) -> int:
        return self.code

    def __reduce__(self) -> Tuple[Any, ...]:
        return type(self), (self.code, self.message)


class GDRStateError(GDRError, RuntimeError):
    """A call that comes at the wrong time: on a `GDRCopy` that is not open, a copy before `map`.

    Examples
    --------
    >>> try:
    ...     gdrcopy.GDRCopy().get_attribute(gdrcopy.GDR_ATTR_USE_PERSISTENT_MAPPING)
    ... except RuntimeError as error:
    ...     print(error)
    this GDRCopy is not open: call open() first (EINVAL)
    """


def _name_of(code: int) -> str:
    return errno.errorcode.get(code, f"error {code}")


def not_now(code: int, why: str) -> GDRStateError:
    return GDRStateError(code, f"{why} ({_name_of(code)})")


def refusal(operation: str, code: int, why: Optional[str] = None) -> GDRError:
    """The exception for an errno value that this thread was just given."""
    why = why or gdrapi.last_failure() or "libgdrapi gave no reason"
    # A message of the core is a whole sentence.
    text = why if why.startswith("cannot ") else f"cannot {operation}: {why}"
    return GDRError(code, f"{text} ({_name_of(code)})")
