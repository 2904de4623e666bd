#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Lets vLLM's offloading of key-value caches copy by barmap: one assignment, from outside.

Import this before vLLM starts, in each process that has a worker, for example by
``--worker-extension-cls`` or a plugin of vLLM's (entry point ``vllm.general_plugins``):

    import python_vllm_offload
    python_vllm_offload.patch()

Run as a program it checks itself, with or without vLLM: it calls what is patched as vLLM's worker
does, and compares every byte. Needs PyTorch with CUDA:

    python3 examples/python_vllm_offload.py
"""

import importlib
import importlib.util
import sys
import types

import barmap
import numpy as np

OPERATIONS = "vllm._custom_ops"


def patch():
    """From now on, what vLLM's worker calls for a batch of blocks is barmap's function."""
    import barmap.torch

    operations = importlib.import_module(OPERATIONS)
    operations.swap_blocks_batch = barmap.torch.swap_blocks_batch


def check(count=1000, size=4096):
    """Offloads random blocks and reloads them elsewhere, by the function that is patched."""
    import torch

    if not importlib.util.find_spec("vllm"):
        print("vLLM is not installed: a module of this name takes its place")
        sys.modules.update({name: types.ModuleType(name) for name in ("vllm", OPERATIONS)})
    patch()
    operations = sys.modules[OPERATIONS]

    # Stand for vLLM's tensors: the GPU's cache, and the pool in pinned host memory.
    gpu, pool = barmap.alloc((2 * count, size), "u1"), barmap.pinned((count, size), "u1")
    chance = np.random.default_rng(1)
    bytes_before = chance.integers(0, 256, (2 * count, size), "u1")
    gpu.write(bytes_before)
    out, places, back = (chance.permutation(n)[:count] for n in (2 * count, count, 2 * count))

    def addresses(array, start, blocks):
        return torch.tensor((start + blocks * array.strides[0]).tolist(), dtype=torch.int64)

    sizes = torch.tensor([size] * count, dtype=torch.int64)
    in_pool = addresses(pool, pool.ctypes.data, places)
    operations.swap_blocks_batch(addresses(gpu, gpu.gpu_address, out), in_pool, sizes)
    operations.swap_blocks_batch(in_pool, addresses(gpu, gpu.gpu_address, back), sizes,
                                 is_src_access_order_any=True)
    torch.cuda.current_stream().synchronize()

    expected = bytes_before.copy()
    expected[back] = bytes_before[out]
    assert pool[places].tobytes() == bytes_before[out].tobytes(), "what was offloaded"
    assert gpu.read() == expected.tobytes(), "what was reloaded"
    print(f"{count} blocks of {size} bytes offloaded and reloaded by engine "
          f"{barmap.batch_queue().name}: all bytes are right")


if __name__ == "__main__":
    try:
        check()
    except (ImportError, RuntimeError) as refusal:
        sys.exit(f"python_vllm_offload.py: {refusal}")
