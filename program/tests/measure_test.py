# SPDX-License-Identifier: MIT
"""scripts/measure: what it writes, and that a run that fails does not stop the others. And docs/results, which is of
that form.

Takes the root of the sources and the program barmap.
"""

import csv
import json
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path


def read(path: Path) -> tuple[dict[str, str], list[list[str]]]:
    """The head of a CSV file, and its rows with the names of the columns first."""
    lines = path.read_text(encoding="utf-8").splitlines()
    head = dict(line[2:].split(": ", 1) for line in lines if line.startswith("# "))
    return head, list(csv.reader(line for line in lines if not line.startswith("# ")))


class Measure(unittest.TestCase):
    root: Path
    program: Path

    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.out = Path(folder.name)

    def measure(self, *options: object) -> subprocess.CompletedProcess[str]:
        return subprocess.run([sys.executable, "-B", self.root / "scripts/measure", *map(str, options), self.out],
                              capture_output=True, text=True, check=False)

    def fake(self, text: str) -> Path:
        """A program in the place of barmap, which writes rows to its last argument."""
        path = self.out / "barmap"
        path.write_text("#!/bin/sh\nfor output; do :; done\n" + text)
        path.chmod(0o755)
        return path

    def expect_form(self, path: Path, *names: str):
        head, rows = read(path)
        self.assertLessEqual(set(names), set(head), path)
        self.assertGreater(len(rows), 1, path)
        self.assertEqual({len(row) for row in rows}, {len(rows[0])}, path)
        self.assertNotIn("", rows[0], path)

    def test_quick_runs_on_the_simulated_gpu(self):
        done = self.measure("--quick", "--times", 1, "--program", self.program)
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        self.assertIn("lat-engines: barmap lat --compare", done.stdout)
        names, *runs = read(self.out / "runs.csv")[1]
        self.assertEqual({run[names.index("outcome")] for run in runs}, {"passed"})
        for run in runs:
            path = self.out / f"{run[0]}.csv"
            self.expect_form(path, "command", "commit", "date", "machine")
            self.assertIn("simulated True", read(path)[0]["machine"])
        names, *rows = read(self.out / "lat-engines.csv")[1]
        row = next(row for row in rows if row[:4] == ["copy", "d2h", "64", "pinned"])
        raw = json.loads((self.out / "raw/lat-engines.json").read_text())["results"]
        for method in ("adaptive", "auto", "cuMemcpy"):
            (there,) = [each for each in raw if each["measurement"] == "copy" and each["method"] == f"{method} pinned"
                        and (each["direction"], each["size"]) == ("d2h", 64)]
            self.assertEqual(float(row[names.index(method)]), there["p50_ns"])

        written = {path.name: path.read_bytes() for path in self.out.glob("*.csv")}
        for name in written:
            (self.out / name).unlink()
        self.assertEqual(self.measure("--convert").returncode, 0)
        self.assertEqual({path.name: path.read_bytes() for path in self.out.glob("*.csv")}, written)

    def test_a_run_that_fails_does_not_stop_the_others(self):
        rows = """echo '{"machine": {"gpu": "G"}, "results": [{"call": "pin", "p50_ns": 1.5}]}' > "$output"\n"""
        program = self.fake(rows + '[ "$1" != api ] || { echo nonsense > "$output"; exit 3; }\n')
        done = self.measure("--quick", "--times", 1, "--program", program)
        self.assertEqual(done.returncode, 1)
        self.assertIn("api: exit status 3", done.stdout)
        self.assertEqual([line for line in done.stdout.splitlines() if line.startswith("FAILED")],
                         ["FAILED: api. To repeat it, add --only api"])
        outcomes = {row[0]: row[2] for row in read(self.out / "runs.csv")[1][1:]}
        self.assertEqual({name for name, outcome in outcomes.items() if outcome == "passed"},
                         {"info", "lat-engines", "batch-random", "ring-steps", "fresh"})
        self.assertFalse((self.out / "api.csv").exists())
        self.assertEqual(read(self.out / "fresh.csv")[1], [["call", "p50_ns"], ["pin", "1.5"]])

        done = self.measure("--quick", "--only", "api", "--program", self.fake(rows))
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        outcomes = {row[0]: row[2] for row in read(self.out / "runs.csv")[1][1:]}
        self.assertEqual((len(outcomes), set(outcomes.values())), (6, {"passed"}))
        self.assertEqual(read(self.out / "api.csv")[0]["machine"], "gpu G")

    def test_programs_that_are_not_there_fail(self):
        rows = """echo '{"machine": {"gpu": "G"}, "results": []}' > "$output"\n"""
        done = self.measure("--only", "copy-cost", "--gdrcopy", "libgdrapi.so.2", "--program", self.fake(rows))
        self.assertEqual(done.returncode, 1)
        self.assertIn("copy-cost: cannot start", done.stdout)
        done = self.measure("--only", "nonsense", "--program", self.program)
        self.assertEqual(done.returncode, 1)
        self.assertIn("no run has a name that begins with nonsense", done.stderr)

    def test_stale_reads_are_what_their_run_looks_for(self):
        rows = """echo '{"machine": {}, "results": [{"went_back": 3}]}' > "$output"; [ "$1" != fresh ]\n"""
        done = self.measure("--only", "fresh,stale", "--times", 1, "--program", self.fake(rows))
        self.assertEqual([line for line in done.stdout.splitlines() if line.startswith("FAILED")],
                         ["FAILED: fresh. To repeat it, add --only fresh"])
        self.assertEqual(read(self.out / "stale.csv")[1], [["went_back"], ["3"]])

    def test_rows_of_a_line_each_are_read(self):
        (self.out / "copy_cost").write_text("#!/bin/sh\necho '{\"bytes\": 8, \"ratio\": 0.9}'; echo '{\"bytes\": 16}'\n")
        (self.out / "copy_cost").chmod(0o755)
        rows = """echo '{"machine": {"gpu": "G"}, "results": []}' > "$output"\n"""
        done = self.measure("--only", "copy-cost", "--times", 1, "--gdrcopy", "libgdrapi.so.2", "--program", self.fake(rows))
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        head, rows = read(self.out / "copy-cost.csv")
        self.assertEqual(head["machine"], "gpu G")
        self.assertEqual(rows, [["bytes", "ratio"], ["8", "0.9"], ["16", ""]])
        self.assertFalse((self.out / "info.csv").exists())  # which has no rows

    def test_headline_figures_are_medians_of_several_runs_with_their_spread(self):
        count = self.out / "count"
        rows = f"""echo >> {count}; n=$(wc -l < {count})
            case $n in 2) p=30 r=b;; 3) p=10 r=a;; *) p=20 r=a;; esac
            echo '{{"machine": {{"gpu": "G"}}, "results": [{{"call": "pin", "size": 8, "us": '$p'.0, "routine": "'$r'"}}]}}' \\
                > "$output"\n"""
        done = self.measure("--only", "api", "--times", 3, "--program", self.fake(rows))
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        head, rows_read = read(self.out / "api.csv")
        self.assertEqual(rows_read, [["call", "size", "us", "us spread", "routine"], ["pin", "8", "20.0", "1.0", "a/b"]])
        self.assertIn("medians of 3 runs", head["figures"])
        self.assertEqual(sorted(path.name for path in (self.out / "raw").glob("api.*")), [f"api.{n}.json" for n in (1, 2, 3)])
        # Again, and fewer: nothing of the former runs counts.
        done = self.measure("--only", "api", "--times", 1, "--program", self.fake(rows))
        self.assertEqual(read(self.out / "api.csv")[1], [["call", "size", "us", "routine"], ["pin", "8", "20.0", "a"]])

    def test_runs_take_turns_and_what_fails_once_has_failed(self):
        log = self.out / "log"
        rows = f"""echo "$1" >> {log}; echo '{{"machine": {{}}, "results": [{{"call": "pin", "us": 2.0}}]}}' > "$output"
            [ "$1 $(grep -c fresh {log})" != "fresh 1" ]\n"""
        done = self.measure("--only", "fresh,pingpong,check", "--times", 2, "--program", self.fake(rows))
        self.assertEqual(log.read_text().split(), ["info", "pingpong", "fresh", "pingpong", "fresh", "check"])
        self.assertEqual([line for line in done.stdout.splitlines() if line.startswith("FAILED")],
                         ["FAILED: fresh. To repeat it, add --only fresh"])
        names, *runs = read(self.out / "runs.csv")[1]
        self.assertEqual([(run[0], run[names.index("outcome")], run[names.index("times")]) for run in runs],
                         [("info", "passed", "1"), ("pingpong", "passed", "2"), ("fresh", "exit status 1", "2"),
                          ("check", "passed", "1")])

    def test_runs_of_different_rows_have_no_median(self):
        count = self.out / "count"
        rows = f"""echo >> {count}; [ $(wc -l < {count}) != 3 ] || more='{{"call": "map", "us": 1.0}},'
            echo '{{"machine": {{}}, "results": ['"$more"'{{"call": "pin", "us": 2.0}}]}}' > "$output"\n"""
        done = self.measure("--only", "api", "--times", 2, "--program", self.fake(rows))
        self.assertEqual(done.returncode, 1)
        self.assertIn("its runs have different numbers of rows", done.stderr)
        self.assertFalse((self.out / "api.csv").exists())

    def test_published_results_are_of_this_form(self):
        results = self.root / "docs/results"
        for path in results.rglob("*"):
            if path.is_file() and path not in (results / "README.md", results / "code.tsv"):
                self.assertEqual(path.suffix, ".csv", path)
                self.expect_form(path, *([] if path == results / "runs.csv" else ["command", "recorded by", "machine"]))


if __name__ == "__main__":
    Measure.root, Measure.program = Path(sys.argv[1]), Path(sys.argv[2])
    unittest.main(argv=sys.argv[:1])
