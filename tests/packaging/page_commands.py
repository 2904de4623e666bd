#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""The commands of README.md and docs/install.md, as a script that types them as they are printed.

Usage: page_commands.py REPOSITORY [--no-tests] [--packages] > SCRIPT
       page_commands.py REPOSITORY --list      which commands are not typed, and why

tests/packaging/readme.sh runs the script as root in a new system that holds a clone of the repository in /root/barmap.
Every command of a page is typed: of its blocks of `sh`, and what stands in backquotes and begins with the name of a
program and an argument, or is the path of a program in the repository. Those that cannot be typed there are named below,
with the reason. Where a command ends in "# prints TEXT", it must print that. A page's programs are the files program.cpp,
CMakeLists.txt and program.py; the next page's are beside copies of them.
"""

import os
import pathlib
import re
import sys

PAGES = ("README.md", "docs/install.md")
CLONE = "/root/barmap"
PREFIXES = "/usr/local /opt"  # where the pages install; they are empty before

# Where a page shows its own programs, its commands are typed beside them, on a simulated GPU.
SECTIONS_OF_PROGRAMS = {"C++", "Python", "Your program"}
FILES = {"cpp": "program.cpp", "cmake": "CMakeLists.txt", "python": "program.py"}

# By how a command begins: why it is not typed.
NOT_TYPED = {
    "packaging/rpm/build": "RPM's packages are tested by tests/packaging/rpm_root.sh",
    "scripts/release": "it signs, and makes all packages; tests/packaging/release_test.py tests it",
    "tests/cross/run.sh": "continuous integration runs it",
    "packaging/kmod/build-deb KERNEL": "it is typed for two kernels by tests/packaging/kmod.sh",
    "packaging/wheel/build": "its Pythons are none of Debian's; tests/packaging/wheels.sh tests the wheels",
    "cmake -B build --toolchain tests/cross/arm64.cmake": "typed by tests/cross/run.sh, which brings a compiler for arm64",
    "modprobe -r gdrdrv": "a chroot has the kernel of its host",
    "rpmbuild --rebuild": "it needs RHEL; the page says that it was not tried",
}
# By how a command begins: typed only with this option, which takes minutes.
ONLY_WITH = {"packaging/deb/build": "--packages", "sudo apt install ./dist/": "--packages",
             "pip wheel": "--packages", "pip install dist/wheel/": "--packages"}
# Typed after all others, in a shell of its own: what ends the life of an installation, and what needs none.
LAST = ("cmake --build build/release --target uninstall", "scripts/test")

# `barmap NAME` alone is the name of a subcommand.
PROGRAM = re.compile(r"(?:sudo )?(?:(?:cmake|pip|pip3|python|python3|pkg-config|man|g\+\+|gcc|cc|apt|apt-get|dpkg|rpm|rpmbuild|"
                     r"modprobe|docker|ldconfig|git|barmap \w+) \S)")


class Command:
    def __init__(self, page, section, text, prints=None, prose=False):
        self.page, self.section, self.text, self.prints, self.prose = page, section, text, prints, prose


def commands_of_block(page, section, block):
    """The commands of a block: lines, joined where they end in a backslash, without comments."""
    for line in re.sub(r" *\\\n *", " ", block).splitlines():
        command, _, comment = (part.strip() for part in re.match(r"(.*?)(?:(^|\s)#\s*(.*))?$", line).group(1, 2, 3)) \
            if "#" in line else (line.strip(), "", "")
        prints = re.match(r"prints (.+)$", comment or "")
        if command:
            yield Command(page, section, command, prints.group(1) if prints else None)


def commands_in_prose(page, section, text, repository):
    """What stands in backquotes and is a command; not the text of a link, which names it."""
    for span in re.findall(r"(?<!`)(?<!\[)`([^`]+)`(?!\])", text):
        command = " ".join(span.split())
        path = repository / command.split()[0]
        if PROGRAM.match(command) or ("/" in command and path.is_file() and os.access(path, os.X_OK)):
            yield Command(page, section, command, prose=True)


def steps_of(page, text, repository):
    """The page's steps in its order: commands, and files as (page, section, name, content)."""
    section, position = "", 0
    pattern = re.compile(r"^```(\w*)\n(.*?)^```\n|^#+ ([^\n]*)\n", flags=re.M | re.S)
    for found in pattern.finditer(text):
        yield from commands_in_prose(page, section, text[position:found.start()], repository)
        position = found.end()
        language, block, heading = found.groups()
        if heading:
            section = heading
        elif language == "sh":
            yield from commands_of_block(page, section, block)
        elif language in FILES:
            yield (page, section, FILES[language], block)
    yield from commands_in_prose(page, section, text[position:], repository)


def begins(command, beginnings):
    return next((each for each in beginnings if command == each or command.startswith((each + " ", each) if each.endswith("/")
                                                                                       else each + " ")), None)


def quoted(text):
    return "'" + text.replace("'", "'\\''") + "'"


def script_of(steps, options):
    """The script, and which of NOT_TYPED and ONLY_WITH the pages have."""
    in_blocks = {part for step in steps if not isinstance(step, tuple) and not step.prose
                 for part in (step.text, *step.text.split(" && "))}
    lines = ["failed() { echo \"this command of the page fails: $1\" >&2; exit 1; }", f"cd {CLONE}"]
    last, seen, typed, prefixes = {}, set(), set(), []
    place = CLONE

    def go_to(page, section):
        nonlocal place
        directory = f"/root/programs/{pathlib.Path(page).stem}"
        wanted = directory if section in SECTIONS_OF_PROGRAMS else CLONE
        if wanted == place:
            return
        if wanted != CLONE and wanted not in typed:
            typed.add(wanted)
            lines.append(f"mkdir -p {wanted}; cp /root/programs/*/{{program.*,CMakeLists.txt}} {wanted} 2> /dev/null")
        lines.extend([f"cd {wanted} || exit", "unset BARMAP_SIM" if wanted == CLONE else "export BARMAP_SIM=1"])
        place = wanted

    for step in steps:
        if isinstance(step, tuple):
            page, section, name, content = step
            go_to(page, section)
            lines.append(f"cat > {name} << 'END_OF_FILE'\n{content}END_OF_FILE")
            if name.endswith(".py"):
                lines += type_it(Command(page, section, f"PYTHONPATH=/root/stand_in python {name}", prints_of(content)))
            continue
        reason, only, at_last = (begins(step.text, each) for each in (NOT_TYPED, ONLY_WITH, LAST))
        seen.update(each for each in (reason, only) if each)
        if reason or (only and ONLY_WITH[only] not in options) or (step.text == "scripts/test" and "--no-tests" in options):
            continue
        if at_last:
            last[at_last] = step.text
        elif not (step.prose and step.text in in_blocks | typed):  # prose speaks of what a block has, before or after it
            typed.add(step.text)
            prefixes += [each for each in re.findall(r"^cmake --install build/release --prefix (\S+)", step.text)
                         if each not in prefixes]
            go_to(step.page, step.section)
            lines += type_it(step)
    for at_last in LAST:
        if at_last == LAST[0] and at_last in last:
            # With several prefixes the page's command asks which one, and prints this for each.
            lines += [line for prefix in prefixes[1:] for line in
                      ["deactivate 2> /dev/null", f"cd {CLONE} || exit",
                       *type_it(Command("", "", f"cmake -DBUILD={CLONE}/build/release -DPREFIX={prefix} "
                                                f"-P {CLONE}/packaging/uninstall.cmake"))]]
        if at_last in last:
            lines += ["deactivate 2> /dev/null", "unset ${!BARMAP_@}", f"cd {CLONE} || exit", *type_it(Command("", "", last[at_last]))]
        if at_last == LAST[0]:
            kept = "".join(f" ! -path {prefix}" for prefix in prefixes)  # a prefix is the user's
            lines.append(f"left=$(find {PREFIXES} -name '*barmap*'{kept}); [ -z \"$left\" ] || failed \"it left behind: $left\"")
    return "\n".join(lines) + "\n", seen


def prints_of(program):
    texts = re.findall(r"# prints (.+)$", program, flags=re.M)
    return texts[-1] if texts else None


def type_it(command):
    lines = [f"printf '\\n$ %s    (after %d s)\\n' {quoted(command.text)} $SECONDS"]
    if command.prints is None:
        return [*lines, f"{{ {command.text}", f"}} || failed {quoted(command.text)}"]
    return [*lines, f"printed=$({command.text})", f"status=$?; printf '%s\\n' \"$printed\"",
            f"[ \"$status $printed\" = {quoted('0 ' + command.prints)} ] || "
            f"failed {quoted(f'{command.text} (the page says that it prints {command.prints})')}"]


def main(repository, *options):
    repository = pathlib.Path(repository)
    steps = [step for page in PAGES for step in steps_of(page, (repository / page).read_text(encoding="utf-8"), repository)]
    script, seen = script_of(steps, options)
    stale = [each for each in (*NOT_TYPED, *ONLY_WITH) if each not in seen]
    if stale:
        sys.exit(f"no page has these commands, which this program names: {stale}")
    if "--list" in options:
        for step in steps:
            if not isinstance(step, tuple) and (reason := begins(step.text, NOT_TYPED)):
                print(f"{step.page}: not typed: {step.text}\n    {NOT_TYPED[reason]}")
        return
    print(script, end="")


if __name__ == "__main__":
    main(*sys.argv[1:])
