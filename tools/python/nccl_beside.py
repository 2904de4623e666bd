#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Times NCCL's all-reduce on two GPUs, alone and while batches of barmap's copy on both.

    python3 tools/python/nccl_beside.py

Prints a JSON object a line: microseconds, medians of three turns each. Needs PyTorch with NCCL and two GPUs.
"""

import json
import os
import threading
import time

import numpy as np
import torch
import torch.distributed
import torch.multiprocessing

import barmap

SIZES = (4096, 1 << 20, 64 << 20)
PIECES, PIECE = 4096, 16384


def copy_until(stop, rank):
    queue = barmap.batch_queue(rank)
    gpu = torch.zeros(PIECES * PIECE, dtype=torch.uint8, device=f"cuda:{rank}")
    host = torch.zeros(PIECES * PIECE, dtype=torch.uint8, pin_memory=True)
    places = np.arange(PIECES) * PIECE
    sizes = np.full(PIECES, PIECE, np.int64)
    while not stop.is_set():
        queue.wait(queue.submit(host.data_ptr() + places, gpu.data_ptr() + places, sizes))


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


def main(rank):
    os.environ.update(MASTER_ADDR="127.0.0.1", MASTER_PORT="29511", RANK=str(rank), WORLD_SIZE="2")
    torch.cuda.set_device(rank)
    torch.distributed.init_process_group("nccl", device_id=torch.device("cuda", rank))
    all_reduce(SIZES[0])
    for size in SIZES:
        found = {False: [], True: []}
        for turn in range(6):
            stop = threading.Event()
            copies = threading.Thread(target=copy_until, args=(stop, rank))
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
            print(json.dumps({"what": "all_reduce", "size": size, "alone_us": round(alone, 1),
                              "beside_us": round(beside, 1), "ratio": round(beside / alone, 3)}), flush=True)
    torch.distributed.destroy_process_group()


if __name__ == "__main__":
    torch.multiprocessing.spawn(main, nprocs=2)
