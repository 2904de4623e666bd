# SPDX-License-Identifier: MIT
"""scripts/stale.py, by scripts/measure --stale: which results it lists, in repositories made here. And that
docs/results/code.tsv names the code of each result of docs/results.

Takes the root of the sources.
"""

import shutil
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

ROOT = Path(sys.argv.pop(1)).resolve()
sys.path.insert(0, str(ROOT / "scripts"))
import stale  # noqa: E402

CODE = "/* A comment. */\n#include <a.h>\nint two(void)\n{\n\treturn 2;\n}\n"


class Stale(unittest.TestCase):
    def setUp(self):
        holder = tempfile.TemporaryDirectory()
        self.addCleanup(holder.cleanup)
        self.root = Path(holder.name) / "sources"
        shutil.copytree(ROOT / "scripts", self.root / "scripts", ignore=shutil.ignore_patterns("__pycache__"))
        self.write("src/two.c", CODE)
        self.write("src/README.md", "Two.\n")
        self.write("other/three.c", "int three(void);\n")
        self.git("init", "--quiet")
        self.first = self.commit()
        self.write("docs/results/code.tsv", "# a comment\n@both\tsrc/ scripts/measure\ntwo*.csv\t@both\n"
                                            "runs: count\tother/\nruns: what\tsrc/two.c\n")
        self.write("docs/results/here/two-1.csv", f"# recorded by: {self.first} of 2026-11-27\nns\n1\n")
        self.write("docs/results/runs.csv", "# what: runs\nwhat,machine,command,outcome,recorded_by\n"
                                            f"three,M,count three,3,{self.first} of 2026-11-27\n"
                                            f"what is two,M,two,2,{self.first} of 2026-11-27\n")
        self.commit()

    def write(self, name: str, text: str) -> None:
        (self.root / name).parent.mkdir(parents=True, exist_ok=True)
        (self.root / name).write_text(text)

    def git(self, *words: str) -> str:
        return subprocess.run(["git", "-c", "user.name=nobody", "-c", "user.email=nobody@localhost", *words],
                              cwd=self.root, check=True, capture_output=True, text=True).stdout.strip()

    def commit(self) -> str:
        self.git("add", ".")
        self.git("commit", "--quiet", "-m", "all")
        return self.git("rev-parse", "--short", "HEAD")

    def stale(self, root: Path = Path()) -> list[str]:
        done = subprocess.run([sys.executable, "-B", (root if root.parts else self.root) / "scripts/measure", "--stale"],
                              capture_output=True, text=True, check=False)
        self.assertEqual(done.returncode, 1 if done.stdout or done.stderr else 0, done.stderr)
        return done.stdout.splitlines() + done.stderr.splitlines()

    def test_results_of_this_code_are_not_listed(self):
        self.assertEqual(self.stale(), [])

    def test_changes_are_listed_where_figures_depend_on_them(self):
        self.write("src/two.c", CODE.replace("return 2", "return 3"))
        self.commit()
        since = f"since {self.first}, there is a change in src/two.c"
        self.assertEqual(self.stale(), [f"here/two-1.csv: {since}", f"runs.csv: what is two (M): {since}"])
        self.write("src/two.c", CODE)
        self.write("other/three.c", "int three(int);\n")
        self.commit()
        self.assertEqual(self.stale(),
                         [f"runs.csv: three (M): since {self.first}, there is a change in other/three.c"])

    def test_files_that_are_new_or_gone_are_changes(self):
        self.write("src/four.c", "int four(void);\n")
        self.commit()
        self.assertEqual(self.stale(), [f"here/two-1.csv: since {self.first}, there is a change in src/four.c"])
        (self.root / "src/four.c").unlink()
        (self.root / "src/two.c").unlink()
        self.commit()
        self.assertEqual(len(self.stale()), 2)

    def test_moves_comments_includes_and_pages_do_not_count(self):
        (self.root / "src/two.c").unlink()
        self.write("src/deep/one.c", CODE.replace("A comment", "Another").replace("a.h", "deep/a.h").replace("\t", "  "))
        self.write("src/README.md", "Three.\n")
        self.write("src/CMakeLists.txt", "add_library(two)\n")
        self.commit()
        self.assertEqual(self.stale(), [])

    def test_results_that_do_not_say_of_what_they_are(self):
        self.write("docs/results/here/new.csv", "# recorded by: 0123456 of 2026-11-27\nns\n1\n")
        self.write("docs/results/here/two-2.csv", "# date: 2026-11-27\nns\n1\n")
        self.commit()
        self.assertEqual(self.stale(), ["here/new.csv: docs/results/code.tsv does not say what it depends on",
                                        "here/new.csv: this clone has no commit 0123456",
                                        "here/two-2.csv: it names no commit"])

    def test_without_history_it_cannot_tell(self):
        shallow = self.root.parent / "shallow"
        self.git("clone", "--quiet", "--depth", "1", f"file://{self.root}", str(shallow))
        self.assertEqual(self.stale(shallow), ["measure: which results are stale is unknown: this clone has not all of the "
                                               "history (git fetch --unshallow)"])
        shutil.rmtree(shallow / ".git")
        self.assertEqual(self.stale(shallow),
                         ["measure: which results are stale is unknown: these sources are not a clone by git"])


class Table(unittest.TestCase):
    def test_each_result_names_its_code_and_commit(self):
        results = stale.results_of(ROOT / "docs/results")
        self.assertGreater(len(results), 100)
        self.assertEqual([each.name for each in results if not each.line[1] or not each.commits], [])

    def test_each_line_is_of_a_result_and_of_code_that_exists(self):
        table = stale.read_table(ROOT / "docs/results/code.tsv")
        for key, paths in table:
            with self.subTest(key):
                self.assertEqual([path for path in paths if not (ROOT / path).exists()], [])
                self.assertEqual([path for path in paths if (ROOT / path).is_dir() != path.endswith("/")], [])
        keys = {each.line[0] for each in stale.results_of(ROOT / "docs/results")}
        self.assertEqual([key for key, _ in table if key not in keys], [])


if __name__ == "__main__":
    unittest.main()
