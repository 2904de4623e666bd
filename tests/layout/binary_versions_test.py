# SPDX-License-Identifier: MIT
"""A program built with another minor version's C++ headers neither links nor loads, and says why;
one of the C interface does.

Usage: binary_versions_test.py COMPILER LIBRARY ARCHIVE MAP INCLUDE [unittest's arguments]
"""

import os
import re
import shutil
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

COMPILER = LIBRARY = ARCHIVE = MAP = INCLUDE = ""  # set from the command line
SYSTEM = ["-ldl", "-pthread"]
CXX_PROGRAM = """#include <barmap/barmap.hpp>
#include <cstdio>
int main() { std::printf("%s\\n", std::string(barmap::version()).c_str()); }
"""
C_PROGRAM = """#include <barmap/barmap.h>
#include <stdio.h>
int main(void) { printf("%s\\n", barmap_version()); return 0; }
"""


def run(*command, **options):
    return subprocess.run([*map(str, command)], capture_output=True, text=True, check=False,
                          **options)


class BinaryVersions(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        folder = tempfile.TemporaryDirectory()
        cls.addClassCleanup(folder.cleanup)
        cls.folder = Path(folder.name)
        (cls.folder / "program.cpp").write_text(CXX_PROGRAM)
        (cls.folder / "program.c").write_text(C_PROGRAM)
        header = (Path(INCLUDE) / "barmap/export.hpp").read_text()
        minor = int(re.search(r"#define BARMAP_VERSION_MINOR (\d+)\n", header).group(1))
        other = cls.folder / "other"
        shutil.copytree(INCLUDE, other)
        (other / "barmap/export.hpp").write_text(header.replace(
            f"VERSION_MINOR {minor}\n", f"VERSION_MINOR {minor + 1}\n"))
        cls.headers = {"same": INCLUDE, "other": other}

    def build(self, headers, library, language="cpp"):
        program = self.folder / f"program_of_{language}"
        compiled = self.folder / f"{headers}_{language}.o"  # which takes most of the time
        if not compiled.exists():
            standard = ["-std=c++20"] if language == "cpp" else ["-xc", "-std=c11"]
            built = run(COMPILER, *standard, f"-I{self.headers[headers]}", "-c",
                        self.folder / f"program.{language}", "-o", compiled)
            self.assertEqual(0, built.returncode, built.stderr)
        return run(COMPILER, compiled, library, *SYSTEM, "-o", program), program

    def library_with_another_node(self):
        """The same library, but for the version node of C++."""
        text = Path(MAP).read_text()
        script = self.folder / "other.map"
        script.write_text(re.sub(r"^BARMAP_CXX_[\d.]+", "BARMAP_CXX_99.9", text, flags=re.M))
        self.assertNotEqual(text, script.read_text())
        linked = run(COMPILER, "-shared", f"-Wl,--version-script={script}",
                     f"-Wl,-soname,{self.soname()}", "-Wl,--whole-archive", ARCHIVE,
                     "-Wl,--no-whole-archive", *SYSTEM, "-o", self.folder / self.soname())
        self.assertEqual(0, linked.returncode, linked.stderr)
        return self.folder

    def soname(self):
        return re.search(r"soname: \[(.*?)\]", run("readelf", "-d", LIBRARY).stdout).group(1)

    def in_folder(self, program, folder):
        return run(program, env={**os.environ, "LD_LIBRARY_PATH": str(folder)})

    def test_the_same_version_links_and_loads(self):
        for library in (LIBRARY, ARCHIVE):
            built, program = self.build("same", library)
            self.assertEqual(0, built.returncode, built.stderr)
            ran = self.in_folder(program, Path(LIBRARY).parent)
            self.assertRegex(ran.stdout, r"^\d+\.\d+\.\d+\n$", ran.stderr)

    def test_headers_of_another_minor_version_do_not_link(self):
        for library in (LIBRARY, ARCHIVE):
            built, _ = self.build("other", library)
            self.assertNotEqual(0, built.returncode)
            self.assertRegex(built.stderr, r"undefined reference to `barmap::v\d+_\d+::version")

    def test_a_library_of_another_minor_version_does_not_load(self):
        _, program = self.build("same", LIBRARY)
        ran = self.in_folder(program, self.library_with_another_node())
        self.assertNotEqual(0, ran.returncode)
        self.assertRegex(ran.stderr, r"version `BARMAP_CXX_[\d.]+' not found")

    def test_the_c_interface_is_that_of_every_version(self):
        for headers in self.headers:
            built, program = self.build(headers, LIBRARY, "c")
            self.assertEqual(0, built.returncode, built.stderr)
            for folder in (Path(LIBRARY).parent, self.library_with_another_node()):
                ran = self.in_folder(program, folder)
                self.assertRegex(ran.stdout, r"^\d+\.\d+\.\d+\n$", ran.stderr)


class TheLanguage(unittest.TestCase):
    def test_older_cxx_is_refused_with_the_way_out(self):
        compilers = [name for name in ("g++", "clang++") if shutil.which(name)] or [COMPILER]
        headers = sorted(Path(INCLUDE).rglob("*.hpp"))
        self.assertGreater(len(headers), 5)
        for compiler in compilers:
            for header in headers:
                with self.subTest(compiler=compiler, header=header.name):
                    unit = f"#include <{header.relative_to(INCLUDE)}>\n"
                    built = run(compiler, "-std=c++17", "-fsyntax-only", "-Wfatal-errors", f"-I{INCLUDE}",
                                "-xc++", "-", input=unit)
                    self.assertNotEqual(0, built.returncode)
                    first = next(line for line in built.stderr.splitlines() if "error:" in line)
                    self.assertIn("need -std=c++20", first)


if __name__ == "__main__":
    COMPILER, LIBRARY, ARCHIVE, MAP, INCLUDE = (sys.argv.pop(1) for _ in range(5))
    unittest.main()
