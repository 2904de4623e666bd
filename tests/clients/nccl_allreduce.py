# SPDX-License-Identifier: MIT
"""Latency of NCCL's all-reduce between two GPUs of one host, by PyTorch. Prints one line of JSON.

    NCCL_P2P_DISABLE=1 NCCL_SHM_DISABLE=1 NCCL_CUMEM_ENABLE=0 NCCL_GDRCOPY_ENABLE=1 \\
        torchrun --nproc-per-node=2 nccl_allreduce.py

Times are of the CPU, in µs, for an all-reduce and the synchronisation after it.
"""

import json
import os
import time

import torch
import torch.distributed as dist

ELEMENTS, ROUNDS, WARM_UP = 1, 5000, 500


def main():
    rank = int(os.environ["LOCAL_RANK"])
    torch.cuda.set_device(rank)
    dist.init_process_group("nccl")
    wrong = 0
    tensor = torch.empty(ELEMENTS, device="cuda")
    times = []
    for k in range(WARM_UP + ROUNDS):
        tensor.fill_(rank + k)
        torch.cuda.synchronize()
        begin = time.perf_counter()
        dist.all_reduce(tensor)
        torch.cuda.synchronize()
        times.append((time.perf_counter() - begin) * 1e6)
        wrong += bool((tensor != 2 * k + 1).any())
    times = sorted(times[WARM_UP:])
    if rank == 0:
        settings = {name: value for name, value in sorted(os.environ.items()) if name.startswith("NCCL_")}
        print(json.dumps({"program": "all_reduce", "bytes": ELEMENTS * 4, "rounds": ROUNDS, "wrong": wrong,
                          "p50_us": round(times[ROUNDS // 2], 2), "p99_us": round(times[ROUNDS * 99 // 100], 2),
                          "nccl": ".".join(map(str, torch.cuda.nccl.version())), "torch": torch.__version__,
                          "gpu": torch.cuda.get_device_name(), "settings": settings}), flush=True)
    dist.destroy_process_group()


if __name__ == "__main__":
    main()
