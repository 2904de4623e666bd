# SPDX-License-Identifier: MIT
"""The vendor's library beside barmap: work on streams, and what is alive in the simulated ones."""

import ctypes
import os
import pathlib

import barmap

SIMULATED = os.environ.get("BARMAP_SIM") == "1"
NAMES = {"cuda": "libcuda.so.1", "hip": "libamdhip64.so.6"}
HOST_FUNCTION = ctypes.CFUNCTYPE(None, ctypes.c_void_p)


class Vendor:
    """The library of the runtime that pygpu has chosen."""

    def __init__(self, name):
        self.name = name
        folder = pathlib.Path(barmap.__file__).parent / "lib" / "barmap-sim"
        own = folder / NAMES[name]
        # A wheel has one library for both vendors.
        path = str(own if own.exists() else folder / NAMES["cuda"]) if SIMULATED else NAMES[name]
        self.library = ctypes.CDLL(path)
        self._kept = []

    def _call(self, cuda, hip, *arguments):
        function = cuda if self.name == "cuda" else hip
        result = getattr(self.library, function)(*arguments)
        assert result == 0, f"{function} answers {result}"

    def live(self):
        """Memory, streams and events that are alive."""
        live = self.library.barmap_sim_live if self.name == "cuda" else self.library.barmap_sim_hip_live
        live.restype = ctypes.c_size_t
        return live()

    def memset(self, address, value, nbytes, stream):
        """Fills memory, as work of a stream."""
        at, size = ctypes.c_void_p(address), ctypes.c_size_t(nbytes)
        if self.name == "cuda":
            byte = ctypes.c_ubyte(value)
            self._call("cuMemsetD8Async", "", at, byte, size, ctypes.c_void_p(int(stream)))
        else:
            self._call("", "hipMemsetAsync", at, value, size, ctypes.c_void_p(int(stream)))

    def run_on_host(self, stream, function):
        """Calls a function in the host, as work of a stream."""
        kept = HOST_FUNCTION(lambda _: function())
        self._kept.append(kept)
        handle = ctypes.c_void_p(int(stream))
        self._call("cuLaunchHostFunc", "hipLaunchHostFunc", handle, kept, None)
