# SPDX-License-Identifier: MIT
"""The package vkgdr: what it does, and what it refuses."""

import barmap
import barmap.vkgdr
import numpy as np
import pytest
import vkgdr
from concurrency import run_threads
from gpu_memory import Block

FORCED = vkgdr.OpenFlags.FORCE_NON_COHERENT_BIT
KINDS = (vkgdr.RawMemory, vkgdr.Memory)


@pytest.fixture
def gpu(driver):
    return vkgdr.Vkgdr.open_current_context()


def refused(call, *words):
    with pytest.raises(vkgdr.VkgdrError) as caught:
        call()
    for word in words:
        assert word in str(caught.value)


def without_context(call):
    """Runs a function in a thread that has no current context."""
    result = []
    run_threads(lambda: result.append(call()))
    return result[0]


def test_names():
    for name in barmap.vkgdr.__all__:
        assert getattr(vkgdr, name) is getattr(barmap.vkgdr, name)
    assert vkgdr.__version__ == barmap.__version__
    assert issubclass(vkgdr.VkgdrError, RuntimeError)
    assert [(flag.name, flag.value) for flag in vkgdr.OpenFlags] == [
        ("CURRENT_CONTEXT_BIT", 1), ("FORCE_NON_COHERENT_BIT", 2), ("REQUIRE_COHERENT_BIT", 4)]


def test_opening(driver):
    vkgdr.Vkgdr(0)
    assert vkgdr.OpenFlags.REQUIRE_COHERENT is vkgdr.OpenFlags.REQUIRE_COHERENT_BIT
    vkgdr.Vkgdr(device=0, flags=vkgdr.OpenFlags.REQUIRE_COHERENT)
    vkgdr.Vkgdr(12345, vkgdr.OpenFlags.CURRENT_CONTEXT_BIT)
    vkgdr.Vkgdr(np.int64(0), np.uint32(0))
    vkgdr.Vkgdr.open_current_context(FORCED | vkgdr.OpenFlags.REQUIRE_COHERENT_BIT)

    class Own(vkgdr.Vkgdr):
        pass

    assert type(Own.open_current_context()) is Own


def test_openings_that_are_refused(driver):
    refused(lambda: vkgdr.Vkgdr(-1), "CUDA_ERROR_INVALID_DEVICE")
    refused(lambda: vkgdr.Vkgdr(99), "CUDA_ERROR_INVALID_DEVICE")
    refused(lambda: vkgdr.Vkgdr(0, 8), "flags")
    refused(lambda: without_context(vkgdr.Vkgdr.open_current_context),
            "CUDA_ERROR_INVALID_CONTEXT")
    for wrong in ("0", None, 0.0):
        with pytest.raises(TypeError):
            vkgdr.Vkgdr(wrong)
        with pytest.raises(TypeError):
            vkgdr.Vkgdr(0, wrong)
    for device, flags in ((1 << 31, 0), (-(1 << 31) - 1, 0), (0, -1), (0, 1 << 32)):
        with pytest.raises(OverflowError):
            vkgdr.Vkgdr(device, flags)


@pytest.mark.parametrize("flags", [0, FORCED, vkgdr.OpenFlags.REQUIRE_COHERENT_BIT])
@pytest.mark.parametrize("kind", KINDS)
def test_memory(driver, kind, flags):
    n = 4097
    memory = kind(vkgdr.Vkgdr.open_current_context(flags), n)
    assert len(memory) == n
    assert memory.is_coherent is (flags != FORCED)
    assert memory.non_coherent_atom_size == (64 if flags == FORCED else 1)
    there = Block(driver, memory.device_ptr, n)
    array = np.asarray(memory).view(np.uint8)
    assert array.shape == (n,) and array.flags.writeable
    array[:] = np.arange(n) % 251
    memory.flush(0, n)
    assert there.get() == array.tobytes()
    there.put(bytes(b ^ 255 for b in there.get()))
    memory.invalidate(0, n)
    assert array.tobytes() == bytes(i % 251 ^ 255 for i in range(n))


def test_the_ways_to_its_bytes(gpu):
    memory = vkgdr.RawMemory(gpu, 64)
    memoryview(memory)[:] = bytes(range(64))
    interface = memory.__array_interface__
    assert (interface["shape"], interface["typestr"], interface["version"]) == ((64,), "|V1", 3)
    address, read_only = interface["data"]
    assert not read_only

    class ByInterface:
        __array_interface__ = interface
        keeps = memory

    arrays = [np.asarray(memory), np.array(memory, copy=False), np.frombuffer(memory, "u1"),
              np.asarray(ByInterface())]
    for array in arrays:
        assert array.view("u1").tolist() == list(range(64))
        assert array.__array_interface__["data"][0] == address
    arrays[3].view("u1")[5] = 99
    assert memoryview(memory).tolist()[5] == 99
    assert memoryview(memory).format == "B" and not memoryview(memory).readonly


def test_cuda_array_interface(gpu):
    memory = vkgdr.Memory(gpu, 4096)
    interface = memory.__cuda_array_interface__
    assert interface["data"] == (memory.device_ptr, False) and interface["shape"] == (4096,)
    with barmap.map(memory) as mapping:
        mapping.write(b"through barmap", 10)
    assert bytes(memoryview(memory)[10:24]) == b"through barmap"
    assert not hasattr(vkgdr.RawMemory, "__cuda_array_interface__")


@pytest.mark.parametrize("kind", KINDS)
def test_allocations_that_are_refused(gpu, kind):
    refused(lambda: kind(gpu, 0), "greater than 0")
    refused(lambda: kind(gpu, 10**15), "OUT_OF")
    refused(lambda: kind(gpu, 64, 1), "flags")
    refused(lambda: without_context(lambda: kind(gpu, 64)), "CUDA_ERROR_INVALID_CONTEXT")
    for owner in (None, 0, object()):
        with pytest.raises(TypeError, match="owner"):
            kind(owner, 64)
    for wrong in ("1", None, 2.0):
        with pytest.raises(TypeError):
            kind(gpu, wrong)
        with pytest.raises(TypeError):
            kind(gpu, 1, wrong)
    for size, flags in ((-1, 0), (1 << 64, 0), (8, -1), (8, 1 << 32)):
        with pytest.raises(OverflowError):
            kind(gpu, size, flags)


def test_ranges_of_non_coherent_memory(driver):
    memory = vkgdr.RawMemory(vkgdr.Vkgdr.open_current_context(FORCED), 1000)
    for call in (memory.flush, memory.invalidate):
        for offset, size in ((0, 1000), (0, 64), (64, 128), (960, 40), (0, 0), (1000 - 40, 40),
                             (64, (1 << 64) - 1), (np.int64(0), np.uint16(64))):
            assert call(offset, size) is None
        for offset, size in ((1, 64), (0, 63), (64, 1), (0, 1001), (1024, 0), (1 << 63, 1 << 63)):
            refused(lambda: call(offset, size), "cannot", str(offset), "atom size 64")
        assert call(0, 64) is None  # an earlier refusal is forgotten
        for offset, size in ((-1, 64), (0, -64), (1 << 64, 0)):
            with pytest.raises(OverflowError):
                call(offset, size)
        with pytest.raises(TypeError):
            call("0", 64)


def test_ranges_of_coherent_memory_do_not_matter(gpu):
    memory = vkgdr.RawMemory(gpu, 1000)
    memory.flush(1, 3)
    memory.invalidate(5000, 7)


@pytest.mark.parametrize("kind", KINDS)
def test_freed_memory(gpu, kind):
    memory = kind(gpu, 64)
    memory.free()
    memory.free()
    for call in (lambda: len(memory), lambda: memory.device_ptr, lambda: memory.is_coherent,
                 lambda: memory.non_coherent_atom_size, lambda: memory.flush(0, 64),
                 lambda: memory.invalidate(0, 64), lambda: memory.__array_interface__,
                 lambda: np.asarray(memory)):
        refused(call, "freed")
    with pytest.raises(BufferError, match="freed"):
        memoryview(memory)


def test_memory_that_was_never_allocated():
    for kind in KINDS:
        memory = kind.__new__(kind)
        refused(lambda: len(memory), "never allocated")
        with pytest.raises(BufferError):
            memoryview(memory)
        memory.free()
