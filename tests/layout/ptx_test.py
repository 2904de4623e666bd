# SPDX-License-Identifier: MIT
"""The kernels for GPUs are PTX for every GPU and driver that is supported, whatever compiler made them.

    ptx_test.py SOURCES [RING.ptx SIGNAL.ptx]

The PTX files are those that the build made, if it did. What no compiler here can show is skipped, with the reason.
"""

import re
import shutil
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

RING = "kernels/ring_kernels.cu"
STEP = "core/src/signal/step_kernels.cu"
QUEUE = "core/src/transfer/engine/channel/queue_kernels.cu"
SIGNAL = "core/tests/gpu/signal_kernels.cu"
LOADED = (STEP, QUEUE)  # by the library, whose PTX is committed
COMMITTED = ("core/src/signal/step_kernels.ptx", "core/src/transfer/engine/channel/queue_kernels.ptx", "kernels/batch_kernels.ptx", "kernels/gpu_kernels.ptx")
COMPILERS = ("clang++", *(f"clang++-{number}" for number in range(14, 30)), "nvcc", "/usr/local/cuda/bin/nvcc")

# By the generator: the program that it needs.
PROGRAMS = {"Unix Makefiles": "make", "Ninja": "ninja"}

PROJECT = """cmake_minimum_required(VERSION 3.22)
project(kernels CXX)
include({root}/packaging/ptx.cmake)
add_library(kernels STATIC kernels.cpp)
target_include_directories(kernels PRIVATE ${{CMAKE_CURRENT_BINARY_DIR}})
barmap_find_ptx_compiler()
barmap_make_ptx(kernels below/kernels.cu)
"""
KERNELS = 'extern "C" BARMAP_KERNEL void kernel(int* at) { *at = 1; }\n'
SOURCE = '#include "below/kernels.ptx.hpp"\nchar const* kernels() { return barmap::ptx::kernels; }\n'


class Ptx(unittest.TestCase):
    root: Path
    built: tuple[Path, ...]

    @classmethod
    def setUpClass(cls):
        """What each compiler of this machine makes of the kernels, by the compiler."""
        cls.folder = tempfile.TemporaryDirectory()
        cls.made = {}
        found = {Path(shutil.which(each)).resolve(): each for each in filter(shutil.which, COMPILERS)}
        for number, compiler in enumerate(found.values()):
            if not cls.makes(compiler, STEP, Path(cls.folder.name) / "tried"):
                continue
            cls.made[compiler] = {}
            for source in (RING, *LOADED, SIGNAL):
                output = Path(cls.folder.name) / f"{number}.{Path(source).stem}.ptx"
                cls.makes(compiler, source, output, check=True)
                cls.made[compiler][source] = output.read_text()

    @classmethod
    def tearDownClass(cls):
        cls.folder.cleanup()

    @classmethod
    def makes(cls, compiler: str, source: str, output: Path, check: bool = False) -> bool:
        return subprocess.run(["cmake", f"-DCOMPILER={compiler}", f"-DSOURCE={cls.root / source}", f"-DOUTPUT={output}",
                               "-DWERROR=ON", "-P", cls.root / "packaging/make_ptx.cmake"], check=check, capture_output=True).returncode == 0

    def every(self):
        """Each PTX text that is committed, was built, or can be made here: where it is from, and the text."""
        for path in COMMITTED:
            yield path, (self.root / path).read_text()
        for path in self.built:
            yield str(path), path.read_text()
        for compiler, texts in self.made.items():
            for source, text in texts.items():
                yield f"{source} by {compiler}", text

    def ring(self):
        yield from ((name, text) for name, text in self.every() if "ring_kernels" in name)

    def test_the_committed_is_that_of_its_source(self):
        for source in LOADED:
            output = re.sub(r"\.cu$", ".ptx", source)
            committed = (self.root / output).read_text()
            wanted = re.search(r"with (clang \d+)", committed).group(1)
            same = [texts[source] for texts in self.made.values() if f"with {wanted} " in texts[source]]
            if not same:
                self.skipTest(f"the PTX was made with {wanted}, which is not here or does not know NVIDIA's GPUs")
            self.assertEqual(committed, same[0], f"make it again: cmake -D COMPILER=clang++ -D SOURCE={source} -D OUTPUT={output} "
                             "-P packaging/make_ptx.cmake")

    def test_is_for_every_gpu_and_driver_that_is_supported(self):
        for name, text in self.every():
            with self.subTest(name):
                self.assertIn(".version 6.4\n.target sm_70\n", text)

    def test_has_a_kernel_for_each_of_the_simulated_gpu(self):
        for kernels, simulated in (("ring", "sim/ring_kernels.cpp"), ("step", "sim/step_kernels.cpp")):
            wanted = set(re.findall(r'"(barmap_(?:ring|step)_\w+)"', (self.root / simulated).read_text()))
            for name, text in self.every():
                if f"{kernels}_kernels" in name:
                    with self.subTest(name):
                        self.assertEqual(wanted, set(re.findall(r"\.entry (barmap_\w+)\(", text)))

    def test_shared_memory_is_reached_as_the_other_side_is_told(self):
        """But for what a kernel leaves at its end."""
        told = re.compile(r"ld\.(?:param|relaxed\.sys|acquire\.sys)\b|atom\.relaxed\.gpu\b")
        for name, text in self.ring():
            with self.subTest(name):
                weak = re.findall(r"^(?:@!?%p\d+ )?((?:ld|atom|red)\.[\w.]+)", text, re.MULTILINE)
                self.assertEqual([], [each for each in weak if not told.match(each)])

    def test_messages_lie_in_registers(self):
        """In local memory a large one would be copied byte by byte."""
        for name, text in self.every():
            with self.subTest(name):
                self.assertEqual([], re.findall(r"^.*\.local\b.*$", text, re.MULTILINE))

    def build(self, compiler: str, generator: str = "Unix Makefiles") -> subprocess.CompletedProcess:
        """Configures and builds a project of one kernel, and runs it for the text."""
        holder = tempfile.TemporaryDirectory(suffix=" with a space")
        self.addCleanup(holder.cleanup)
        folder = Path(holder.name)
        (folder / "below").mkdir()
        (folder / "CMakeLists.txt").write_text(PROJECT.format(root=self.root))
        (folder / "below/kernels.cu").write_text(KERNELS)
        (folder / "kernels.cpp").write_text(SOURCE)
        done = subprocess.run(["cmake", "-S", folder, "-B", folder / "b", "-G", generator,
                               f"-DBARMAP_PTX_COMPILER={compiler}"], capture_output=True, text=True, check=False)
        if done.returncode == 0:
            subprocess.run(["cmake", "--build", folder / "b"], check=True, capture_output=True)
            done.header = (folder / "b/below/kernels.ptx.hpp").read_text()
        return done

    def test_a_build_without_a_compiler_has_none(self):
        self.assertIn("char const* kernels = nullptr;", self.build("OFF").header)

    def test_a_build_takes_the_compiler_that_it_is_told(self):
        for compiler in self.made:
            for generator in filter(lambda each: shutil.which(PROGRAMS[each]), PROGRAMS):
                with self.subTest(compiler, generator=generator):
                    self.assertIn(".entry kernel(", self.build(compiler, generator).header)

    def test_a_compiler_that_cannot_is_refused(self):
        refused = self.build("/bin/false")
        self.assertNotEqual(0, refused.returncode)
        self.assertIn("BARMAP_PTX_COMPILER: ", refused.stderr)


if __name__ == "__main__":
    Ptx.root = Path(sys.argv.pop(1)).resolve()
    Ptx.built = tuple(Path(sys.argv.pop(1)) for _ in sys.argv[1:] if not sys.argv[1].startswith("-"))
    unittest.main()
