# SPDX-License-Identifier: MIT
"""Copies batches by NVIDIA's Python package cuda-bindings, by hand; every byte is checked. On a GPU, or on the
simulated one:

    BARMAP_LOG=info barmap run -- python bindings_program.py
    BARMAP_LOG=info BARMAP_ENGINE=driver barmap sim -- barmap run -- python bindings_program.py
"""

import ctypes
import time

from cuda.bindings import driver

COUNT, SIZE = 256, 4096


def checked(result):
    assert int(result[0]) == 0, result
    return result[1] if len(result) > 1 else None


def copy(to, source, stream):
    order = driver.CUmemcpyAttributes()
    order.srcAccessOrder = driver.CUmemcpySrcAccessOrder.CU_MEMCPY_SRC_ACCESS_ORDER_STREAM
    places = [i * 5 % COUNT * SIZE for i in range(COUNT)]
    checked(driver.cuMemcpyBatchAsync([driver.CUdeviceptr(to + at) for at in places],
                                      [driver.CUdeviceptr(source + at) for at in places],
                                      [SIZE] * COUNT, COUNT, [order], [0], 1, stream))


def main():
    checked(driver.cuInit(0))
    checked(driver.cuCtxSetCurrent(checked(driver.cuDevicePrimaryCtxRetain(0))))
    stream = checked(driver.cuStreamCreate(1))
    host = int(checked(driver.cuMemHostAlloc(2 * COUNT * SIZE, 0)))
    gpu = int(checked(driver.cuMemAlloc(COUNT * SIZE)))
    for turn in range(100):
        sent = bytes((i + turn) % 251 for i in range(256)) * (COUNT * SIZE // 256)
        ctypes.memmove(host, sent, len(sent))
        copy(gpu, host, stream)
        copy(host + len(sent), gpu, stream)
        checked(driver.cuStreamSynchronize(stream))
        assert ctypes.string_at(host + len(sent), len(sent)) == sent, turn
        time.sleep(0.005)
    print("right")


main()
