# SPDX-License-Identifier: MIT
"""Copies key-value caches by the native modules of SGLang (sgl_kernel) and LMCache, by hand, on a GPU; every byte is
checked. What BARMAP_LOG says at exit is what the library took:

    BARMAP_LOG=info barmap run -- python engines_program.py sglang
    BARMAP_LOG=info barmap run -- python engines_program.py lmcache
"""

import sys
import time

import torch

LAYERS, HEADS, DIM = 16, 8, 128
TURNS = 6  # the first ones find the engine being started


def timed(what, nbytes, copy):
    """Copies several times on a stream of its own, and says how fast the fastest was, with the call."""
    stream, times = torch.cuda.Stream(), []
    torch.cuda.synchronize()
    for _ in range(TURNS):
        with torch.cuda.stream(stream):
            begin = time.perf_counter()
            copy()
            called = time.perf_counter()
            stream.synchronize()
            times.append((time.perf_counter() - begin, called - begin))
        time.sleep(0.1)
    whole, call = min(times)
    print(f"{what}: {nbytes / whole / 1e9:.1f} GB/s, {1e6 * call:.0f} us in the call, first {1e6 * times[0][0]:.0f} us",
          flush=True)


def random_on_gpu(*shape):
    return torch.randint(-32768, 32767, shape, dtype=torch.int16).cuda()


def expect_same(one, other, *where):
    """Of tensors on the CPU: PyTorch may be there without its kernels."""
    assert torch.equal(one, other), where


def sglang():
    """--hicache-io-backend direct: CUDA's batch call in the layout page_first_direct, else a copy for each page."""
    from sgl_kernel import kvcacheio

    pages, page, count = 256, 32, 200  # a page of a layer is 64 KiB
    gpu = [random_on_gpu(2 * pages * page, HEADS, DIM) for _ in range(2 * LAYERS)]  # K of all layers, then V
    host = [torch.zeros((pages, LAYERS, page, HEADS, DIM), dtype=torch.int16, pin_memory=True) for _ in range(2)]
    nbytes = 2 * LAYERS * count * page * HEADS * DIM * 2

    def tokens(of_pages):
        return (of_pages[:, None] * page + torch.arange(page)).flatten()

    def paged(tensor):
        return tensor.cpu().view(-1, page, HEADS, DIM)

    out, places, back = (torch.randperm(n)[:count] for n in (2 * pages, pages, 2 * pages))
    timed("SGLang, page_first_direct, store of all layers", nbytes,
          lambda: kvcacheio.transfer_kv_all_layer_direct_lf_pf(gpu, host, tokens(out), tokens(places), page))
    for i in range(2 * LAYERS):
        expect_same(host[i // LAYERS][places, i % LAYERS], paged(gpu[i])[out], "store", i)
    for layer in (0, LAYERS - 1):
        to = [gpu[layer], gpu[LAYERS + layer]]
        timed(f"SGLang, page_first_direct, load of layer {layer}", nbytes // LAYERS,
              lambda: kvcacheio.transfer_kv_per_layer_direct_pf_lf(host, to, tokens(places), tokens(back), layer, page))
        for i in range(2):
            expect_same(paged(to[i])[back], host[i][places, layer], "load", layer, i)
    flat = [torch.zeros((pages * page, HEADS, DIM), dtype=torch.int16, pin_memory=True) for _ in range(2)]
    timed("SGLang, layer_first, store of a layer", nbytes // LAYERS, lambda: kvcacheio.transfer_kv_direct(
        [gpu[0], gpu[LAYERS]], flat, tokens(out), tokens(places), page))
    for i in range(2):
        expect_same(paged(flat[i])[places], paged(gpu[i * LAYERS])[out], "layer_first", i)


def lmcache():
    """What its multi-process server does for engines whose blocks are contiguous."""
    from lmcache import cuda_ops, lmcache_native

    assert cuda_ops.batch_memcpy_supported()
    blocks, block, tokens, chunks = 512, 16, 256, 8  # K or V of a block is 32 KiB
    in_chunks = chunks * tokens // block
    chosen = torch.randperm(blocks)
    out, back = chosen[:in_chunks], chosen[-in_chunks:]
    for name, axis, shape in (("NL_X_TWO_NB_BS_NH_HS", 1, (2, blocks)), ("NL_X_NB_TWO_BS_NH_HS", 0, (blocks, 2))):
        layout = int(getattr(lmcache_native.EngineKVFormat, name))
        gpu = [random_on_gpu(*shape, block, HEADS, DIM) for _ in range(LAYERS)]
        host = torch.zeros((chunks, 2 * LAYERS * tokens * HEADS * DIM), dtype=torch.int16, pin_memory=True)
        nbytes = host[0].numel() * 2
        form = lmcache_native.PageBufferShapeDesc()
        form.kv_size, form.nl, form.nb, form.bs, form.nh, form.hs = 2, LAYERS, blocks, block, HEADS, DIM
        form.element_size, form.dtype = 2, torch.int16

        def transfer(direction, ids):
            layers = [each.data_ptr() for each in gpu]
            group = cuda_ops.DirectCopyGroupSpec(layers, form, layout, tokens, 0, ids.tolist())
            objects = [cuda_ops.DirectCopyObject(host[i].data_ptr(), i * nbytes, nbytes, i, [0]) for i in range(chunks)]
            cuda_ops.execute_direct_copy_transfer(int(direction), torch.device("cuda", 0), 1 << 26, [group], objects)

        way = lmcache_native.TransferDirection
        timed(f"LMCache, {name}, store", chunks * nbytes, lambda: transfer(way.D2H, out))
        before = [each.cpu().index_select(axis, out) for each in gpu]
        for each in gpu:
            each.zero_()
        timed(f"LMCache, {name}, load", chunks * nbytes, lambda: transfer(way.H2D, back))
        for layer in range(LAYERS):
            expect_same(gpu[layer].cpu().index_select(axis, back), before[layer], name, layer)


torch.manual_seed(1)
{"sglang": sglang, "lmcache": lmcache}[sys.argv[1]]()
print("right")
