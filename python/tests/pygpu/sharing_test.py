# SPDX-License-Identifier: MIT
"""Allocators, and arrays that other libraries take or give."""

import ctypes
import gc
import threading
import weakref

import numpy as np
import pytest

import barmap
from barmap import Error, pygpu



class Interface:
    """Somebody else's array: an object with __cuda_array_interface__."""

    def __init__(self, array, **changes):
        self.array = array
        self.__cuda_array_interface__ = {**array.__cuda_array_interface__, **changes}


def test_the_example_of_an_allocator():
    k = np.arange(6).reshape(3, 2)
    k_gpu = pygpu.to_gpu(k)
    j_gpu = pygpu.GPUArray(allocator=pygpu.Allocator(k_gpu))
    j_gpu.set_val(0, 43)
    j_gpu.set_val(1, 44)
    j = j_gpu.get()
    assert j[0].tolist() == [43, 44] and k[0].tolist() == [0, 1]
    assert k_gpu.ptr == j_gpu.ptr == pygpu.Allocator(k_gpu).ptr()


def test_the_host_side_of_an_allocator():
    k = pygpu.to_gpu(np.arange(6, dtype="i4"))
    host = np.zeros(6, "i4")
    allocator = pygpu.Allocator(k, host)
    assert allocator.host_ptr() == host.ctypes.data
    assert pygpu.GPUArray(allocator=allocator).get().tolist() == host.tolist() == list(range(6))
    with pytest.raises(TypeError, match="int64"):
        pygpu.Allocator(k, np.zeros(6, "i8"))
    with pytest.raises(ValueError, match="shape"):
        pygpu.Allocator(k, np.zeros(7, "i4"))


@pytest.mark.parametrize("kind", ["HostAllocator", "PagelockedAllocator"])
def test_host_memory_for_an_array(kind, nothing_left):
    memory = getattr(pygpu, kind)((3, 5), np.float64)
    a = pygpu.GPUArray(allocator=memory)
    alias = a.get()
    assert alias.ctypes.data == memory.host_ptr() == int(memory.ptr()) == int(a.host_data)
    assert memory.ptr().is_safe() and memory.get().shape == (3, 5)
    alias[...] = np.arange(15).reshape(3, 5)
    a.to_device()
    alias[...] = 0
    assert np.array_equal(a.get(), np.arange(15).reshape(3, 5))
    with pytest.raises(RuntimeError, match="nothing else"):
        pygpu.GPUArray(3, allocator=memory)
    with pytest.raises(RuntimeError, match="nothing else"):
        pygpu.GPUArray(allocator=memory, dtype="float64")


def test_page_locked_memory_stays_as_long_as_it_is_seen(nothing_left):
    view = pygpu.PagelockedAllocator(1000, "int64").get()[10:20]
    gc.collect()
    view[:] = 7
    assert view.sum() == 70
    del view
    empty = pygpu.PagelockedAllocator((0, 3), "int64")
    assert empty.get().shape == (0, 3)


def test_too_much_page_locked_memory():
    with pytest.raises(Error, match="page-locked") as raised:
        pygpu.PagelockedAllocator(1 << 59, "float64")
    assert raised.value.code == 2


def test_page_locked_memory_as_memory_of_the_device(nothing_left):
    memory = pygpu.PagelockedAllocator((2, 3), "int32")
    a = pygpu.GPUArray(allocator=pygpu.Allocator(memory))
    assert a.ptr == memory.host_ptr()
    a.set(np.arange(6, dtype="i4").reshape(2, 3))
    pygpu.cudaDeviceSynchronize()
    assert memory.get().tolist() == [[0, 1, 2], [3, 4, 5]]


def test_the_interface_is_a_property():
    a = pygpu.to_gpu(np.arange(24.0).reshape(2, 3, 4))
    told = a.__cuda_array_interface__
    assert told == {
        "shape": (2, 3, 4), "typestr": "<f8", "data": (a.ptr, False), "strides": None,
        "stream": None if pygpu.use_hip else 1, "version": 3,
    }
    assert a[:, ::2].__cuda_array_interface__["strides"] == (96, 64, 8)
    assert pygpu.GPUArray(0).__cuda_array_interface__["data"] == (0, False)
    assert pygpu.GPUArray(1, "complex64").__cuda_array_interface__["typestr"] == "<c8"


@pytest.mark.parametrize("pick", [np.s_[:], np.s_[::-1, 1:], np.s_[:, ::2], np.s_[0:0]])
def test_arrays_of_others(pick, nothing_left):
    k = np.arange(24, dtype="i4").reshape(4, 6)
    owner = pygpu.to_gpu(k.copy())
    given = Interface(owner[pick])
    for a in (pygpu.GPUArray(allocator=given), pygpu.GPUArray(allocator=pygpu.Allocator(given))):
        assert a.shape == k[pick].shape and a.ptr == owner[pick].ptr
        assert np.array_equal(a.get(), k[pick])
    a[...] = 5
    k[pick] = 5
    assert np.array_equal(owner.get(), k)
    b = pygpu.GPUArray(k[pick].shape, "int32")
    b[...] = given
    assert np.array_equal(b.get(), k[pick])
    kept = weakref.ref(given)
    del given, owner
    gc.collect()
    assert kept() is not None and np.array_equal(a.get(), k[pick])


def test_the_stream_of_others_is_waited_for(vendor):
    owner, stream = pygpu.to_gpu(np.zeros(4, "i4")), pygpu.cudaStream_t(1)
    vendor.memset(owner.ptr, 1, owner.nbytes, stream)
    a = pygpu.GPUArray(allocator=Interface(owner, stream=int(stream)))
    assert a.get().tolist() == [0x01010101] * 4


def test_arrays_of_others_that_cannot_be_shared():
    owner = pygpu.GPUArray(4, "int32")
    with pytest.raises(ValueError, match="read-only"):
        pygpu.Allocator(Interface(owner, data=(owner.ptr, True)))
    with pytest.raises(TypeError, match="mask"):
        pygpu.Allocator(Interface(owner, mask=owner))
    with pytest.raises(pygpu.UnsupportedDataType):
        pygpu.Allocator(Interface(owner, typestr="|i1"))
    with pytest.raises(ValueError, match="ends after 16 bytes"):
        pygpu.Allocator(Interface(owner, shape=(5,)))
    assert pygpu.cudaPeekAtLastError() == 0  # the program has caused none
    with pytest.raises(ValueError, match="2 strides for 1 axes"):
        pygpu.Allocator(Interface(owner, strides=(4, 4)))
    for changes in ({"data": (0, False)}, {"data": (None, False)}, {"strides": (-(1 << 62),)}):
        with pytest.raises(ValueError, match="null or negative"):
            pygpu.Allocator(Interface(owner, **changes))
    for thing in (np.zeros(3), "text", None):
        with pytest.raises(TypeError, match="no memory on the device"):
            pygpu.Allocator(thing)


def test_barmap_maps_it(vendor):
    if vendor.name != "cuda":
        pytest.skip("barmap maps memory of NVIDIA's GPUs")
    a = pygpu.to_gpu(np.arange(6.0).reshape(2, 3))
    with barmap.map(a) as m:
        assert np.array_equal(m.numpy(), a.get())
        m.write(np.float64(9))
    assert a[0, 0].item() == 9


@pytest.mark.parametrize("order", "CF")
def test_dlpack(order, vendor, nothing_left):
    a = pygpu.to_gpu(np.asarray(np.arange(6, dtype="i4").reshape(2, 3), order=order))
    assert a.__dlpack_device__() == ({"cuda": 2, "hip": 10}[vendor.name], 0)
    for stream in {"cuda": (None, -1, 1, 2), "hip": (None, -1, 0)}[vendor.name]:
        capsule = a.__dlpack__(stream=stream)
        assert "dltensor" in repr(capsule)
        del capsule
    assert '"dltensor_versioned"' in repr(a.__dlpack__(stream=-1, max_version=(1, 0)))
    capsule, ptr = a[:, 1:].__dlpack__(), a.ptr
    del a
    gc.collect()  # the capsule keeps the memory
    others = [pygpu.GPUArray((2, 3), "int32") for _ in range(4)]
    assert all(other.ptr != ptr for other in others)
    del capsule


def test_a_stream_of_dlpack_waits(vendor, nothing_left):
    stream = pygpu.cudaStream_t(1)
    a, gate = pygpu.to_gpu(np.arange(4)), threading.Event()
    vendor.run_on_host(0, gate.wait)  # on the default stream
    try:
        unordered = a.__dlpack__(stream=-1)
        assert stream.query() == 0
        capsule = a.__dlpack__(stream=int(stream))
        assert stream.query() == 600
    finally:
        gate.set()
    assert stream.synchronize() == 0
    del capsule, unordered
    with pytest.raises(BufferError):
        a.__dlpack__(copy=True)


def test_strides_that_dlpack_cannot_tell():
    owner = pygpu.to_gpu(np.arange(8, dtype="i4"))
    a = pygpu.GPUArray(allocator=Interface(owner, shape=(4,), strides=(6,)))
    with pytest.raises(BufferError, match="copy\\(\\) the array"):
        a.__dlpack__()
    assert "dltensor" in repr(a.copy().__dlpack__())


def test_barmap_takes_its_dlpack(vendor):
    if vendor.name != "cuda":
        pytest.skip("barmap maps memory of NVIDIA's GPUs")
    a = pygpu.to_gpu(np.arange(6, dtype="i4").reshape(2, 3))

    class OnlyDLPack:
        def __dlpack__(self, **how):
            return a[:, 1:].__dlpack__(**how)

        def __dlpack_device__(self):
            return a.__dlpack_device__()

    assert barmap.map(OnlyDLPack()).numpy().tolist() == [[1, 2], [4, 5]]


class WithoutDlpack:
    """An array of which only __cuda_array_interface__ is known."""

    def __init__(self, array):
        self.array = array
        self.__cuda_array_interface__ = {**array.__cuda_array_interface__, "stream": None}


@pytest.mark.skipif(pygpu.use_hip, reason="HIP is not asked who owns an address")
def test_memory_of_another_device_is_that_devices(two_devices):
    pygpu.cudaSetDevice(1)
    owner = pygpu.to_gpu(np.arange(8))
    pygpu.cudaSetDevice(0)
    shared = pygpu.GPUArray(allocator=WithoutDlpack(owner))
    assert shared.device == owner.device == 1
    assert shared.__dlpack_device__() == owner.__dlpack_device__()
    assert (shared.get() == np.arange(8)).all()


@pytest.mark.skipif(pygpu.use_hip, reason="HIP has no contexts")
def test_reaching_another_device_leaves_the_threads_context(two_devices, vendor):
    pygpu.cudaSetDevice(1)
    far = pygpu.to_gpu(np.arange(3))
    pygpu.cudaSetDevice(0)
    own, now = ctypes.c_void_p(), ctypes.c_void_p()
    assert vendor.library.cuCtxCreate_v2(ctypes.byref(own), 0, 0) == 0
    try:
        assert far.get().tolist() == [0, 1, 2]
        assert vendor.library.cuCtxGetCurrent(ctypes.byref(now)) == 0 and now.value == own.value
    finally:
        vendor.library.cuCtxDestroy_v2(own)
        pygpu.cudaSetDevice(0)
