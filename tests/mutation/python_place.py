# SPDX-License-Identifier: MIT
"""The installed Python package, in which mutants of its parts, compiled ones too, are tested by python/tests."""

import ast
import hashlib
import re
import subprocess
import sys
from pathlib import Path

from mutants import rooms
from workplace import BUILD_LIMIT_S, Place, Test, run_limited

# What needs GPU frameworks, takes minutes, or asks for the types that are written in the sources.
NO_TESTS = {"frameworks_test.py", "stubs_test.py", "random_operations_test.py"}
PACKAGE, COMPAT = "python/barmap", "python/compat"


class PythonPlace(Place):
    def __init__(self, root: Path, folder: Path):
        super().__init__(root, folder / "python")
        self.venv = self.folder / "venv"
        self.installed = self.folder / "installed"  # the state of what was compiled
        self.environment |= {"CMAKE_CXX_COMPILER_LAUNCHER": "ccache", "CCACHE_BASEDIR": str(self.folder)}
        self.pristine = ""

    def path_of(self, file: str) -> Path:
        """Where Python, or the compiler, reads it."""
        if not file.endswith(".py"):
            return self.source / file
        (packages,) = self.venv.glob("lib/python3*/site-packages")
        return packages / (Path("barmap") / Path(file).relative_to(PACKAGE) if file.startswith(PACKAGE + "/")
                           else Path(file).relative_to(COMPAT))

    def prepare(self, jobs: int) -> list[Test]:
        """Installs the package anew where its compiled part has changed."""
        python = self.venv / "bin/python"
        self.synchronise()
        if not python.exists():
            subprocess.run([sys.executable, "-m", "venv", self.venv], check=True)
        # Without an environment of its own for each build, of which the paths would change.
        project = (self.root / "pyproject.toml").read_text()
        needed = [text for key in ("requires", "test")
                  for text in re.findall(r'"([^"]+)"', re.search(rf"^{key} = \[(.*?)^\]", project, re.M | re.S).group(1))]
        built, output = self._pip("numpy", *needed) if not self.installed.exists() else (True, "")
        if built:
            built, output = self._install(jobs)
        if built:
            built, output = self._pip("--no-deps", str(self.root / COMPAT))
        if not built:
            sys.exit(output[-4000:] + "\nthe unmutated package does not build")
        for path in self._files():
            self.restore(path)
        self.pristine = self._extension()
        pytest = [str(python), "-m", "pytest", "-x", "-q", "-p", "no:cacheprovider", "--rootdir", str(self.root)]
        tests, found = self.root / "python/tests", []
        for path in sorted(tests.rglob("*_test.py")):
            if path.name in NO_TESTS:
                continue
            name = f"python.{path.relative_to(tests)}".removesuffix("_test.py")
            for runtime in ("cuda", "hip") if "pygpu" in path.parts else ("",):
                found.append(Test(f"{name}.{runtime}" if runtime else name, [*pytest, str(path)], str(self.folder),
                                  {"BARMAP_RUNTIME": runtime} if runtime else {}, targets=[PACKAGE]))
        return found

    def _pip(self, *arguments: str) -> tuple[bool, str]:
        command = [str(self.venv / "bin/python"), "-m", "pip", "install", "--quiet", "--disable-pip-version-check"]
        code, output = run_limited([*command, *arguments], BUILD_LIMIT_S, env=self.environment)
        return code == 0, output

    def _install(self, jobs: int) -> tuple[bool, str]:
        """Builds and installs the copy's package, where what is compiled is not what is installed."""
        parts = [path for folder in (*rooms.CORE, *rooms.GROUND, *rooms.LIBRARIES, *rooms.EXTENSION, *rooms.SIMULATED)
                 for path in (self.source / folder).rglob("*") if path.is_file() and path.suffix not in (".py", ".pyc")]
        state = hashlib.sha1(b"".join(path.read_bytes() for path in sorted(parts))).hexdigest()
        if self.installed.exists() and self.installed.read_text() == state:
            return True, ""
        self.environment["CMAKE_BUILD_PARALLEL_LEVEL"] = str(jobs)
        changed = {str(path.relative_to(self.root)): self.path_of(str(path.relative_to(self.root))).read_text()
                   for path in (self.root / PACKAGE).rglob("*.py")} if self.installed.exists() else {}
        built, output = self._pip("--no-deps", "--no-build-isolation", "--force-reinstall", "-C", "cmake.build-type=Debug",
                                  "-C", f"build-dir={self.folder / 'build'}", "-C", "cmake.define.CMAKE_CXX_FLAGS_DEBUG=-O0",
                                  str(self.source))
        if built:
            self.installed.write_text(state)
            for file, text in changed.items():
                self.put(file, text)
        return built, output

    def state_of(self, test: Test) -> list[str]:
        # What one of them reads of the others does not change what it says of a mutant.
        return [self.installed.read_text()]

    def rank(self, test: Test, file: str) -> int:
        return 0

    def make(self, targets: list[str], jobs: int = 1) -> tuple[bool, str]:
        """Whether all of the package is Python, and its compiled part can be compiled."""
        for path in self._files():
            try:
                ast.parse(self.path_of(path).read_text())
            except SyntaxError as error:
                return False, f"error: {error}"
        return self._install(jobs)

    def restore(self, file: str) -> None:
        super().restore(file)
        if not file.endswith(".py") and not self._install(1)[0]:
            sys.exit("the unmutated package does not build any more")

    def changed(self, target: str) -> bool:
        return self._extension() != self.pristine or any(
            ast.dump(ast.parse(self.path_of(path).read_text())) != ast.dump(ast.parse((self.root / path).read_text()))
            for path in self._files())

    def _extension(self) -> str:
        (packages,) = self.venv.glob("lib/python3*/site-packages")
        return "".join(hashlib.sha1(path.read_bytes()).hexdigest() for path in sorted((packages / "barmap").glob("_barmap*.so")))

    def _files(self) -> list[str]:
        return [str(path.relative_to(self.root)) for folder in (PACKAGE, COMPAT) for path in (self.root / folder).rglob("*.py")]

    def same_when_optimised(self, file: str, text: str) -> bool:
        return False
