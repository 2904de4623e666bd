# SPDX-License-Identifier: MIT
"""The Python package's events on the driver under test, in callback mode."""

import asyncio
import ctypes
import gc
import os
import threading
import time

import barmap

BYTES = 128 << 10
cuda = ctypes.CDLL("libcuda.so.1")
context = ctypes.c_void_p()
cuda.cuInit(0)
cuda.cuDevicePrimaryCtxRetain(ctypes.byref(context), 0)
cuda.cuCtxSetCurrent(context)


def allocate():
    address = ctypes.c_ulonglong()
    assert cuda.cuMemAlloc_v2(ctypes.byref(address), ctypes.c_size_t(BYTES)) == 0
    return address.value


def free(address):
    cuda.cuCtxSetCurrent(context)
    assert cuda.cuMemFree_v2(ctypes.c_ulonglong(address)) == 0


def mapped(address):
    mapping = barmap.map(address, 1000, backend="gdrdrv", events=True)
    mapping.write(b"here")
    return mapping


def wait_by_iterating():
    address = allocate()
    with mapped(address) as mapping:
        freeing = threading.Timer(0.2, free, (address,))
        freeing.start()
        seen = list(mapping.events())
        freeing.join()
        assert seen == [barmap.types.MappingEvent(address, 1000, 1, 0)], seen
        assert list(mapping.events()) == [] and mapping.events().poll() is None


def wait_by_asyncio():
    async def run():
        addresses = [allocate() for _ in range(3)]
        mappings = [mapped(address) for address in addresses]

        async def first(mapping):
            async for event in mapping.events():
                return event

        waiting = [asyncio.create_task(first(mapping)) for mapping in mappings]
        await asyncio.sleep(0.1)
        assert not any(task.done() for task in waiting)
        try:
            mappings[0].close()
            raise SystemExit("closed while a task waits")
        except BufferError:
            pass
        for address in reversed(addresses):
            await asyncio.to_thread(free, address)
        events = await asyncio.wait_for(asyncio.gather(*waiting), 60)
        assert [event.gpu_address for event in events] == addresses, events
        for mapping in mappings:
            mapping.close()

    asyncio.run(run())


assert any(row.get("events") for row in barmap.info()["results"])
wait_by_iterating()
before = len(os.listdir("/proc/self/fd"))
begin = time.monotonic()
wait_by_asyncio()
gc.collect()
assert len(os.listdir("/proc/self/fd")) == before
print("    events in Python: ok")
