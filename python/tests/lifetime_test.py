# SPDX-License-Identifier: MIT
"""Who keeps whom alive, and what is left when all have gone."""

import contextlib
import gc
import random
import threading
import weakref

import barmap
import numpy as np
import pytest
from barmap import gdrcopy, vkgdr
from dlpack_object import DlpackObject
from gpu_memory import Interface, bytes_like

METHODS = {
    "write": lambda m: m.write(b"x"),
    "write_of_nothing": lambda m: m.write(b""),
    "read": lambda m: m.read(0, 1),
    "read_into": lambda m: m.read_into(bytearray(1)),
    "post": lambda m: m.post(1, 0),
    "fill": lambda m: m.fill(0),
    "numpy": lambda m: m.numpy(),
    "memoryview": memoryview,
    "bytes": bytes,
    "enter": lambda m: m.__enter__(),
}


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("make", [
    lambda block: barmap.map(block.address, 64), lambda block: barmap.alloc(64, "u1"),
])
def test_closed(memory, method, make):
    mapping = make(memory)
    mapping.close()
    mapping.close()
    assert mapping.closed and mapping.nbytes == 64 and "closed" in repr(mapping)
    with pytest.raises(ValueError, match="closed"):
        METHODS[method](mapping)


def of_barmap(mapping):
    return mapping.close, lambda: mapping.read(0, 64)


def of_gdrcopy(memory, by_handle):
    gdr = gdrcopy.GDRCopy()
    gdr.open()
    handle = gdr.pin_buffer(memory.address, 64)
    handle.map(64)
    there = np.zeros(64, "u1")
    end = handle.unpin if by_handle else gdr.close
    return end, lambda: handle.copy_from_mapping(there.ctypes.data, 64)


def of_vkgdr():
    memory = vkgdr.RawMemory(vkgdr.Vkgdr(0), 64)
    return memory.free, lambda: bytes(memoryview(memory))


@pytest.mark.parametrize("make", [
    lambda memory: of_barmap(barmap.alloc(64, "u1")),
    lambda memory: of_barmap(barmap.map(memory.address, 64)),
    lambda memory: of_gdrcopy(memory, by_handle=False),
    lambda memory: of_gdrcopy(memory, by_handle=True),
    lambda memory: of_vkgdr(),
], ids=["array", "mapping", "GDRCopy", "GDRHandle", "vkgdr"])
def test_closing_twice_leaves_the_next_one_alone(memory, make):
    end, use = make(memory)
    end()
    end_next, use_next = make(memory)  # where the first was, most likely
    end()
    end()
    use_next()
    with pytest.raises((ValueError, RuntimeError, BufferError)):
        use()
    end_next()


def test_a_closed_array_offers_no_memory():
    array = barmap.alloc(4, "u1")
    array.close()
    with pytest.raises((ValueError, TypeError)):
        barmap.map(array)
    with pytest.raises(ValueError):
        array.__cuda_array_interface__


@pytest.mark.parametrize("view_of", [
    memoryview, lambda m: m.numpy(), lambda m: m.numpy()[1:2], lambda m: m.numpy().view("u1")[3:],
    lambda m: np.asarray(memoryview(m))[::2], lambda m: np.frombuffer(m, "u4").reshape(4, 4).T,
])
def test_a_live_view_keeps_it_open(memory, view_of):
    mapping = barmap.map(memory.address, 64)
    view = view_of(mapping)
    with pytest.raises(BufferError):
        mapping.close()
    assert not mapping.closed and mapping.read(0, 4) == memory.get(0, 4)
    del view
    gc.collect()
    mapping.close()


@pytest.mark.parametrize("failure", [None, KeyError])
@pytest.mark.parametrize("view_of", [memoryview, lambda m: m.numpy(), np.asarray])
def test_the_end_of_a_block_unmaps_when_the_last_view_goes(memory, view_of, failure):
    base = bytes_like(memory)
    x = Interface(memory, base[:64], base)
    gone = weakref.ref(x)
    with contextlib.nullcontext() if failure is None else pytest.raises(failure):
        with barmap.map(x) as mapping:
            views = [view_of(mapping), view_of(mapping)[8:]]
            del x
            if failure is not None:
                raise failure
    assert mapping.closed and "closed" in repr(mapping)
    for method in METHODS.values():
        with pytest.raises(ValueError, match="closed"):
            method(mapping)
    mapping.close()  # nothing is left to close
    views.pop()
    gc.collect()
    assert gone() is not None and bytes(views[0]) == memory.get(0, 64)
    views.pop()
    gc.collect()
    assert gone() is None and mapping.closed


@pytest.mark.simulated
def test_the_end_of_a_block_frees_an_array():
    with barmap.alloc(64, "u1") as array:
        view = array.numpy()
        address = array.gpu_address
    barmap.map(address, 8).close()
    del view
    gc.collect()
    with pytest.raises(barmap.Error):
        barmap.map(address, 8)


def test_the_end_of_a_block_waits_for_copies():
    array = barmap.alloc(1 << 20, "u1")
    array.fill(5)
    mapping = barmap.map(array)
    there = bytearray(1 << 20)
    copying = threading.Event()

    def read():
        try:
            while True:
                mapping.read_into(there)
                copying.set()
        except ValueError as refused:
            assert "closed" in str(refused)

    threads = [threading.Thread(target=read) for _ in range(2)]
    with mapping:
        for thread in threads:
            thread.start()
        copying.wait()
    for thread in threads:
        thread.join()
    assert mapping.closed and there == b"\x05" * (1 << 20)


def test_a_view_keeps_the_memory(memory, no_leak):
    view = barmap.map(memory.address, 64).numpy()[8:16]
    gc.collect()
    assert view.tobytes() == memory.get(8, 8)
    array_view = barmap.alloc((8, 8), "f8").numpy()[3]
    gc.collect()
    array_view[:] = 5
    assert array_view.sum() == 40


def test_a_mapping_keeps_the_object(memory):
    base = bytes_like(memory)
    for close in (True, False):
        x = Interface(memory, base[:64], base)
        gone = weakref.ref(x)
        mapping = barmap.map(x)
        view = mapping.numpy()
        del x
        if not close:
            del mapping
        gc.collect()
        assert gone() is not None
        del view
        if close:
            mapping.close()
        gc.collect()
        assert gone() is None


def test_dlpack_tensors_are_given_back_once(memory):
    x = DlpackObject(memory.address, (64,), (1, 8, 1))
    mapping = barmap.map(x)
    del mapping
    gc.collect()
    assert x.returned == 1
    with pytest.raises(barmap.Error):
        barmap.map(DlpackObject(0x1000, (64,), (1, 8, 1)))


def test_cycles_are_collected(memory, no_leak):
    base = bytes_like(memory)
    x = Interface(memory, base[:64], base)
    x.mapping = barmap.map(x)
    x.view = memoryview(x.mapping)  # an ndarray hides what it holds from the collector
    x.mapping.myself = x.mapping
    gone = weakref.ref(x)
    del x
    gc.collect()
    assert gone() is None


def test_the_owner_may_free_first(driver):
    block = driver.allocate(4096)
    block.put(b"still there" + bytes(4085))
    mapping = barmap.map(block.address, 4096)
    block.free()
    assert mapping.read(0, 11) == b"still there"
    mapping.close()


@pytest.mark.parametrize("cls", [barmap.Mapping, barmap.Array])
def test_objects_that_were_never_made(cls):
    raw = cls.__new__(cls)
    properties = [name for name, each in vars(barmap.Mapping.__bases__[0]).items()
                  if not name.startswith("_") and not callable(each)]
    assert "nbytes" in properties and "closed" in properties
    calls = [lambda m, name=name: getattr(m, name) for name in properties]
    for call in (*METHODS.values(), *calls, repr, lambda m: m.close(), lambda m: m.events()):
        with pytest.raises(ValueError, match="^this mapping was never made: barmap.map and barmap.alloc"):
            call(raw)


@pytest.mark.filterwarnings("ignore:nanobind")
def test_nothing_can_be_made_twice():
    array = barmap.alloc(64, "u1")
    address = array.gpu_address
    with pytest.raises((TypeError, RuntimeError)):
        array.__init__(128, "u1")
    assert array.gpu_address == address and array.nbytes == 64
    array.fill(1)


def test_random_operations(driver, no_leak):
    """10^4 operations; all bytes stay as a model says, and nothing is left."""
    chance = random.Random(20)
    block = driver.allocate(1 << 16)
    model = bytearray(1 << 16)
    block.put(bytes(model))
    live = []  # (object, offset in the block): mappings and views of them
    for _ in range(10_000):
        choice = chance.random()
        if choice < 0.15 or not live:
            offset = chance.randrange(60_000)
            live.append((barmap.map(block.address + offset, chance.randrange(1, 5000)), offset))
        elif choice < 0.30:
            live.pop(chance.randrange(len(live)))
        elif choice < 0.35:
            mapping = chance.choice(live)[0]
            if isinstance(mapping, barmap.Mapping):
                try:
                    mapping.close()
                except BufferError:
                    assert not mapping.closed
        else:
            x, base = chance.choice(live)
            if isinstance(x, barmap.Mapping):
                if x.closed:
                    with pytest.raises(ValueError):
                        x.read(0, 1)
                    continue
                at = chance.randrange(x.nbytes)
                n = chance.randrange(x.nbytes - at + 1)
                if choice < 0.55:
                    data = chance.randbytes(n)
                    x.write(data, at)
                    model[base + at : base + at + n] = data
                elif choice < 0.75:
                    assert x.read(at, n) == model[base + at : base + at + n]
                elif choice < 0.85:
                    live.append((x.numpy()[at : at + n], base + at))
                else:
                    live.append((memoryview(x)[at : at + n], base + at))
            else:
                assert bytes(x) == model[base : base + len(x)]
        if len(live) > 30:
            live.pop(0)
    live.clear()
    x = mapping = None
    gc.collect()
    assert block.get() == bytes(model)
    block.free()
