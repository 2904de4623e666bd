#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Every file says whose it is and under which licence, as REUSE wants it. Exits with 77 without the tool reuse
(`pip install reuse`).

Usage: reuse_test.py REPOSITORY
"""

import importlib.util
import os
import shutil
import subprocess
import sys


def main():
    root = sys.argv[1]
    tool = [shutil.which("reuse")] if shutil.which("reuse") else [sys.executable, "-m", "reuse"]
    if tool[0] == sys.executable and not importlib.util.find_spec("reuse"):
        print("skipped: reuse is not installed")
        return 77
    return subprocess.run([*tool, "--root", root, "lint", "--lines"], check=False).returncode


if __name__ == "__main__":
    sys.exit(main())
