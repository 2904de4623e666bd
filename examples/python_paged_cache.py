#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Offloads a paged key-value cache beside a running model, reloads it elsewhere, and checks it.

One request is interrupted: its blocks go to pinned host memory while another request is computed,
which then takes over the blocks; later they come back into other ones. Both requests must get the
tokens that they get alone.

    python3 examples/python_paged_cache.py            no framework: NumPy computes on mapped memory
    python3 examples/python_paged_cache.py --torch    PyTorch, and copies on a separate stream

Runs without a GPU as well: BARMAP_SIM=1 python3 examples/python_paged_cache.py
"""

import concurrent.futures
import sys

import barmap
import numpy as np

BLOCKS, TOKENS, WIDTH, WORDS = 16, 4, 32, 256  # blocks, tokens in each, numbers a token, vocabulary
SHAPE = (BLOCKS, 2, TOKENS, WIDTH)  # keys, then values, of each block


class WithNumpy:
    """The CPU computes, on GPU memory that is mapped; a thread copies."""

    def __init__(self):
        self.array = barmap.alloc(SHAPE, "f4")
        self.array.fill(0)
        self.cache = self.array.numpy()
        self.thread = concurrent.futures.ThreadPoolExecutor(1)

    def weights(self, values):
        return values

    def begin(self, copy, *arguments):
        """Begins to copy; returns a function that waits for its end."""
        barmap.flush_stores()  # what the model wrote through the mapping
        return self.thread.submit(copy, *arguments).result

    def exp(self, values):
        return np.exp(values)

    def bytes(self):
        return self.cache.copy()


class WithTorch:
    """The GPU computes; copies are in the order of a second stream."""

    def __init__(self):
        import torch

        self.array = self.cache = torch.zeros(SHAPE, device="cuda")
        self.side, self.torch, self.exp = torch.cuda.Stream(), torch, torch.exp

    def weights(self, values):
        return self.torch.from_numpy(values).cuda()

    def begin(self, copy, *arguments):
        now = self.torch.cuda.current_stream()
        self.side.wait_stream(now)  # what the model has written
        copy(*arguments, stream=self.side)  # returns at once
        return lambda: self.torch.cuda.current_stream().wait_stream(self.side)

    def bytes(self):
        return self.cache.cpu().numpy()


class Model:
    """One layer of attention, and a vocabulary."""

    def __init__(self, gpu):
        chance = np.random.default_rng(7)

        def random(*shape):
            return gpu.weights(chance.standard_normal(shape).astype("f4"))

        self.gpu, self.words, self.places = gpu, random(WORDS, WIDTH), random(64, WIDTH)
        self.query, self.key, self.value = (random(WIDTH, WIDTH) for _ in range(3))

    def step(self, request):
        """Appends the next token to a request, and the last one's key and value to its blocks."""
        cache, at = self.gpu.cache, len(request.tokens) - 1
        if at == len(request.blocks) * TOKENS:
            request.blocks.append(request.free.pop())
        block = request.blocks[at // TOKENS]
        last = self.words[request.tokens[at]] + self.places[at]
        cache[block, 0, at % TOKENS] = last @ self.key
        cache[block, 1, at % TOKENS] = last @ self.value
        keys, values = (cache[request.blocks, which].reshape(-1, WIDTH)[: at + 1] for which in (0, 1))
        scores = keys @ (last @ self.query) / WIDTH
        weights = self.gpu.exp(scores - scores.max())
        request.tokens.append(int((self.words @ (weights @ values)).argmax()))


class Request:
    def __init__(self, first_token, free):
        self.tokens, self.blocks, self.free = [first_token], [], free


def alone(gpu, first_token, steps):
    request = Request(first_token, list(range(BLOCKS)))
    model = Model(gpu)
    for _ in range(steps):
        model.step(request)
    return request.tokens


def main(gpu):
    free = list(range(BLOCKS))
    model, first, second = Model(gpu), Request(1, free), Request(2, free)
    pool = barmap.pinned(SHAPE, "f4")  # where offloaded blocks lie
    for _ in range(18):
        model.step(first)
    before = gpu.bytes()[first.blocks]

    # Offload, while the model continues with the other request.
    places = [9, 2, 11, 4, 5][: len(first.blocks)]
    wait = gpu.begin(barmap.copy_rows, pool, gpu.array, places, first.blocks)
    for _ in range(12):
        model.step(second)
    wait()
    free[:0] = first.blocks  # the last to be taken
    taken, first.blocks = first.blocks, []
    for _ in range(8):
        model.step(second)

    # Reload into whatever blocks are free, beside the model again; the old ones get other bytes.
    first.blocks = [free.pop() for _ in taken]
    gpu.cache[[block for block in taken if block not in first.blocks + second.blocks]] = 12345.0
    wait = gpu.begin(barmap.copy_rows, gpu.array, pool, first.blocks, places)
    for _ in range(4):
        model.step(second)
    wait()
    assert set(first.blocks) != set(taken) and not set(first.blocks) & set(second.blocks)
    assert gpu.bytes()[first.blocks].tobytes() == before.tobytes() == pool[places].tobytes()
    for _ in range(10):
        model.step(first)

    assert first.tokens == alone(gpu, 1, 28), "the interrupted request"
    assert second.tokens == alone(gpu, 2, 24), "the other request"
    queue = barmap.batch_queue()
    print(f"{len(places)} blocks of {before[0].nbytes} bytes went out and back by engine "
          f"{queue.engine}: all bytes and {len(first.tokens) + len(second.tokens)} tokens are right")


if __name__ == "__main__":
    try:
        main(WithTorch() if "--torch" in sys.argv[1:] else WithNumpy())
    except (ImportError, RuntimeError) as refusal:
        sys.exit(f"python_paged_cache.py: {refusal}")
