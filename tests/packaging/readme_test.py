#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Every command of README.md and docs/install.md is typed by readme.sh, or page_commands.py names the reason.

What is typed here is the script, which readme.sh runs; not the commands.
Usage: readme_test.py REPOSITORY [unittest's arguments]
"""

import contextlib
import io
import re
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

import page_commands

ROOT = Path()  # set from the command line

PAGE = """# Title

Say `barmap info --verbose`, `barmap sim` and [`barmap run -- true`](page.md).

```sh
one --two \\
    three     # a comment
four && five  # prints 42
```

## C++

```cpp
int main() {}
```
"""


def script_of(page, options=()):
    steps = list(page_commands.steps_of("README.md", page, ROOT))
    return page_commands.script_of(steps, options)[0]


def typed(script):
    return re.findall(r"^printf '\\n\$ %s .*' '(.*)' \$SECONDS$", script, re.MULTILINE)


def run(script, directory):
    for place in (page_commands.CLONE, page_commands.PREFIXES):
        script = script.replace(place, directory)
    return subprocess.run(["bash", "-c", script], capture_output=True, text=True, check=False)


class Commands(unittest.TestCase):
    def test_the_pages_are_typed(self):
        output = io.StringIO()
        with contextlib.redirect_stdout(output):
            page_commands.main(ROOT, "--packages")
        commands = typed(output.getvalue())
        self.assertGreater(len(commands), 20)
        for beginning in ("scripts/demo", "scripts/test", "cmake --preset release", "g++ ", "python3 -m venv", "build/program",
                          "cmake --build build/release --target uninstall", "packaging/deb/build"):
            self.assertTrue(any(each.startswith(beginning) for each in commands), beginning)
        for each in commands:
            for word in re.findall(r"(?<![\w$-])[A-Z]{4,}(?![\w:=])", each):
                self.fail(f"{each}: type a value, or name the reason in NOT_TYPED: {word} stands for one")
        subprocess.run(["bash", "-n", "-c", output.getvalue()], check=True)

    def test_the_tests_come_last_and_may_be_left_out(self):
        page = "```sh\nscripts/test\ncmake --build build/release --target uninstall\ntrue\n```\n"
        self.assertEqual(["true", "cmake --build build/release --target uninstall", "scripts/test"], typed(script_of(page)))
        self.assertEqual(["true", "cmake --build build/release --target uninstall"], typed(script_of(page, ("--no-tests",))))

    def test_commands_are_found_in_blocks_and_prose(self):
        self.assertEqual(["barmap info --verbose", "one --two three", "four && five"], typed(script_of(PAGE)))

    def test_prose_before_a_block_types_nothing_that_the_block_has(self):
        page = "`pip install .` took 2 minutes.\n\n```sh\npython3 -m venv venv && pip install .\n```\n`pip install .`\n"
        self.assertEqual(["python3 -m venv venv && pip install ."], typed(script_of(page)))

    def test_a_command_that_is_not_on_the_page_any_more_is_named(self):
        with tempfile.TemporaryDirectory() as name:
            (Path(name) / "docs").mkdir()
            for page in page_commands.PAGES:
                (Path(name) / page).write_text("# Nothing\n")
            with self.assertRaisesRegex(SystemExit, "packaging/rpm/build"):
                page_commands.main(name)

    def test_what_fails_ends_the_script(self):
        with tempfile.TemporaryDirectory() as name:
            for command in ("false && true", "true && false", "echo 41   # prints 42", "false  # prints 42"):
                done = run(script_of(f"```sh\n{command}\necho went on\n```\n"), name)
                self.assertEqual(1, done.returncode, command)
                self.assertIn("this command of the page fails: ", done.stderr)
                self.assertNotIn("went on\n$", done.stdout)
            done = run(script_of("```sh\nx=4 && export x\necho ${x}2   # prints 42\n```\n"), name)
            self.assertEqual(0, done.returncode, done.stderr)


if __name__ == "__main__":
    ROOT = Path(sys.argv.pop(1)).resolve()
    unittest.main()
