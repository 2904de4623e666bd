# SPDX-License-Identifier: MIT
"""A post compiles to a comparison, a branch, one direct store and a return, for every compiler here.

Usage: post_shape_test.py INCLUDE COMPILER... [-- unittest's arguments]
"""

import re
import shutil
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

INCLUDE, COMPILERS = "", []  # set from the command line
SOURCE = Path(__file__).with_name("post_shape.cpp")
DIRECT = {"post_u32": "movdiri", "post_u64": "movdiri", "post_double": "movdiri",
          "post_64_bytes": "movdir64b"}
FUNCTION = re.compile(r"^[0-9a-f]+ <(\w+)>:$")
INSTRUCTION = re.compile(r"^\s*[0-9a-f]+:\s+(.*\S)")
PADDING = re.compile(r"^(?:data16 |cs )*nop|^xchg +%ax,%ax|^endbr64")  # and what Ubuntu marks targets of jumps with
FROM_WINDOW_OR_REGISTER = re.compile(r"^mov[qld]? +(?:(?:0x[0-9a-f]+)?\(%\w+\)|%\w+),%\w+$")


def disassembly(compiler):
    """Instructions of each function, in order, padding left out."""
    with tempfile.NamedTemporaryFile(suffix=".o") as compiled:
        subprocess.run([compiler, "-std=c++20", "-O2", "-DNDEBUG", "-fPIC", "-I" + INCLUDE, "-c", SOURCE,
                        "-o", compiled.name], check=True)
        text = subprocess.run(["objdump", "-d", "--no-show-raw-insn", compiled.name], check=True,
                              capture_output=True, text=True).stdout
    return parse(text)


def parse(text):
    functions, current = {}, None
    for line in text.splitlines():
        if found := FUNCTION.match(line):
            current = functions.setdefault(found.group(1), [])
        elif current is not None and (found := INSTRUCTION.match(line)):
            if not PADDING.match(found.group(1)):
                current.append(found.group(1))
    return functions


def fault(instructions, direct):
    """What is wrong with a post, or None: loads of the window, compare, branch, direct store, return; then
    the call of what has no such store, as a jump."""
    names = [instruction.split()[0] for instruction in instructions]
    for instruction in instructions:
        if re.search(r"%[re]?[sb]p\b", instruction) or instruction.startswith(("push", "call")):
            return f"uses the stack: {instruction}"
    if "ret" not in names:
        return "does not return"
    end = names.index("ret")
    begin = next((i for i, line in enumerate(instructions) if not FROM_WINDOW_OR_REGISTER.match(line)), 0)
    if names[begin:end + 1] != ["cmpb", "je", direct, "ret"]:
        return f"is not cmpb, je, {direct}, ret: {names[:end + 1]}"
    if names[-1] != "jmp" or any(name != "mov" for name in names[end + 1:-1]):
        return f"does not jump to the rest: {names[end + 1:]}"
    return None


class Posts(unittest.TestCase):
    def test_every_compiler(self):
        self.assertTrue(COMPILERS)
        for compiler in COMPILERS:
            functions = disassembly(compiler)
            for name, direct in DIRECT.items():
                with self.subTest(compiler=compiler, function=name):
                    self.assertIsNone(fault(functions[name], direct), "\n".join(functions[name]))


class TheCheck(unittest.TestCase):
    GOOD = ["mov 0x10(%rdi),%rcx", "mov (%rdi),%rax", "cmpb $0x0,(%rcx)", "je 18 <f+0x18>",
            "movdiri %esi,(%rax)", "ret", "mov %rax,%rdi", "jmp 27 <f+0x27>"]

    def test_takes_what_is_right(self):
        self.assertIsNone(fault(self.GOOD, "movdiri"))

    def test_finds_what_is_planted(self):
        for at, planted in ((2, "mov %rax,-0x8(%rsp)"), (0, "push %rbx"), (0, "sub $0x28,%rsp"),
                            (4, "mov %rax,(%rcx)"), (5, "sfence"), (7, "call 9 <f>")):
            with self.subTest(planted=planted):
                self.assertIsNotNone(fault(self.GOOD[:at] + [planted] + self.GOOD[at:], "movdiri"))
        self.assertIsNotNone(fault(self.GOOD, "movdir64b"))
        self.assertIsNotNone(fault(self.GOOD[:5] + self.GOOD[6:], "movdiri"))


if __name__ == "__main__":
    INCLUDE = sys.argv.pop(1)
    while len(sys.argv) > 1 and sys.argv[1] != "--":
        path = shutil.which(sys.argv.pop(1))
        if path and Path(path).resolve() not in [Path(one).resolve() for one in COMPILERS]:
            COMPILERS.append(path)
    del sys.argv[1:2]
    unittest.main()
