# SPDX-License-Identifier: MIT
"""Ctrl-C while a batch is copied: the wait ends, the batch goes on, and its memory stays until then."""

import subprocess
import sys

import pytest

pytestmark = pytest.mark.simulated  # whose streams can all be held

# A process of its own, whose SIGINT is nobody else's.
PROGRAM = """
import ctypes, gc, os, pathlib, signal, threading, time, weakref
import barmap, numpy as np

signal.signal(signal.SIGINT, signal.default_int_handler)  # which a shell in the background turns off
barmap.sim()
queue = barmap.batch_queue()
driver = ctypes.CDLL(pathlib.Path(barmap.__file__).parent / "lib" / "barmap-sim" / "libcuda.so.1")
context, probe = ctypes.c_void_p(), ctypes.c_void_p()
assert driver.cuDevicePrimaryCtxRetain(ctypes.byref(context), 0) == 0
assert driver.cuCtxSetCurrent(context) == 0
assert driver.cuStreamCreate(ctypes.byref(probe), 1) == 0

go_on = threading.Event()
hold = ctypes.CFUNCTYPE(None, ctypes.c_void_p)(lambda _: go_on.wait(60))

def hold_every_stream():
    # The simulated driver gives out handles in steps of 64.
    for handle in range(probe.value, probe.value - 64 * 64, -64):
        if driver.cuStreamGetFlags(ctypes.c_void_p(handle), ctypes.byref(ctypes.c_uint())) == 0:
            assert driver.cuLaunchHostFunc(ctypes.c_void_p(handle), hold, None) == 0

def interrupt_once_submitted(before):
    while queue.reports[-1].copies == before:
        time.sleep(0.001)
    os.kill(os.getpid(), signal.SIGINT)

def interrupted(call):
    hold_every_stream()
    asks = threading.Thread(target=interrupt_once_submitted, args=(queue.reports[-1].copies,))
    asks.start()
    try:
        call()
    except KeyboardInterrupt:
        asks.join()
        return
    raise SystemExit("the wait was not interrupted")

def let_all_end():
    go_on.set()
    assert driver.cuCtxSynchronize() == 0

rows = np.random.default_rng(1).integers(0, 256, (16, 100), "u1")
other_gpu, other_host = barmap.alloc(8, "u1"), barmap.pinned(8, "u1")
"""

TO_HOST = """
gpu, host = barmap.alloc((16, 100), "u1"), barmap.pinned((16, 100), "u1")
gpu.write(rows)
interrupted(lambda: barmap.copy_rows(host, gpu, from_rows=range(16)))
"""
TO_GPU = """
gpu, host = barmap.alloc((16, 100), "u1"), barmap.pinned((16, 100), "u1")
gpu.fill(0)
host[:] = rows
interrupted(lambda: barmap.copy_rows(gpu, host, from_rows=range(16)))
"""
KEPT = """
gone = [weakref.ref(gpu), weakref.ref(host)]
address, there = gpu.gpu_address, (ctypes.c_uint8 * 1600).from_address(host.ctypes.data)
del gpu, host
barmap.copy_rows(other_host, other_gpu, from_rows=[0], stream=probe.value)  # looks at it, and does not wait
gc.collect()
assert all(each() is not None for each in gone)
with barmap.map(address, 1600) as mapping:
    assert not any(bytes(there)) or not any(mapping.read())  # nothing is copied so far
    let_all_end()
    assert bytes(there) == mapping.read() == rows.tobytes()
gc.collect()
assert all(each() is not None for each in gone)  # nobody has looked whether it is done
barmap.copy_rows(other_host, other_gpu, from_rows=[0])
gc.collect()
assert all(each() is None for each in gone)
"""


@pytest.mark.parametrize("copy", [TO_HOST, TO_GPU], ids=["to_host", "to_gpu"])
def test_an_interrupted_copy_keeps_its_arrays_until_it_has_ended(copy):
    subprocess.run([sys.executable, "-c", PROGRAM + copy + KEPT], check=True, timeout=120)


def test_an_exception_of_any_handler_ends_the_wait():
    subprocess.run([sys.executable, "-c", PROGRAM + """
class Stop(Exception):
    pass
def handler(number, frame):
    raise Stop
signal.signal(signal.SIGINT, handler)
gpu, host = barmap.alloc((16, 100), "u1"), barmap.pinned((16, 100), "u1")
try:
    interrupted(lambda: barmap.copy_rows(host, gpu, from_rows=range(16)))
except Stop:
    let_all_end()
else:
    raise SystemExit("no exception")
"""], check=True, timeout=120)


def test_a_handler_that_raises_nothing_ends_no_wait():
    subprocess.run([sys.executable, "-c", PROGRAM + """
signal.signal(signal.SIGINT, lambda number, frame: go_on.set())
gpu, host = barmap.alloc((16, 100), "u1"), barmap.pinned((16, 100), "u1")
gpu.write(rows)
hold_every_stream()
threading.Thread(target=interrupt_once_submitted, args=(queue.reports[-1].copies,)).start()
barmap.copy_rows(host, gpu, from_rows=range(16))
assert (host == rows).all()
let_all_end()  # what else holds a stream is Python, which must not end before it
"""], check=True, timeout=120)


def test_waiting_for_a_ticket_is_interrupted():
    subprocess.run([sys.executable, "-c", PROGRAM + """
gpu, host = barmap.alloc((16, 100), "u1"), barmap.pinned((16, 100), "u1")
gpu.write(rows)
hold_every_stream()
ticket = queue.submit([host.ctypes.data], [gpu.gpu_address], [1600])
threading.Timer(0.1, os.kill, (os.getpid(), signal.SIGINT)).start()
try:
    queue.wait(ticket)
except KeyboardInterrupt:
    pass
else:
    raise SystemExit("the wait was not interrupted")
assert not queue.done(ticket) and not host.any()
go_on.set()
assert queue.wait(ticket) and (host == rows).all()
"""], check=True, timeout=120)
