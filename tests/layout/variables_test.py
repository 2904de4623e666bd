# SPDX-License-Identifier: MIT
"""Every variable BARMAP_... that something in the tree reads is one that the library knows, so that it does
not warn of it; and it knows no other. The program's manual page names those of the library.

Usage: variables_test.py REPOSITORY
"""

import re
import sys
from pathlib import Path

import rooms

ROOT = Path(sys.argv[1])
CONFIG = ROOT / "core/src/base"
FOLDERS = (*rooms.CODE, "scripts", "packaging")
NAME = r"(BARMAP_[A-Z][A-Z0-9_]*)"
READS = {
    ".cpp .hpp .c .h .cu .cuh": rf'(?:getenv|environment|text_of|_setting)\([^;"]*"{NAME}"|variable = "{NAME}"',
    ".py": rf"""environ(?:\.get\(|\.setdefault\(|\[)["']{NAME}["'](?!\] = )|getenv\(["']{NAME}""",
    ".cmake .txt": rf"\$ENV\{{{NAME}\}}",
    # Also files without a suffix: scripts, of which some have a table, and makefiles.
    ".sh": rf'\$[{{(]?{NAME}|"{NAME}": ',
}


def read_in(path):
    for suffixes, pattern in READS.items():
        shell = ".sh" in suffixes
        if path.suffix in suffixes.split() if path.suffix else shell:
            for groups in re.findall(pattern, path.read_text(errors="replace")):
                yield from filter(None, [groups] if isinstance(groups, str) else groups)


def main():
    table = set(re.findall(rf'\{{"{NAME}",', (CONFIG / "config.cpp").read_text()))
    source = (CONFIG / "unknown_variables.cpp").read_text()
    others = re.search(r"others\[\]\{(.*?)\};", source, re.DOTALL).group(1)
    others = {"BARMAP_" + name for name in re.findall(r'"(\w+)"', others)}
    read = {}
    for folder in FOLDERS:
        for path in sorted((ROOT / folder).rglob("*")):
            if path.is_file() and not path.is_symlink() and path != Path(__file__).resolve():
                for name in read_in(path):
                    read.setdefault(name, path.relative_to(ROOT))
    problems = [f"{path}: reads {name}, which the library would warn of: add it to "
                "core/src/base/unknown_variables.cpp"
                for name, path in read.items()
                if name not in table | others and not name.startswith("BARMAP_TEST_")]
    problems += [f"core/src/base/unknown_variables.cpp: nothing reads {name}"
                 for name in sorted(others - set(read))]
    page = "packaging/man/barmap.roff"  # tests/examples/docs_test.py looks at docs/environment.md
    text = (ROOT / page).read_text()
    problems += [f"{page}: does not name {name}" for name in sorted(table)
                 if not re.search(rf"\b{name}\b", text)]
    print("\n".join(problems) or f"{len(table)} variables of the library, {len(others)} of others")
    return 1 if problems or not table or not others else 0


sys.exit(main())
