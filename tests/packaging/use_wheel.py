# SPDX-License-Identifier: MIT
"""The wheel that this Python has, on the simulated GPU: alone, and, as root, beside another version of libbarmap.so.1
where the loader finds it. Each process must have the wheel's, and no other.

That other one is the wheel's with another number. Needs no compiler, and changes the system: for a clean one.
"""

import os
import re
import subprocess
import sys
from pathlib import Path

import barmap

LIBRARIES = Path(barmap.__file__).parent / "lib"
PROGRAM = LIBRARIES.parent / "bin/barmap"
OWN = LIBRARIES / "libbarmap.so.1"
SYSTEM = Path(f"/usr/lib/{os.uname().machine}-linux-gnu") / OWN.name
PYTHON = [sys.executable, "-c"]
BARMAP = [sys.executable, "-m", "barmap"]
CORES = r"""
print(*sorted({line.split()[-1] for line in open("/proc/self/maps") if "libbarmap.so" in line}))
"""
COPY = """
import ctypes
from ctypes import byref, c_ulong, c_void_p

class Handle(ctypes.Structure):
    _fields_ = [("h", c_ulong)]

cuda, gdr, context, memory = ctypes.CDLL("libcuda.so.1"), ctypes.CDLL("libgdrapi.so"), c_void_p(), c_ulong()
assert not cuda.cuInit(0) and not cuda.cuDevicePrimaryCtxRetain(byref(context), 0)
assert not cuda.cuCtxSetCurrent(context) and not cuda.cuMemAlloc_v2(byref(memory), 65536)
gdr.gdr_open.restype = c_void_p
opened, pin, place = c_void_p(gdr.gdr_open()), Handle(), c_void_p()
assert opened and not gdr.gdr_pin_buffer(opened, memory, 65536, ctypes.c_uint64(), 0, byref(pin))
assert not gdr.gdr_map(opened, pin, byref(place), 65536)
back = ctypes.create_string_buffer(9)
assert not gdr.gdr_copy_to_mapping(pin, place, b"a mapping", 9)
assert not gdr.gdr_copy_from_mapping(pin, back, place, 9) and back.raw == b"a mapping"
"""


def told(*command, **variables):
    done = subprocess.run(command, stdout=subprocess.PIPE, text=True, check=True,
                          env={**os.environ, "BARMAP_SIM": "1", **variables})
    return done.stdout.strip()


def check():
    def has_its_own(said):
        assert said.splitlines()[-1] == str(OWN), said

    assert told(*BARMAP, "--libdir") == str(LIBRARIES)
    assert barmap.__version__ in told(*BARMAP, "--version")
    assert "imulated" in told(*BARMAP, "info")
    print(told(*BARMAP, "check", "--max-size", "16M").splitlines()[-1])
    (core,) = re.findall(r"libbarmap\.so\.1 => (\S+)", told(str(PROGRAM), LD_TRACE_LOADED_OBJECTS="1"))
    assert OWN.samefile(core), core
    extension = "import barmap; barmap.devices()[0]\n"
    has_its_own(told(*PYTHON, extension + CORES))
    # As NCCL and others open them, in a program that knows nothing of Python's package.
    found = {"LD_LIBRARY_PATH": str(LIBRARIES)}
    dropins = 'import ctypes; assert ctypes.CDLL("libgdrapi.so").gdr_open and ctypes.CDLL("libvkgdr.so").vkgdr_open\n'
    has_its_own(told(*PYTHON, dropins + CORES, **found))
    has_its_own(told(*PYTHON, extension + dropins + CORES, **found))
    has_its_own(told(*BARMAP, "sim", "--", *PYTHON, COPY + CORES, **found))
    taken = 'assert "libbarmap-memcpy.so" in open("/proc/self/maps").read()\n'
    has_its_own(told(*BARMAP, "run", "--", *PYTHON, extension + taken + CORES))


assert not SYSTEM.exists(), f"{SYSTEM} is there"
check()
version = barmap.__version__.encode() + b"\0"
library = OWN.read_bytes()
assert version in library
other = re.sub(rb"\d", b"9", version)
SYSTEM.write_bytes(library.replace(version, other))
try:
    subprocess.run(["ldconfig"], check=True)
    beside = ('import ctypes; library = ctypes.CDLL("libbarmap.so.1"); library.barmap_version.restype = ctypes.c_char_p\n'
              "print(library.barmap_version().decode())\n")
    assert told(*PYTHON, beside + CORES).split() == [other[:-1].decode(), str(SYSTEM)]
    # What has loaded that one already goes on with it.
    assert told(*PYTHON, beside + "import barmap; barmap.devices()[0]\n" + CORES).splitlines()[-1] == str(SYSTEM)
    check()
finally:
    SYSTEM.unlink()
    subprocess.run(["ldconfig"], check=True)
print("each process had the wheel's libbarmap.so.1 alone, beside another version as well")
