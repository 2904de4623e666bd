# SPDX-License-Identifier: MIT
"""A C++ program and its plug-ins, each built by another compiler, C++ library and switch of its ABI, use one libbarmap.so.1.

Usage: across_test.py COMPILER LIBRARY ARCHIVE INCLUDE [unittest's arguments]
"""

import os
import shutil
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

COMPILER = LIBRARY = ARCHIVE = INCLUDE = ""  # set from the command line
HERE = Path(__file__).parent
CLANG = next(filter(None, map(shutil.which, ("clang++", "clang++-14", "clang++-18"))), None)
SYSTEM = ["-ldl", "-pthread"]


def run(*command, **options):
    return subprocess.run([*map(str, command)], capture_output=True, text=True, check=False, **options)


def builds(command):
    program = "#include <string>\nint main() { return std::string(getenv(\"HOME\")).empty(); }"
    return run(*command, "-xc++", "-", "-std=c++20", "-o", "/dev/null", "-include", "cstdlib", input=program).returncode == 0


class Across(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        folder = tempfile.TemporaryDirectory()
        cls.addClassCleanup(folder.cleanup)
        cls.folder = Path(folder.name)
        ways = {"own": [COMPILER], "old_strings": [COMPILER, "-D_GLIBCXX_USE_CXX11_ABI=0"],
                "unoptimised": [COMPILER, "-O0", "-fno-inline"]}
        if CLANG:
            ways |= {"clang": [CLANG], "libcxx": [CLANG, "-stdlib=libc++"]}
        cls.ways = {name: way for name, way in ways.items() if builds(way)}

    def built(self, way, source, *how):
        result = self.folder / f"{way}_{Path(source).stem}{len(how)}"
        if not result.exists():
            done = run(*self.ways[way], "-std=c++20", "-O1", "-Wall", "-Wextra", "-Werror", "-fvisibility=hidden",
                       "-fvisibility-inlines-hidden", f"-I{INCLUDE}", HERE / source, *how, *SYSTEM, "-o", result)
            self.assertEqual(0, done.returncode, done.stderr)
        return result

    def ran(self, *command):
        done = run(*command, env={**os.environ, "BARMAP_SIM": "1", "LD_LIBRARY_PATH": str(Path(LIBRARY).parent),
                                  "BARMAP_SIM_LIBRARY": str(Path(LIBRARY).parent / "barmap-sim/libcuda.so.1")})
        self.assertEqual(0, done.returncode, done.stdout + done.stderr)
        return done.stdout

    def test_a_program_of_each_kind(self):
        reference = self.ran(self.built("own", "program.cpp", LIBRARY))
        self.assertIn("x" * 10_000, reference)
        self.assertIn("CUDA_ERROR_OUT_OF_MEMORY; NV_STATUS 0x3039", reference)
        self.assertNotIn("nothing was thrown", reference)
        self.assertIn("\n1 7\n1 7 1\n3 1 1\n", reference)
        for way in self.ways:
            with self.subTest(way):
                self.assertEqual(reference, self.ran(self.built(way, "program.cpp", LIBRARY)))
        self.assertEqual(reference, self.ran(self.built("own", "program.cpp", "-rdynamic", ARCHIVE)))

    def test_plugins_of_each_kind_in_programs_of_each_kind(self):
        for program in self.ways:
            for plugin in self.ways:
                with self.subTest(f"a {plugin} plug-in in a {program} program"):
                    caught = self.ran(self.built(program, "program.cpp", LIBRARY),
                                      self.built(plugin, "plugin.cpp", "-shared", "-fPIC", LIBRARY))
                    self.assertIn("its own: 1\n", caught)
                    if "libcxx" in (program, plugin):
                        continue  # which compares types by their addresses, that RTLD_LOCAL keeps apart
                    of_one_layout = (program == "old_strings") == (plugin == "old_strings")
                    self.assertIn("an error: 1 0\n" if of_one_layout else "a system_error: 1\n", caught)


if __name__ == "__main__":
    COMPILER, LIBRARY, ARCHIVE, INCLUDE = sys.argv[1:5]
    unittest.main(argv=[sys.argv[0], *sys.argv[5:]])
