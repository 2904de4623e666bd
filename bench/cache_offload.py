#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Measures what moving a paged key-value cache costs a model that runs meanwhile.

A small transformer decodes one group of sequences by a CUDA graph. Meanwhile, on a stream of its
own, the cache of another group is offloaded to pinned memory and reloaded into other blocks, again
and again; its old blocks are overwritten. Afterwards the other group is also decoded. Every token
of both groups, and every byte that was moved, must be what it is without any copies.

    python3 bench/cache_offload.py --output cache-offload.json

Methods: none (no copies), barmap (barmap.torch.swap_blocks_batch), batch (cuMemcpyBatchAsync),
kernel (a copying kernel with a warp for each piece, on 32 multiprocessors; needs CuPy).
Needs PyTorch and a GPU. Exits 1 if a token or a byte was wrong.
"""

import argparse
import ctypes
import json
import os
import sys
import time

os.environ.setdefault("CUBLAS_WORKSPACE_CONFIG", ":4096:8")  # the same sums each time

import barmap.torch
import torch
import torch.nn.functional as F
from torch.nn.attention import SDPBackend, sdpa_kernel

TOKENS = 16  # of a block


class Model(torch.nn.Module):
    """Decodes one token for each sequence; grouped-query attention over a paged cache."""

    def __init__(self, layers, width, heads, kv_heads, words, blocks):
        super().__init__()
        self.layers, self.heads, self.kv_heads, self.dim = layers, heads, kv_heads, width // heads
        kv = kv_heads * self.dim

        def weight(*shape):
            return torch.randn(*shape, device="cuda", dtype=torch.bfloat16) / shape[-1] ** 0.5

        self.words, self.places = weight(words, width), weight(4096, width)
        self.q, self.o = weight(layers, width, width), weight(layers, width, width)
        self.k, self.v = weight(layers, kv, width), weight(layers, kv, width)
        self.up, self.down = weight(layers, 4 * width, width), weight(layers, width, 4 * width)
        shape = (layers, 2, blocks, TOKENS, kv_heads, self.dim)
        self.cache = torch.zeros(shape, device="cuda", dtype=torch.bfloat16)

    def forward(self, tokens, at, table):
        count, reach = tokens.shape[0], table.shape[1] * TOKENS
        slot = (table.gather(1, (at // TOKENS)[:, None])[:, 0], at % TOKENS)
        seen = (torch.arange(reach, device="cuda") <= at[:, None])[:, None, None]
        x = self.words[tokens] + self.places[at]
        for i in range(self.layers):
            y = F.layer_norm(x, x.shape[-1:])
            for which, weights in ((0, self.k), (1, self.v)):
                new = (y @ weights[i].T).view(count, self.kv_heads, self.dim)
                self.cache[i, which].index_put_(slot, new)
            keys, values = (
                self.cache[i, which][table].view(count, reach, self.kv_heads, self.dim).transpose(1, 2)
                for which in (0, 1)
            )
            query = (y @ self.q[i].T).view(count, self.heads, 1, self.dim)
            z = F.scaled_dot_product_attention(query, keys, values, seen, enable_gqa=True)
            x = x + z.reshape(count, -1) @ self.o[i].T
            y = F.layer_norm(x, x.shape[-1:])
            x = x + F.gelu(y @ self.up[i].T) @ self.down[i].T
        return (x.float() @ self.words.float().T).argmax(-1)


class Decoder:
    """A captured step, and the sequences that it is for."""

    def __init__(self, model, count, blocks):
        self.tokens = torch.zeros(count, dtype=torch.long, device="cuda")
        self.at = torch.zeros(count, dtype=torch.long, device="cuda")
        self.table = torch.zeros(count, blocks, dtype=torch.long, device="cuda")
        side = torch.cuda.Stream()
        with torch.cuda.stream(side), torch.no_grad():
            for _ in range(3):
                model(self.tokens, self.at, self.table)
        side.synchronize()
        self.graph = torch.cuda.CUDAGraph()
        with torch.cuda.graph(self.graph), torch.no_grad():
            self.next = model(self.tokens, self.at, self.table)
            self.tokens.copy_(self.next)
            self.at.add_(1)

    def run(self, table, state, steps, each=lambda: None):
        """@return the tokens, and where to continue."""
        self.table.copy_(table)
        self.tokens.copy_(state[0])
        self.at.copy_(state[1])
        out = []
        for _ in range(steps):
            self.graph.replay()
            out.append(self.next.clone())
            each()
        return torch.stack(out), (self.tokens.clone(), self.at.clone())


def by_barmap(stream):
    def copy(src, dst, sizes):
        with torch.cuda.stream(stream):
            barmap.torch.swap_blocks_batch(src, dst, sizes)

    return copy


def by_batch_call(stream):
    call = ctypes.CDLL("libcuda.so.1").cuMemcpyBatchAsync

    class Attributes(ctypes.Structure):
        _fields_ = [("order", ctypes.c_int), ("locations", ctypes.c_int * 4), ("flags", ctypes.c_uint)]

    how, first, failed = Attributes(1), ctypes.c_size_t(0), ctypes.c_size_t(0)

    def copy(src, dst, sizes):
        result = call(
            ctypes.c_void_p(dst.data_ptr()), ctypes.c_void_p(src.data_ptr()),
            ctypes.c_void_p(sizes.data_ptr()), ctypes.c_size_t(src.numel()), ctypes.byref(how),
            ctypes.byref(first), ctypes.c_size_t(1), ctypes.byref(failed),
            ctypes.c_void_p(stream.cuda_stream),
        )
        if result:
            raise RuntimeError(f"cuMemcpyBatchAsync: {result}")

    return copy


def by_kernel(stream):
    import cupy

    kernel = cupy.RawKernel(
        r"""extern "C" __global__ void copy(long long const* from, long long const* to,
                                            long long const* bytes, int count) {
            int lane = threadIdx.x % 32, warps = gridDim.x * blockDim.x / 32;
            for (int i = (blockIdx.x * blockDim.x + threadIdx.x) / 32; i < count; i += warps) {
                int4 const* a = (int4 const*)from[i];
                int4* b = (int4*)to[i];
                for (int k = lane; k < bytes[i] / 16; k += 32)
                    b[k] = a[k];
            }
        }""",
        "copy",
    )
    kept = []

    def copy(src, dst, sizes):
        with torch.cuda.stream(stream):
            lists = [each.pin_memory().cuda(non_blocking=True) for each in (src, dst, sizes)]
            kept.append(lists)
            with cupy.cuda.ExternalStream(stream.cuda_stream):
                kernel((32,), (1024,), (*(each.data_ptr() for each in lists), src.numel()))
            del kept[:-8]

    return copy


METHODS = {"none": None, "barmap": by_barmap, "batch": by_batch_call, "kernel": by_kernel}


class Mover:
    """Moves the other group's cache out and in, a part of it in each step of the model."""

    def __init__(self, model, blocks, spare, host, method, stream, parts):
        self.model, self.stream, self.copy = model, stream, method(stream)
        self.piece = model.cache.stride(2) * model.cache.element_size()
        count = len(blocks) * model.cache.shape[0] * 2
        assert count % parts == 0
        self.sizes = torch.full((count // parts,), self.piece, dtype=torch.long)
        host = host.data_ptr() + torch.arange(count, dtype=torch.long) * self.piece
        self.host = host.view(parts, -1)
        self.places = [self.addresses(each).view(parts, -1) for each in (blocks, spare)]
        self.indices = [torch.tensor(each, device="cuda") for each in (blocks, spare)]
        self.lists = blocks, spare
        self.parts, self.part = parts, 0
        self.at, self.is_out, self.moved, self.cpu = 0, False, 0, []

    @property
    def blocks(self):
        return self.lists[self.at]

    def addresses(self, blocks):
        cache, size = self.model.cache, self.model.cache.element_size()
        base = torch.tensor(blocks, dtype=torch.long) * self.piece + cache.data_ptr()
        outer = torch.arange(cache.shape[0] * 2, dtype=torch.long) * cache.stride(1) * size
        return (outer[:, None] + base[None]).flatten().contiguous()

    def step(self):
        self.stream.wait_stream(torch.cuda.current_stream())
        if self.is_out and self.part == 0:
            self.at = 1 - self.at
        lists = self.places[self.at][self.part], self.host[self.part]
        if self.is_out:
            lists = lists[::-1]
        begin = time.perf_counter()
        self.copy(*lists, self.sizes)
        self.cpu.append((time.perf_counter() - begin) * 1e6)
        self.part = (self.part + 1) % self.parts
        if self.part == 0:
            if not self.is_out:  # what was offloaded is overwritten
                with torch.cuda.stream(self.stream):
                    self.model.cache.index_fill_(2, self.indices[self.at], 7.0)
            self.is_out = not self.is_out
        self.moved += self.sizes.numel() * self.piece


def measure(values, model, decoder, name):
    """One run; @return a row of the results."""
    each = values.context // TOKENS
    first = torch.arange(values.sequences * each, device="cuda").view(values.sequences, each)
    others = list(range(first.numel(), 2 * first.numel()))
    spare = list(range(2 * first.numel(), 3 * first.numel()))
    stream = torch.cuda.Stream()
    zeros = torch.zeros(values.sequences, dtype=torch.long, device="cuda")
    start = torch.arange(values.sequences, device="cuda"), zeros
    model.cache.zero_()

    def table(blocks):
        return torch.tensor(blocks, device="cuda").view(values.sequences, each)

    steps = values.context // 2 - 1
    prompt, state = decoder.run(table(others), (start[0] + 100, start[1]), steps)
    pieces = model.cache.shape[0] * 2 * len(others)
    host = torch.zeros(pieces * model.cache.stride(2), dtype=torch.bfloat16, pin_memory=True)
    held = model.cache[:, :, others].clone()
    mover = None
    if METHODS[name]:
        mover = Mover(model, others, spare, host, METHODS[name], stream, values.parts)
        for _ in range(2 * values.parts):  # once before anything is timed
            mover.step()
        mover.moved, mover.cpu = 0, []
    torch.cuda.synchronize()
    begin = time.perf_counter()
    timed = steps // (2 * values.parts) * 2 * values.parts
    tokens, _ = decoder.run(first, start, timed, mover.step if mover else lambda: None)
    decoder_end = torch.cuda.Event()
    decoder_end.record()
    decoder_end.synchronize()
    model_seconds = time.perf_counter() - begin
    torch.cuda.synchronize()
    seconds = time.perf_counter() - begin
    blocks = mover.blocks if mover else others
    wrong = int((model.cache[:, :, blocks] != held).sum())
    later, _ = decoder.run(table(blocks), state, steps)
    row = {
        "measurement": "cache offload", "method": name, "pieces": pieces // values.parts,
        "size": model.cache.stride(2) * 2, "wrong_elements": wrong,
        "tokens_per_s": tokens.numel() / model_seconds, "seconds": seconds,
    }
    if mover:
        row["gb_per_s"] = mover.moved / seconds / 1e9
        row["submit_us"] = sorted(mover.cpu)[len(mover.cpu) // 2]
    return row, torch.cat([prompt, tokens, later]).cpu()


@sdpa_kernel(SDPBackend.MATH)  # the fused ones give other tokens from run to run
def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--methods", default=",".join(METHODS))
    parser.add_argument("--layers", type=int, default=8)
    parser.add_argument("--width", type=int, default=2048)
    parser.add_argument("--sequences", type=int, default=16)
    parser.add_argument("--context", type=int, default=512)
    parser.add_argument("--parts", type=int, default=4, help="of the cache, one a step")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--output")
    values = parser.parse_args()
    if not torch.cuda.is_available():
        sys.exit("cache_offload.py: PyTorch sees no GPU")
    torch.manual_seed(7)
    blocks = 3 * values.sequences * values.context // TOKENS
    model = Model(values.layers, values.width, 16, 2, 32000, blocks)
    decoder = Decoder(model, values.sequences, values.context // TOKENS)
    results, expected, good = [], None, True
    for round_ in range(values.rounds):
        for name in values.methods.split(","):
            row, tokens = measure(values, model, decoder, name)
            expected = tokens if expected is None else expected
            row["round"], row["tokens"] = round_, tokens.numel()
            row["wrong_tokens"] = int((tokens != expected).sum())
            good &= row["wrong_tokens"] == 0 and row["wrong_elements"] == 0
            results.append(row)
            print({key: round(value, 1) if isinstance(value, float) else value for key, value in row.items()})
    about = {"gpu": torch.cuda.get_device_name(), "torch": torch.__version__,
             "engine": barmap.batch_queue().engine, "command": sys.argv}
    if values.output:
        with open(values.output, "w") as file:
            json.dump({"barmap": barmap.__version__, "machine": about, "results": results}, file, indent=1)
    sys.exit(0 if good else 1)


if __name__ == "__main__":
    main()
