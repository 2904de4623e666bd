# SPDX-License-Identifier: MIT
"""A program that was built with the headers of another minor version links and runs, in C and in C++. One
that needs functions which the library lacks is refused, and the loader says why.

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
#include <string>
int main() try {
    std::printf("%s\\n", std::string(barmap::version()).c_str());
    (void)barmap::device::open(99);
    return 1;
} catch (barmap::error const& failure) {
    return failure.code() != barmap::errc::no_device;
}
"""
# Two parts of a program, each with its own copy of what is inline.
THROWING_PART = """#include <barmap/barmap.hpp>
void open_a_gpu() { (void)barmap::device::open(99); }
"""
CATCHING_PART = """#include <barmap/barmap.hpp>
#include <cstdio>
void open_a_gpu();
int main() {
    try {
        open_a_gpu();
    } catch (barmap::error const&) {
        std::puts("an error of the same version");
    } catch (std::system_error const& failure) {
        std::printf("a system_error, equal: %d\\n", failure.code() == barmap::errc::no_device);
    }
}
"""
C_PROGRAM = """#include <barmap/barmap.h>
#include <stdio.h>
int main(void) { printf("%s\\n", barmap_version()); return 0; }
"""
NEW_FUNCTION = "int barmap_new(void);\n"
NEW_C_PROGRAM = C_PROGRAM.replace("int main", NEW_FUNCTION + "int main").replace("return 0", "return barmap_new()")
VERSION = r"^\d+\.\d+\.\d+\n$"


def run(*command, **options):
    return subprocess.run([*map(str, command)], capture_output=True, text=True, check=False,
                          **options)


class BinaryVersions(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        folder = tempfile.TemporaryDirectory()
        cls.addClassCleanup(folder.cleanup)
        cls.folder = Path(folder.name)
        header = (Path(INCLUDE) / "barmap/export.hpp").read_text()
        minor = int(re.search(r"#define BARMAP_VERSION_MINOR (\d+)\n", header).group(1))
        other = cls.folder / "other"
        shutil.copytree(INCLUDE, other)
        (other / "barmap/export.hpp").write_text(header.replace(
            f"VERSION_MINOR {minor}\n", f"VERSION_MINOR {minor + 1}\n"))
        cls.headers = {"same": INCLUDE, "other": other}

    def compiled(self, source, headers="same", language="c++"):
        """An object, which is made once."""
        made = self.folder / f"{headers}_{abs(hash(source))}.o"
        if not made.exists():
            standard = "-std=c++20" if language == "c++" else "-std=c11"
            built = run(COMPILER, f"-x{language}", standard, "-fPIC", f"-I{self.headers[headers]}", "-c", "-", "-o", made,
                        input=source)
            self.assertEqual(0, built.returncode, built.stderr)
        return made

    def linked(self, *parts):
        program = self.folder / "program"
        built = run(COMPILER, *parts, *SYSTEM, "-o", program)
        self.assertEqual(0, built.returncode, built.stderr)
        return program

    def newer_library(self):
        """The same library with one function more, in a node of its own."""
        folder = self.folder / "newer"
        folder.mkdir(exist_ok=True)
        made = folder / re.search(r"soname: \[(.*?)\]", run("readelf", "-d", LIBRARY).stdout).group(1)
        if not made.exists():
            script = folder / "map"
            script.write_text(Path(MAP).read_text() + "BARMAP_99.9 { global: barmap_new; } BARMAP_1.0;\n")
            function = self.compiled(NEW_FUNCTION + "int barmap_new(void) { return 0; }\n", language="c")
            built = run(COMPILER, "-shared", f"-Wl,--version-script={script}", f"-Wl,-soname,{made.name}",
                        "-Wl,--whole-archive", ARCHIVE, "-Wl,--no-whole-archive", function, *SYSTEM, "-o", made)
            self.assertEqual(0, built.returncode, built.stderr)
        return made

    def ran(self, program, library):
        return run(program, env={**os.environ, "LD_LIBRARY_PATH": str(Path(library).parent)})

    def test_headers_of_each_minor_version_link_and_run(self):
        for headers in self.headers:
            for library in (LIBRARY, ARCHIVE):
                with self.subTest(headers=headers, library=library):
                    ran = self.ran(self.linked(self.compiled(CXX_PROGRAM, headers), library), LIBRARY)
                    self.assertEqual(0, ran.returncode, ran.stderr)
                    self.assertRegex(ran.stdout, VERSION)

    def test_a_program_needs_c_functions_alone(self):
        needed = {name for headers in self.headers
                  for name in re.findall(r"(\S*barmap\S*)", run("nm", "-u", self.compiled(CXX_PROGRAM, headers)).stdout)}
        self.assertIn("barmap_version", needed)
        self.assertEqual([], [name for name in needed if not re.fullmatch(r"barmap_\w+", name)])

    def test_parts_of_two_minor_versions_are_kept_apart(self):
        for throwing, said in (("same", "an error of the same version\n"), ("other", "a system_error, equal: 1\n")):
            for library in (LIBRARY, ARCHIVE):
                with self.subTest(throwing=throwing, library=library):
                    program = self.linked(self.compiled(THROWING_PART, throwing), self.compiled(CATCHING_PART), library)
                    self.assertEqual(said, self.ran(program, LIBRARY).stdout)

    def test_a_program_runs_with_a_newer_library(self):
        for headers in self.headers:
            for source, language in ((C_PROGRAM, "c"), (CXX_PROGRAM, "c++")):
                with self.subTest(headers=headers, language=language):
                    ran = self.ran(self.linked(self.compiled(source, headers, language), LIBRARY), self.newer_library())
                    self.assertEqual(0, ran.returncode, ran.stderr)
                    self.assertRegex(ran.stdout, VERSION)

    def test_an_older_library_is_refused_by_the_node_that_it_lacks(self):
        newer = self.newer_library()
        program = self.linked(self.compiled(NEW_C_PROGRAM, language="c"), newer)
        self.assertEqual(0, self.ran(program, newer).returncode)
        refused = self.ran(program, LIBRARY)
        self.assertNotEqual(0, refused.returncode)
        self.assertRegex(refused.stderr, r"version `BARMAP_99\.9' not found")


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
