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
KERNEL void by_signal(counter_to_gpu in, counter_to_cpu out) {
    if (wait_for(in, 1, 1000) == status::ok && !arrive(out, 32))
        advance(out, 2);
}
KERNEL void by_log(log_ring to) {
    log(to, 1, 2, 3, 4);
}
template <class T>
KERNEL void by_call(rpc_to_cpu<T, T> cpu) {
    T value = T();
    call(cpu, value, value, 1000);
    caller<T, T> only(cpu);
    only.call(value, value, 1000);
}
template KERNEL void by_call(rpc_to_cpu<large, large>);
template KERNEL void by_call(rpc_to_cpu<word, word>);
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
template KERNEL void by_warp(ring_to_gpu<message>, ring_to_cpu<message>);
template KERNEL void by_warp(ring_to_gpu<large>, ring_to_cpu<large>);
"""

# What each operation on words is made of, for CUDA and for HIP. Of what they are put together to, the order is
# tested on the CPU (core/tests/contract/memory_order_test.cpp), but for what differs for CUDA.
OPERATIONS = {
    "at[8] = load_acquire(at);": ("ld.acquire.sys.u64", "load acquire"),
    "at[8] = load_relaxed(at);": ("ld.relaxed.sys.u64", "load monotonic"),
    "at[8] = load_commit(at);": ("ld.relaxed.sys.u64", "load acquire"),
    "load_pair_acquire(at, at[8], at[9]);": ("ld.acquire.sys.v2.u64", "load acquire, load monotonic"),
    "load_pair_relaxed(at, at[8], at[9]);": ("ld.relaxed.sys.v2.u64", "load acquire, load monotonic"),
    "load_two(at, at[8], at[9]);": ("ld.relaxed.sys.v2.u64", "load monotonic, load monotonic"),
    "store_release(at, 7);": ("st.release.sys.u64", "store release"),
    "store_relaxed(at, 7);": ("st.relaxed.sys.u64", "store monotonic"),
    "store_pair(at, 7, 8);": ("st.relaxed.sys.v2.u64", "store monotonic, store release"),
    "store_as_one(at, 7, 8);": ("st.relaxed.sys.v2.u64", "store volatile <2 x i64>"),
    "fence_system(); at[8] = 7;": ("fence.acq_rel.sys", "fence acq_rel"),
    "at[8] = replace(at, 7, 8);": ("atom.relaxed.gpu.cas.b64", "cmpxchg agent monotonic monotonic"),
    "at[8] = add(at, 7);": ("atom.acq_rel.gpu.add.u64", "atomicrmw agent acq_rel"),
    "at[8] = add_relaxed(at, 7);": ("atom.relaxed.gpu.add.u64", "atomicrmw agent monotonic"),
    "log({at, at, 7, 3}, 1, 2, 3, 4);": (
        "atom.relaxed.gpu.add.u64, st.relaxed.sys.v2.u64, st.relaxed.sys.v2.u64",
        "atomicrmw agent monotonic, store volatile <2 x i64>, store volatile <2 x i64>"),
    "detail::store_after_reading<word[4]>(at, 7);": ("st.relaxed.sys.u64", "store release"),
    "detail::store_after_reading<word[5]>(at, 7);": ("st.release.sys.u64", "store release"),
}
OPERATION_KERNELS = "using namespace barmap::gpu;\n" + "".join(
    f'extern "C" KERNEL void operation_{number}(word* at) {{ {text} }}\n'
    for number, text in enumerate(OPERATIONS))

# Where the lanes of a warp wait for each other: on the CPU there is one.
COLLECTIVES = {
    ("warp_consumer<two>& in, two* to, unsigned* count", "in.pop(*to, *count);"):
        "ld.relaxed, ld.acquire, vote, bar.warp.sync, st.release, ld.acquire, vote, vote",
    ("warp_consumer<two>* in", "in->~warp_consumer();"): "st.relaxed, bar.warp.sync, st.release",
    ("warp_producer<two>& out, two const* from", "out.push(*from, 8);"):
        "ld.acquire, shfl, shfl, bar.warp.sync, ld.relaxed, vote, vote, st.relaxed, st.relaxed, st.release",
    ("warp_producer<two>& out", "out.close();"): "bar.warp.sync, st.release",
    ("warp_producer<two>* out", "out->~warp_producer();"): "bar.warp.sync, st.relaxed",
}
COLLECTIVE_KERNELS = "using namespace barmap::gpu;\nstruct two { word words[2]; };\n" + "".join(
    f'extern "C" KERNEL void operation_{number}({parameters}) {{ {text} }}\n'
    for number, (parameters, text) in enumerate(COLLECTIVES))
# And where the threads of the block of a step do.
STEPS = {
    "load": "ld.relaxed, barrier, ld.acquire, barrier, ld.relaxed, barrier, st.relaxed, st.release, st.release",
    "store": "ld.relaxed, barrier, ld.acquire, barrier, st.relaxed, st.relaxed, barrier, fence, st.release, st.relaxed, st.release",
}
STEP_KERNELS = "".join(
    f'extern "C" KERNEL void operation_{number}(barmap::step::task task) '
    f'{{ barmap::step::{name}(task, barmap::step::give_up()); }}\n'
    for number, name in enumerate(STEPS))

# A submission of one piece. Of a segment: its entry; a fence, of one of two scopes, in each
# lane; where the entries end; a fence; the doorbell. Without the first the engine might read an entry that has not arrived:
# the channel then hung (H200). Without the second the doorbell might come first, and the entry would wait for the next one.
SEGMENT = "st.relaxed, fence, fence, bar.warp.sync, st.relaxed, fence, fence, st.relaxed, bar.warp.sync"
# The search for room, which the compiler puts anywhere in the text.
ROOM = "ld.acquire, shfl, shfl, bar.warp.sync, ld.relaxed, shfl, shfl, vote, "
QUEUES = {
    "submit": SEGMENT + ", vote",
    "wait": "ld.acquire, shfl, shfl, bar.warp.sync, ld.relaxed, shfl, shfl, vote",
}
QUEUE_INCLUDES = "#include <barmap/gpu/kernel_queue.cuh>\n#include <barmap/gpu/shared_queue.cuh>\n"
QUEUE_KERNELS = """using namespace barmap::gpu;
extern "C" KERNEL void operation_0(warp_submitter& of, copy_piece const* from, word* ticket) {
    of.submit(1, [=](unsigned) { return *from; }, *ticket);
}
extern "C" KERNEL void operation_1(warp_submitter& of, word ticket) { of.wait(ticket, 1000); }
"""
# A submission to a shared queue, in whatever order its blocks stand: a fence in each lane before the marks, which all are
# stored before the first lane says that the warp has arrived; and what a segment has, by whoever hands over.
SHARED_PARTS = ("fence, fence, bar.warp.sync, st.relaxed, bar.warp.sync", "fence, fence, bar.warp.sync, st.relaxed, fence")
SHARED_KERNEL = """using namespace barmap::gpu;
extern "C" KERNEL void operation_0(shared_submitter& of, copy_piece const* from, word* ticket) {
    of.submit(1, [=](unsigned) { return *from; }, *ticket);
}
"""

KERNEL = "#define KERNEL __global__\n"
INCLUDES = "".join(f"#include <barmap/gpu/{name}.cuh>\n" for name in ("log", "ring", "rpc", "counter"))
WARP_INCLUDES = INCLUDES + "#include <barmap/gpu/warp_ring.cuh>\n"

# Of PTX: neither a kernel's parameters nor what one thread or block keeps.
_ACCESS = re.compile(r"^\s*(?:@%p\d+\s+)?((?:ld|st|atom|red)\.[\w.]+)", re.MULTILINE)
_SHARED_WITH_NOBODY = re.compile(r"^(?:ld|st)\.(?:param|local)\b")
_TOLD = re.compile(r"^(?:(?:ld|st)\.(?:relaxed|acquire|release)\.sys\b|atom\.(?:acq_rel|relaxed)\.gpu\b)")
# Those that the CPU or other threads see, and fences: in PTX, and in LLVM's intermediate language.
_ORDERED = re.compile(r"^\s*((?:fence|(?:ld|st|atom)\.(?:relaxed|acquire|release|acq_rel))[\w.]*)", re.MULTILINE)
_COLLECTIVE = re.compile(r"^\s*(?:\{.*)?\b(fence|barrier(?=\.red\.and)|bar\.warp\.sync|vote(?=\.sync)|shfl(?=\.sync)|"
                         r"(?:ld|st)\.(?:relaxed|acquire|release))\b", re.MULTILINE)
_ORDERED_IN_LLVM = re.compile(
    r'^.*?\b(?:((?:load|store)(?= atomic)|fence|cmpxchg|atomicrmw)\b'
    r'(?:.*? syncscope\("(\w+)"\))?'  # none: the whole system
    r'.*?((?: (?:monotonic|acquire|release|acq_rel|seq_cst))+)|(store volatile <2 x i64>))', re.MULTILINE)


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
                    self.compiled("#define KERNEL\n" + WARP_INCLUDES + USES + WARP_USES, ".cpp",
                                  compiler, f"-std={standard}")

    def test_cuda_reaches_memory_as_the_other_side_is_told(self):
        for architecture in ("sm_70", "sm_80", "sm_86"):
            with self.subTest(architecture):
                ptx = self.ptx(WARP_INCLUDES + USES + WARP_USES, architecture)
                self.assertEqual([], weak_accesses(ptx))
                for wanted in ("ld.acquire.sys", "st.release.sys", "st.relaxed.sys.v2.u64",
                               "atom.relaxed.gpu.cas", "vote.sync.ballot", "bar.warp.sync", "%globaltimer"):
                    self.assertIn(wanted, ptx)

    def expect_operations(self, compiled: str, ordered: re.Pattern, operations: dict[object, str]):
        """Each is made of what the table says, and of no other access, fence or barrier."""
        kernels = re.findall(r"\boperation_\d+\((.*?)\n}", compiled, re.DOTALL)
        self.assertEqual(len(operations), len(kernels))
        for text, (operation, wanted) in zip(kernels, operations.items()):
            with self.subTest(operation):
                found = [" ".join(group.strip() for group in match.groups() if group) for match in ordered.finditer(text)]
                self.assertEqual(wanted, ", ".join(found).replace(ROOM, "", 1))

    def test_cuda_orders_what_it_loads_and_stores(self):
        self.expect_operations(self.ptx(INCLUDES + OPERATION_KERNELS, "sm_70"), _ORDERED,
                               {operation: cuda for operation, (cuda, _) in OPERATIONS.items()})

    def test_cuda_warps_wait_for_each_other(self):
        self.expect_operations(self.ptx(WARP_INCLUDES + COLLECTIVE_KERNELS, "sm_70"), _COLLECTIVE, COLLECTIVES)

    def test_cuda_blocks_of_steps_wait_for_each_other(self):
        self.expect_operations(self.ptx("#include <barmap/gpu/step.cuh>\n" + STEP_KERNELS, "sm_70"), _COLLECTIVE, STEPS)

    def test_cuda_queues_publish_in_order(self):
        self.expect_operations(self.ptx(QUEUE_INCLUDES + QUEUE_KERNELS, "sm_70"), _COLLECTIVE, QUEUES)

    def test_cuda_warps_share_queues_in_order(self):
        ptx = self.ptx(QUEUE_INCLUDES + SHARED_KERNEL, "sm_70")
        found = ", ".join(match.group(1) for match in _COLLECTIVE.finditer(ptx))
        for part in SHARED_PARTS:
            self.assertIn(part, found)

    def test_hip_orders_what_it_loads_and_stores(self):
        compiled = self.hip(INCLUDES + OPERATION_KERNELS, "-emit-llvm")
        self.expect_operations(compiled.replace('syncscope("one-as")', "").replace("-one-as", ""), _ORDERED_IN_LLVM,
                               {operation: hip for operation, (_, hip) in OPERATIONS.items()})

    def test_a_plain_load_would_be_found(self):
        ptx = self.ptx(INCLUDES + "KERNEL void k(barmap::gpu::word* at) { at[1] = at[0]; }\n",
                       "sm_70")
        self.assertEqual(2, len(weak_accesses(ptx)), ptx)

    def hip(self, text: str, *options: str) -> str:
        clang = self.needs_clang()
        targets = subprocess.run([clang, "--print-targets"], capture_output=True, text=True,
                                 check=True).stdout
        if "amdgcn" not in targets:
            self.skipTest("this clang++ does not know AMD's GPUs")
        return self.compiled(QUALIFIERS + KERNEL + text, ".hip", clang, "-x", "hip",
                             "--cuda-device-only", "-nogpuinc", "-nogpulib", "--offload-arch=gfx90a",
                             "-std=c++11", *options)

    def test_hip(self):
        self.assertIn("@llvm.amdgcn.s.memrealtime", self.hip(INCLUDES + USES, "-emit-llvm"))

    def test_warps_are_refused_for_hip(self):
        clang = self.needs_clang()
        with tempfile.TemporaryDirectory() as folder:
            source = Path(folder) / "uses.cpp"
            for header, said in (("warp_ring", "use barmap/gpu/ring.cuh"), ("step", "use barmap/gpu/ring.cuh"),
                                 ("kernel_queue", "are for CUDA")):
                source.write_text(QUALIFIERS + f"#define __HIP__ 1\n#include <barmap/gpu/{header}.cuh>\n")
                result = subprocess.run([clang, f"-I{self.include}", "-ferror-limit=0", "-fsyntax-only", str(source)],
                                        capture_output=True, text=True, check=False)
                self.assertIn(said, result.stderr)


if __name__ == "__main__":
    DeviceHeaders.include = Path(sys.argv.pop(1)).resolve() / "core/include"
    unittest.main()
