#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Times NCCL's send and receive of contiguous memory between two GPUs beside a batch of as many bytes.

    python3 bench/nccl_send.py

Prints a JSON object a line: GB/s, medians; the batch has 4,096 pieces at random places, and PyTorch's copy, like NCCL's,
one. Needs PyTorch with NCCL and two GPUs.
"""

import json
import os
import time

import numpy as np
import torch
import torch.distributed
import torch.multiprocessing

import barmap

PIECES = 4096
SIZES = (512, 4096, 16384, 65536)


def median_us(action, rank, times=60):
    found = []
    for _ in range(times):
        torch.distributed.barrier()
        torch.cuda.synchronize(rank)
        begin = time.perf_counter()
        action()
        torch.cuda.synchronize(rank)
        found.append((time.perf_counter() - begin) * 1e6)
    return sorted(found)[len(found) // 2]


def main(rank):
    os.environ.update(MASTER_ADDR="127.0.0.1", MASTER_PORT="29512", RANK=str(rank), WORLD_SIZE="2")
    torch.cuda.set_device(rank)
    torch.distributed.init_process_group("nccl", device_id=torch.device("cuda", rank))
    queue = barmap.batch_queue(rank)
    for size in SIZES:
        bytes_ = PIECES * size
        data = torch.full((2 * bytes_,), rank + 1, dtype=torch.uint8, device=f"cuda:{rank}")
        part = data[:bytes_]

        def send_or_receive():
            (torch.distributed.send if rank == 0 else torch.distributed.recv)(part, 1 - rank)

        for _ in range(5):
            send_or_receive()
        ways = {"nccl": send_or_receive}
        if rank == 0:
            other = torch.zeros(2 * bytes_, dtype=torch.uint8, device="cuda:1")
            other.copy_(data)  # PyTorch enables the access between the two
            random = np.random.default_rng(1)
            to, from_ = (random.permutation(2 * PIECES)[:PIECES] * size for _ in range(2))
            sizes = np.full(PIECES, size, np.int64)
            ways["copy"] = lambda: other[:bytes_].copy_(part)
            ways["batch"] = lambda: queue.wait(queue.submit(other.data_ptr() + to, data.data_ptr() + from_, sizes))
        times = {name: median_us(ways.get(name, lambda: None), rank) for name in ("nccl", "copy", "batch")}
        if rank == 0:
            print(json.dumps({"what": "send to the other GPU", "pieces": PIECES, "size": size,
                              **{f"{name}_gb_per_s": round(bytes_ / each / 1e3, 2) for name, each in times.items()}}),
                  flush=True)
    torch.distributed.destroy_process_group()


if __name__ == "__main__":
    torch.multiprocessing.spawn(main, nprocs=2)
