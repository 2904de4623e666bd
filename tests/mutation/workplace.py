# SPDX-License-Identifier: MIT
"""A copy of the source tree in which mutants are built and tested, one after the other."""

import hashlib
import json
import os
import re
import resource
import select
import shlex
import signal
import subprocess
import sys
import tempfile
import time
from dataclasses import dataclass, field
from pathlib import Path

from mutants import rooms

# Left out: what needs a GPU or an emulated machine, what judges the source, the public headers or the
# shape of the binaries, and what builds a program of its own from an installed tree.
NO_LABELS = {"gpu", "kernel", "install", "docs", "packaging", "runtime", "program", "layout", "abi"}
NO_TESTS = {"copy.post_shape"}
# Tests that compile sources by themselves, and the folders of these.
COMPILES = {"layout.device_headers": ["core/include/barmap/gpu"]}
# What judges a public header, the one that is built in the least time first: all would take minutes.
FOR_HEADERS = ["bin/memory_order_tests", "bin/copy_tests", "bin/barrier_tests", "bin/contract_tests"]
LIBRARIES = {"libbarmap.so": "barmap", "libgdrapi.so": "gdrapi", "libvkgdr.so": "vkgdr",
             "libbarmap-memcpy.so": "barmap_memcpy"}
BUILD_LIMIT_S = 900
MEMORY_LIMIT = 8 << 30


@dataclass
class Test:
    name: str
    command: list[str]
    folder: str
    environment: dict[str, str]
    skip_code: int | None = None
    targets: list[str] = field(default_factory=list)  # what it runs and loads, as ninja names it
    seconds: float = 0.0                              # of an unmutated run
    says: list[str] = field(default_factory=list)     # passes if it does, whatever its exit status


def clean_environment() -> dict[str, str]:
    """The tests set what they need; what the caller has set would change what they test."""
    return {k: v for k, v in os.environ.items() if not k.startswith("BARMAP_")}


def limit_memory() -> None:
    """Of this process and its children: a mutant may allocate without end."""
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    resource.setrlimit(resource.RLIMIT_DATA, (MEMORY_LIMIT, MEMORY_LIMIT))


def run_limited(command: list[str], limit_s: float, **options) -> tuple[int | None, str]:
    """The exit status, None if it took too long, and what it wrote. Nothing of it is left running."""
    with tempfile.TemporaryFile() as written:
        process = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=written,
                                   stderr=subprocess.STDOUT, start_new_session=True, **options)
        # Before it is waited for, its number cannot be another process's.
        descriptor = os.pidfd_open(process.pid)
        in_time = select.select([descriptor], [], [], limit_s)[0]
        os.close(descriptor)
        os.killpg(process.pid, signal.SIGKILL)
        code = process.wait()
        written.seek(0)
        return (code if in_time else None), written.read().decode(errors="replace")


class Place:
    """Where mutants are put and judged."""

    def __init__(self, root: Path, folder: Path):
        self.root, self.folder = root, folder
        self.source = folder / "source"  # the copy of the tree
        self.temporary = self.folder / "tmp"
        self.temporary.mkdir(parents=True, exist_ok=True)
        self.environment = clean_environment() | {"TMPDIR": str(self.temporary)}

    def synchronise(self) -> None:
        """Makes the copy what the user's tree is. What is the same already keeps its time."""
        listed = subprocess.run(["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"],
                                cwd=self.root, check=True, capture_output=True).stdout
        wanted = {name for name in listed.decode().split("\0") if name and (self.root / name).is_file()}
        for name in wanted:
            original, copy = self.root / name, self.source / name
            content = original.read_bytes()
            if not copy.exists() or copy.read_bytes() != content:
                copy.parent.mkdir(parents=True, exist_ok=True)
                copy.write_bytes(content)
                copy.chmod(original.stat().st_mode)
        for path in self.source.rglob("*"):
            if path.is_file() and str(path.relative_to(self.source)) not in wanted:
                path.unlink()

    def path_of(self, file: str) -> Path:
        """The copy of a file."""
        return self.source / file

    def put(self, file: str, text: str) -> None:
        path = self.path_of(file)
        if path.read_text() != text:
            path.write_text(text)

    def restore(self, file: str) -> None:
        self.put(file, (self.root / file).read_text())

    def run(self, test: Test, limit_s: float) -> str:
        """passed, skipped, failed or timeout."""
        code, output = run_limited(test.command, limit_s, cwd=test.folder,
                            env=self.environment | test.environment)
        if code is None:
            return "timeout"
        if test.skip_code is not None and code == test.skip_code or "[  SKIPPED ]" in output:
            return "skipped"
        if test.says:
            return "passed" if any(re.search(pattern, output) for pattern in test.says) else "failed"
        return "passed" if code == 0 else "failed"

    def time(self, test: Test, limit_s: float) -> str:
        begin = time.monotonic()
        result = self.run(test, limit_s)
        test.seconds = max(test.seconds, time.monotonic() - begin)
        return result


class Workplace(Place):
    """A copy of the source tree, and its build."""

    def __init__(self, root: Path, folder: Path, programs: list[str], nixl: Path | None = None):
        super().__init__(root, folder / "job0")
        self.programs = programs  # to build; none: all
        self.nixl = nixl  # where its headers are, for the plug-in
        self.build = self.folder / "build"
        self.environment |= {"CCACHE_DIR": str(folder / "ccache"), "CCACHE_BASEDIR": str(self.folder)}
        self.pristine: dict[str, str] = {}  # what the outputs of the unmutated tree are
        self.needed: dict[str, list[str]] = {}

    def prepare(self, jobs: int) -> list[Test]:
        """Builds the unmutated tree."""
        self.synchronise()
        self.configure()
        # Which tests there are is asked of the programs; then what they load.
        built, output = self.make(self.programs, jobs)
        tests = self.tests() if built else []
        targets = sorted({target for test in tests for target in test.targets})
        if built:
            built, output = self.make(targets, jobs)
        if not built:
            sys.exit(output[-4000:] + "\nthe unmutated tree does not build")
        self.pristine = {target: self.fingerprint(target) for target in targets}
        return tests

    def state_of(self, test: Test) -> list[str]:
        """What its result depends on."""
        return [self.pristine[target] for target in test.targets]

    def rank(self, test: Test, file: str) -> int | None:
        """Which tests come first for a mutant of a file; None: it is not worth their time."""
        if not file.startswith("core/include/"):
            return 0
        programs = [FOR_HEADERS.index(target) for target in test.targets if target in FOR_HEADERS]
        return programs[0] if programs else len(FOR_HEADERS) if test.name in COMPILES else None

    # The build -----------------------------------------------------------------------------------

    def configure(self) -> None:
        # Neither optimised nor with debug information, linked by the fastest linker that is there:
        # it is the build that takes the time.
        linker = next((f"-fuse-ld={name}" for name, program in
                       (("mold", "mold"), ("lld", "ld.lld"), ("gold", "ld.gold"))
                       if _which(program)), "")
        launcher = "ccache" if _which("ccache") else ""
        command = ["cmake", "-S", self.source, "-B", self.build, "-G", "Ninja",
                   "-DCMAKE_BUILD_TYPE=Debug", "-DCMAKE_CXX_FLAGS_DEBUG=-O0",
                   "-DCMAKE_C_FLAGS_DEBUG=-O0", "-DBARMAP_PROGRAM=OFF",
                   "-DCMAKE_LINK_DEPENDS_NO_SHARED=ON", "-DCMAKE_EXPORT_COMPILE_COMMANDS=ON",
                   "-DCMAKE_GTEST_DISCOVER_TESTS_DISCOVERY_MODE=PRE_TEST",
                   f"-DCMAKE_CXX_COMPILER_LAUNCHER={launcher}", f"-DCMAKE_C_COMPILER_LAUNCHER={launcher}",
                   f"-DCMAKE_EXE_LINKER_FLAGS={linker}", f"-DCMAKE_SHARED_LINKER_FLAGS={linker}",
                   f"-DBARMAP_NIXL_INCLUDE={self.nixl.resolve() if self.nixl else ''}"]
        subprocess.run(list(map(str, command)), env=self.environment, check=True,
                       stdout=subprocess.DEVNULL)

    def make(self, targets: list[str], jobs: int = 1) -> tuple[bool, str]:
        """Whether they can be built, and what was said. Folders of sources need nothing."""
        programs = [target for target in targets if not (self.source / target).is_dir()]
        if targets and not programs:
            return True, ""
        code, output = run_limited(["ninja", "-C", str(self.build), f"-j{jobs}", *programs], BUILD_LIMIT_S,
                            env=self.environment)
        return code == 0, output

    def fingerprint(self, target: str) -> str:
        if (self.source / target).is_dir():
            paths = sorted(path for path in (self.source / target).rglob("*") if path.is_file())
        elif (self.build / target).is_file():
            paths = [self.build / target]
        else:
            paths = [next((self.build / "lib").glob(f"lib{target}.so.*"))]
        return hashlib.sha1(b"".join(path.read_bytes() for path in paths)).hexdigest()

    def changed(self, target: str) -> bool:
        return self.fingerprint(target) != self.pristine[target]

    def same_when_optimised(self, file: str, text: str) -> bool:
        """Whether the optimiser makes the same machine code of the file with this text as without it.

        What it makes of it for a GPU, nobody looks at.
        """
        if file.endswith(".cuh"):
            return False
        commands = json.loads((self.build / "compile_commands.json").read_text())
        users = [c for c in commands
                 if any(Path(c["file"]).is_relative_to(self.source / folder) for folder in ("core/src", *rooms.GROUND, *rooms.LIBRARIES))]
        original = (self.root / file).read_text()
        if file.endswith((".cpp", ".c")):
            users = [c for c in users if Path(c["file"]) == self.source / file]
        else:
            users = [c for c in users if str(self.source / file) in self._dependencies(c)]

        def objects(content: str) -> list[bytes] | None:
            self.put(file, content)
            made = []
            for user in users:
                output = self.temporary / "optimised.o"
                arguments = [a for a in shlex.split(user["command"]) if not a.endswith("ccache")]
                arguments[arguments.index("-o") + 1] = str(output)
                arguments += ["-O2", "-g0"]
                code, _ = run_limited(arguments, BUILD_LIMIT_S, cwd=user["directory"], env=self.environment)
                if code != 0:
                    return None
                made.append(output.read_bytes())
            return made

        with_it, without = objects(text), objects(original)
        return bool(users) and with_it is not None and with_it == without

    def _dependencies(self, command: dict) -> set[str]:
        output = self.build / command["output"] if "output" in command else None
        if output is None:
            arguments = shlex.split(command["command"])
            output = Path(arguments[arguments.index("-o") + 1])
        name = str(output if not output.is_absolute() else output.relative_to(self.build))
        if name not in self.needed:
            told = subprocess.run(["ninja", "-C", self.build, "-t", "deps", name], check=False,
                                  capture_output=True, text=True).stdout
            # ccache writes paths below its base as relative ones.
            self.needed[name] = [os.path.normpath(self.build / line.strip())
                                 for line in told.splitlines()[1:] if line.strip()]
        return set(self.needed[name])

    # The tests -----------------------------------------------------------------------------------

    def tests(self) -> list[Test]:
        told = subprocess.run(["ctest", "--show-only=json-v1"], cwd=self.build, env=self.environment,
                              check=True, capture_output=True, text=True).stdout
        found = []
        for entry in json.loads(told)["tests"]:
            properties = {p["name"]: p["value"] for p in entry.get("properties", [])}
            labels = set(properties.get("LABELS", []))
            name = entry["name"]
            if labels & NO_LABELS and name not in COMPILES or name in NO_TESTS or "command" not in entry:
                continue
            if name.startswith("install.") or properties.get("DISABLED"):
                continue
            test = Test(entry["name"], entry["command"],
                        properties.get("WORKING_DIRECTORY", str(self.build)),
                        self._variables(properties), properties.get("SKIP_RETURN_CODE"),
                        says=properties.get("PASS_REGULAR_EXPRESSION", []))
            test.targets = COMPILES.get(name) or self._targets(test)
            if not self.programs or set(test.targets) & {*self.programs, *COMPILES.get(name, [])}:
                found.append(test)
        return found

    def _variables(self, properties: dict) -> dict[str, str]:
        result = dict(v.split("=", 1) for v in properties.get("ENVIRONMENT", []))
        for change in properties.get("ENVIRONMENT_MODIFICATION", []):
            name, change = change.split("=", 1)
            what, value = change.split(":", 1)
            old = result.get(name, self.environment.get(name, ""))
            if what == "path_list_prepend":
                value = f"{value}:{old}" if old else value
            elif what != "set":
                raise ValueError(f"no rule for {what} in a test's environment")
            result[name] = value
        return result

    def _targets(self, test: Test) -> list[str]:
        targets = set()
        for argument in test.command:
            path = Path(argument)
            if not path.is_absolute() or not path.is_relative_to(self.build):
                continue
            name = path.name.split(".so")[0] + ".so"
            if path.is_dir() or path.parent == self.build / "bin/dropin":
                targets.add("gdrapi")  # it is loaded, or searched, by name
            if path.is_file() and name in LIBRARIES:
                targets.add(LIBRARIES[name])
            elif path.is_file():
                targets.add(str(path.relative_to(self.build)))
                linked = subprocess.run(["readelf", "-d", path], check=False, capture_output=True,
                                        text=True).stdout
                targets |= {target for library, target in LIBRARIES.items() if library in linked}
        return sorted(targets)


def _which(program: str) -> bool:
    return any((Path(folder) / program).exists() for folder in os.environ["PATH"].split(":"))
