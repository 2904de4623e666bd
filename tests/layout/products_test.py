# SPDX-License-Identifier: MIT
"""Each product builds with all others off but those that it stands on: a build tree of it alone is made, and what it
would build is what it should.

Usage: products_test.py ROOT CXX_COMPILER C_COMPILER [unittest's arguments]
"""

import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

ROOT = Path()  # set from the command line
COMPILERS: list[str] = []
OPTIONS = ("GDRCOPY", "PRELOAD", "PROGRAM", "SIM_GPU", "VKGDR")
PROGRAM = {"barmap", "libbarmap_tool_parts.a"}
# What each builds beside libbarmap, by the options that are on.
ALONE = {
    (): set(),
    ("GDRCOPY",): {"libgdrapi.so.2.6"},
    ("VKGDR",): {"libvkgdr.so.1"},
    ("PRELOAD",): {"libbarmap-memcpy.so"},
    ("PROGRAM",): PROGRAM,
    ("SIM_GPU",): {"libcuda.so.1", "libamdhip64.so.6"},
    ("GDRCOPY", "PROGRAM"): {"libgdrapi.so.2.6", *PROGRAM},
}
ALWAYS = {"libbarmap.a", "libbarmap_ground.a"}


class Products(unittest.TestCase):
    def test_each_builds_alone(self):
        for chosen, wanted in ALONE.items():
            with self.subTest(chosen), tempfile.TemporaryDirectory() as folder:
                done = subprocess.run(
                    ["cmake", "-G", "Ninja", "-S", ROOT, "-B", folder, "-DBARMAP_TESTS=OFF", *COMPILERS,
                     *(f"-DBARMAP_{option}={'ON' if option in chosen else 'OFF'}" for option in OPTIONS)],
                    capture_output=True, text=True, stdin=subprocess.DEVNULL)
                self.assertEqual(0, done.returncode, done.stderr)
                # A dry run fails where a part needs what nobody makes.
                planned = subprocess.run(["ninja", "-C", folder, "-n", "-v"], capture_output=True, text=True)
                self.assertEqual(0, planned.returncode, planned.stdout + planned.stderr)
                listed = subprocess.run(["ninja", "-C", folder, "-t", "targets", "all"], capture_output=True, text=True,
                                        check=True).stdout
                made = {Path(line.partition(":")[0]).name for line in listed.splitlines()
                        if ": CXX_" in line and "_LINKER__" in line}
                libbarmap = {name for name in made if name.startswith("libbarmap.so")}
                self.assertEqual(1, len(libbarmap), made)
                self.assertEqual(ALWAYS | wanted, made - libbarmap)


if __name__ == "__main__":
    ROOT = Path(sys.argv.pop(1)).resolve()
    COMPILERS = [f"-DCMAKE_CXX_COMPILER={sys.argv.pop(1)}", f"-DCMAKE_C_COMPILER={sys.argv.pop(1)}"]
    unittest.main()
