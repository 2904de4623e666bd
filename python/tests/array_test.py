# SPDX-License-Identifier: MIT
"""Arrays of other libraries: every shape, type and stride reaches the right bytes."""

import ctypes
import hashlib
import io

import barmap
import numpy as np
import pytest
from dlpack_object import CODES, DlpackObject
from gpu_memory import Interface, bytes_like, reported_backends

LAYOUTS = {
    "flat": lambda a: a[:64],
    "shifted": lambda a: a[3:67],
    "matrix": lambda a: a[:96].view("<f4").reshape(4, 6),
    "transposed": lambda a: a[:96].view("<f4").reshape(4, 6).T,
    "fortran_3d": lambda a: a[:192].view("<i8").reshape(2, 3, 4).transpose(2, 0, 1),
    "every_third": lambda a: a[10:400:3],
    "backwards": lambda a: a[:80].view("<i2")[::-1],
    "both_ways": lambda a: a[:96].view("<u4").reshape(4, 6)[::-2, 1::2],
    "column": lambda a: a[:800].view("<f8").reshape(10, 10)[:, 3],
    "one": lambda a: a[8:16].view("<u8")[0:1],
    "no_axes": lambda a: a[8:16].view("<u8").reshape(()),
    "repeated": lambda a: np.broadcast_to(a[:8].view("<i4"), (3, 2)),
    "big_endian": lambda a: a[:64].view(">i4"),
    "bool": lambda a: a[:2].view("?"),
    "half": lambda a: a[:20].view("<f2"),
    "complex": lambda a: a[:64].view("<c16"),
    "record": lambda a: a[:60].view([("key", "<u4"), ("value", "<f8")]),
    "date": lambda a: a[:64].view("<M8[ns]"),
}


@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize("version", [2, 3])
def test_interface(memory, layout, version):
    base = bytes_like(memory)
    expected = LAYOUTS[layout](base)
    with barmap.map(Interface(memory, expected, base, version=version)) as mapping:
        view = mapping.numpy()
        assert (view.shape, view.dtype) == (expected.shape, expected.dtype)
        assert (mapping.shape, mapping.dtype) == (expected.shape, expected.dtype)
        if 0 not in expected.strides:
            assert view.strides == mapping.strides == expected.strides
        assert view.tobytes() == expected.tobytes()
        same = np.asarray(mapping)
        assert (same.shape, same.dtype) == (expected.shape, expected.dtype)
        assert np.shares_memory(same, view) and same.tobytes() == expected.tobytes()
        if layout == "date":
            with pytest.raises(BufferError, match=r"datetime64\[ns\]: use numpy"):
                memoryview(mapping)
        else:
            assert bytes(memoryview(mapping)) == expected.tobytes()
        low, high = np.lib.array_utils.byte_bounds(expected) if hasattr(
            np.lib, "array_utils") else np.byte_bounds(expected)
        start = low - base.__array_interface__["data"][0]
        assert mapping.gpu_address == memory.address + start
        assert mapping.nbytes == high - low
        assert mapping.read() == expected.tobytes()
        del view, same


@pytest.mark.parametrize("layout", set(LAYOUTS) - {"date"})
def test_the_buffer_protocol_is_that_of_numpy(memory, layout):
    base = bytes_like(memory)
    expected = LAYOUTS[layout](base)
    with barmap.map(Interface(memory, expected, base)) as mapping:
        ours, numpys = memoryview(mapping), memoryview(expected)
        for name in ("format", "itemsize", "shape", "ndim", "nbytes", "c_contiguous",
                     "f_contiguous", "contiguous"):
            assert getattr(ours, name) == getattr(numpys, name), name
        if expected.flags.c_contiguous:
            assert np.frombuffer(mapping, "u1").tobytes() == expected.tobytes()
        else:
            with pytest.raises(BufferError, match="contiguous"):
                hashlib.sha1(mapping)
        ours.release()


def test_array_interface_of_numpy(memory):
    base = bytes_like(memory)
    with barmap.map(Interface(memory, base[:64].view("<M8[ns]"), base)) as mapping:
        assert np.array(mapping).flags.owndata
        assert np.asarray(mapping, "i8").dtype == np.int64
        for how in ({}, {"copy": False}, {"copy": None}, {"dtype": "M8[ns]", "copy": False}):
            assert np.shares_memory(mapping.__array__(**how), mapping.numpy())
        assert not np.shares_memory(mapping.__array__(copy=True), mapping.numpy())
        with pytest.raises(ValueError, match="need a copy"):
            mapping.__array__("i8", copy=False)
        if np.lib.NumpyVersion(np.__version__) >= "2.0.0":
            with pytest.raises(ValueError, match="copy"):
                np.asarray(mapping, "i8", copy=False)


def test_bytes_of_any_kind_are_copied_and_other_elements_not(memory):
    base = bytes_like(memory)
    with barmap.map(Interface(memory, base[:8].view("<f4"), base)) as mapping:
        for dtype in ("u1", "S1", "<f4"):
            sent = np.frombuffer(b"12345678", dtype)
            mapping.write(sent)
            assert mapping.read() == b"12345678"
            back = np.zeros_like(sent)
            mapping.read_into(back)
            assert (back == sent).all()
        for dtype in ("i1", "S2", "<i4", ">f4", "<f8"):
            with pytest.raises(TypeError, match="cannot copy elements of"):
                mapping.write(np.zeros(8 // np.dtype(dtype).itemsize, dtype))


def test_writes_through_a_strided_view_touch_nothing_else(memory):
    base = bytes_like(memory)
    chosen = base[:96].view("<u4").reshape(4, 6)[::-2, 1::2]
    with barmap.map(Interface(memory, chosen, base)) as mapping:
        mapping.numpy()[...] = 0xFFFFFFFF
    chosen[...] = 0xFFFFFFFF
    assert memory.get() == base.tobytes()


@pytest.mark.parametrize("versioned", [True, False])
@pytest.mark.parametrize("dtype", ["<i1", "<u2", "<f4", "<f8", "<c8", "|b1"])
def test_dlpack(memory, versioned, dtype):
    kind = np.dtype(dtype)
    code = (CODES[kind.kind], kind.itemsize * 8, 1)
    x = DlpackObject(memory.address, (3, 2), code, strides=(4, 2), byte_offset=16,
                     versioned=versioned)
    with barmap.map(x) as mapping:
        assert (mapping.shape, mapping.dtype) == ((3, 2), kind)
        assert mapping.strides == (4 * kind.itemsize, 2 * kind.itemsize)
        assert mapping.gpu_address == memory.address + 16
        view = bytes_like(memory)[16 : 16 + 12 * kind.itemsize].view(kind).reshape(3, 4)[:, ::2]
        assert mapping.read() == view.tobytes()
        assert x.returned == 0
    assert x.returned == 1
    assert x.streams == [-1]


def test_dlpack_without_strides_is_contiguous(memory):
    with barmap.map(DlpackObject(memory.address, (3, 2), (2, 32, 1))) as mapping:
        assert mapping.strides == (8, 4)


def test_dlpack_of_types_that_numpy_lacks_is_raw(memory):
    bfloat16 = (4, 16, 1)
    with barmap.map(DlpackObject(memory.address, (4,), bfloat16)) as mapping:
        assert mapping.dtype == np.dtype("V2")
        assert mapping.numpy().view("<u2").tolist() == np.frombuffer(memory.get(0, 8), "<u2").tolist()


def test_address(memory):
    with barmap.map(np.uint64(memory.address + 5), np.int64(7)) as mapping:
        assert (mapping.nbytes, mapping.shape, mapping.strides) == (7, (7,), (1,))
        assert mapping.dtype == np.uint8
        assert mapping.read() == memory.get(5, 7)
        assert mapping.gpu_address == memory.address + 5
        assert mapping.kind in ("cached", "write-combining", "uncached")
        assert mapping.backend in {row["name"] for row in reported_backends()}


class CudaPointer:
    """As cuda-python's CUdeviceptr: no __index__."""

    def __init__(self, address):
        self._address = address

    def __int__(self):
        return self._address

    def getPtr(self):
        return id(self)


@pytest.mark.parametrize("kind", [CudaPointer, ctypes.c_void_p])
def test_pointers_of_other_packages_are_addresses(memory, kind):
    with barmap.map(kind(memory.address + 5), 7) as mapping:
        assert (mapping.gpu_address, mapping.read()) == (memory.address + 5, memory.get(5, 7))
    with pytest.raises(TypeError, match="an address needs nbytes"):
        barmap.map(kind(memory.address))
    with pytest.raises(ValueError):
        barmap.map(kind(0), 8)


def test_numbers_that_are_no_addresses():
    for x, error in ((1.5, TypeError), (np.float64(4096), TypeError), (-1, ValueError), (1 << 64, OverflowError)):
        with pytest.raises(error):
            barmap.map(x, 8)
    with pytest.raises(ValueError, match="nbytes is -1: a length cannot be negative"):
        barmap.map(4096, -1)
    for nbytes in (1 << 63, 1 << 64, 1 << 80):
        with pytest.raises(ValueError, match=f"nbytes is {nbytes}, which no GPU has"):
            barmap.map(4096, nbytes)


def test_read_only_is_honoured(memory):
    base = bytes_like(memory)
    for x in (Interface(memory, base[:64], base, read_only=True),
              DlpackObject(memory.address, (64,), (1, 8, 1), flags=1)):
        with barmap.map(x) as mapping:
            assert mapping.readonly
            for write in (lambda: mapping.write(b"x"), lambda: mapping.fill(0),
                          lambda: mapping.post(1, 0)):
                with pytest.raises(TypeError, match="read-only"):
                    write()
            assert memoryview(mapping).readonly
            with pytest.raises((BufferError, TypeError)):
                io.BytesIO(b"x").readinto(mapping)
            view = mapping.numpy()
            assert not view.flags.writeable
            with pytest.raises(ValueError):
                view[0] = 1
            with pytest.raises(ValueError):
                view.flags.writeable = True
            del view
    assert memory.get() == base.tobytes()


def test_interface_is_preferred_to_an_index(memory):
    base = bytes_like(memory)

    class Scalar(Interface):
        def __index__(self):
            raise AssertionError("this is an array, not an address")

    with barmap.map(Scalar(memory, base[:8].view("<u8").reshape(()), base)) as mapping:
        assert mapping.shape == ()
