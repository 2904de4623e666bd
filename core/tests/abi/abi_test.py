# SPDX-License-Identifier: MIT
"""The binary form of the C interface is the one that is stored beside this file.

The description is made of the C headers and the version script, by libabigail from a library whose
functions do nothing: its types are C's alone, and no compiler of C++ has a say in it. That the real
library has these symbols, in these version nodes, is compared here; that it defines them as they are
declared, its compiler has seen to.

Usage: abi_test.py COMPILER LIBRARY MAP INCLUDE [--write | unittest's arguments]
"""

import platform
import re
import shutil
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

COMPILER = LIBRARY = MAP = INCLUDE = ""  # set from the command line
STORED = Path(__file__).with_name("libbarmap.so.1.abi")
MISSING = 77  # ctest's code for a test that cannot run
CHANGE, INCOMPATIBLE = 4, 8  # bits of abidiff's exit status


def run(*command):
    return subprocess.run([*map(str, command)], capture_output=True, text=True, check=False)


def definitions(header):
    """A library's source that has the functions of a header, and shows its enumerations."""
    functions = re.findall(r"^BARMAP_API ([^;]*);", header, re.M)
    enumerations = re.findall(r"^enum (\w+) \{", header, re.M)
    source = "".join(f"{each} {{ __builtin_trap(); }}\n" for each in functions)
    source += "".join(f"enum {each} values_of_{each};\n" for each in enumerations)
    return source, [f"values_of_{each}" for each in enumerations]


def library(folder, header, script):
    """A library without anything in its functions, but with the same interface."""
    (folder / "barmap").mkdir(exist_ok=True)
    (folder / "barmap/barmap.h").write_text(header)
    source, enumerations = definitions(header)
    (folder / "c_interface.c").write_text("#include <barmap/barmap.h>\n" + source)
    shown = "".join(f"{each}; " for each in enumerations)
    (folder / "map").write_text(f"{script}\nENUMERATIONS {{ global: {shown}}};\n")
    made = folder / "libbarmap.so.1"
    built = run(COMPILER, "-std=c11", "-g", "-O0", "-fPIC", "-shared", "-w", f"-I{folder}",
                f"-ffile-prefix-map={folder}=.", folder / "c_interface.c", "-o", made,
                "-Wl,-soname,libbarmap.so.1", f"-Wl,--version-script={folder / 'map'}")
    assert built.returncode == 0, built.stderr
    return made


def header():
    """All C headers, as one: the first is barmap.h, which the others extend."""
    headers = sorted((Path(INCLUDE) / "barmap").glob("*.h"), key=lambda each: (each.name != "barmap.h", each.name))
    return "".join(re.sub(r"#include <barmap/\w+\.h>\n", "", each.read_text()) for each in headers)


def write():
    with tempfile.TemporaryDirectory() as folder:
        made = library(Path(folder), header(), Path(MAP).read_text())
        described = run("abidw", "--no-corpus-path", "--no-comp-dir-path", "--no-show-locs",
                        "--no-elf-needed", made)
        assert described.returncode == 0, described.stderr
        STORED.write_text(described.stdout.replace(f"{folder}/", ""))


class TheCInterface(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = Path(folder.name)
        self.header, self.script = header(), Path(MAP).read_text()

    def compared(self):
        return run("abidiff", "--harmless", STORED,
                   library(self.folder, self.header, self.script))

    def test_it_is_the_stored_one(self):
        result = self.compared()
        if result.returncode & INCOMPATIBLE:
            self.fail("programs that are already linked would break:\n" + result.stdout)
        self.assertEqual(0, result.returncode, "see CONTRIBUTING.md, if this is an addition:\n" +
                         result.stdout + result.stderr)

    def test_the_library_has_the_stored_symbols(self):
        stored = re.findall(r"<elf-symbol name='(barmap_\w+)' version='(\S+)'", STORED.read_text())
        text = run("readelf", "-W", "--dyn-syms", LIBRARY).stdout
        real = re.findall(r" (barmap_\w+)@@(\S+)$", text, re.M)
        self.assertGreater(len(stored), 20)
        self.assertEqual(sorted(stored), sorted(real))

    def expect_noticed(self, expected, old, new, of="header"):
        text = getattr(self, of)
        self.assertRegex(text, old)
        setattr(self, of, re.sub(old, new, text, count=1))
        result = self.compared()
        self.assertEqual(expected, result.returncode & expected, result.stdout)

    def test_a_changed_member_is_noticed(self):
        self.expect_noticed(CHANGE, r"uint64_t flags;", "uint32_t flags;")

    def test_a_member_more_is_noticed(self):
        self.expect_noticed(CHANGE, r"uint64_t flags;", "uint64_t flags, more;")

    def test_members_in_another_order_are_noticed(self):
        self.expect_noticed(CHANGE, r"(char const\* backend;.*\n) +(uint64_t flags;)", r"\2 \1")

    def test_a_changed_parameter_is_noticed(self):
        self.expect_noticed(CHANGE, r"int barmap_device_create\(int ordinal", "int barmap_device_create(long ordinal")

    def test_a_changed_result_is_noticed(self):
        self.expect_noticed(CHANGE, r"int barmap_mapping_kind", "char barmap_mapping_kind")

    def test_a_changed_value_is_noticed(self):
        self.expect_noticed(CHANGE, r"BARMAP_ERROR_RM = 16", "BARMAP_ERROR_RM = 99")
        self.setUp()
        self.expect_noticed(CHANGE, r"BARMAP_PIN_FORCE_PCIE = 2", "BARMAP_PIN_FORCE_PCIE = 4")

    def test_a_function_less_is_noticed(self):
        self.expect_noticed(INCOMPATIBLE, r"    barmap_mapping_size;\n", "", of="script")

    def test_a_function_more_is_noticed(self):
        self.header = re.sub(r"(BARMAP_API int barmap_device_count)", r"BARMAP_API int barmap_x(void);\n\1",
                             self.header)
        self.expect_noticed(CHANGE, r"    barmap_mapping_write;\n", "    barmap_mapping_write;\n    barmap_x;\n",
                            of="script")

    def test_another_node_is_noticed(self):
        self.expect_noticed(CHANGE, r"\nBARMAP_1\.0 \{", "\nBARMAP_1.9 {", of="script")


if __name__ == "__main__":
    COMPILER, LIBRARY, MAP, INCLUDE = (sys.argv.pop(1) for _ in range(4))
    if not shutil.which("abidiff"):
        print("skipped: abidiff is not installed (Debian: abigail-tools)")
        sys.exit(MISSING)
    if platform.machine() != "x86_64":
        print("skipped: the description is that of x86-64")
        sys.exit(MISSING)
    if sys.argv[1:] == ["--write"]:
        write()
    else:
        unittest.main()
