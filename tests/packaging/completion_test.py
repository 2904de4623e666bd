#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Every subcommand and option is completed by bash, zsh and fish, and nothing that is not there.

Each shell that is installed is asked itself. Usage: completion_test.py PROGRAM FOLDER [unittest's arguments]
"""

import os
import pty
import re
import select
import shutil
import subprocess
import sys
import tempfile
import time
import unittest
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[2] / "packaging/man"))
import program_help  # noqa: E402

PROGRAM = ""  # both set from the command line
FOLDER = Path()


def bash(*words):
    """What bash offers for the last of the words after ``barmap``."""
    script = ('source "$1"; shift; COMP_WORDS=(barmap "$@"); COMP_CWORD=$#; _barmap; '
              'printf "%s\\n" "${COMPREPLY[@]}"')
    asked = ["bash", "--norc", "-c", script, "bash", FOLDER / "barmap.bash", *words]
    said = subprocess.run(asked, check=True, capture_output=True, text=True)
    assert said.stderr == "", said.stderr
    return set(said.stdout.split())


def fish(*words):
    """The same of fish."""
    with tempfile.TemporaryDirectory() as home:
        script = f"source '{FOLDER}/barmap.fish'; complete -C 'barmap {' '.join(words)}'"
        asked = ["fish", "--no-config", "-c", script]
        said = subprocess.run(asked, check=True, capture_output=True, text=True,
                              env={**os.environ, "HOME": home})
        return {line.split("\t")[0] for line in said.stdout.splitlines() if line}


def zsh(*words):
    """The same of zsh, which completes only on a terminal: its list of choices is read from one."""
    with tempfile.TemporaryDirectory() as home:
        shell, terminal = pty.fork()
        if shell == 0:
            os.environ.update(HOME=home, TERM="dumb", COLUMNS="200", LINES="60")
            os.execvp("zsh", ["zsh", "-f", "-i"])
        try:
            ready = (f"fpath=({FOLDER} $fpath); autoload -U compinit; compinit -u -D -d {home}/dump; "
                     "zstyle ':completion:*' verbose no; setopt no_beep; unsetopt list_ambiguous; "
                     "LISTMAX=1000; PS1='>'; bindkey '^I' list-choices; finished() { zle -I; print fini''shed }; "
                     "zle -N finished; bindkey '^X' finished; print rea''dy\n")
            os.write(terminal, ready.encode())
            _until(terminal, "ready\r\n")
            os.write(terminal, f"barmap {' '.join(words)}\t\x18".encode())
            listed = _until(terminal, "finished\r\n").rpartition("finished")[0]
        finally:
            os.close(terminal)
            os.waitpid(shell, 0)
        shown = re.sub(r"\x1b\[[0-9;?]*[a-zA-Z]", "", listed).partition("\n")[2]
        return set(re.findall(r"(?<![\w-])-{0,2}[a-z][\w-]*", shown.partition(">barmap")[0]))


def _read(terminal, seconds):
    if not select.select([terminal], [], [], seconds)[0]:
        return ""
    try:
        return os.read(terminal, 65536).decode(errors="replace")
    except OSError:  # the shell has ended
        return ""


def _until(terminal, text):
    seen = ""
    end = time.monotonic() + 60
    while text not in seen and time.monotonic() < end:
        seen += _read(terminal, 1)
    assert text in seen, seen
    return seen


def long_options(said):
    """Those of a help that have a long name."""
    return {each for option in said.options for each in option.names if each.startswith("--")}


class Completion:
    """What holds for every shell; ``ask`` is set by each."""

    def test_subcommands(self):
        offered = self.ask("")
        self.assertEqual(set(), set(program_help.of(PROGRAM).subcommands) - offered)

    def test_options_of_the_program(self):
        offered = self.ask("--")
        listed = long_options(program_help.of(PROGRAM))
        self.assertEqual(listed, {each for each in offered if each.startswith("--")})

    def test_options_of_subcommands(self):
        helps = program_help.of_subcommands(PROGRAM)
        self.assertGreater(len(helps), 5)
        for name, said in helps.items():
            with self.subTest(name):
                listed = long_options(said)
                offered = {each for each in self.ask(name, "--") if each[:2] == "--"} - {"--"}
                self.assertEqual(listed, offered)

    def test_values(self):
        values = {(option.names[-1], tuple(option.choices)): name
                  for name, said in program_help.of_subcommands(PROGRAM).items()
                  for option in said.options if option.choices}
        self.assertGreater(len(values), 5)
        for (option, choices), name in values.items():
            with self.subTest(option):
                self.assertEqual(set(), set(choices) - self.ask(name, option, ""))


class Bash(Completion, unittest.TestCase):
    ask = staticmethod(bash)

    def test_commands_behind_dashes(self):
        for subcommand in ("run", "sim"):
            self.assertIn("cmp", bash(subcommand, "--", "cmp"))


@unittest.skipUnless(shutil.which("fish"), "fish is not installed")
class Fish(Completion, unittest.TestCase):
    ask = staticmethod(fish)


@unittest.skipUnless(shutil.which("zsh"), "zsh is not installed")
class Zsh(Completion, unittest.TestCase):
    ask = staticmethod(zsh)


if __name__ == "__main__":
    PROGRAM = sys.argv.pop(1)
    FOLDER = Path(sys.argv.pop(1)).resolve()
    unittest.main()
