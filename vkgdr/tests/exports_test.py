# SPDX-License-Identifier: MIT
"""libvkgdr.so exports the functions of vkgdr.h, without versions, and nothing else.

Usage: exports_test.py LIBRARY HEADER
"""

import re
import subprocess
import sys
from pathlib import Path


def readelf(*arguments):
    return subprocess.run(["readelf", "-W", *arguments], capture_output=True, text=True,
                          check=True).stdout


def main(library, header):
    exported = set()
    for line in readelf("--dyn-syms", library).splitlines():
        fields = line.split()
        if len(fields) >= 8 and fields[4] != "LOCAL" and fields[6] not in ("UND", "Ndx"):
            exported.add(fields[7])
    declared = set(re.findall(r"^VKGDR_API[^;(]*?\b(vkgdr_\w+)\(", Path(header).read_text(), re.M))
    dynamic = readelf("--dynamic", library)
    problems = []
    if len(declared) != 14:  # two of our own
        problems.append(f"the header declares {len(declared)} functions")
    if exported != declared:
        problems.append(f"exported and declared differ: {sorted(exported ^ declared)}")
    for wanted in ("[libvkgdr.so.1]", "NODELETE"):
        if wanted not in dynamic:
            problems.append(f"the dynamic section lacks {wanted}")
    for needed in re.findall(r"NEEDED.*\[(.*)\]", dynamic):
        if not re.match(r"lib(barmap|c|m|stdc\+\+|gcc_s|asan|ubsan|tsan)\.so|ld-linux|lib(dl|pthread)\.so", needed):
            problems.append(f"it needs {needed}")
    print("\n".join(problems) or f"{len(exported)} functions")
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
