# SPDX-License-Identifier: MIT
"""The high-level interface: making arrays, sending and fetching them, and what they tell."""

import gc

import numpy as np
import pytest

from barmap import Error, pygpu
from barmap.pygpu import gpuarray


@pytest.fixture(params=pygpu.SUPPORTED_DTYPES)
def dtype(request):
    return np.dtype(request.param)


def values(dtype, shape=(2, 3, 4), order="C"):
    count = int(np.prod(shape))
    result = (np.arange(count) * 3 + 1).astype(dtype)
    if np.dtype(dtype).kind == "c":
        result += 1j
    return np.asarray(result.reshape(shape), order=order)


def test_the_example_of_the_readme():
    k = np.array([1, 2, 3, 4, 5, 6])
    k_gpu = gpuarray.to_gpu(k)
    fk_gpu = gpuarray.GPUArray((3, 3, 3), dtype=np.complex128)
    fk = fk_gpu.get()
    assert fk.shape == (3, 3, 3) and fk.dtype == np.complex128
    assert k_gpu.get().tolist() == [1, 2, 3, 4, 5, 6]


@pytest.mark.parametrize("order", "CF")
def test_from_an_array(dtype, order, nothing_left):
    k = values(dtype, order=order)
    wanted = k.copy()
    a = pygpu.to_gpu(k)
    assert (a.shape, a.strides, a.dtype) == (k.shape, k.strides, dtype)
    assert (a.size, a.nbytes, a.ndim, a.itemsize) == (k.size, k.nbytes, 3, dtype.itemsize)
    assert a.ptr == a.gpudata == int(a.device_data) != 0 and a.device == 0
    k[...] = 0
    assert np.array_equal(a.get(), wanted)
    assert np.array_equal(k, wanted)  # the host side is k itself
    assert int(a.host_data) == k.ctypes.data and a.last_status == 0


@pytest.mark.parametrize("order", "CF")
def test_from_a_shape(dtype, order, nothing_left):
    a = pygpu.GPUArray((2, 3, 4), dtype=dtype, order=order)
    like = np.empty((2, 3, 4), dtype, order)
    assert a.strides == like.strides
    assert (a.flags.c_contiguous, a.flags.f_contiguous) == (order == "C", order == "F")
    assert a.flags.forc
    host = a.get()  # whatever was in the memory
    assert host.strides == like.strides
    host[...] = values(dtype)
    a.to_device()
    host[...] = 0
    assert np.array_equal(a.get(), values(dtype)) and np.array_equal(host, values(dtype))


def test_shapes_and_types_in_many_forms():
    for shape in (6, [6], (6,), np.int64(6)):
        assert pygpu.GPUArray(shape).shape == (6,)
    assert pygpu.GPUArray(shape=[2, 3]).dtype == np.float64
    for dtype in ("float32", np.float32, np.dtype("f4"), "<f4"):
        assert pygpu.GPUArray(2, dtype).dtype == np.float32
    assert pygpu.GPUArray(2, dtype=float).dtype == np.float64


def test_the_host_side_may_be_a_copy():
    k = np.arange(4)
    a = pygpu.GPUArray(k, copy=True)
    k[:] = 9
    a.to_gpu()
    assert a.get().tolist() == [0, 1, 2, 3] and k.tolist() == [9] * 4
    b = pygpu.GPUArray(np.arange(6).reshape(2, 3), order="F")
    b.to_device()
    assert b.strides == (8, 16) and b.get().tolist() == [[0, 1, 2], [3, 4, 5]]


def test_get_aliases_the_host_side_unless_told():
    a = pygpu.to_gpu(np.arange(3))
    alias, apart = a.get(), a.get(copy=True)
    a.set(np.array([7, 8, 9]))
    a.to_host()
    assert alias.tolist() == [7, 8, 9] and apart.tolist() == [0, 1, 2]


@pytest.mark.parametrize("pick", [np.s_[::2], np.s_[::-1], np.s_[:, ::-2], np.s_[1:, 1:3]])
def test_from_an_array_with_gaps(pick, nothing_left):
    base = values("int32", (6, 5))
    k = base[pick]
    wanted = k.copy()
    a = pygpu.to_gpu(k)
    assert a.shape == k.shape and a.flags.c_contiguous
    k[...] = 0
    assert np.array_equal(a.get(), wanted) and np.array_equal(base[pick], wanted)
    k[...] = 5
    a.to_device()
    assert (a.get(copy=True) == 5).all()
    with pytest.raises(ValueError, match="not contiguous"):
        a.host_data


def test_from_a_read_only_array():
    k = np.arange(3)
    k.flags.writeable = False
    a = pygpu.to_gpu(k)
    assert a.get().tolist() == [0, 1, 2] and a.get().flags.writeable
    with pytest.raises(ValueError, match="read-only"):
        a.to_host()


def test_to_gpu_takes_what_numpy_takes():
    assert pygpu.to_gpu([1.5, 2]).get().tolist() == [1.5, 2]
    assert pygpu.to_gpu(np.float32(3)).item() == 3
    a = pygpu.to_gpu(np.arange(3))
    b = pygpu.to_gpu(a)
    b[0] = 9
    assert a.get().tolist() == [0, 1, 2] and b.get().tolist() == [9, 1, 2]


def test_set(dtype):
    a = pygpu.GPUArray((3, 4), dtype)
    for given in (values(dtype, (3, 4)), values(dtype, (3, 4), "F"), values(dtype, (6, 4))[::2]):
        a.set(given)
        assert np.array_equal(a.get(), given)


def test_set_refuses_what_does_not_fit():
    a = pygpu.GPUArray((2, 3), "float32")
    with pytest.raises(TypeError, match="float64"):
        a.set(np.zeros((2, 3)))
    with pytest.raises(ValueError, match=r"\(3, 2\)"):
        a.set(np.zeros((3, 2), "f4"))
    with pytest.raises(TypeError, match="numpy.ndarray"):
        a.set([[1, 2, 3], [4, 5, 6]])


def test_numbers_that_do_not_fit():
    a = pygpu.to_gpu(np.zeros(4, "i2"))
    for value, failure in ((1 + 2j, TypeError), (float("nan"), ValueError), ("x", ValueError)):
        for given in (value, [value] * 4):
            with pytest.raises((failure, TypeError)):
                a[:] = given
    with pytest.raises(TypeError):
        a[0] = 1 + 2j
    if np.lib.NumpyVersion(np.__version__) >= "2.0.0":  # before, NumPy takes the low bits
        for index, value in ((0, 70_000), (slice(None), 70_000), (slice(None), [0, 0, 0, 70_000])):
            with pytest.raises(OverflowError):
                a[index] = value
    a[:] = 1.7
    a[1:] = [2.5, 3, 4]
    assert a.get().tolist() == [1, 2, 3, 4]


def test_set_val_takes_one_element():
    a = pygpu.to_gpu(np.arange(8))
    for part in (a[2:4], a[::2]):
        for value in ([7, 8, 9], []):
            with pytest.raises(ValueError, match="one element"):
                part.set_val(0, value)
        part.set_val(1, [7])
    assert a.get().tolist() == [0, 1, 7, 7, 4, 5, 6, 7]


def test_set_val():
    for order, at in (("C", (1, 0)), ("F", (1, 1))):
        a = pygpu.GPUArray(np.zeros((2, 3), "i8", order))
        a.to_device()
        assert a.set_val(3, 43) == 0
        assert a.get()[at] == 43 and a.get().sum() == 43
    with pytest.warns(RuntimeWarning, match="outside"):
        assert a.set_val(6, 1) == 1
    assert a.last_status == 1
    a[1, 0] = 5
    assert a.last_status == 0


def test_types_that_are_not_supported():
    for dtype in ("int8", "bool", "float16", ">f8", "M8[s]", object, "nonsense"):
        with pytest.raises(pygpu.UnsupportedDataType, match="supported|no data type"):
            pygpu.GPUArray(3, dtype)
    for array in (np.zeros(3, "i1"), np.zeros(3, ">f8"), np.array(["a"])):
        with pytest.raises(pygpu.UnsupportedDataType, match="supported"):
            pygpu.GPUArray(array)
    assert issubclass(pygpu.UnsupportedDataType, TypeError)


def test_arguments_that_do_not_fit():
    with pytest.raises(TypeError, match="either"):
        pygpu.GPUArray()
    with pytest.raises(TypeError, match="either"):
        pygpu.GPUArray(3, shape=3)
    with pytest.raises(TypeError, match="elements of type"):
        pygpu.GPUArray(np.zeros(3), dtype="int64")
    with pytest.raises(ValueError, match="order"):
        pygpu.GPUArray(3, order="K")
    with pytest.raises(ValueError, match="-1"):
        pygpu.GPUArray((3, -1))
    for shape in ("abc", 1.5, {"a": 1}, object()):
        with pytest.raises(pygpu.UnsupportedDataType, match="numpy.ndarray or a shape"):
            pygpu.GPUArray(shape)


def test_too_much_memory():
    (_, total), _ = pygpu.cudaMemGetInfo()
    with pytest.raises(Error, match="allocate") as raised:
        pygpu.GPUArray(total, "float64")
    assert raised.value.code == 2 and "free arrays" in raised.value.advice
    assert raised.value.category in ("cuda runtime", "hip runtime")


def test_without_elements(nothing_left):
    for shape in (0, (3, 0), (0, 4)):
        a = pygpu.GPUArray(shape, "int32")
        a.to_device()
        assert a.get().shape == a.shape and a.nbytes == a.size == a.ptr == 0
        a.set(np.zeros(a.shape, "i4"))
        a[...] = 3
        a[...] = a
        assert a.copy().shape == a.shape and a.T.shape == a.shape[::-1]
        assert a.flags.c_contiguous and a.flags.f_contiguous
        assert int(a.device_data) == 0
    with pytest.warns(RuntimeWarning):
        a.set_val(0, 1)


def test_without_axes(nothing_left):
    a = pygpu.GPUArray((), "float64")
    a[...] = 2.5
    assert a.shape == () and a.get() == 2.5 and a.item() == 2.5 and a.nbytes == 8
    a.set(np.array(3.5))
    assert a[()].item() == a[...].item() == 3.5
    a[()] = 4
    assert a.item() == 4
    with pytest.raises(TypeError, match="no length"):
        len(a)
    with pytest.raises(IndexError):
        a[0]


def test_single_elements():
    a = pygpu.to_gpu(np.array([[1, 0], [3, 4]]))
    assert a[1, 0].item() == 3 and a[1, 1].shape == ()
    assert bool(a[0, 0]) and not a[0, 1]
    with pytest.raises(ValueError, match="no single number"):
        a.item()
    with pytest.raises(ValueError, match="no single number"):
        bool(a)


def test_it_becomes_no_numpy_array_by_itself():
    with pytest.raises(TypeError, match=r"call get\(\)"):
        np.asarray(pygpu.GPUArray(3))


def test_repr_moves_nothing():
    a = pygpu.GPUArray((2, 3), "int16")
    assert repr(a) == f"GPUArray(shape=(2, 3), dtype=int16, ptr={a.ptr:#x})"


def test_memory_is_freed(vendor, nothing_left):
    for _ in range(50):
        a = pygpu.to_gpu(np.zeros((100, 100)))
        b = a[::2, 1:]
        b.get()
        del a, b
    gc.collect()


def test_arrays_on_two_devices(two_devices, nothing_left):
    first = pygpu.to_gpu(np.arange(4))
    pygpu.cudaSetDevice(1)
    second = pygpu.to_gpu(np.arange(4) + 10)
    assert (first.device, second.device) == (0, 1)
    for device in (0, 1):  # wherever the thread is
        pygpu.cudaSetDevice(device)
        for _ in range(10):
            assert first.get().tolist() == [0, 1, 2, 3]
            assert second.get().tolist() == [10, 11, 12, 13]
            first[0] = 0
        assert pygpu.cudaGetDevice() == (device, 0)
    second[:2] = first[2:]
    assert second.get().tolist() == [2, 3, 12, 13]
