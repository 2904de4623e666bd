# SPDX-License-Identifier: MIT
"""Each source and each header compiles alone, by the compiler of the build tree or by another one.

Usage: alone_test.py ROOT COMPILER [--tree TREE [--other]] [unittest's arguments]
TREE is a build tree; with --other, it is another compiler's. Without a tree, the files of the Python extension are
compiled. What lacks another project's headers is named and left out.
"""

import argparse
import json
import os
import shutil
import sys
import tempfile
import unittest
from pathlib import Path

import alone

GIVEN = argparse.Namespace()  # the command line
COMPILER = "g++" if shutil.which("g++") else "clang++"


class TheTree(unittest.TestCase):
    """Each file names what it uses."""

    def test_each_file_compiles_alone(self):
        tree = GIVEN.tree and GIVEN.tree.resolve()
        found = alone.look(GIVEN.compiler, not GIVEN.other, GIVEN.root.resolve(), tree)
        print(f"{GIVEN.compiler} compiled {found.asked} files, each alone")
        packages = {line.rsplit(": ", 1)[1] for line in found.skipped}
        for package in sorted(packages):
            print(f"left out: {sum(line.endswith(package) for line in found.skipped)} files, since {package}")
        self.assertGreater(found.asked, len(found.skipped))
        self.assertEqual([], found.failed, "\n\n".join(found.failed))


class TheLook(unittest.TestCase):
    """What needs another file's includes is found, and nothing else."""

    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.root = Path(folder.name)
        self.tree = self.root / "build"
        self.tree.mkdir()
        self.write("core/src/good.hpp", "#pragma once\n#include <cstdint>\ninline std::uint8_t good() { return {}; }\n")
        self.write("core/src/good.cpp", '// why\n#include "good.hpp"\nstd::uint8_t other() { return good(); }\n')
        self.build()

    def write(self, name: str, text: str) -> Path:
        path = self.root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
        return path

    def build(self, *sources: str, objects: bool = False):
        """A build tree that compiles these sources; with objects, has compiled them."""
        entries = []
        for source in sources or ("core/src/good.cpp",):
            output = source.replace("/", ".") + ".o"
            entries.append({"directory": str(self.tree), "file": str(self.root / source),
                            "command": f"c++ -I{self.root}/src -DSET=1 -std=c++20 -O2 -o {output} -c {source}"})
            if objects:
                self.write(f"build/{output}", "")
        (self.tree / "compile_commands.json").write_text(json.dumps(entries))

    def look(self, makes_the_tree: bool = True, tree: bool = True) -> alone.outcome:
        return alone.look(COMPILER, makes_the_tree, self.root, self.tree if tree else None)

    def expect_failures(self, *starts: str):
        failed = self.look().failed
        self.assertEqual(len(starts), len(failed), failed)
        for start, line in zip(starts, failed):
            self.assertTrue(line.startswith(start), line)

    def test_a_good_tree(self):
        self.expect_failures()

    def test_a_source_that_needs_another(self):
        self.write("core/src/needs.cpp", "std::uint8_t a;\n")
        self.expect_failures("core/src/needs.cpp, ")

    def test_a_header_that_needs_another(self):
        self.write("core/src/needs.hpp", "#pragma once\ninline std::uint8_t a;\n")
        self.write("core/include/barmap/public.hpp", "#pragma once\n#include <cstddef>\ninline std::uint8_t a;\n")
        self.write("core/include/barmap/gpu/public.cuh", "#pragma once\ninline std::uint8_t a;\n")
        self.expect_failures("core/include/barmap/public.hpp, ", "core/src/needs.hpp, ", "core/include/barmap/gpu/public.cuh, ")

    def test_a_header_that_a_source_includes_second(self):
        self.write("core/src/needs.hpp", "#pragma once\ninline std::uint8_t a;\n")
        self.write("core/src/needs.cpp", '#include <cstdint>\n#include "needs.hpp"\n')
        self.expect_failures("core/src/needs.hpp, ")

    def test_a_header_behind_a_definition(self):
        self.write("core/src/needs.hpp", "#pragma once\nWANTED int a;\n")
        self.write("core/src/needs.cpp", '#define WANTED inline\n#include "needs.hpp"\n')
        self.expect_failures("core/src/needs.hpp, ")

    def test_a_header_that_may_not_be_included_twice(self):
        self.write("core/src/twice.hpp", "struct twice {};\n")
        self.expect_failures("core/src/twice.hpp, ")

    def test_a_warning(self):
        self.write("core/src/warns.hpp", "#pragma once\ninline int f(int unused) { return 0; }\n")
        self.expect_failures("core/src/warns.hpp, ")

    def test_a_public_header_that_is_not_c(self):
        self.write("core/include/barmap/c.h", "#ifndef C_H\n#define C_H\n#include <stddef.h>\nstruct one {}; one f(void);\n#endif\n")
        failed = self.look().failed
        self.assertEqual(1, len(failed), failed)
        self.assertIn(" as c: ", failed[0])

    def test_the_headers_that_a_source_shows_are_not_compiled_again(self):
        self.assertEqual(1, self.look().asked)

    def test_what_this_compiler_has_built_is_not_compiled_again(self):
        self.build("core/src/good.cpp", objects=True)
        self.assertEqual(0, self.look().asked)
        self.assertEqual(1, self.look(makes_the_tree=False).asked)

    def test_an_older_object_shows_nothing(self):
        self.build("core/src/good.cpp", objects=True)
        source = self.write("core/src/good.cpp", "std::uint8_t a;\n")
        os.utime(source, (source.stat().st_mtime + 10,) * 2)
        self.expect_failures("core/src/good.cpp, ")

    def test_files_that_are_built_together_are_compiled_alone(self):
        self.write("core/src/first.cpp", "#include <cstdint>\n")
        needs = self.write("core/src/needs.cpp", "std::uint8_t a;\n")
        self.write("build/Unity/unity_0_cxx.cxx",
                   f'#include "{self.root}/src/first.cpp"\n#include "{needs}"\n')
        self.build("build/Unity/unity_0_cxx.cxx", objects=True)
        self.expect_failures("core/src/needs.cpp, ")

    def test_what_another_project_must_bring_is_left_out(self):
        self.write("inference/nixl/plugin.cpp", "#include <backend/backend_engine.h>\n")
        self.write("inference/nixl/lost.cpp", "#include <lost/lost.h>\n")
        self.expect_failures("inference/nixl/lost.cpp, ")
        self.assertEqual(1, len(self.look().skipped))

    def test_the_extension_needs_no_tree(self):
        self.write("python/binding/good.hpp", "#pragma once\n#include <cstdint>\ninline std::uint8_t b;\n")
        self.write("python/binding/needs.cpp", '#include "binding/good.hpp"\nstd::byte a;\n')
        failed = self.look(tree=False).failed
        self.assertEqual(1, len(failed), failed)
        self.assertTrue(failed[0].startswith("python/binding/needs.cpp, "), failed)


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("root", type=Path)
    parser.add_argument("compiler")
    parser.add_argument("--tree", type=Path)
    parser.add_argument("--other", action="store_true")
    GIVEN, rest = parser.parse_known_args()
    unittest.main(argv=[sys.argv[0], *rest])
