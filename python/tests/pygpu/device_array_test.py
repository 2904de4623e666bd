# SPDX-License-Identifier: MIT
"""The low-level interface: DeviceArray_<dtype>, pointer_wrapper_<dtype> and typed allocators."""

import array
import ctypes
import gc
import weakref

import numpy as np
import pytest

from barmap import pygpu

INVALID_VALUE = 1


def class_of(prefix, dtype):
    return getattr(pygpu, f"{prefix}_{np.dtype(dtype).name}")


@pytest.fixture(params=pygpu.SUPPORTED_DTYPES)
def dtype(request):
    return np.dtype(request.param)


def values(dtype, shape=(3, 4), order="C"):
    count = int(np.prod(shape))
    result = (np.arange(count) * 3 + 1).astype(dtype)
    if dtype.kind == "c":
        result += 1j
    return np.asarray(result.reshape(shape), order=order)


def test_the_round_trip_of_the_readme():
    a = np.array([1, 2, 3, 4, 5, 6])
    da = pygpu.DeviceArray_int64(a)
    da.allocate()
    da.to_device()
    assert int(da.device_data()) != 0
    a[:] = 0
    da.to_host()
    assert a.tolist() == [1, 2, 3, 4, 5, 6] and da.last_status() == 0


@pytest.mark.parametrize("order", "CF")
def test_every_type_goes_there_and_back(dtype, order, nothing_left):
    host = values(dtype, order=order)
    wanted = host.copy(order="K")
    da = class_of("DeviceArray", dtype)(host)
    assert da.allocate() == da.to_device() == 0
    host[...] = 0
    assert da.to_host() == 0
    assert np.array_equal(host, wanted)
    assert (da.size(), da.nbytes()) == (12, 12 * dtype.itemsize)
    assert (da.shape(), da.strides()) == ([3, 4], list(host.strides))
    assert np.array_equal(da.host_data().get(), wanted.ravel(order="K"))
    assert int(da.host_data()) == host.ctypes.data and da.host_data().is_safe()


def test_its_own_host_memory(dtype, nothing_left):
    make = class_of("DeviceArray", dtype)
    assert make(5).shape() == [5]
    assert make([2, 3]).strides() == [3 * dtype.itemsize, dtype.itemsize]
    assert make((2, 3), 0).strides() == [dtype.itemsize, 2 * dtype.itemsize]
    assert make(l=[2, 3], flag_c_contiguous=0).strides() == [dtype.itemsize, 2 * dtype.itemsize]
    da = make([2, 3])
    view = np.array(da, copy=False)
    assert view.dtype == dtype and view.shape == (2, 3) and not view.any()
    view[:] = values(dtype, (2, 3))
    assert da.allocate() == da.to_device() == 0
    view[:] = 0
    assert da.to_host() == 0 and np.array_equal(np.asarray(memoryview(da)), values(dtype, (2, 3)))


def test_buffers_that_are_no_numpy_array():
    da = pygpu.DeviceArray_int32(array.array("i", [7, 8]))
    assert da.allocate() == da.to_device() == da.to_host() == 0
    assert da.host_data().get().tolist() == [7, 8]


def test_the_host_side_of_a_pointer(dtype):
    allocator = class_of("PagelockedAllocator", dtype)()
    assert not allocator.ptr().is_safe() and int(allocator.ptr()) == 0
    assert allocator.allocate(10) == 0
    make = class_of("DeviceArray", dtype)
    da, clone = make(allocator.ptr(), [5, 2]), make(a=allocator.ptr(), l=[5, 2])
    del allocator
    gc.collect()
    np.array(da, copy=False)[:] = values(dtype, (5, 2))
    assert np.array_equal(np.array(clone, copy=False), values(dtype, (5, 2)))
    assert da.allocate() == da.to_device() == da.to_host() == 0


def test_addresses_on_both_sides(dtype):
    first = class_of("DeviceArray", dtype)(values(dtype))
    assert first.allocate() == first.to_device() == 0
    host = np.zeros((3, 4), dtype)
    second = class_of("DeviceArray", dtype)(host.ctypes.data, int(first.device_data()), [3, 4])
    assert second.allocated() and second.allocate() == 0
    assert second.to_host() == 0 and np.array_equal(host, values(dtype))


def test_set(dtype):
    da = class_of("DeviceArray", dtype)([3, 4], 0)
    assert da.allocate() == 0
    for given in (values(dtype), values(dtype, order="F"), values(dtype, (3, 8))[:, ::2]):
        assert da.set(given) == da.to_host() == 0
        assert np.array_equal(np.array(da, copy=False), given)
    flat = values(dtype, (12,))
    assert da.set(flat.ctypes.data) == da.to_host() == 0
    assert np.array_equal(da.host_data().get(), flat)


def test_set_val(dtype):
    da = class_of("DeviceArray", dtype)([2, 3])
    assert da.allocate() == da.to_device() == 0
    assert da.set_val(4, 9) == da.to_host() == 0
    assert np.array(da, copy=False).ravel().tolist() == [0, 0, 0, 0, 9, 0]
    for idx in (-1, 6):
        with pytest.warns(RuntimeWarning, match="nothing was written"):
            assert da.set_val(idx, 1) == INVALID_VALUE
        assert da.last_status() == INVALID_VALUE


def test_set_val_takes_one_element():
    da = pygpu.DeviceArray_int16(np.arange(4, dtype="i2"))
    da.allocate()
    da.to_device()
    for value in ([7, 8], np.zeros((2, 2)), []):
        with pytest.raises(ValueError, match=f"one element, not {np.size(value)}"):
            da.set_val(0, value)
    assert da.set_val(3, np.array([9])) == da.to_host() == 0
    assert np.asarray(da).tolist() == [0, 1, 2, 9]


def test_a_number_of_elements_may_be_of_numpy():
    assert pygpu.DeviceArray_int64(np.int64(5)).shape() == [5]
    assert pygpu.DeviceArray_int64(np.uint8(5)).shape() == [5]


def test_without_elements(nothing_left):
    for da in (pygpu.DeviceArray_int16(0), pygpu.DeviceArray_int16(np.zeros((3, 0), "i2"))):
        assert da.allocate() == da.to_device() == da.to_host() == 0
        assert da.nbytes() == 0 and int(da.device_data()) == 0


def test_one_element_without_axes():
    host = np.array(2.5)
    da = pygpu.DeviceArray_float64(host)
    assert da.allocate() == da.to_device() == 0
    host[...] = 0
    assert da.to_host() == 0 and host == 2.5 and da.shape() == []


def test_another_type_is_refused():
    with pytest.raises(TypeError, match="use DeviceArray_int32"):
        pygpu.DeviceArray_int64(np.zeros(4, "i4"))
    with pytest.raises(TypeError, match="astype"):
        pygpu.DeviceArray_int64(np.zeros(4, "i1"))
    with pytest.raises(TypeError, match="astype"):
        pygpu.DeviceArray_int64(np.zeros(4, ">i8"))
    da = pygpu.DeviceArray_float32(4)
    da.allocate()
    with pytest.raises(TypeError, match="float64"):
        da.set(np.zeros(4))
    with pytest.raises(ValueError, match="shape"):
        da.set(np.zeros(5, "f4"))
    with pytest.raises(TypeError, match="pointer_wrapper_float32"):
        pygpu.DeviceArray_float32(pygpu.pointer_wrapper_float64(), [1])


def test_what_is_not_contiguous_is_refused():
    with pytest.raises(ValueError, match="contiguous"):
        pygpu.DeviceArray_int64(np.arange(6)[::2])
    with pytest.raises(ValueError, match="contiguous"):
        pygpu.DeviceArray_int64(np.arange(6)[::-1])


def test_a_read_only_host_side():
    host = np.arange(3)
    host.flags.writeable = False
    da = pygpu.DeviceArray_int64(host)
    assert da.allocate() == da.to_device() == 0
    with pytest.raises(ValueError, match="read-only"):
        da.to_host()


def test_transfers_need_memory():
    da = pygpu.DeviceArray_int64(3)
    assert not da.allocated() and int(da.device_data()) == 0
    for use in (da.to_device, da.to_host, lambda: da.set(np.zeros(3, "i8")),
                lambda: da.set_val(0, 1)):
        with pytest.raises(RuntimeError, match=r"allocate\(\) first"):
            use()


def test_bad_arguments():
    make = pygpu.DeviceArray_int64
    for arguments in ((), (1, 2, 3, 4, 5), ("text",), (None,), ([1.5],)):
        with pytest.raises(TypeError):
            make(*arguments)
    with pytest.raises(TypeError):
        make(3, colour="red")
    with pytest.raises(ValueError, match="-1 elements"):
        make([-1])
    with pytest.raises(TypeError, match="class of an element type"):
        pygpu.DeviceArray(3)


def test_bad_addresses():
    memory = pygpu.DeviceAllocator_int64()
    assert memory.allocate(4) == 0
    host = np.zeros(5, "i8")
    with pytest.raises(ValueError, match="ends after 32 bytes"):
        pygpu.DeviceArray_int64(host.ctypes.data, int(memory.ptr()), [5])
    with pytest.raises(ValueError, match="host address is null"):
        pygpu.DeviceArray_int64(0, int(memory.ptr()), [4])
    with pytest.raises(ValueError, match="device address is null"):
        pygpu.DeviceArray_int64(host.ctypes.data, 0, [4])
    with pytest.raises(ValueError, match="host address is null"):
        pygpu.DeviceArray_int64(pygpu.pointer_wrapper_int64(), [4])
    pointer = pygpu.pointer_wrapper_int64()
    pointer.create(3)
    with pytest.raises(ValueError, match="has 3 elements"):
        pygpu.DeviceArray_int64(pointer, [4])


def test_too_much_memory():
    (_, total), _ = pygpu.cudaMemGetInfo()
    memory = pygpu.DeviceAllocator_float64()
    assert memory.allocate(total) == 2 and int(memory.ptr()) == 0
    assert pygpu.cudaGetLastError() == 2


def test_pointers(dtype):
    make = class_of("pointer_wrapper", dtype)
    assert make is class_of("ptr_wrapper", dtype)
    pointer = make()
    assert repr(pointer) == f"<pointer_wrapper<{dtype.name}>, is_safe=0, addr=0>"
    with pytest.raises(ValueError, match="no host memory"):
        pointer.get()
    with pytest.raises(ValueError, match="not negative"):
        pointer.create(-1)
    pointer.create(3)
    assert pointer.is_safe() and int(pointer) == pointer.get().ctypes.data
    assert pointer.get().dtype == dtype and pointer.get().tolist() == [0, 0, 0]
    assert ctypes.c_void_p.from_param(pointer).value == int(pointer)
    pointer.destroy()
    assert not pointer.is_safe() and int(pointer) == 0


def test_print_address(capsys):
    pygpu.pointer_wrapper_int16().print_address()
    assert capsys.readouterr().out == "Address of ptr is 0x0\n"


def test_a_pointer_keeps_the_memory(nothing_left):
    memory = pygpu.DeviceAllocator_int64()
    assert memory.allocate(2) == 0
    pointer = memory.ptr()
    del memory
    da = pygpu.DeviceArray_int64(np.arange(2).ctypes.data, int(pointer), [2])
    assert da.device_data() is not None
    da2 = pygpu.DeviceArray_int64(2)
    da2.allocate()
    kept = da2.device_data()
    del da2
    gc.collect()
    host = np.zeros(2, "i8")
    again = pygpu.DeviceArray_int64(host.ctypes.data, int(kept), [2])
    assert again.to_device() == again.to_host() == 0


def test_allocators_by_type(dtype, nothing_left):
    for prefix, safe in (("HostAllocator", True), ("DeviceAllocator", False),
                         ("PagelockedAllocator", True)):
        allocator = class_of(prefix, dtype)()
        assert int(allocator.ptr()) == 0
        answer = allocator.allocate(100)
        assert answer is None if prefix == "HostAllocator" else answer == 0
        first = allocator.ptr()
        assert int(first) != 0 and first.is_safe() is safe
        allocator.allocate(50)  # what was there stays as long as it is used
        assert int(allocator.ptr()) not in (0, int(first))
        if safe:
            assert first.get().size == 100 and first.get().dtype == dtype
        with pytest.raises(ValueError):
            allocator.allocate(-1)


def test_what_is_dropped_is_freed(nothing_left):
    host = np.zeros(3)
    da = pygpu.DeviceArray_float64(host)
    da.allocate()
    view = np.array(da, copy=False)
    gone = weakref.ref(da)
    del da
    gc.collect()
    assert gone() is None
    view[:] = 1  # the host side lives on
    assert host.tolist() == [1, 1, 1]
