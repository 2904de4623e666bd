# SPDX-License-Identifier: MIT
"""Inputs and outputs of steps, by the kernels that the library ships."""

import _thread
import asyncio
import ctypes
import gc
import signal
import sys
import threading
import types

import barmap
import numpy as np
import pytest

from concurrency import expect_refused, in_child, run_threads
from dlpack_object import DlpackObject
from gpu_memory import Interface

RECORD = np.dtype([("id", "u4"), ("gain", "f8")], align=True)
KINDS = {"positions": ((5,), "i8"), "mask": ((3, 3), "?"), "scale": ((), "f4"), "odd": ((7,), "u1"),
         "records": ((2,), RECORD), "raw": ((4,), "V2"), "large": ((40, 16), "f4")}


def numbered(shape, dtype, seed):
    """An array whose bytes differ from seed to seed."""
    made = np.zeros(shape, dtype)
    flat = np.frombuffer(made.data.cast("B") if made.ndim else made.data, "u1")
    content = (np.arange(made.nbytes) * 7 + seed * 37) % 100
    return np.frombuffer(content.astype("u1").tobytes(), dtype).reshape(shape) if flat.size else made


def same(found, wanted):
    if (found.dtype, found.shape) != (wanted.dtype, wanted.shape):
        return False
    if found.dtype.names is not None:  # NumPy leaves padding alone
        return bool((found == wanted).all())
    return found.tobytes() == wanted.tobytes()


def step(seed):
    return {name: numbered(shape, dtype, seed + i)
            for i, (name, (shape, dtype)) in enumerate(KINDS.items())}


@pytest.fixture
def tensors():
    made = {name: barmap.alloc(shape, dtype) for name, (shape, dtype) in KINDS.items()}
    for each in made.values():
        each.fill(0)
    return made


@pytest.fixture
def stream(driver):
    handle = ctypes.c_void_p()
    driver("cuStreamCreate", ctypes.byref(handle), 1)
    yield handle.value
    driver("cuStreamDestroy_v2", handle)


def now(driver, tensors):
    driver("cuCtxSynchronize")
    return {name: np.frombuffer(each.read(), each.dtype).reshape(each.shape)
            for name, each in tensors.items()}


def expect(driver, tensors, wanted):
    found = now(driver, tensors)
    assert found.keys() == wanted.keys()
    for name, each in wanted.items():
        assert same(found[name], each), name


def test_each_load_gets_what_was_pushed_for_it(driver, tensors, stream):
    with barmap.StepInputs(tensors, versions=2) as inputs:
        assert list(inputs.host) == list(KINDS) and inputs.versions == 2
        for name, (shape, dtype) in KINDS.items():
            assert (inputs.host[name].shape, inputs.host[name].dtype) == (shape, np.dtype(dtype))
        for seed in range(3):
            assert inputs.push(**step(seed))
            inputs.enqueue_load(stream)
            expect(driver, tensors, step(seed))
        assert inputs.push(step(3)) and inputs.push(types.MappingProxyType(step(4)))
        assert not inputs.push(step(5)) and not inputs.wait_for(0) and not inputs.wait_for(0.02)
        expect(driver, tensors, step(2))
        inputs.enqueue_load(stream)
        expect(driver, tensors, step(3))
        assert inputs.wait_for() and inputs.push()  # what was given when there was no version
        inputs.enqueue_load(types.SimpleNamespace(cuda_stream=stream))
        expect(driver, tensors, step(4))
        inputs.enqueue_load()
        expect(driver, tensors, step(5))
        assert not inputs.failed


def test_what_host_holds_is_pushed(driver, tensors):
    with barmap.StepInputs(tensors) as inputs:
        wanted = step(1)
        for name, each in wanted.items():
            inputs.host[name][...] = each
        assert inputs.push()
        inputs.enqueue_load()
        expect(driver, tensors, wanted)
        wanted["odd"] = numbered(7, "u1", 50)
        wanted["scale"] = np.float32(4.5)
        assert inputs.push({"odd": wanted["odd"]}, scale=wanted["scale"])
        inputs.enqueue_load()
        wanted["scale"] = np.array(wanted["scale"])
        expect(driver, tensors, wanted)
        assert same(inputs.host["odd"], wanted["odd"])
        assert inputs.push(odd=inputs.host["odd"])  # itself


def test_a_load_may_come_before_its_push(driver, tensors):
    with barmap.StepInputs(tensors) as inputs:
        inputs.enqueue_load()
        pushing = threading.Timer(0.02, lambda: inputs.push(step(9)))
        pushing.start()
        expect(driver, tensors, step(9))
        pushing.join()


def test_each_pop_gets_what_a_store_has_published(driver, tensors, stream):
    with barmap.StepOutputs(tensors, versions=2) as outputs:
        assert outputs.pop() is None and not outputs.wait_for(0) and not outputs.wait_for(0.02)
        found = []
        for seed in range(5):
            for name, each in step(seed).items():
                tensors[name].write(each.tobytes())
            outputs.enqueue_store(stream)
            if seed < 3:
                assert outputs.wait_for(60)
                found.append(outputs.pop())
            driver("cuCtxSynchronize")
        assert outputs.wait_for() and outputs.versions == 2
        found += [outputs.pop(), outputs.pop()]
        assert outputs.pop() is None and not outputs.failed
    for seed, each in enumerate(found):  # which are as they were
        assert each.keys() == KINDS.keys()
        assert all(same(each[name], wanted) for name, wanted in step(seed).items())


def test_results_in_an_event_loop(driver):
    x = barmap.alloc(1, "i4")

    async def main(outputs):
        waiting = asyncio.ensure_future(outputs.get())
        await asyncio.sleep(0.03)
        assert not waiting.done()
        x.write(np.int32([7]))
        outputs.enqueue_store()
        first = await waiting
        cancelled = asyncio.ensure_future(outputs.get())
        await asyncio.sleep(0)
        cancelled.cancel()
        x.write(np.int32([8]))
        outputs.enqueue_store()
        return int(first["x"][0]), int((await outputs.get())["x"][0])

    with barmap.StepOutputs({"x": x}) as outputs:
        assert asyncio.run(main(outputs)) == (7, 8)


def test_arrays_of_other_libraries(driver, memory):
    like = np.frombuffer(memory.get(), "u1").copy()
    arrays = {"a": Interface(memory, like[256:296].view("f4"), like),
              "b": DlpackObject(memory.address + 4096, (3,), (0, 32, 1)),
              "c": barmap.map(memory.address + 8192, 16)}
    with barmap.StepInputs(arrays) as inputs, barmap.StepOutputs(arrays) as outputs:
        assert [each.dtype.str for each in inputs.host.values()] == ["<f4", "<i4", "|u1"]
        assert inputs.push(a=np.full(10, 0.5, "f4"), b=np.int32([1, 2, 3]), c=np.full(16, 9, "u1"))
        inputs.enqueue_load()
        outputs.enqueue_store()
        assert outputs.wait_for(60)
        found = outputs.pop()
        assert found["a"].tolist() == [0.5] * 10 and found["b"].tolist() == [1, 2, 3]
        assert memory.get(8192, 17) == b"\x09" * 16 + bytes([8208 % 251])
        with pytest.raises(BufferError):
            arrays["c"].close()
    arrays["c"].close()  # what is released keeps nothing


def test_read_only_arrays_are_outputs_only(memory):
    base = np.frombuffer(memory.get(), "u1").copy()
    array = Interface(memory, base[:8], base, read_only=True)
    with pytest.raises(TypeError, match="x is read-only"):
        barmap.StepInputs({"x": array})
    barmap.StepOutputs({"x": array}).release()


def test_the_current_stream_is_that_of_the_arrays_library(driver, stream, monkeypatch):
    array, others, asked = barmap.alloc(1, "i4"), [], []

    def of(library):
        others.append(barmap.alloc(1, "i4"))
        kind = type("Tensor", (), {"__cuda_array_interface__": others[-1].__cuda_array_interface__,
                                   "device": f"{library}'s"})
        kind.__module__ = f"{library}.inner"
        return type("Sub", (kind,), {})()

    def torch_stream(device):
        asked.append(device)
        return types.SimpleNamespace(cuda_stream=stream)

    def cupy_stream():
        asked.append("cupy")
        return types.SimpleNamespace(ptr=stream)

    monkeypatch.setitem(sys.modules, "torch", types.SimpleNamespace(
        cuda=types.SimpleNamespace(current_stream=torch_stream)))
    monkeypatch.setitem(sys.modules, "cupy", types.SimpleNamespace(
        cuda=types.SimpleNamespace(get_current_stream=cupy_stream)))
    for library, wanted in (("torch", "torch's"), ("cupy", "cupy")):
        with barmap.StepInputs({"x": of(library), "y": array}) as inputs:
            assert inputs.push(x=np.int32([5]))
            inputs.enqueue_load()
            driver("cuStreamSynchronize", ctypes.c_void_p(stream))
            inputs.enqueue_load(stream) if inputs.push() else None
            assert asked.pop() == wanted and not asked
    with barmap.StepInputs({"x": of("torch"), "y": of("cupy")}) as inputs:
        with pytest.raises(TypeError, match="of PyTorch and of CuPy: give the stream"):
            inputs.enqueue_load()


@pytest.mark.parametrize("kind", [barmap.StepInputs, barmap.StepOutputs])
def test_what_is_released_refuses_every_call(kind):
    with kind({"x": barmap.alloc(1, "i4"), "y": barmap.alloc(1, "i4")}, 2) as steps:
        assert not steps.released and repr(steps) == f"{kind.__name__}(x, y; 2 versions)"
    steps.release()
    assert steps.released and repr(steps) == f"{kind.__name__}(x, y; released)"
    calls = [lambda: steps.wait_for(0), steps.wait_for, lambda: steps.failed, steps.__enter__]
    if kind is barmap.StepInputs:
        assert steps.host == {}
        calls += [steps.push, lambda: steps.push(x=np.int32([1])), steps.enqueue_load, lambda: steps.enqueue_load(0)]
    else:
        calls += [steps.pop, steps.enqueue_store, lambda: asyncio.run(steps.get())]
    for call in calls:
        with pytest.raises(ValueError, match=f"^this {kind.__name__} is released$"):
            call()


def test_arrays_of_host_keep_the_memory(driver):
    inputs = barmap.StepInputs({"x": barmap.alloc(2, "i4")})
    x = inputs.host["x"]
    x[:] = 3
    inputs.release()
    del inputs
    gc.collect()
    x += 1
    assert x.tolist() == [4, 4]


@pytest.mark.parametrize("kind", [barmap.StepInputs, barmap.StepOutputs])
def test_waiting_is_interrupted_and_ends_with_the_release(kind):
    def made():
        steps = kind({"x": barmap.alloc(1, "i4")}, 1)
        if kind is barmap.StepInputs:
            assert steps.push()
        return steps

    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    try:
        with made() as steps, pytest.raises(KeyboardInterrupt):
            threading.Timer(0.02, _thread.interrupt_main).start()
            steps.wait_for()
    finally:
        signal.signal(signal.SIGINT, before)
    steps, waits = made(), threading.Event()

    def wait():
        waits.set()
        with pytest.raises(ValueError, match="is released"):
            steps.wait_for()

    run_threads(wait, lambda: (waits.wait(), steps.release()))


def test_other_threads_run_while_one_waits():
    with barmap.StepOutputs({"x": barmap.alloc(1, "i4")}) as outputs:
        order = []

        def wait():
            order.append("waits")
            assert outputs.wait_for()
            order.append("woke")

        def store():
            while not order:
                pass
            order.append("stores")
            outputs.enqueue_store()

        run_threads(wait, store)
    assert order == ["waits", "stores", "woke"]


def test_waiting_for_lost_results_ends():
    with barmap.StepOutputs({"x": barmap.alloc(1, "i4")}) as outputs:
        real = outputs._held
        outputs._held = types.SimpleNamespace(failed=True, pop=real.pop, offsets=real.offsets)
        with pytest.raises(barmap.Error, match="a store has given up"):
            asyncio.run(outputs.get())
        outputs._held = real
        outputs.enqueue_store()
        assert outputs.wait_for(60)
        outputs._held = types.SimpleNamespace(failed=True, pop=real.pop, offsets=real.offsets)
        assert asyncio.run(outputs.get())["x"].shape == (1,)
        outputs._held = real


def test_steps_leave_nothing_behind(no_leak):
    for _ in range(20):
        inputs = barmap.StepInputs({"x": barmap.alloc(1, "i4")})
        assert inputs.push(x=np.int32([1]))
        inputs.enqueue_load()
        outputs = barmap.StepOutputs({"x": barmap.alloc(1, "i4")})
        outputs.enqueue_store()
        assert outputs.wait_for(60) and outputs.pop()
        outputs.release()


@pytest.mark.simulated
def test_a_forked_child_is_refused():
    x = {"x": barmap.alloc(1, "i4")}
    inputs, outputs = barmap.StepInputs(x), barmap.StepOutputs(x)

    def child():
        nonlocal outputs
        expect_refused(
            inputs.push, lambda: inputs.push(x=np.int32([1])), inputs.enqueue_load, outputs.enqueue_store, outputs.pop,
            lambda: inputs.wait_for(0), lambda: outputs.wait_for(0), lambda: inputs.failed,
            lambda: barmap.StepInputs(x),
        )
        inputs.release()
        del outputs

    assert in_child(child) == 0
    assert inputs.push() and outputs.pop() is None
