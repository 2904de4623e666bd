# SPDX-License-Identifier: MIT
"""The header for C++ glue code."""

from __future__ import annotations

import os


def get_include() -> str:
    """The directory of ``ptr_wrapper.h``, whose template ``ptr_wrapper<T>`` is `pointer_wrapper` in C++.

    Functions that pybind11 binds take and return it; no element is copied. An example is
    ``examples/pygpu_glue.cpp``.

    Returns
    -------
    str
        An absolute path, for the compiler's option ``-I``.

    Examples
    --------
    >>> import os
    >>> os.listdir(pygpu.get_include())
    ['ptr_wrapper.h']
    """
    return os.path.join(os.path.dirname(os.path.abspath(__file__)), "include")
