# SPDX-License-Identifier: MIT
"""The GPU's side of the public headers: compiles for every kind of compiler that there is here, and
reaches memory only by loads and stores that the other side is told of.

Takes the root of the sources. What no compiler here can show is skipped, with the reason.
"""

import re
import shutil
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

# What CUDA's and HIP's own headers, which are not needed, would define.
QUALIFIERS = """
#define __device__ __attribute__((device))
#define __host__ __attribute__((host))
#define __global__ __attribute__((global))
#define __shared__ __attribute__((shared))
"""

USES = """
struct message { unsigned long long words[5]; };
struct large { unsigned char bytes[200]; };
using namespace barmap::gpu;

template <class T>
KERNEL void by_thread(ring_to_gpu<T> in, ring_to_cpu<T> out) {
    consumer<T> from(in);
    producer<T> to(out);
    T value;
    while (from.pop(value, 1000) == status::ok)
        to.push(value, 1000);
    from.close();
    to.close();
}
template <class T>
KERNEL void by_many(ring_to_cpu<T> out, T value) {
    push(out, value, 1000);
}
template <class T>
KERNEL void by_signal(counter_to_gpu in, counter_to_cpu out, flag_to_gpu go, flag_to_cpu done,
                      mailbox_to_gpu<T> settings, mailbox_to_cpu<T> state) {
    mailbox_reader<T> reader(settings);
    mailbox_writer<T> writer(state);
    T value;
    if (wait_for(in, 1, 1000) == status::ok && wait_for(go, 1000) == status::ok &&
        reader.read(value, 1000) == status::ok)
        writer.write(value);
    if (!arrive(out, 32))
        advance(out, 2);
    raise(done);
}
template <class T>
KERNEL void by_call(rpc_to_cpu<T, T> cpu, rpc_to_gpu<T, T> gpu) {
    server<T, T> calls(gpu);
    T value;
    while (calls.take(value, 1000) == status::ok) {
        call(cpu, value, value, 1000);
        calls.reply(value, 1000);
    }
    caller<T, T> only(cpu);
    only.call(value, value, 1000);
}
template KERNEL void by_signal(counter_to_gpu, counter_to_cpu, flag_to_gpu, flag_to_cpu,
                               mailbox_to_gpu<message>, mailbox_to_cpu<message>);
template KERNEL void by_signal(counter_to_gpu, counter_to_cpu, flag_to_gpu, flag_to_cpu,
                               mailbox_to_gpu<word>, mailbox_to_cpu<word>);
template KERNEL void by_call(rpc_to_cpu<large, large>, rpc_to_gpu<large, large>);
template KERNEL void by_call(rpc_to_cpu<word, word>, rpc_to_gpu<word, word>);
template KERNEL void by_thread(ring_to_gpu<message>, ring_to_cpu<message>);
template KERNEL void by_thread(ring_to_gpu<large>, ring_to_cpu<large>);
template KERNEL void by_thread(ring_to_gpu<word>, ring_to_cpu<word>);
template KERNEL void by_many(ring_to_cpu<word>, word);
template KERNEL void by_many(ring_to_cpu<large>, large);
"""

WARP_USES = """
template <class T>
KERNEL void by_warp(ring_to_gpu<T> in, ring_to_cpu<T> out) {
    warp_consumer<T> from(in);
    warp_producer<T> to(out);
    T value;
    unsigned count;
    while (from.pop(value, count, 1000) == status::ok)
        to.push(value, count, 1000);
    from.close();
    to.close();
}
template <class T>
KERNEL void by_block(ring_to_gpu<T> in, ring_to_cpu<T> out) {
    SHARED T shared;
    block_consumer<T> from(in);
    block_producer<T> to(out);
    while (from.pop(shared, 1000) == status::ok)
        to.push(shared, 1000);
    from.close();
    to.close();
}
template KERNEL void by_block(ring_to_gpu<message>, ring_to_cpu<message>);
template KERNEL void by_block(ring_to_gpu<large>, ring_to_cpu<large>);
template KERNEL void by_warp(ring_to_gpu<message>, ring_to_cpu<message>);
template KERNEL void by_warp(ring_to_gpu<large>, ring_to_cpu<large>);
"""

# One operation each, with the accesses that it is to consist of, in order: a fence that is missing is seen
# by no test with threads in the place of kernels.
OPERATIONS = {
    ("write_value", "mailbox_to_cpu<two> box, two value", "mailbox_writer<two>(box).write(value);"):
        "ld.relaxed fence st.relaxed st.relaxed st.release st.relaxed",
    ("write_word", "mailbox_to_cpu<word> box, word value", "mailbox_writer<word>(box).write(value);"):
        "ld.relaxed fence st.relaxed.v2 st.relaxed",
    ("read_value", "mailbox_to_gpu<two> box, word* at",
     "two found; if (mailbox_reader<two>(box).read(found) == status::ok) "
     "store_relaxed(at, found.words[0] + found.words[1]);"):
        "ld.acquire ld.acquire ld.acquire ld.acquire ld.relaxed.v2 ld.acquire.v2 fence ld.relaxed st.relaxed",
    ("arrives", "counter_to_cpu counter", "arrive(counter, 4);"): "atom.acq_rel fence st.release",
    ("advances", "counter_to_cpu counter", "advance(counter, 4);"): "st.release",
    ("raises", "flag_to_cpu flag", "raise(flag);"): "st.release",
    ("looks", "counter_to_gpu counter, word* at", "store_relaxed(at, value_of(counter));"):
        "ld.acquire st.relaxed",
    ("lowers", "flag_to_gpu flag", "wait_for(flag);"): "ld.acquire st.relaxed",
    ("pushes", "ring_to_cpu<two> ring, two value", "push(ring, value);"):
        "ld.relaxed ld.acquire ld.relaxed atom.relaxed st.relaxed st.relaxed st.release",
    ("pushes_by_block", "ring_to_cpu<two> ring, two value", "block_producer<two>(ring).push(value);"):
        "ld.relaxed ld.acquire ld.acquire st.relaxed fence st.release ld.relaxed st.relaxed",
    ("replies", "word* slot, two value", "detail::write_slot(slot, 7, value);"):
        "st.relaxed st.relaxed st.release",
    ("frees", "word* slot", "detail::store_after_reading<large>(slot, 7);"): "st.release",
    ("frees_pairs", "word* slot", "detail::store_after_reading<two>(slot, 7);"): "st.relaxed",
}

KERNEL = "#define KERNEL __global__\n#define SHARED __shared__\n"
INCLUDES = "".join(f"#include <barmap/gpu/{name}.cuh>\n" for name in ("mailbox", "ring", "rpc", "signal"))
WARP_INCLUDES = INCLUDES + "".join(f"#include <barmap/gpu/{name}.cuh>\n"
                                   for name in ("block_ring", "warp_ring"))

# Of PTX: neither a kernel's parameters nor what one thread or block keeps.
_ACCESS = re.compile(r"^\s*(?:@%p\d+\s+)?((?:ld|st|atom|red)\.[\w.]+)", re.MULTILINE)
_SHARED_WITH_NOBODY = re.compile(r"^(?:ld|st)\.(?:param|local|shared)\b")
_TOLD = re.compile(r"^(?:(?:ld|st)\.(?:relaxed|acquire|release)\.sys\b|atom\.(?:acq_rel|relaxed)\.gpu\b)")
# Of these, what matters of their kind; and fences.
_ORDERED = re.compile(r"^\s*(?:@!?%p\d+\s+)?(fence(?=\.acq_rel\.sys)|(?:ld|st|atom)\.(?:relaxed|acquire|release|acq_rel))"
                      r"(?:\.acq_rel)?\.(?:sys|gpu)(\.v2)?", re.MULTILINE)


def weak_accesses(ptx: str) -> list[str]:
    """Loads and stores that the compiler or the GPU may put off, repeat or keep in a cache."""
    return [access for access in _ACCESS.findall(ptx)
            if not _SHARED_WITH_NOBODY.match(access) and not _TOLD.match(access)]


class DeviceHeaders(unittest.TestCase):
    include: Path

    def compiled(self, text: str, suffix: str, *command: str) -> str:
        """The output of a compiler, which must not say anything."""
        with tempfile.TemporaryDirectory() as folder:
            source, output = Path(folder) / f"uses{suffix}", Path(folder) / "output"
            source.write_text(text)
            result = subprocess.run(
                [*command, f"-I{self.include}", "-Wall", "-Wextra", "-Werror",
                 "-Wno-unknown-cuda-version", "-O2", "-S", "-o", str(output), str(source)],
                capture_output=True, text=True, check=False)
            self.assertEqual(0, result.returncode, result.stderr)
            return output.read_text()

    def needs_clang(self) -> str:
        clang = shutil.which("clang++")
        if not clang:
            self.skipTest("there is no clang++")
        return clang

    def ptx(self, text: str, architecture: str) -> str:
        return self.compiled(QUALIFIERS + KERNEL + text, ".cu", self.needs_clang(), "-x", "cuda",
                             "--cuda-device-only", "-nocudainc", "-nocudalib",
                             f"--cuda-gpu-arch={architecture}", "-std=c++11")

    def test_plain_cplusplus(self):
        for compiler in filter(shutil.which, ("g++", "clang++")):
            for standard in ("c++11", "c++20"):
                with self.subTest(f"{compiler} {standard}"):
                    self.compiled("#define KERNEL\n#define SHARED\n" + WARP_INCLUDES + USES + WARP_USES, ".cpp",
                                  compiler, f"-std={standard}")

    def test_cuda_reaches_memory_as_the_other_side_is_told(self):
        for architecture in ("sm_70", "sm_80", "sm_86"):
            with self.subTest(architecture):
                ptx = self.ptx(WARP_INCLUDES + USES + WARP_USES, architecture)
                self.assertEqual([], weak_accesses(ptx))
                for wanted in ("ld.acquire.sys", "st.release.sys", "st.relaxed.sys.v2.u64",
                               "atom.relaxed.gpu.cas", "vote.sync.ballot", "bar.warp.sync"):
                    self.assertIn(wanted, ptx)

    def test_cuda_orders_what_it_stores(self):
        text = "using namespace barmap::gpu;\nstruct two { word words[2]; };\nstruct large { word words[9]; };\n"
        for name, parameters, body in OPERATIONS:
            text += f'extern "C" KERNEL void {name}({parameters}) {{ {body} }}\n'
        kernels = dict(re.findall(r"\.entry (\w+)\((.*?)\n}", self.ptx(WARP_INCLUDES + text, "sm_70"), re.DOTALL))
        for (name, _, _), wanted in OPERATIONS.items():
            with self.subTest(name):
                found = _ORDERED.findall(kernels[name])
                self.assertEqual(wanted, " ".join(kind + ".v2" * bool(two) for kind, two in found))

    def test_a_plain_load_would_be_found(self):
        ptx = self.ptx(INCLUDES + "KERNEL void k(barmap::gpu::word* at) { at[1] = at[0]; }\n",
                       "sm_70")
        self.assertEqual(2, len(weak_accesses(ptx)), ptx)

    def test_hip(self):
        clang = self.needs_clang()
        targets = subprocess.run([clang, "--print-targets"], capture_output=True, text=True,
                                 check=True).stdout
        if "amdgcn" not in targets:
            self.skipTest("this clang++ does not know AMD's GPUs")
        self.compiled(QUALIFIERS + KERNEL + INCLUDES + USES, ".hip", clang, "-x", "hip",
                      "--cuda-device-only", "-nogpuinc", "-nogpulib", "--offload-arch=gfx90a",
                      "-std=c++11")

    def test_warps_are_refused_for_hip(self):
        clang = self.needs_clang()
        with tempfile.TemporaryDirectory() as folder:
            source = Path(folder) / "uses.cpp"
            source.write_text(QUALIFIERS + "#define __HIP__ 1\n" + WARP_INCLUDES)
            result = subprocess.run([clang, f"-I{self.include}", "-ferror-limit=0", "-fsyntax-only", str(source)],
                                    capture_output=True, text=True, check=False)
        self.assertIn("use barmap/gpu/ring.cuh", result.stderr)


if __name__ == "__main__":
    DeviceHeaders.include = Path(sys.argv.pop(1)).resolve() / "include"
    unittest.main()
