# SPDX-License-Identifier: MIT
"""Every test that needs a GPU can say that there is none: it has a text or an exit status that ctest takes for skipped.

Usage: gpu_tests_test.py CTEST BUILD_DIRECTORY
"""

import json
import subprocess
import sys

SKIPS = {"SKIP_REGULAR_EXPRESSION", "SKIP_RETURN_CODE"}


def main():
    ctest, tree = sys.argv[1:]
    listed = subprocess.run([ctest, "--test-dir", tree, "--show-only=json-v1"], capture_output=True, text=True, check=True)
    needing = {}
    for test in json.loads(listed.stdout)["tests"]:
        properties = {each["name"]: each["value"] for each in test.get("properties", ())}
        if "gpu" in properties.get("LABELS", ()):
            needing[test["name"]] = properties
    failures = [f"{name} needs a GPU, and cannot tell ctest that it skips: give it SKIP_RETURN_CODE or SKIP_REGULAR_EXPRESSION"
                for name, properties in sorted(needing.items()) if not SKIPS & properties.keys()]
    if not needing:
        failures.append("no test has the label gpu")
    print("\n".join(failures))
    sys.exit(bool(failures))


if __name__ == "__main__":
    main()
