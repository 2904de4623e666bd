#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""docs/platforms.md has a row for each series and each chip of driver_data.hpp, and each test that it names is there.

Usage: platforms_test.py REPOSITORY
"""

import pathlib
import re
import sys

CELL = re.compile(r"`([a-z][a-z0-9_.]*)(?:/([A-Z]\w+))?`")
TEST = re.compile(r"^TEST\w*\(\s*(\w+),\s*(\w+)\)", re.M)


def section(page, title):
    return re.search(rf"^## {title}\n(.*?)^## ", page, re.M | re.S)[1]


def problems_of(root):
    page = (root / "docs/platforms.md").read_text()
    data = (root / "core/src/driver/rm/driver_data.hpp").read_text()
    tests = {name for path in root.glob("*/**/tests/**/*_test.cpp") for name in TEST.findall(path.read_text())}
    names = {name for _, name in tests} | {".".join(name) for name in tests} | {suite for suite, _ in tests}
    series = re.findall(r'^    \{(\d+), "([\d.]+)"\},', data, re.M)
    chips = re.findall(r'^    \{"(\w+)", "[\d.]+", "[\d.]+", (\d+), ', data, re.M)
    drivers, gpus = section(page, "Drivers"), section(page, "GPUs")
    for number, tag in series:
        if not re.search(rf"^\| R{number} \| {re.escape(tag)} \|", drivers, re.M):
            yield f"series {number} has no row, or not with its tag {tag}"
    rows = re.findall(r"^\| ([A-Z0-9, ]+) \|.*?\| (\d+) \|", gpus, re.M)
    for chip, engines in chips:
        if not any(chip in names.split(", ") and engines == count for names, count in rows):
            yield f"chip {chip} has no row, or not with its {engines} copy engines"
    known = {f"R{number}" for number, _ in series} | {"R610", "R615"} | {chip for chip, _ in chips}
    cells = [found for text in (drivers, gpus) for found in CELL.findall(text)]
    for name, parameter in cells:
        if ("_" in name or parameter) and name not in names:
            yield f"names the test {name}, which is not there"
        if parameter and parameter not in known:
            yield f"names the test {name}/{parameter}, whose parameter is not there"
    if sum(bool(parameter) for _, parameter in cells) < 3 * len(series):
        yield "its tests are not found"


def main():
    found = list(problems_of(pathlib.Path(sys.argv[1]).resolve()))
    for each in found:
        print(f"docs/platforms.md: {each}")
    sys.exit(1 if found else 0)


if __name__ == "__main__":
    main()
