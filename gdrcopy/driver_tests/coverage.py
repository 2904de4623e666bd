#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Lines of the driver that the tests have run, by gcov.

coverage.py BUILD_FOLDER LOG LEAST_PERCENT: the guest printed its counters into the log.
"""

import re
import subprocess
import sys
from pathlib import Path


def main() -> None:
    folder, log, least = Path(sys.argv[1]), Path(sys.argv[2]), float(sys.argv[3])
    text = log.read_text(errors="replace")
    for name, data in re.findall(r"^COVERAGE (\w+\.gcda)\n(.*?)\nCOVERAGE END$", text, re.M | re.S):
        if (folder / name).with_suffix(".gcno").exists():
            digits = "".join(line for line in data.split("\n") if re.fullmatch("[0-9a-f]*", line))
            (folder / name).write_bytes(bytes.fromhex(digits))
    run = total = 0
    for source in sorted(folder.glob("*.c")):
        if not source.with_suffix(".gcda").exists():
            continue
        subprocess.run(["gcov", "-o", ".", source.name], cwd=folder, check=True, capture_output=True)
        missed = []
        for line in (folder / f"{source.name}.gcov").read_text().splitlines():
            count, number = (part.strip() for part in line.split(":")[:2])
            if count == "-":
                continue
            total += 1
            if count == "#####":
                missed.append(int(number))
            else:
                run += 1
        print(f"  {source.name}: {'lines not run: ' + str(missed) if missed else 'all lines'}")
    if not total:
        sys.exit("there are no coverage counters")
    percent = 100 * run / total
    print(f"coverage: {run} of {total} lines, {percent:.1f} %")
    if percent < least:
        sys.exit(f"that is less than {least} %")


if __name__ == "__main__":
    main()
