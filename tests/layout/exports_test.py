# SPDX-License-Identifier: MIT
"""What libbarmap exports is what its C headers declare and its map file lists, no more, no less.

The classes of C++ are inline. The archive has of them what programs have as well: weak symbols of what
BARMAP_COMMON marks.

Usage: exports_test.py LIBRARY ARCHIVE MAP HEADERS [unittest's arguments]
"""

import re
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

LIBRARY = ARCHIVE = MAP = HEADERS = ""  # set from the command line
C_HEADERS = ["arena.h", "barmap.h", "batch_queue.h", "checkpoint.h", "counter.h", "host_buffer.h", "kernel_queue.h", "list.h", "log.h",
             "mapping.h", "report.h", "ring.h", "status.h", "step_tensors.h"]
OWN = re.compile(r"^(?:(?:typeinfo|typeinfo name|vtable|guard variable|VTT) for )?barmap::|^_?barmap_\w+$")
OF_CXX = re.compile(r"^(?:(?:typeinfo|typeinfo name|vtable|guard variable) for )?barmap::v\d+_\d+\w*::(\w+)")


def demangled(names):
    text = subprocess.run(["c++filt"], input="\n".join(names), capture_output=True, text=True,
                          check=True).stdout
    return text.splitlines()


def symbols(arguments, path):
    """(name, version node, whether it is weak) of each default-visible symbol that a file defines."""
    text = subprocess.run(["readelf", "-W", *arguments, path], capture_output=True, text=True,
                          check=True).stdout
    found = set()
    for line in text.splitlines():
        fields = line.split()
        if len(fields) < 8 or not fields[0].endswith(":") or not fields[0][:-1].isdigit():
            continue
        kind, binding, visibility, section, name = fields[3:8]
        if binding in ("GLOBAL", "WEAK", "UNIQUE") and visibility == "DEFAULT" and \
                section not in ("UND", "ABS") and kind != "FILE":
            mangled, _, node = name.partition("@")
            found.add((mangled, node.strip("@"), binding != "GLOBAL"))
    names = sorted(found)
    return [(name, node, is_weak) for name, (_, node, is_weak) in
            zip(demangled([mangled for mangled, *_ in names]), names)]


def nodes(text):
    """The nodes of a version script, and the names that each lists."""
    found = re.findall(r"^(\w[\w.]*) \{(.*?)^\}", text, re.DOTALL | re.M)
    return {node: re.findall(r"^ +([^\s:]+);$", body.partition("local:")[0], re.M) for node, body in found}


def declared(header):
    """The functions that a C header declares."""
    return re.findall(r"^BARMAP_API [^;(]*?(\w+)\(", header, re.M)


def common(header):
    """What a C++ header marks for all libraries of a process: classes and functions."""
    return re.findall(r"^(?!#).*\bBARMAP_COMMON (?:inline )?[^;({]*?(\w+)(?: final)?(?:\(| :| \{)", header, re.M)


def unmarked(own, functions, of_cxx):
    """What an archive must not show: functions in C that no header declares, and C++ but for weak symbols of what is marked."""
    def is_marked(name, is_weak):
        cxx = OF_CXX.match(name)
        return is_weak and cxx[1] in of_cxx if cxx else not is_weak and name in functions
    return sorted(name for name, _, is_weak in own if not is_marked(name, is_weak))


class Exports(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.nodes = nodes(Path(MAP).read_text())
        headers = {path.name: path.read_text() for path in sorted(Path(HEADERS).glob("*.h*"))}
        cls.c_headers = [name for name in headers if name.endswith(".h")]
        cls.functions = sorted(each for name in cls.c_headers for each in declared(headers[name]))
        cls.of_cxx = {each for text in headers.values() for each in common(text)}
        cls.in_archive = [each for each in symbols(["-s"], ARCHIVE) if OWN.match(each[0])]

    def test_the_headers_are_those_that_are_documented(self):
        self.assertEqual(C_HEADERS, self.c_headers)
        self.assertGreater(len(self.functions), 150)

    def test_the_map_lists_what_the_headers_declare(self):
        self.assertEqual(self.functions, sorted(sum(self.nodes.values(), [])))

    def test_the_library_exports_each_in_its_node_and_nothing_else(self):
        self.assertEqual(sorted((name, node, False) for node, names in self.nodes.items() for name in names),
                         symbols(["--dyn-syms"], LIBRARY))

    def test_the_archive_has_each_function(self):
        self.assertEqual(self.functions, sorted(name for name, _, is_weak in self.in_archive if not is_weak))

    def test_the_archive_shows_nothing_else(self):
        self.assertEqual([], unmarked(self.in_archive, self.functions, self.of_cxx))

    def test_what_is_thrown_is_one_type_for_all_libraries(self):
        self.assertEqual({"error", "category", "cuda_category", "vulkan_category", "rm_category"}, self.of_cxx)
        self.assertIn("error", {OF_CXX.match(name)[1] for name, *_ in self.in_archive
                                if name.startswith("typeinfo for barmap::")})


class TheChecks(unittest.TestCase):
    """Each check finds what is planted."""

    def test_parsing(self):
        self.assertEqual({"BARMAP_1.0": ["barmap_a", "barmap_*"], "BARMAP_1.1": ["barmap_b"], "OTHER": ["x"]}, nodes(
            "# a comment\nBARMAP_1.0 {\n  global:\n    barmap_a;\n    barmap_*;\n  local:\n    *;\n};\n"
            "BARMAP_1.1 {\n  global:\n    barmap_b;\n} BARMAP_1.0;\nOTHER {\n  x;\n};"))
        self.assertEqual(["f", "g"], declared("BARMAP_API char const* f(void);\n"
                                              "BARMAP_API int g(int (*a)(void),\n  int b);"))
        self.assertEqual(["error", "other", "category"], common(
            "class BARMAP_COMMON error : public std::system_error {\nstruct BARMAP_COMMON other {\n"
            "[[nodiscard]] BARMAP_COMMON inline std::error_category const& category() noexcept {\n"
            "#define BARMAP_COMMON __attribute__((a))\nclass error;\n"))

    def test_plants(self):
        functions, of_cxx = ["barmap_f"], {"error", "category"}
        good = [("barmap_f", "", False), ("typeinfo for barmap::v0_1::error", "", True),
                ("vtable for barmap::v0_1_libcxx::error", "", True), ("barmap::v0_1::category()", "", True),
                ("guard variable for barmap::v0_1::category()::codes", "", True)]
        self.assertEqual([], unmarked(good, functions, of_cxx))
        for bad in (("barmap_g", "", False), ("barmap_f", "", True), ("barmap::v0_1::device::open(int)", "", True),
                    ("barmap::v0_1::category()", "", False), ("barmap::c::fail()", "", False),
                    ("typeinfo for barmap::v0_1::errors", "", True), ("vtable for barmap::device_state", "", True)):
            with self.subTest(bad):
                self.assertTrue(OWN.match(bad[0]))
                self.assertEqual([bad[0]], unmarked([*good, bad], functions, of_cxx))
        self.assertFalse(OWN.match("vtable for std::__future_base::_State_baseV2"))

    def test_symbols(self):
        with tempfile.TemporaryDirectory() as folder:
            script, made = Path(folder, "map"), Path(folder, "library.so")
            script.write_text("A_1 {\n  global:\n    a;\n    w;\n  local:\n    *;\n};\nA_2 {\n  global:\n    b;\n} A_1;\n")
            subprocess.run(["cc", "-shared", "-fPIC", "-xc", "-", "-o", made, f"-Wl,--version-script={script}"], check=True,
                           text=True, input="int a(void) { return 1; }\nint b(void) { return 2; }\nint c(void) { return 3; }\n"
                                            "__attribute__((weak)) int w(void) { return 4; }\n"
                                            "__attribute__((visibility(\"hidden\"))) int h(void) { return 5; }\n")
            self.assertEqual([("a", "A_1", False), ("b", "A_2", False), ("w", "A_1", True)], symbols(["--dyn-syms"], made))


if __name__ == "__main__":
    LIBRARY, ARCHIVE, MAP, HEADERS = (sys.argv.pop(1) for _ in range(4))
    unittest.main()
