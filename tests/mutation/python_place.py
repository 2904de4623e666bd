# SPDX-License-Identifier: MIT
"""The installed Python package, in which mutants of its Python parts are tested by tests/python."""

import ast
import hashlib
import os
import subprocess
import sys
from pathlib import Path

from workplace import Place, Test

# What needs GPU frameworks, takes minutes, or asks for the types that are written in the sources.
NO_TESTS = {"frameworks_test.py", "stubs_test.py", "random_operations_test.py"}
PACKAGE = "python/barmap"


class PythonPlace(Place):
    def __init__(self, root: Path, folder: Path):
        super().__init__(root, folder / "python")
        self.venv = self.folder / "venv"
        self.environment |= {"CMAKE_CXX_COMPILER_LAUNCHER": "ccache", "CCACHE_BASEDIR": str(root)}

    def path_of(self, file: str) -> Path:
        (package,) = self.venv.glob("lib/python3*/site-packages/barmap")
        return package / Path(file).relative_to(PACKAGE)

    def prepare(self, jobs: int) -> list[Test]:
        """Installs the package anew where its compiled part has changed."""
        python = self.venv / "bin/python"
        parts = [path for folder in ("include", "python", "sim", "src") for path in (self.root / folder).rglob("*")
                 if path.is_file() and path.suffix not in (".py", ".pyc")]
        state = hashlib.sha1(b"".join(path.read_bytes() for path in sorted(parts))).hexdigest()
        known = self.folder / "installed"
        if not known.exists() or known.read_text() != state:
            pip = [python, "-m", "pip", "install", "--quiet", "--disable-pip-version-check"]
            for command in ([sys.executable, "-m", "venv", self.venv],
                            [*pip, "-C", "cmake.build-type=Debug", "-C", "cmake.define.CMAKE_CXX_FLAGS_DEBUG=-O0",
                             f"{self.root}[test]"],
                            [*pip, "--no-deps", self.root / "python/compat"]):
                subprocess.run(list(map(str, command)), check=True,
                               env=self.environment | {"CMAKE_BUILD_PARALLEL_LEVEL": str(jobs)})
            known.write_text(state)
        for path in (self.root / PACKAGE).rglob("*.py"):
            self.restore(str(path.relative_to(self.root)))
        pytest = [str(python), "-m", "pytest", "-x", "-q", "-p", "no:cacheprovider", "--rootdir", str(self.root)]
        tests = self.root / "tests/python"
        return [Test(f"python.{path.relative_to(tests)}".removesuffix("_test.py"), [*pytest, str(path)], str(self.folder),
                     {"BARMAP_RUNTIME": "cuda"} if "pygpu" in path.parts else {}, targets=[PACKAGE])
                for path in sorted(tests.rglob("*_test.py")) if path.name not in NO_TESTS]

    def state_of(self, test: Test) -> list[str]:
        # What one of them reads of the others does not change what it says of a mutant.
        return [(self.folder / "installed").read_text()]

    def rank(self, test: Test, file: str) -> int:
        return 0

    def make(self, targets: list[str], jobs: int = 1) -> tuple[bool, str]:
        """Whether all of the package is Python."""
        for path in self._files():
            try:
                ast.parse(self.path_of(path).read_text())
            except SyntaxError as error:
                return False, f"error: {error}"
        return True, ""

    def changed(self, target: str) -> bool:
        return any(ast.dump(ast.parse(self.path_of(path).read_text()))
                   != ast.dump(ast.parse((self.root / path).read_text())) for path in self._files())

    def _files(self) -> list[str]:
        return [str(path.relative_to(self.root)) for path in (self.root / PACKAGE).rglob("*.py")]

    def same_when_optimised(self, file: str, text: str) -> bool:
        return False
