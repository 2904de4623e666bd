#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Times NCCL's all-reduce on two GPUs, alone and while batches of barmap's copy on both.

    python3 bench/nccl_beside.py [host|peer|inside]

The batches go from each GPU to pinned host memory, to the other GPU, or inside it. Prints a JSON object a line:
microseconds, medians of three turns each. Needs PyTorch with NCCL and two GPUs.
"""

import json
import os
import sys
import threading
import time

import numpy as np
import torch
import torch.distributed
import torch.multiprocessing

import barmap

SIZES = (4096, 1 << 20, 64 << 20)
PIECES, PIECE = 4096, 16384


def copy_until(stop, rank, between):
    queue = barmap.batch_queue(rank)
    gpu = torch.zeros(PIECES * PIECE, dtype=torch.uint8, device=f"cuda:{rank}")
    if between == "host":
        other = torch.zeros(PIECES * PIECE, dtype=torch.uint8, pin_memory=True)
    else:
        other = torch.zeros_like(gpu, device=f"cuda:{1 - rank if between == 'peer' else rank}")
        other.copy_(gpu)  # PyTorch enables the access between the two
        torch.cuda.synchronize(rank)
    places = np.arange(PIECES) * PIECE
    sizes = np.full(PIECES, PIECE, np.int64)
    while not stop.is_set():
        queue.wait(queue.submit(other.data_ptr() + places, gpu.data_ptr() + places, sizes))


def all_reduce(size):
    data = torch.ones(size // 4, device="cuda")
    found = []
    for _ in range(60 if size > 1 << 20 else 200):
        torch.cuda.synchronize()
        begin = time.perf_counter()
        torch.distributed.all_reduce(data)
        torch.cuda.synchronize()
        found.append((time.perf_counter() - begin) * 1e6)
    return sorted(found)[len(found) // 2]


def main(rank, between):
    os.environ.update(MASTER_ADDR="127.0.0.1", MASTER_PORT="29511", RANK=str(rank), WORLD_SIZE="2")
    torch.cuda.set_device(rank)
    torch.distributed.init_process_group("nccl", device_id=torch.device("cuda", rank))
    all_reduce(SIZES[0])
    for size in SIZES:
        found = {False: [], True: []}
        for turn in range(6):
            stop = threading.Event()
            copies = threading.Thread(target=copy_until, args=(stop, rank, between))
            if turn % 2:
                copies.start()
                time.sleep(0.3)
            torch.distributed.barrier()
            found[turn % 2 == 1].append(all_reduce(size))
            torch.distributed.barrier()
            if turn % 2:
                stop.set()
                copies.join()
        if rank == 0:
            alone, beside = (sorted(found[each])[1] for each in (False, True))
            print(json.dumps({"what": "all_reduce", "between": between, "size": size, "alone_us": round(alone, 1),
                              "beside_us": round(beside, 1), "ratio": round(beside / alone, 3)}), flush=True)
    torch.distributed.destroy_process_group()


if __name__ == "__main__":
    torch.multiprocessing.spawn(main, (sys.argv[1] if len(sys.argv) > 1 else "host",), nprocs=2)
