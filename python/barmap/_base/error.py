# SPDX-License-Identifier: MIT
"""The exceptions of this package."""

from __future__ import annotations


class Error(RuntimeError):
    """A refusal of barmap, the driver or the operating system.

    ``str(error)`` is a whole sentence: operation, cause, backend and advice.

    Attributes
    ----------
    operation : str
        The attempted operation.
    code : int
        The cause, in its category.
    category : str
        The party that refused: "barmap", "system" (errno), "cuda" (CUresult), "vulkan" (VkResult) or "rm"
        (NV_STATUS).
    backend : str
        Name of the backend, or empty.
    advice : str
        One line that says what to do.

    Examples
    --------
    >>> try:
    ...     barmap.map(0x1000, 64)
    ... except barmap.Error as error:
    ...     print(error.category, "-", error.advice != "")
    barmap - True
    """

    operation: str = ""
    code: int = 0
    category: str = "barmap"
    backend: str = ""
    advice: str = ""


class ArgumentError(Error, ValueError):
    """An `Error` about an argument that no GPU and no driver could take. It is also a `ValueError`.

    Examples
    --------
    >>> try:
    ...     barmap.alloc(0, "f4")
    ... except ValueError as error:
    ...     print(error.operation)
    allocate 0 bytes of GPU memory
    """
