#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Calls barmap's C interface through ctypes: what any language does that can call C.

From Python itself, the package `barmap` is the better way; this shows what a binding declares.
Runs without a GPU as well: BARMAP_SIM=1 python3 examples/ffi_ctypes.py [LIBRARY]
"""

import ctypes
import sys
from ctypes import POINTER, byref, c_char_p, c_int, c_size_t, c_uint64, c_void_p


class Options(ctypes.Structure):
    """barmap_pin_options"""
    _fields_ = [("size", c_size_t), ("backend", c_char_p), ("flags", c_uint64)]


# The types that each function returns and takes; handles are opaque pointers.
FUNCTIONS = {
    "barmap_device_create": (c_int, c_int, POINTER(c_void_p)),
    "barmap_pin_allocate": (c_int, c_void_p, c_size_t, c_char_p, POINTER(c_void_p)),
    "barmap_pin_create": (c_int, c_void_p, c_uint64, c_size_t, POINTER(Options),
                          POINTER(c_void_p)),
    "barmap_pin_gpu_address": (c_uint64, c_void_p),
    "barmap_pin_size": (c_size_t, c_void_p),
    "barmap_mapping_create": (c_int, c_void_p, POINTER(c_void_p)),
    "barmap_mapping_data": (c_void_p, c_void_p),
    "barmap_mapping_size": (c_size_t, c_void_p),
    "barmap_mapping_write": (None, c_void_p, c_size_t, c_void_p, c_size_t),
    "barmap_mapping_read": (None, c_void_p, c_void_p, c_size_t, c_size_t),
    "barmap_mapping_post64": (None, c_void_p, c_size_t, c_uint64),
    "barmap_mapping_destroy": (None, c_void_p),
    "barmap_pin_destroy": (None, c_void_p),
    "barmap_device_destroy": (None, c_void_p),
    "barmap_error_message": (c_char_p,),
    "barmap_version": (c_char_p,),
}
WHOLE_PAGES = 1  # BARMAP_PIN_WHOLE_PAGES


def load(path):
    library = ctypes.CDLL(path)
    for name, (returned, *taken) in FUNCTIONS.items():
        function = getattr(library, name)
        function.restype, function.argtypes = returned, taken
    return library


def made(barmap, function, *arguments):
    """The handle that a function makes."""
    handle = c_void_p()
    if getattr(barmap, function)(*arguments, byref(handle)) != 0:
        raise OSError(barmap.barmap_error_message().decode())
    return handle


def main(path):
    barmap = load(path)
    print("barmap", barmap.barmap_version().decode())
    gpu = made(barmap, "barmap_device_create", 0)
    memory = made(barmap, "barmap_pin_allocate", gpu, 1 << 20, None)
    address = barmap.barmap_pin_gpu_address(memory)

    # Stands for memory of yours: a second pin, of a part of it and of the pages around.
    options = Options(ctypes.sizeof(Options), None, WHOLE_PAGES)
    pin = made(barmap, "barmap_pin_create", gpu, address + 70000, 1000, byref(options))
    mapping = made(barmap, "barmap_mapping_create", pin)
    print(f"{barmap.barmap_mapping_size(mapping)} bytes at GPU address "
          f"{barmap.barmap_pin_gpu_address(pin):#x}, mapped at {barmap.barmap_mapping_data(mapping):#x}")

    message = b"written by plain stores"
    back = ctypes.create_string_buffer(len(message))
    barmap.barmap_mapping_write(mapping, 100, message, len(message))
    barmap.barmap_mapping_read(mapping, back, 100, len(message))
    barmap.barmap_mapping_post64(mapping, 4096, 42)
    print("read back:", back.raw.decode())

    # The same bytes through all of the memory: two mappings of one place.
    whole = made(barmap, "barmap_mapping_create", memory)
    offset = barmap.barmap_pin_gpu_address(pin) - address
    word = c_uint64()
    barmap.barmap_mapping_read(whole, byref(word), offset + 4096, 8)
    for kind, handle in (("device", gpu), ("pin", memory), ("pin", pin), ("mapping", mapping),
                         ("mapping", whole)):
        getattr(barmap, f"barmap_{kind}_destroy")(handle)
    return 0 if back.raw == message and word.value == 42 else 1


if __name__ == "__main__":
    try:
        sys.exit(main(sys.argv[1] if len(sys.argv) > 1 else "libbarmap.so.1"))
    except OSError as refusal:
        sys.exit(f"ffi_ctypes.py: {refusal}")
