#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Times barmap.torch.swap_blocks_batch: the call, and until the stream is past it.

    python3 bench/swap_blocks.py [--pieces N] [--calls N]

Prints a JSON object a line: microseconds, medians and p99, for random disjoint blocks between GPU and pinned
memory; and beside them Mapping.read of 64 KiB and PyTorch's .cpu() of as much. Needs PyTorch and a GPU.
"""

import argparse
import json
import time

import barmap.torch
import numpy as np
import torch


def show(**row):
    print(json.dumps({name: round(value, 2) if isinstance(value, float) else value for name, value in row.items()}))


def times(calls, call, end=lambda: None):
    """@return of each call, and of it with its end, sorted, microseconds."""
    found, whole = [], []
    for _ in range(calls):
        begin = time.perf_counter()
        call()
        found.append((time.perf_counter() - begin) * 1e6)
        end()
        whole.append((time.perf_counter() - begin) * 1e6)
    return sorted(found), sorted(whole)


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--pieces", type=int, default=4096)
    parser.add_argument("--calls", type=int, default=300)
    values = parser.parse_args()
    gpu = torch.empty(1 << 29, dtype=torch.uint8, device="cuda")
    host = torch.empty_like(gpu, device="cpu", pin_memory=True)
    stream = torch.cuda.Stream()
    for size in (512, 4096, 16384):
        sizes = torch.full((values.pieces,), size, dtype=torch.long)
        sides = [
            torch.randperm(each.numel() // size)[: values.pieces] * size + each.data_ptr()
            for each in (gpu, host)
        ]
        for way, (src, dst) in (("d2h", sides), ("h2d", sides[::-1])):
            with torch.cuda.stream(stream):
                calls, whole = times(
                    values.calls,
                    lambda s=src, d=dst: barmap.torch.swap_blocks_batch(s, d, sizes),
                    stream.synchronize,
                )
            middle, last = values.calls // 2, values.calls * 99 // 100
            show(what="swap_blocks_batch", direction=way, pieces=values.pieces, size=size, p50_us=calls[middle],
                 p99_us=calls[last], whole_us=whole[middle], gb_per_s=values.pieces * size / whole[middle] / 1e3)
    data = torch.zeros(65536, dtype=torch.uint8, device="cuda")
    mapping, there = barmap.map(data), np.empty(65536, np.uint8)
    for name, call in (
        ("Mapping.read", lambda: mapping.read(0, 65536)),
        ("Mapping.read_into", lambda: mapping.read_into(there)),
        ("torch .cpu()", data.cpu),
    ):
        show(what=name, direction="d2h", pieces=1, size=65536, p50_us=times(values.calls, call)[0][values.calls // 2])


if __name__ == "__main__":
    main()
