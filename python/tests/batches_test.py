# SPDX-License-Identifier: MIT
"""Batches: rows of arrays and pieces by their addresses, both ways, alone and between streams."""

import array
import ctypes
import functools
import gc
import os
import subprocess
import sys
import threading
import weakref

import barmap
import numpy as np
import pytest
from concurrency import run_threads
from dlpack_object import DlpackObject
from gpu_memory import Interface, bytes_like


class HeldStream:
    """A stream that does nothing until it is released, as a long kernel would hold it."""

    def __init__(self, driver):
        self.driver, self.event = driver, threading.Event()
        handle = ctypes.c_void_p()
        driver("cuStreamCreate", ctypes.byref(handle), 1)
        self.cuda_stream = handle.value
        self._function = ctypes.CFUNCTYPE(None, ctypes.c_void_p)(lambda _: self.event.wait(30))

    def hold(self):
        self.event.clear()
        self.driver("cuLaunchHostFunc", ctypes.c_void_p(self.cuda_stream), self._function, None)

    def end(self):
        self.event.set()
        self.driver("cuStreamSynchronize", ctypes.c_void_p(self.cuda_stream))


@pytest.fixture
def stream(driver):
    made = HeldStream(driver)
    yield made
    made.end()
    driver("cuStreamDestroy_v2", ctypes.c_void_p(made.cuda_stream))


def filled(shape, dtype="u1", seed=1):
    """Pinned memory with random bytes."""
    made = barmap.pinned(shape, dtype)
    made.view("u1")[...] = np.random.default_rng(seed).integers(0, 256, made.view("u1").shape)
    return made


def on_gpu(values):
    made = barmap.alloc(values.shape, values.dtype)
    made.write(values)
    return made


def now(gpu):
    return np.frombuffer(gpu.read(), gpu.dtype).reshape(gpu.shape)


@pytest.mark.parametrize("row", [(), (1,), (3,), (7, 11), (1000,), (4099,)], ids=str)
@pytest.mark.parametrize("dtype", ["u1", "<i2", "<f4", "<c16", "?", "M8[s]", [("a", "u1"), ("b", "<f4")]],
                         ids=str)
def test_rows_go_both_ways(row, dtype):
    host = filled((40, *row), dtype)
    gpu, back = barmap.alloc((50, *row), dtype), filled((30, *row), dtype, seed=2)
    gpu.fill(0xEE)
    chance = np.random.default_rng(3)
    sources, places = chance.integers(0, 40, 35), chance.permutation(50)[:35]
    expected = np.frombuffer(gpu.read(), dtype).reshape(gpu.shape).copy()
    barmap.copy_rows(gpu, host, places, sources)
    expected[places] = host[sources]
    assert gpu.read() == expected.tobytes()  # and nothing beside the rows was touched
    sources, places = chance.integers(0, 50, 20), chance.permutation(30)[:20]
    expected_back = back.copy()
    expected_back[places] = expected[sources]
    barmap.copy_rows(back, gpu, places, sources)
    assert back.tobytes() == expected_back.tobytes()


def test_all_rows_are_copied_if_none_are_named():
    gpu, host = on_gpu(filled((4, 5))), barmap.pinned((6, 5), "u1")
    barmap.copy_rows(host, gpu)
    assert (host[:4] == now(gpu)).all() and not host[4:].any()
    with pytest.raises(IndexError, match="^to has no row 4: it has 4 rows$"):
        barmap.copy_rows(gpu, host)
    barmap.copy_rows(gpu, host, to_rows=[3, 1])
    assert (now(gpu)[[3, 1]] == host[:2]).all()


def test_without_places_rows_go_to_the_first_ones():
    gpu, host = on_gpu(filled((6, 5))), barmap.pinned((4, 5), "u1")
    assert barmap.copy_rows(host, gpu, from_rows=[5, 1]) is None
    assert (host[:2] == now(gpu)[[5, 1]]).all() and not host[2:].any()
    barmap.copy_rows(gpu, host, from_rows=[1, 1, 1])
    assert (now(gpu)[:3] == host[1]).all()


@pytest.mark.parametrize("indices", [
    [1, 9, 0], (1, 9, 0), range(1, 4), array.array("q", [1, 2]), np.array([1, 2], "u1"),
    np.array([9, 2], ">i4"), np.array([9, 2], "u8"), np.arange(10)[::-3], [], np.empty(0, "i2"),
], ids=repr)
def test_row_numbers_of_any_kind(indices):
    gpu, host = on_gpu(filled((10, 8))), barmap.pinned((10, 8), "u1")
    barmap.copy_rows(host, gpu, from_rows=indices)
    expected = np.zeros_like(host)
    expected[:len(indices)] = now(gpu)[np.asarray(indices, int)]
    assert (host == expected).all()


def test_rows_may_be_anywhere(memory):
    base = bytes_like(memory)
    host = filled((20, 40))
    for theirs in (base[3:9003].reshape(9, 1000)[:, 5:45], base[:9000].reshape(90, 100)[::-9, 3:43],
                   base[:9000].reshape(9, 1000)[:, 960:]):
        gpu = Interface(memory, theirs, base)
        for mine in (host, host[::2], host[::-1], host[2:][::-3]):
            barmap.copy_rows(gpu, mine, [1, 0, 5], [4, 0, 5])
            theirs[[1, 0, 5]] = mine[[4, 0, 5]]
            assert memory.get() == base.tobytes()
            expected = mine.copy()
            expected[[3, 1]] = theirs[[7, 2]]
            barmap.copy_rows(mine, gpu, [3, 1], [7, 2])
            assert (mine == expected).all()


COUNTED = """
import ctypes, pathlib
import barmap
import numpy as np
driver = ctypes.CDLL(pathlib.Path(barmap.__file__).parent / "lib" / "barmap-sim" / "libcuda.so.1")
gpu, host = barmap.alloc((64, 100), "u1"), barmap.pinned((64, 100), "u1")
context = ctypes.c_void_p()
assert driver.cuDevicePrimaryCtxRetain(ctypes.byref(context), 0) == 0
assert driver.cuCtxSetCurrent(context) == 0
def calls(indices, places): # on a stream, since how often a wait asks is left to chance
    assert driver.cuCtxSynchronize() == 0
    before = driver.barmap_sim_calls()
    barmap.copy_rows(host, gpu, places, indices, stream=0)
    return driver.barmap_sim_calls() - before
calls([0], [0])
one, rows = calls([0], [0]), np.arange(64)
assert calls([0, 2], [0, 2]) == one + 1
assert calls(rows, rows) == calls(rows[:9] + 20, rows[:9] + 7) == calls([3, 4, 5], [9, 10, 11]) == one
assert calls([0, 1, 2, 10, 11, 3], [0, 1, 2, 10, 11, 12]) == one + 2
assert calls(rows, rows[::-1]) == one + 63
"""


@pytest.mark.simulated
def test_neighbours_on_both_sides_are_one_piece():
    # Without the batch call, the driver is called for each piece.
    subprocess.run([sys.executable, "-c", COUNTED], check=True, timeout=120,
                   env={**os.environ, "BARMAP_SIM_FAIL": "cuMemcpyBatchAsync:801:1"})


def test_the_stride_of_an_axis_of_one_does_not_matter(memory):
    host = filled((8, 4), "<i4")
    gpu = DlpackObject(memory.address, (8, 1, 4), (0, 32, 1), strides=(4, 777, 1))
    mine = np.lib.stride_tricks.as_strided(host, (8, 1, 4), (16, 3, 4))
    barmap.copy_rows(gpu, mine, [0, 1], [7, 6])
    assert memory.get(0, 32) == host[[7, 6]].tobytes()
    barmap.copy_rows(mine, gpu, [2], [1])
    assert host[2].tobytes() == host[6].tobytes()
    one_row = DlpackObject(memory.address, (1, 4), (0, 32, 1), strides=(1, 1))  # which overlaps none
    barmap.copy_rows(one_row, host, from_rows=[5])
    assert memory.get(0, 16) == host[5].tobytes()


def test_a_mapping_and_what_dlpack_gives_are_arrays_too(memory):
    host = filled((8, 16), "<f2")
    address = host.ctypes.data
    pinned = DlpackObject(address, (8, 16), (2, 16, 1), device=3)
    gpu = DlpackObject(memory.address, (8, 16), (2, 16, 1))
    barmap.copy_rows(gpu, pinned, [0, 1], [7, 6])
    assert memory.get(0, 64) == host[[7, 6]].tobytes()
    assert (pinned.streams, gpu.streams) == ([None], [-1])  # there are none on a host
    with barmap.map(gpu) as mapping:
        barmap.copy_rows(host, mapping, [2], [1])
    assert host[2].tobytes() == host[6].tobytes()
    brain = DlpackObject(memory.address, (8, 16), (4, 16, 1))  # bfloat16, which NumPy lacks
    barmap.copy_rows(DlpackObject(address, (8, 16), (4, 16, 1), device=1), brain, from_rows=[0])
    assert host[0].tobytes() == host[7].tobytes()


def test_arrays_go_with_their_last_reference(memory):
    gpu, host = DlpackObject(memory.address, (8, 16), (4, 16, 1)), barmap.pinned((8, 16), "V2")
    own = barmap.alloc(4, "u1")
    gone = [weakref.ref(each) for each in (gpu, host, own)]
    barmap.copy_rows(host, gpu, from_rows=[1])
    barmap.copy_rows(host, gpu, from_rows=[1], stream=0)
    barmap.copy_rows(barmap.pinned(4, "u1"), own, from_rows=[1])
    assert gpu.returned == 2
    gc.disable()
    try:
        del host
        own.close()  # which nobody uses any more
        del own
        assert [each() is None for each in gone] == [False, True, True]
    finally:
        gc.enable()


def test_memory_that_another_library_pinned(driver, memory):
    where = ctypes.c_void_p()
    driver("cuMemHostAlloc", ctypes.byref(where), ctypes.c_size_t(4096), 0)
    theirs = (ctypes.c_uint8 * 4096).from_address(where.value)  # a buffer, as good as an array
    base = bytes_like(memory)
    barmap.copy_rows(theirs, Interface(memory, base[:4096].reshape(4096), base), from_rows=np.arange(4095, -1, -1))
    assert bytes(theirs) == base[4095::-1].tobytes()
    driver("cuMemFreeHost", where)


def test_copies_in_the_order_of_a_stream(stream):
    gpu, host = on_gpu(np.ones((4, 100), "u1")), barmap.pinned((4, 100), "u1")
    stream.hold()
    barmap.copy_rows(host, gpu, from_rows=[0, 2], stream=stream)
    barmap.copy_rows(gpu, host, [1, 0, 3], [0, 1, 2], stream=stream)
    gpu.write(np.full(100, 5, "u1"))
    assert not host.any()  # it comes after what the stream was given before
    stream.end()  # and what it is given later comes after the batch
    assert (host[0] == 5).all() and (host[1] == 1).all()
    assert [row[0] for row in now(gpu)] == [1, 5, 1, 0]


@pytest.mark.parametrize("form", ["cuda_stream", "ptr", "__cuda_stream__", "handle"])
def test_streams_of_every_library(stream, form):
    forms = {
        "cuda_stream": stream,
        "ptr": type("Cupy", (), {"ptr": stream.cuda_stream})(),
        "__cuda_stream__": type("Cuda", (), {"__cuda_stream__": lambda _: (0, stream.cuda_stream)})(),
        "handle": np.uint64(stream.cuda_stream),
    }
    gpu, host = on_gpu(np.ones((4, 4), "u1")), barmap.pinned((4, 4), "u1")
    stream.hold()
    barmap.copy_rows(host, gpu, from_rows=[0], stream=forms[form])
    assert not host.any()
    stream.end()
    assert host[0].all()


def test_the_default_stream_is_one(driver):
    gpu, host = on_gpu(np.ones((4, 4), "u1")), barmap.pinned((4, 4), "u1")
    barmap.copy_rows(host, gpu, from_rows=[0], stream=0)
    driver("cuCtxSynchronize")
    assert host[0].all()


def test_pieces_by_their_addresses(stream):
    queue = barmap.batch_queue(barmap.devices()[0])
    assert queue.engine in ("driver", "channel")
    used = [each.name for each in queue.reports].index(queue.engine)
    assert queue.reports[used].state == "usable"
    before = queue.reports[used].nbytes
    gpu, host = barmap.alloc(10_000, "u1"), filled(10_000)
    gpu.fill(0)
    places = np.arange(100, dtype="u8") * 100 + 1
    sizes = np.arange(100) % 90  # of none, too
    first, there = gpu.gpu_address, host.ctypes.data
    ticket = queue.submit(first + places, (there + places[::-1]).astype("i8"), sizes)
    assert isinstance(ticket, int) and queue.wait(ticket) and queue.done(ticket)
    expected = np.zeros(10_000, "u1")
    for i, (place, size) in enumerate(zip(places.astype(int), sizes)):
        expected[place:place + size] = host[places[99 - i].astype(int):][:size]
    assert (now(gpu) == expected).all()
    assert queue.reports[used].nbytes == before + sizes.sum()

    stream.hold()
    ticket = queue.submit([there], [first], [8], after=stream, then=0, at_most=20)
    assert not queue.done(ticket) and not queue.wait(ticket, 0) and not queue.wait(ticket, 0.06)
    stream.event.set()
    assert queue.wait(ticket, timeout=30) and (host[:8] == expected[:8]).all()
    assert queue.done(queue.submit([], [], []))


@pytest.mark.parametrize("seconds, nanoseconds", [
    (None, None), (0, 0), (1e-10, 1), (1e-9, 1), (1.1e-9, 2), (np.float32(2.5), 2500000000), (1e300, 10**18),
])
def test_the_time_of_a_batch_is_rounded_up(monkeypatch, seconds, nanoseconds):
    given = []

    class Taker:
        def submit(self, *arguments):
            given.append(arguments[-1])

    queue = barmap.batch_queue()
    monkeypatch.setattr(queue, "_queue", Taker())
    queue.submit([], [], [], after=0, at_most=seconds)
    assert given == [nanoseconds]


def test_nothing_keeps_the_interpreter_while_it_waits(stream):
    queue = barmap.batch_queue()
    gpu, host = barmap.alloc(8, "u1"), barmap.pinned(8, "u1")
    stream.hold()
    ticket = queue.submit([host.ctypes.data], [gpu.gpu_address], [8], after=stream)
    threading.Timer(0.1, stream.event.set).start()  # which needs the GIL
    assert queue.wait(ticket)


def test_many_threads_at_once():
    def work(seed):
        chance = np.random.default_rng(seed)
        gpu, host = barmap.alloc((64, 33), "u1"), filled((64, 33), seed=seed)
        back = barmap.pinned((64, 33), "u1")
        for _ in range(30):
            order = chance.permutation(64)
            barmap.copy_rows(gpu, host, from_rows=order)
            barmap.copy_rows(back, gpu, order, np.arange(64))
            assert (back == host).all()
            back[...] = 0

    run_threads(*[functools.partial(work, seed) for seed in range(4)])


def test_pinned_memory_is_an_array_and_goes_with_its_last_view(driver):
    made = barmap.pinned((3, np.int64(4)), "<f4")
    assert made.shape == (3, 4) and made.dtype == np.float32 and made.flags.c_contiguous
    assert not made.any() and made.flags.writeable
    assert barmap.pinned(5, "u1").shape == (5,) and barmap.pinned((0, 3), "u1").shape == (0, 3)
    view = made[1:, 2]
    address = made.ctypes.data
    del made
    gc.collect()
    assert barmap._barmap.is_pinned(address, 48)
    view[:] = 3
    del view
    gc.collect()
    assert not barmap._barmap.is_pinned(address, 48)


@pytest.mark.simulated
def test_pinned_memory_leaves_nothing(driver):
    barmap.pinned(1 << 20, "u1")
    before = driver.library.barmap_sim_live()
    for _ in range(200):
        barmap.pinned(1 << 20, "u1")
    assert driver.library.barmap_sim_live() == before


def test_rows_stay_inside_a_gpu(memory):
    values = filled((40, 100), "u1")
    cache, other = on_gpu(values), barmap.alloc((50, 100), "u1")
    other.fill(0xEE)
    barmap.copy_rows(other, cache, [7, 49, 0], [3, 4, 39])
    expected = np.full((50, 100), 0xEE, "u1")
    expected[[7, 49, 0]] = values[[3, 4, 39]]
    assert (now(other) == expected).all()
    base = bytes_like(memory)
    theirs = Interface(memory, base[:4000].reshape(40, 100), base)
    barmap.copy_rows(theirs, cache)
    assert memory.get(0, 4000) == values.tobytes()
    with barmap.map(other) as mapping:
        barmap.copy_rows(mapping, cache, from_rows=[1])
        assert (now(other)[0] == values[1]).all()
    # Blocks of one cache: no row that is read is written.
    barmap.copy_rows(cache, cache, [5, 6, 20], [30, 31, 0])
    values[[5, 6, 20]] = values[[30, 31, 0]]
    assert (now(cache) == values).all()
    barmap.copy_rows(cache, cache, [10, 12], [11, 13])  # the rows read and written touch
    values[[10, 12]] = values[[11, 13]]
    assert (now(cache) == values).all()


TWO_GPUS = """
import ctypes, os
import which_gpu
os.environ["BARMAP_SIM_DEVICES"] = "2"
import barmap, numpy as np
from gpu_memory import Driver, Interface, bytes_like

driver = Driver()
contexts = [ctypes.c_void_p(), ctypes.c_void_p()]
for ordinal, context in enumerate(contexts):
    driver("cuDevicePrimaryCtxRetain", ctypes.byref(context), ordinal)
blocks = []
for context in contexts:
    driver("cuCtxSetCurrent", context)
    blocks.append(driver.allocate(4096))
driver("cuCtxSetCurrent", contexts[0])
bases = [bytes_like(block) for block in blocks]
first, second = (Interface(block, base.reshape(64, 64), base) for block, base in zip(blocks, bases))
blocks[0].put(bytes(range(256)) * 16)

class Stream:
    def __init__(self, ordinal):
        driver("cuCtxSetCurrent", contexts[ordinal])
        handle = ctypes.c_void_p()
        driver("cuStreamCreate", ctypes.byref(handle), 1)
        self.cuda_stream = handle.value
        driver("cuCtxSetCurrent", contexts[0])

    def wait(self):
        driver("cuStreamSynchronize", ctypes.c_void_p(self.cuda_stream))

def taken():
    return [sum(each.copies for each in barmap.batch_queue(ordinal).reports) for ordinal in (0, 1)]

class Default:
    def __init__(self, ordinal):
        self.cuda_stream, self.device_index = 0, ordinal

class CupyNull: # of any GPU
    ptr, device_id = 0, -1

for stream, by in ((None, 0), (Default(0), 0), (Default(1), 1), (0, 0), (CupyNull(), 0), (Stream(0), 0),
                   (Stream(1), 1)):
    before = taken()
    blocks[1].put(bytes(4096))
    barmap.copy_rows(second, first, [1, 3], [2, 0], stream=stream)
    if isinstance(stream, Stream):
        stream.wait()
    elif stream is not None:
        for context in reversed(contexts):
            driver("cuCtxSetCurrent", context)
            driver("cuCtxSynchronize")
    expected = np.zeros((64, 64), "u1")
    expected[[1, 3]] = np.frombuffer(blocks[0].get(), "u1").reshape(64, 64)[[2, 0]]
    assert blocks[1].get() == expected.tobytes(), stream
    assert [now - then for now, then in zip(taken(), before)] == [by == 0, by == 1], stream
print("right")
"""


@pytest.mark.simulated
def test_rows_go_between_two_gpus_by_the_gpu_of_the_stream_or_of_the_source():
    done = subprocess.run([sys.executable, "-c", TWO_GPUS], text=True, capture_output=True,
                          cwd=os.path.dirname(__file__))
    assert done.stdout == "right\n", done.stderr
