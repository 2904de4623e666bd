# SPDX-License-Identifier: MIT
"""Contexts, and the base of what holds GPU memory."""

import ctypes
import pathlib

import barmap

_simulated = pathlib.Path(barmap.__file__).parent / "lib" / "barmap-sim" / "libcuda.so.1"
_library = ctypes.CDLL(
    str(_simulated) if barmap.devices()[0].simulated else "libcuda.so.1"
)


class Context:
    """The current context. `alive` counts those that Python still has."""

    alive = 0

    def __init__(self, handle):
        self.handle = handle
        Context.alive += 1

    def __del__(self):
        Context.alive -= 1

    @staticmethod
    def get_current():
        handle = ctypes.c_void_p()
        assert _library.cuCtxGetCurrent(ctypes.byref(handle)) == 0
        return Context(handle.value) if handle.value else None


class _HolderMeta(type):
    """PyCUDA's class is one of Boost.Python's, with a metaclass and instances of its own layout."""


class PointerHolderBase(BaseException, metaclass=_HolderMeta):
    """Derives from BaseException for the sake of its layout, which is not that of a plain object."""

    def __init__(self):
        super().__init__()
        self.initialised = True

    def get_pointer(self):
        raise NotImplementedError

    def __int__(self):
        return self.get_pointer()
