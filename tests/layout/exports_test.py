# SPDX-License-Identifier: MIT
"""What libbarmap.so exports is what the map file lists and what the headers mark, no more, no less.

Usage: exports_test.py LIBRARY ARCHIVE MAP HEADERS [unittest's arguments]
"""

import fnmatch
import re
import subprocess
import sys
import unittest
from pathlib import Path

LIBRARY = ARCHIVE = MAP = HEADERS = ""  # set from the command line
OWN = re.compile(r"^(?:(?:typeinfo|typeinfo name|vtable) for )?barmap::|^barmap_\w+$")


def demangled(names):
    text = subprocess.run(["c++filt"], input="\n".join(names), capture_output=True, text=True,
                          check=True).stdout
    return dict(zip(names, text.splitlines()))


def symbols(arguments, path):
    """Mangled names of the default-visible symbols that a file defines."""
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
            found.add(name.split("@")[0])
    return found


def patterns(text):
    """Those of a version script's extern "C++" block."""
    block = re.search(r'extern "C\+\+" \{(.*?)\}', text, re.DOTALL).group(1)
    return [line.strip().rstrip(";") for line in block.splitlines() if line.strip()]


def c_nodes(text):
    """The nodes of the C interface, and the names that each lists."""
    nodes = re.findall(r"^(BARMAP_\d[\d.]*) \{(.*?)^\}", text, re.DOTALL | re.M)
    return {node: re.findall(r"^ +([^\s:]+);$", body.partition("local:")[0], re.M)
            for node, body in nodes}


def declared(header):
    """The functions that a C header declares."""
    return re.findall(r"^BARMAP_API [^;(]*?(\w+)\(", header, re.M)


def node_of_symbols(path):
    """The version node of each symbol that a library defines."""
    text = subprocess.run(["readelf", "-W", "--dyn-syms", path], capture_output=True, text=True,
                          check=True).stdout
    return dict(re.findall(r" (\w+)@@(\S+)$", text, re.M))


def matches(pattern, name):
    if pattern.startswith('"'):
        return name == pattern.strip('"')
    return fnmatch.fnmatchcase(name, pattern)


def foreign(names):
    return sorted(n for n in names if not OWN.match(n))


def unlisted(names, listed):
    return sorted(n for n in names if not any(matches(p, n) for p in listed))


def idle(names, listed):
    return [p for p in listed if not any(matches(p, n) for n in names)]


class Exports(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        exported = symbols(["--dyn-syms"], LIBRARY)
        cls.names = demangled(sorted(exported))
        cls.c_names = c_nodes(Path(MAP).read_text())
        cls.listed = patterns(Path(MAP).read_text()) + sum(cls.c_names.values(), [])

    def test_something_is_exported(self):
        self.assertTrue([n for n in self.names.values()
                         if re.fullmatch(r"barmap::v\d+_\d+::device::open\(int\)", n)])

    def test_all_of_it_is_barmaps(self):
        self.assertEqual([], foreign(self.names.values()))

    def test_all_of_it_is_in_the_map(self):
        self.assertEqual([], unlisted(self.names.values(), self.listed))

    def test_all_of_the_map_is_exported(self):
        self.assertEqual([], idle(self.names.values(), self.listed))

    def test_the_c_interface_is_that_of_its_headers(self):
        listed = sum(self.c_names.values(), [])
        self.assertGreater(len(listed), 20)
        headers = sorted(Path(HEADERS).glob("*.h"))
        self.assertEqual(["arena.h", "barmap.h", "batch_queue.h", "checkpoint.h", "counter.h", "host_buffer.h", "log.h", "report.h", "ring.h", "status.h"], [each.name for each in headers])
        self.assertEqual(sorted(sum((declared(each.read_text()) for each in headers), [])),
                         sorted(listed))

    def test_each_c_function_is_in_its_node(self):
        of = node_of_symbols(LIBRARY)
        self.assertEqual({name: node for node, names in self.c_names.items() for name in names},
                         {name: node for name, node in of.items() if name.startswith("barmap_")})

    def test_all_that_is_marked_is_exported(self):
        marked = demangled(sorted(symbols(["-s"], ARCHIVE)))
        missing = [n for m, n in marked.items() if OWN.match(n) and m not in self.names]
        self.assertEqual([], missing, "BARMAP_API, but not in the map")


class TheChecks(unittest.TestCase):
    """Each check finds what is planted."""

    LISTED = patterns('B { global: extern "C++" {\n  barmap::device::*;\n "barmap::f()";\n }; };')

    def test_parsing(self):
        self.assertEqual(["barmap::device::*", '"barmap::f()"'], self.LISTED)

    def test_parsing_of_c(self):
        self.assertEqual({"BARMAP_1.0": ["barmap_a", "barmap_*"], "BARMAP_1.1": ["barmap_b"]}, c_nodes(
            "BARMAP_1.0 {\n  global:\n    barmap_a;\n    barmap_*;\n  local:\n    *;\n};\n"
            "BARMAP_1.1 {\n  global:\n    barmap_b;\n} BARMAP_1.0;\nBARMAP_CXX_1.0 {\n  x;\n};"))
        self.assertEqual(["f", "g"], declared("BARMAP_API char const* f(void);\n"
                                              "BARMAP_API int g(int (*a)(void),\n  int b);"))

    def test_plants(self):
        good = ["barmap::device::open(int)", "barmap::f()"]
        self.assertEqual([], foreign(good) + unlisted(good, self.LISTED) + idle(good, self.LISTED))
        self.assertEqual(["std::a()"], foreign([*good, "std::a()"]))
        self.assertEqual(["barmap::g()"], unlisted([*good, "barmap::g()"], self.LISTED))
        self.assertEqual(['"barmap::f()"'], idle(good[:1], self.LISTED))


if __name__ == "__main__":
    LIBRARY, ARCHIVE, MAP, HEADERS = (sys.argv.pop(1) for _ in range(4))
    unittest.main()
