# SPDX-License-Identifier: MIT
"""What barmap.Array gives to other libraries by DLPack."""

import gc
import weakref

import barmap
import numpy as np
import pytest


def test_a_tensor_is_the_array_itself():
    array = barmap.alloc((3, 4), "f4")
    array.write(np.arange(12, dtype="f4"))
    assert array.__dlpack_device__() == (2, 0)
    with barmap.map(OnlyDlpack(array)) as mapping:
        assert mapping.gpu_address == array.gpu_address
        assert (mapping.shape, mapping.dtype, mapping.strides) == ((3, 4), np.float32, (16, 4))
        assert np.array_equal(mapping.numpy(), np.arange(12, dtype="f4").reshape(3, 4))
        assert not mapping.readonly


class OnlyDlpack:
    """An array of which only DLPack is known."""

    def __init__(self, array):
        self.__dlpack__ = array.__dlpack__
        self.__dlpack_device__ = array.__dlpack_device__


@pytest.mark.parametrize("dtype", ["i1", "u2", "i4", "u8", "f2", "f4", "f8", "c8", "c16", "?"])
def test_dtypes(dtype):
    array = barmap.alloc((2, 3), dtype)
    with barmap.map(OnlyDlpack(array)) as mapping:
        assert mapping.dtype == np.dtype(dtype) and mapping.shape == (2, 3)


@pytest.mark.parametrize("shape", [(), (1,), (1, 1, 5), (2,) * 8])
def test_shapes(shape):
    array = barmap.alloc(shape, "u2")
    with barmap.map(OnlyDlpack(array)) as mapping:
        assert mapping.shape == shape


@pytest.mark.parametrize("dtype", ["V3", ">f4", "S4", [("a", "i4")]])
def test_dtypes_that_dlpack_lacks(dtype):
    with pytest.raises(BufferError, match="DLPack"):
        barmap.alloc(4, dtype).__dlpack__()


@pytest.mark.parametrize("how", [{"copy": True}, {"dl_device": (1, 0)}])
def test_copies_and_other_devices_are_refused(how):
    with pytest.raises(BufferError):
        barmap.alloc(4, "u1").__dlpack__(**how)


@pytest.mark.parametrize("stream, error, says", [
    (0, ValueError, "no stream 0 here: 1 is the legacy default stream"), (-2, ValueError, "no stream -2"),
    ("x", TypeError, "stream is a str"), (1.0, TypeError, "stream is a float"), (True, TypeError, "stream is a bool"),
])
def test_streams_that_the_standard_does_not_allow(stream, error, says):
    with pytest.raises(error, match=says):
        barmap.alloc(4, "u1").__dlpack__(stream=stream)


@pytest.mark.parametrize("how", [
    {}, {"stream": None}, {"stream": 1}, {"stream": 2}, {"stream": -1}, {"stream": 12345}, {"max_version": (1, 0)}, {"max_version": None},
    {"copy": False}, {"dl_device": (2, 0)},
])
def test_a_capsule_keeps_the_array_alive_and_open(how):
    array = barmap.alloc(4, "u1")
    capsule = array.__dlpack__(**how)
    assert ("versioned" in repr(capsule)) == (how.get("max_version") is not None)
    with pytest.raises(BufferError):
        array.close()
    alive = weakref.ref(array)
    del array
    gc.collect()
    assert alive() is not None and not alive().closed
    del capsule
    gc.collect()
    assert alive() is None


def test_closed():
    array = barmap.alloc(4, "u1")
    array.close()
    with pytest.raises(ValueError, match="closed"):
        array.__dlpack__()
