#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""scripts/release: what it makes, compares, signs and names. The packages' builds are stand-ins.

Usage: release_test.py REPOSITORY [unittest's arguments]
"""

import hashlib
import os
import re
import shutil
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

ROOT = Path()  # set from the command line
ADDRESSES = {"BARMAP_HOMEPAGE": "https://home.invalid", "BARMAP_GIT": "https://git.invalid/barmap.git",
             "BARMAP_RELEASES": "https://files.invalid/0.1", "BARMAP_EMAIL": "someone@mail.invalid"}
MAKES = 'mkdir -p "$1"; echo packed > "$1/thing"'


class Release(unittest.TestCase):
    def setUp(self):
        # gpg's agent has a socket there, and a socket's path is short.
        holder = tempfile.TemporaryDirectory(dir="/tmp")
        self.addCleanup(holder.cleanup)
        self.folder = Path(holder.name) / "sources"
        (self.folder / "packaging/deb/debian").mkdir(parents=True)
        for name in ("scripts", "packaging/addresses", "packaging/recipes", "packaging/sbom", "packaging/sources", "packaging/deb/debian/changelog",
                     "packaging/conda", "packaging/spack", "packaging/deb/nanobind.txt", "packaging/wheel/backend.txt",
                     "packaging/wheel/tools.txt", "CMakeLists.txt"):
            copy = shutil.copytree if (ROOT / name).is_dir() else shutil.copy
            (self.folder / name).parent.mkdir(parents=True, exist_ok=True)
            copy(ROOT / name, self.folder / name)
        for part in ("deb", "rpm", "wheel"):
            self.stand_in(f"packaging/{part}/build", MAKES)
        (self.folder / "docs/results").mkdir(parents=True)
        (self.folder / "docs/results/code.tsv").write_text("made.csv\tCMakeLists.txt\n")
        (self.version,) = re.findall(r"^project\(barmap VERSION ([\d.]+)",
                                     (ROOT / "CMakeLists.txt").read_text(), flags=re.M)
        self.keys = Path(holder.name) / "keys"
        self.keys.mkdir(mode=0o700)
        self.environment = {**os.environ, "GNUPGHOME": str(self.keys), **ADDRESSES}

    def stand_in(self, name, text):
        path = self.folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(f"#!/bin/bash\nset -e\n{text}\n")
        path.chmod(0o755)

    def release(self, *arguments):
        return subprocess.run([self.folder / "scripts/release", *arguments], capture_output=True, text=True,
                              env=self.environment, check=False)

    def trial(self, *arguments):
        return self.release("--trial", *arguments)

    def gpg(self, *arguments):
        return subprocess.run(["gpg", "--batch", "--quiet", *arguments], capture_output=True, text=True,
                              env=self.environment, check=False)

    def test_every_file_has_its_sum(self):
        made = self.trial("source", "deb", "wheel")
        self.assertEqual(0, made.returncode, made.stderr)
        dist = self.folder / "dist"
        told = {name: total for total, name in
                (line.split("  ") for line in (dist / "SHA256SUMS").read_text().splitlines())}
        files = {f"./{each.relative_to(dist)}": hashlib.sha256(each.read_bytes()).hexdigest()
                 for each in dist.rglob("*") if each.is_file() and each.name != "SHA256SUMS"}
        self.assertEqual(files, told)
        self.assertEqual({f"./barmap-{self.version}.tar.gz", f"./barmap-{self.version}.spdx.json", "./deb/thing",
                         "./wheel/thing", "./recipes/conda/recipe.yaml", "./recipes/spack/repo.yaml",
                         "./recipes/spack/packages/barmap/package.py"}, set(told))
        archive = told[f"./barmap-{self.version}.tar.gz"]
        self.assertIn(f"  sha256: {archive}\n", (dist / "recipes/conda/recipe.yaml").read_text())

    def test_two_releases_have_the_same_sums(self):
        sums = []
        for _ in range(2):
            self.assertEqual(0, self.trial("--twice", "source", "deb").returncode)
            sums.append((self.folder / "dist/SHA256SUMS").read_text())
        self.assertEqual(*sums)

    def test_a_second_build_that_differs_is_refused(self):
        self.stand_in("packaging/deb/build", 'mkdir -p "$1"; mktemp -u > "$1/thing"')
        made = self.trial("--twice", "deb")
        self.assertEqual(1, made.returncode)
        self.assertIn("the second build differs", made.stderr)
        self.assertFalse((self.folder / "dist/SHA256SUMS").exists())

    def test_what_cannot_be_made_here_is_named(self):
        self.stand_in("packaging/wheel/build", f"{MAKES}; echo 'not built: cp39-aarch64' >&2; exit 77")
        made = self.trial("--twice", "deb", "wheel")
        self.assertEqual(0, made.returncode, made.stderr)
        self.assertIn("not made here:\nwheel: not built: cp39-aarch64\n", made.stdout)
        self.assertNotIn("deb:", made.stdout)

    def test_a_part_that_fails_fails_all(self):
        self.stand_in("packaging/deb/build", f"{MAKES}; exit 3")
        made = self.trial("deb", "wheel")
        self.assertEqual(1, made.returncode)
        self.assertIn("deb could not be made", made.stderr)
        self.assertFalse((self.folder / "dist/SHA256SUMS").exists())

    def test_another_version_is_refused(self):
        self.assertEqual(0, self.trial("--version", self.version, "deb").returncode)
        refused = self.trial("--version", "99.0.0", "deb")
        self.assertEqual(1, refused.returncode)
        self.assertIn("not of 99.0.0", refused.stderr)

    def make_key(self, algorithm="ed25519"):
        made = self.gpg("--passphrase", "", "--quick-generate-key", "nobody@localhost", algorithm, "sign")
        self.assertEqual(0, made.returncode, made.stderr)
        self.addCleanup(subprocess.run, ["gpgconf", "--kill", "all"], env=self.environment, check=False)

    def git(self, *words):
        return subprocess.run(["git", "-c", "user.name=nobody", "-c", "user.email=nobody@localhost", *words],
                              cwd=self.folder, check=True, capture_output=True, text=True).stdout.strip()

    def commit(self):
        """All, and a result of it."""
        self.git("init", "--quiet")
        (self.folder / ".git/info/exclude").write_text("/build/\n/dist/\n")
        self.git("add", ".")
        self.git("commit", "--quiet", "-m", "all")
        of = self.git("rev-parse", "--short", "HEAD")
        (self.folder / "docs/results/made.csv").write_text(f"# commit: {of}\nns\n1\n")
        self.git("add", ".")
        self.git("commit", "--quiet", "-m", "a result")

    @unittest.skipUnless(shutil.which("gpg"), "gpg is not installed")
    def test_a_key_signs_the_sums(self):
        self.make_key()
        self.commit()
        done = self.release("--key", "nobody@localhost", "deb")
        self.assertEqual(0, done.returncode, done.stderr)
        sums = self.folder / "dist/SHA256SUMS"
        signature = self.folder / "dist/SHA256SUMS.asc"
        self.assertEqual(0, self.gpg("--verify", signature, sums).returncode)
        sums.write_text(sums.read_text().replace("0", "1", 1))
        self.assertNotEqual(0, self.gpg("--verify", signature, sums).returncode)

    @unittest.skipUnless(shutil.which("gpg") and shutil.which("rpmsign") and shutil.which("rpmbuild"),
                         "gpg or rpm is not installed")
    def test_a_key_signs_the_rpms(self):
        self.make_key("rsa3072")
        (self.folder / "thing.spec").write_text("Name: thing\nVersion: 1\nRelease: 1\nLicense: MIT\n"
                                                "Summary: made by a test\n%description\n%files\n")
        self.stand_in("packaging/rpm/build", f"""rpmbuild -bb --quiet --define "_topdir {self.folder}/build" \
            --define "_rpmdir $1" --define "_rpmfilename thing.rpm" thing.spec""")
        self.commit()
        done = self.release("--key", "nobody@localhost", "rpm")
        self.assertEqual(0, done.returncode, done.stderr)
        (self.folder / "key").write_text(self.gpg("--armor", "--export", "nobody@localhost").stdout)
        for option in ("--import", "key"), ("--checksig", "--verbose", "dist/rpm/thing.rpm"):
            asked = subprocess.run(["rpm", "--dbpath", self.folder / "database", *option], cwd=self.folder,
                                   capture_output=True, text=True, check=False)
            self.assertEqual(0, asked.returncode, asked.stdout + asked.stderr)
        self.assertRegex(asked.stdout, "RSA/SHA[0-9]+ Signature, key ID [0-9a-f]+: OK")

    def refused(self, words, *arguments):
        """It is, for this reason, and nothing was built."""
        done = self.release(*arguments)
        self.assertEqual(1, done.returncode, done.stderr)
        self.assertIn(f"this is no release: {words}", done.stderr)
        self.assertFalse((self.folder / "dist").exists())

    def test_a_release_without_a_key_is_refused(self):
        self.commit()
        self.refused("no --key signs it", "deb")

    @unittest.skipUnless(shutil.which("gpg"), "gpg is not installed")
    def test_what_is_not_committed_is_refused(self):
        self.make_key()
        self.refused("git status names what is not committed:\nfatal: not a git", "--key", "nobody@localhost", "deb")
        self.commit()
        (self.folder / "token").write_text("secret")
        self.refused("git status names what is not committed:\n?? token\n", "--key", "nobody@localhost", "deb")
        (self.folder / "token").unlink()
        with (self.folder / "CMakeLists.txt").open("a") as listed:
            listed.write("# changed")
        self.refused("git status names what is not committed:\n M CMake", "--key", "nobody@localhost", "deb")

    @unittest.skipUnless(shutil.which("gpg"), "gpg is not installed")
    def test_a_release_without_an_address_is_refused(self):
        self.make_key()
        self.commit()
        for variable in ADDRESSES:
            with self.subTest(variable):
                self.environment = {**self.environment, **ADDRESSES, variable: ""}
                self.refused(f"{variable} is not set\n", "--key", "nobody@localhost", "deb")

    @unittest.skipUnless(shutil.which("gpg"), "gpg is not installed")
    def test_results_of_earlier_code_are_refused(self):
        self.make_key()
        self.commit()
        with (self.folder / "CMakeLists.txt").open("a") as listed:
            listed.write("set(changed yes)\n")
        self.git("commit", "--quiet", "--all", "-m", "changed")
        self.refused("measure again what docs/results has of earlier code:\nmade.csv: since ", "--key",
                     "nobody@localhost", "deb")

    def test_a_trial_needs_none_of_it_and_says_what_it_is(self):
        self.environment = {name: value for name, value in self.environment.items() if name not in ADDRESSES}
        done = self.trial("deb")
        self.assertEqual(0, done.returncode, done.stderr)
        self.assertIn("\na trial, which is no release\n", done.stdout)
        done = self.trial("source")
        self.assertIn("not made here:\nsource: no recipes: BARMAP_RELEASES is not set\n", done.stdout)
        self.assertFalse((self.folder / "dist/SHA256SUMS.asc").exists())

    def test_sources_that_git_does_not_tell_are_refused(self):
        # As with another user's, of which git refuses to tell anything.
        (self.folder / ".git").write_text("gitdir: /nonexistent\n")
        refused = subprocess.run([self.folder / "packaging/sources"], capture_output=True, check=False)
        self.assertEqual((1, b""), (refused.returncode, refused.stdout))
        self.assertIn(b"git does not tell what belongs to the sources:\nfatal: ", refused.stderr)

    @unittest.skipUnless(shutil.which("gpg"), "gpg is not installed")
    def test_a_key_that_is_not_there_is_refused(self):
        self.commit()
        self.refused("gpg cannot sign with the key nobody@localhost", "--key", "nobody@localhost", "deb")

    def test_a_wheel_of_another_name_is_refused(self):
        refused = subprocess.run([ROOT / "packaging/wheel/build", self.folder / "wheels", "cp38-x86_64"],
                                 capture_output=True, text=True, check=False)
        self.assertEqual(2, refused.returncode)
        self.assertIn("cp38-x86_64 is no wheel", refused.stderr)
        self.assertFalse((self.folder / "wheels").exists())

    def test_wheels_without_their_python_are_named(self):
        # Debian's own, whose headers are for one processor, are none of them.
        refused = subprocess.run([ROOT / "packaging/wheel/build", self.folder / "wheels", "cp39-x86_64", "abi3-aarch64"],
                                 capture_output=True, text=True, check=False,
                                 env={**os.environ, "PATH": "/usr/bin:/bin", "PYENV_ROOT": "/nonexistent"})
        self.assertEqual(77, refused.returncode, refused.stderr)
        self.assertIn("not built, because their Python is not installed: cp39-x86_64 abi3-aarch64", refused.stderr)

    def test_what_it_does_not_know_is_refused(self):
        for wrong in (["--fast"], ["--trial", "tar"], ["--key"], ["--trial", "--key", "nobody@localhost"]):
            with self.subTest(wrong):
                refused = self.release(*wrong)
                self.assertEqual(2, refused.returncode)
                self.assertIn("scripts/release (--key KEY", refused.stderr)


if __name__ == "__main__":
    ROOT = Path(sys.argv.pop(1)).resolve()
    unittest.main()
