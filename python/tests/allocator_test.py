# SPDX-License-Identifier: MIT
"""Memory for other libraries' allocators, and their modules against stand-ins of the libraries.

The libraries themselves are in frameworks_test.py.
"""

import ctypes
import functools
import gc
import random
import subprocess
import sys

import barmap
import pytest
from barmap import _barmap
from concurrency import run_threads

SLAB = 2 << 20


@pytest.fixture
def torch_functions():
    """The two functions that PyTorch looks up by name."""
    library = ctypes.CDLL(_barmap.__file__)
    malloc, free = library.barmap_malloc, library.barmap_free
    malloc.restype = ctypes.c_void_p
    malloc.argtypes = [ctypes.c_ssize_t, ctypes.c_int, ctypes.c_void_p]
    free.restype = None
    free.argtypes = [ctypes.c_void_p, ctypes.c_ssize_t, ctypes.c_int, ctypes.c_void_p]
    return malloc, free


@pytest.fixture
def open_slab():
    """One slab is open in each process that has asked for little, and mapped if a part was."""
    address = _barmap.library_malloc(1, 0)
    barmap.map(address, 1).close()
    _barmap.library_free(address)


def test_memory_of_the_pluggable_allocator_is_mapped(torch_functions):
    malloc, free = torch_functions
    address = malloc(20 << 20, 0, None)
    with barmap.map(address + 4096, 64) as mapping, barmap.map(address, 20 << 20) as whole:
        mapping.write(bytes(range(64)))
        assert whole.read(4096, 64) == bytes(range(64))
        assert mapping.gpu_address == address + 4096 and mapping.nbytes == 64
    free(address, 20 << 20, 0, None)
    with pytest.raises(barmap.Error):
        barmap.map(address, 64)


@pytest.mark.parametrize("nbytes", [0, -1, 1 << 60])
def test_no_memory_is_null_for_the_pluggable_allocator(torch_functions, nbytes, capfd):
    malloc, free = torch_functions
    assert malloc(nbytes, 0, None) is None
    said = capfd.readouterr().err
    assert (said == "") == (nbytes <= 0) and said.count("\n") == (nbytes > 0)
    free(None, 0, 0, None)


def test_no_such_gpu_is_null_for_the_pluggable_allocator(torch_functions, capfd):
    malloc, _ = torch_functions
    assert malloc(1, 77, None) is None
    assert capfd.readouterr().err.startswith("barmap: ")


def test_small_requests_share_memory_and_keep_it(open_slab, no_leak):
    addresses = [_barmap.library_malloc(nbytes, 0) for nbytes in (1, 512, 513, 0, 4096)]
    assert [b - a for a, b in zip(addresses, addresses[1:])] == [512, 512, 1024, 512]
    mappings = [barmap.map(address, 512) for address in addresses]
    for value, mapping in enumerate(mappings):
        mapping.fill(value)
    assert [mapping.read(100, 1)[0] for mapping in mappings] == [0, 1, 2, 3, 4]
    for address in addresses:
        _barmap.library_free(address)
    assert [mapping.read(100, 1)[0] for mapping in mappings] == [0, 1, 2, 3, 4]
    for mapping in mappings:
        mapping.close()


def test_freeing_what_is_not_ours_does_nothing(memory):
    _barmap.library_free(memory.address)
    _barmap.library_free(0)
    assert memory.get(0, 3) == bytes(range(3))


def test_a_mapping_keeps_freed_memory(no_leak):
    address = _barmap.library_malloc(SLAB, 0)
    mapping = barmap.map(address, SLAB)
    mapping.write(b"kept")
    _barmap.library_free(address)
    assert mapping.read(0, 4) == b"kept"
    mapping.close()
    with pytest.raises(barmap.Error):
        barmap.map(address, SLAB)


def test_mapping_past_the_end_of_an_allocation_is_refused():
    address = _barmap.library_malloc(SLAB, 0)
    with pytest.raises(barmap.Error):
        barmap.map(address + SLAB - 64, 65)
    _barmap.library_free(address)


def test_too_much_is_an_error_in_python():
    with pytest.raises(barmap.Error) as refused:
        _barmap.library_malloc(1 << 60, 0)
    assert refused.value.category == "cuda" and refused.value.advice


def test_a_mapping_of_an_array_shares_its_mapping_and_outlives_it():
    array = barmap.alloc(4096, "u1")
    mapping = barmap.map(array.gpu_address + 64, 64)
    assert mapping.backend == array.backend and mapping.device == array.device == 0
    first = mapping.numpy().__array_interface__["data"][0]
    assert first == array.numpy().__array_interface__["data"][0] + 64
    array.write(b"here", 64)
    array.close()
    assert mapping.read(0, 4) == b"here"


def test_threads_allocate_and_free(open_slab, no_leak):
    def work(seed):
        chance = random.Random(seed)
        held = {}
        for turn in range(400):
            if held and chance.random() < 0.5:
                address, value = held.popitem()
                with barmap.map(address, 8) as mapping:
                    assert mapping.read(0, 8) == bytes([value]) * 8
                _barmap.library_free(address)
            else:
                address = _barmap.library_malloc(chance.choice((8, 4000, 600_000)), 0)
                value = chance.randrange(256)
                with barmap.map(address, 8) as mapping:
                    mapping.write(bytes([value]) * 8)
                held[address] = value
        for address in held:
            _barmap.library_free(address)

    run_threads(*[functools.partial(work, seed) for seed in range(4)])
    gc.collect()


TORCH = """
import sys, types
torch = types.ModuleType("torch")
torch.cuda = types.SimpleNamespace()
class Pluggable:
    def __init__(self, path, malloc, free):
        import ctypes
        library = ctypes.CDLL(path)
        getattr(library, malloc), getattr(library, free)
    def allocator(self): return "the allocator"
torch.cuda.memory = types.SimpleNamespace(CUDAPluggableAllocator=Pluggable)
torch.cuda.MemPool = lambda allocator: ("a pool of", allocator)
sys.modules["torch"] = torch
import barmap.torch
assert barmap.torch.pool() == ("a pool of", "the allocator")
assert barmap.torch.allocator() is barmap.torch.allocator()
"""
CUPY = """
import sys, types
cupy = types.ModuleType("cupy")
class Function:
    def __init__(self, malloc, free): self.functions = malloc, free
    def malloc(self, size): return self.functions[0](size, 0)
class Pool:
    def __init__(self, allocator): self.allocator = allocator
    def malloc(self, size): return self.allocator(size)
cupy.cuda = types.SimpleNamespace(PythonFunctionAllocator=Function, MemoryPool=Pool)
sys.modules["cupy"] = cupy
import barmap, barmap.cupy
barmap.sim()
allocate = barmap.cupy.allocator()
address = allocate(100)
with barmap.map(address, 100) as mapping:
    mapping.fill(1)
allocate.__self__.allocator.__self__.functions[1](address, 0)
"""


@pytest.mark.parametrize("program", [TORCH, CUPY], ids=["torch", "cupy"])
def test_module(program):
    subprocess.run([sys.executable, "-c", program], check=True)
