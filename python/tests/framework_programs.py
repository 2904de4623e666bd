# SPDX-License-Identifier: MIT
"""What frameworks_test.py runs, each in a process of its own: a framework's memory is mapped, written
by the CPU and read by the framework on the GPU, and the other way round.

    python framework_programs.py NAME     prints what was mapped, by which backend
"""

import os
import sys

import numpy as np

import barmap

IS_SKIPPED = 77  # the exit status where the GPU cannot do what the program tests


def check_both_ways(name, array, double, synchronize):
    """Maps an array of int32.

    Parameters
    ----------
    double : callable
        Doubles an array on the GPU by an operation of the framework and gives what the GPU then has,
        as a NumPy array of int64.
    """
    synchronize()
    values = np.arange(np.prod(array.shape), dtype=np.int32).reshape(array.shape)
    with barmap.map(array) as mapping:
        view = mapping.numpy()
        assert view.shape == values.shape and view.dtype == values.dtype and view.strides
        if view.flags.c_contiguous:
            mapping.write(values)
        else:
            view[...] = values
            barmap.flush_stores()
        seen = double(array)
        assert np.array_equal(seen, 2 * values.astype(np.int64)), f"{name}: the GPU saw {seen}"
        synchronize()
        there = np.frombuffer(mapping.read(), np.int32)
        strides = [step // 4 for step in view.strides]
        there = np.lib.stride_tricks.as_strided(there, view.shape, [4 * step for step in strides])
        assert np.array_equal(there, 2 * values), f"{name}: the CPU saw {there}"
        assert view[(-1,) * view.ndim] == 2 * values[(-1,) * values.ndim]
        print(f"{name}: {mapping.nbytes} bytes, {mapping.backend}, {mapping.kind}")
        del view


def _torch(name, make):
    import torch

    def double(tensor):
        tensor.mul_(2)
        return tensor.long().cpu().numpy()

    for shape in ((16,), (3, 5), (1024, 1024), (1 << 21,)):
        check_both_ways(f"{name} {shape}", make(shape), double, torch.cuda.synchronize)
    wide = make((64, 64))
    check_both_ways(f"{name} strided", wide[8:40:2, 1:9], double, torch.cuda.synchronize)


def _zeros(shape):
    import torch

    return torch.zeros(shape, dtype=torch.int32, device="cuda")


def torch_default():
    _torch("PyTorch, default allocator", _zeros)
    import torch

    half = torch.zeros(8, dtype=torch.bfloat16, device="cuda")  # no __cuda_array_interface__
    torch.cuda.synchronize()
    with barmap.map(half) as mapping:
        assert mapping.dtype == np.dtype("V2") and mapping.nbytes == 16
        mapping.write(np.full(8, 0x3F80, np.uint16))
    assert half.float().sum().item() == 8


def torch_expandable_segments():
    _torch("PyTorch, expandable segments", _zeros)


def torch_pool():
    import torch

    import barmap.torch

    pool = barmap.torch.pool()
    with torch.cuda.use_mem_pool(pool):
        _torch("PyTorch, barmap's pool", _zeros)
        small = [_zeros(8) for _ in range(100)]
    torch.cuda.synchronize()
    for value, tensor in enumerate(small):
        with barmap.map(tensor) as mapping:
            mapping.write(np.full(8, value, np.int32))
    assert [int(tensor.sum()) for tensor in small] == [8 * value for value in range(100)]
    del small, tensor, pool
    torch.cuda.empty_cache()
    _torch("PyTorch, its own memory again", _zeros)


def torch_change_current_allocator():
    import torch

    import barmap.torch

    torch.cuda.memory.change_current_allocator(barmap.torch.allocator())
    _torch("PyTorch, barmap as the allocator", _zeros)
    for _ in range(20):  # freed while the GPU still works on it
        tensor = _zeros(1 << 20)
        for _ in range(20):
            tensor.add_(1)
        del tensor
    torch.cuda.synchronize()


def torch_exchanges_dlpack():
    import torch

    array = barmap.alloc((32, 8), "i4")
    array.fill(0)
    tensor = torch.from_dlpack(array)
    assert tensor.data_ptr() == array.gpu_address and tensor.shape == (32, 8)
    tensor += 3
    torch.cuda.synchronize()
    assert np.frombuffer(array.read(), np.int32).tolist() == [3] * 256
    try:
        array.close()
    except BufferError:
        pass
    else:
        raise AssertionError("closed under a tensor")
    del tensor
    array.close()


def barmap_alloc():
    import torch

    array = barmap.alloc((64, 32), "i4")
    tensor = torch.as_tensor(array, device="cuda")
    assert tensor.data_ptr() == array.gpu_address
    array.write(np.arange(2048, dtype=np.int32))
    tensor.mul_(2)
    torch.cuda.synchronize()
    assert np.array_equal(np.frombuffer(array.read(), np.int32), 2 * np.arange(2048))
    print(f"barmap.alloc: {array.backend}, {array.kind}")


def _cupy(name):
    import cupy

    def double(array):
        array *= 2
        return cupy.asnumpy(array).astype(np.int64)

    def synchronize():
        cupy.cuda.runtime.deviceSynchronize()

    for shape in ((16,), (3, 5), (1024, 1024), (1 << 21,)):
        check_both_ways(f"{name} {shape}", cupy.zeros(shape, np.int32), double, synchronize)
    for layout, array in (
        ("Fortran order", cupy.zeros((8, 16), np.int32, order="F")),
        ("strided", cupy.zeros((64, 64), np.int32)[8:40:2, 1:9]),
    ):
        check_both_ways(f"{name}, {layout}", array, double, synchronize)


def cupy_default():
    _cupy("CuPy, default allocator")


def cupy_allocator():
    import cupy

    import barmap.cupy

    cupy.cuda.set_allocator(barmap.cupy.allocator())
    _cupy("CuPy, barmap's allocator")
    small = [cupy.full(8, value, np.int32) for value in range(5000)]
    cupy.cuda.runtime.deviceSynchronize()
    for value, array in enumerate(small):
        with barmap.map(array) as mapping:
            assert np.frombuffer(mapping.read(), np.int32).tolist() == [value] * 8
    try:
        cupy.zeros(1 << 50, np.uint8)
    except barmap.Error as refused:
        assert refused.category == "cuda", refused
    else:
        raise AssertionError("a pebibyte was allocated")


def cupy_exchanges_dlpack():
    import cupy

    array = barmap.alloc(64, "f4")
    array.fill(0)
    there = cupy.from_dlpack(array)
    there += 1
    cupy.cuda.runtime.deviceSynchronize()
    assert array.numpy().sum() == 64


def numba_default():
    from numba import cuda

    @cuda.jit
    def twice(array):
        i = cuda.grid(1)
        if i < array.size:
            array[i] *= 2

    def double(array):
        twice[(array.size + 255) // 256, 256](array)
        return array.copy_to_host().astype(np.int64)

    for size in (16, 1 << 20):
        array = cuda.device_array(size, np.int32)
        check_both_ways(f"Numba {size}", array, double, cuda.synchronize)


def jax_default():
    os.environ.setdefault("XLA_PYTHON_CLIENT_PREALLOCATE", "false")
    import jax

    array = jax.numpy.zeros(1024, "int32")
    array.block_until_ready()
    with barmap.map(array) as mapping:  # JAX's arrays are immutable: read only
        assert mapping.read() == bytes(4096)
        print(f"JAX: {mapping.backend}, {'read-only' if mapping.readonly else 'writable'}")
    array = jax.numpy.arange(1024, dtype="int32")
    array.block_until_ready()
    with barmap.map(array) as mapping:
        assert np.array_equal(np.frombuffer(mapping.read(), np.int32), np.arange(1024))


def _rows_both_ways(gpu, host, other_host, stream, synchronize, numpy):
    """Rows of an array of 64 rows go out in an order of their own, and back in another one."""
    order, back = np.random.default_rng(1).permutation(64), np.random.default_rng(2).permutation(64)
    before = numpy(gpu)
    barmap.copy_rows(host, gpu, from_rows=order, stream=stream)
    barmap.copy_rows(other_host, gpu, from_rows=order, stream=stream)
    barmap.copy_rows(gpu, host, back, np.arange(64), stream=stream)
    synchronize()
    for each in (host, other_host):
        assert np.array_equal(np.asarray(each), before[order])
    expected = before.copy()
    expected[back] = before[order]
    assert np.array_equal(numpy(gpu), expected)
    barmap.copy_rows(host, gpu, from_rows=[63, 0])  # waits by itself
    assert np.array_equal(np.asarray(host)[:2], expected[[63, 0]])
    print(f"64 rows by engine {barmap.batch_queue().engine}")


def torch_rows():
    import torch

    cache = torch.arange(64 * 100, dtype=torch.int32, device="cuda").reshape(64, 100)
    host = torch.zeros((64, 100), dtype=torch.int32, pin_memory=True)
    _rows_both_ways(cache, host, barmap.pinned((64, 100), "i4"), torch.cuda.Stream(),
                        torch.cuda.synchronize, lambda tensor: tensor.cpu().numpy())
    brain = torch.ones((8, 100), dtype=torch.bfloat16, device="cuda")
    kept = torch.zeros((8, 100), dtype=torch.bfloat16, pin_memory=True)
    torch.cuda.synchronize()
    barmap.copy_rows(kept, brain, from_rows=[1, 2])
    assert kept.sum().item() == 200


def cupy_rows():
    import cupy
    import cupyx

    cache = cupy.arange(64 * 100, dtype=np.int32).reshape(64, 100)
    stream = cupy.cuda.Stream(non_blocking=True)
    _rows_both_ways(cache, cupyx.empty_pinned((64, 100), np.int32), barmap.pinned((64, 100), "i4"),
                        stream, cupy.cuda.runtime.deviceSynchronize, cupy.asnumpy)


def torch_swap_blocks():
    import time

    import torch

    import barmap.torch

    count, size = 4096, 4096
    cache = torch.zeros((2 * count, size), dtype=torch.uint8, device="cuda")
    pool = torch.zeros((count, size), dtype=torch.uint8, pin_memory=True)
    out, places, back = (torch.randperm(n)[:count] for n in (2 * count, count, 2 * count))
    sizes = torch.full((count,), size)
    stream = torch.cuda.Stream()
    for turn in range(1, 21):
        with torch.cuda.stream(stream):
            cache.random_()  # before the copies, in the order of the stream
            expected = cache.clone()
            expected[back.cuda()] = cache[out.cuda()]
            begin = time.process_time_ns()
            lists = [array.data_ptr() + size * blocks
                     for array, blocks in ((cache, out), (pool, places), (cache, back))]
            barmap.torch.swap_blocks_batch(lists[0], lists[1], sizes)
            barmap.torch.swap_blocks_batch(lists[1], lists[2], sizes, is_src_access_order_any=True)
            del lists  # which may go
            spent = time.process_time_ns() - begin
            wrong = (cache != expected).sum().item()  # after them, and waited for on this stream
        assert wrong == 0, f"turn {turn}: {wrong} bytes are wrong"
    print(f"{count} blocks of {size} bytes by engine {barmap.batch_queue().engine}: "
          f"{spent / 2000:.0f} us of CPU time for a submission, lists included")

    sizes[:] = 0
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        cache.add_(1)
        try:
            barmap.torch.swap_blocks_batch(sizes, sizes, sizes)
        except RuntimeError as refusal:
            assert "captured" in str(refusal)
        else:
            raise AssertionError("a batch was captured")


def _kernel_queue():
    try:
        return barmap.KernelQueue()
    except barmap.Error as refused:
        print(refused)
        sys.exit(IS_SKIPPED if "not available on this machine" in str(refused) else 1)


def torch_submits_pieces():
    import torch

    import barmap.torch

    queue, nbytes = _kernel_queue(), 16384
    pool = torch.randint(0, 256, (64, nbytes), dtype=torch.uint8).pin_memory()
    cache = torch.zeros((8, nbytes), dtype=torch.uint8, device="cuda")
    to = cache.data_ptr() + nbytes * torch.arange(8, device="cuda")
    first = pool.data_ptr()

    def fetch(rows, count=None):  # on the current stream, which is not waited for
        pieces = torch.stack((to, first + nbytes * rows, torch.full_like(rows, nbytes)), 1)
        barmap.torch.submit_pieces(queue, pieces, count)
        return cache.sum(1)

    def expect(sums, rows):
        assert sums.tolist() == pool[rows.cpu()].sum(1).tolist()

    def chosen():
        return torch.randperm(64, device="cuda")[:8]

    with torch.cuda.stream(torch.cuda.Stream()):
        for _ in range(10):
            rows = chosen()
            expect(fetch(rows), rows)
        cache.zero_()
        few = fetch(rows, torch.tensor(3, device="cuda"))
        assert few[3:].sum().item() == 0
        expect(few[:3], rows[:3])

    compiled = torch.compile(fetch, backend="aot_eager")
    for _ in range(3):
        rows = chosen()
        expect(compiled(rows), rows)

    rows = chosen()
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        sums = fetch(rows)
    for _ in range(10):
        rows.copy_(chosen())
        graph.replay()
        expect(sums, rows)
    queue.check()
    del graph
    queue.close()


SUBMITTING_KERNEL = """
#include <barmap/gpu/kernel_queue.cuh>
namespace gpu = barmap::gpu;

extern "C" __global__ void fetch(gpu::kernel_queue queue, gpu::copy_piece const* pieces, unsigned count,
                                 int* result) {
    gpu::warp_submitter copies(queue);
    gpu::word ticket = 0;
    gpu::status became = copies.submit(count, [=](unsigned i) { return pieces[i]; }, ticket);
    if (became == gpu::status::ok)
        became = copies.wait(ticket, 10000000000);
    if (threadIdx.x == 0)
        *result = static_cast<int>(became);
}
"""


def cupy_submits_pieces():
    import cupy

    queue, nbytes = _kernel_queue(), 16384
    pool = barmap.pinned((64, nbytes), "u1")
    pool[:] = np.random.default_rng(1).integers(0, 256, pool.shape)
    cache = cupy.zeros((8, nbytes), np.uint8)
    pieces = cupy.zeros((8, 3), np.int64)

    def choose(seed):
        rows = np.random.default_rng(seed).permutation(64)[:8]
        to = cache.data.ptr + nbytes * np.arange(8)
        pieces.set(np.stack((to, pool.ctypes.data + nbytes * rows, np.full(8, nbytes)), 1).astype(np.int64))
        cache.fill(0)
        return pool[rows]

    with cupy.cuda.Stream(non_blocking=True) as stream:
        for seed in range(10):
            expected = choose(seed)
            queue.submit(pieces)  # on CuPy's current stream
            assert np.array_equal(cupy.asnumpy(cache), expected)
        expected = choose(11)
        queue.submit(pieces, cupy.array([3]), stream=stream)
        assert np.array_equal(cupy.asnumpy(cache), np.concatenate((expected[:3], np.zeros_like(expected[3:]))))

        stream.begin_capture()
        queue.submit(pieces)
        graph = stream.end_capture()
        for seed in range(20, 30):
            expected = choose(seed)
            graph.launch(stream)
            assert np.array_equal(cupy.asnumpy(cache), expected)

        kernel = cupy.RawKernel(SUBMITTING_KERNEL, "fetch", ("-std=c++17", f"-I{barmap.include_dir()}"))
        result = cupy.full(1, -1, np.int32)
        expected = choose(31)
        kernel((1,), (32,), (queue.handle, pieces, np.uint32(8), result))
        assert result.get().tolist() == [0]
        assert np.array_equal(cupy.asnumpy(cache), expected)
        stream.synchronize()
    queue.check()
    del graph
    queue.close()


if __name__ == "__main__":
    globals()[sys.argv[1]]()
