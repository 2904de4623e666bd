# SPDX-License-Identifier: MIT
"""The PTX files are for every GPU that is supported, and those that scripts/ptx makes are as their sources.

Takes the root of the sources. What no compiler here can show is skipped, with the reason.
"""

import re
import shutil
import subprocess
import sys
import unittest
from pathlib import Path

RING = "tools/ring/ring_kernels.ptx"
STEP = "src/signal/step_kernels.ptx"
SIGNAL = "tests/gpu/signal_kernels.ptx"
WRITTEN_BY_HAND = ("tools/batch/batch_kernels.ptx", "tools/bench/gpu_kernels.ptx")


class Ptx(unittest.TestCase):
    root: Path

    def text(self, path: str) -> str:
        return (self.root / path).read_text()

    def test_is_that_of_the_sources(self):
        if not shutil.which("clang++"):
            self.skipTest("there is no clang++")
        said = subprocess.run(["clang++", "--version"], check=True, capture_output=True, text=True).stdout
        here = re.search(r"clang version (\d+)", said)
        wanted = re.search(r"with clang (\d+)", self.text(RING)).group(1)
        if not here or here.group(1) != wanted:
            self.skipTest(f"the PTX was made with clang {wanted}, and clang++ is another")
        targets = subprocess.run(["clang++", "--print-targets"], check=True, capture_output=True, text=True).stdout
        if "nvptx64" not in targets:
            self.skipTest("this clang++ does not know NVIDIA's GPUs")
        for path in (RING, STEP, SIGNAL):
            with self.subTest(path):
                made = subprocess.run([sys.executable, "-B", self.root / "scripts/ptx", "--print", path], check=True,
                                      capture_output=True, text=True).stdout
                self.assertEqual(made, self.text(path), "run scripts/ptx")

    def test_is_for_every_gpu_that_is_supported(self):
        for path in (RING, STEP, SIGNAL, *WRITTEN_BY_HAND):
            with self.subTest(path):
                self.assertIn(".version 6.4\n.target sm_70\n", self.text(path))

    def test_has_a_kernel_for_each_of_the_simulated_gpu(self):
        for path, simulated in ((RING, "sim/ring_kernels.cpp"), (STEP, "sim/step_kernels.cpp")):
            with self.subTest(path):
                kernels = set(re.findall(r"\.entry (barmap_\w+)\(", self.text(path)))
                self.assertEqual(kernels, set(re.findall(r'"(barmap_(?:ring|step)_\w+)"', self.text(simulated))))

    def test_shared_memory_is_reached_as_the_other_side_is_told(self):
        """But for what a kernel leaves at its end."""
        weak = re.findall(r"^(?:@!?%p\d+ )?((?:ld|atom|red)\.[\w.]+)", self.text(RING), re.MULTILINE)
        told = re.compile(r"ld\.(?:param|relaxed\.sys|acquire\.sys)\b|atom\.relaxed\.gpu\b")
        self.assertEqual([], [each for each in weak if not told.match(each)])

    def test_messages_lie_in_registers(self):
        """In local memory a large one would be copied byte by byte."""
        for path in (RING, STEP, SIGNAL):
            with self.subTest(path):
                self.assertEqual([], re.findall(r"^.*\.local\b.*$", self.text(path), re.MULTILINE))

    def test_unknown_options_are_refused(self):
        said = subprocess.run([sys.executable, "-B", self.root / "scripts/ptx", "--nonsense"],
                              capture_output=True, text=True, check=False)
        self.assertNotEqual(0, said.returncode)
        self.assertIn("--print", said.stderr)


if __name__ == "__main__":
    Ptx.root = Path(sys.argv.pop(1)).resolve()
    unittest.main()
