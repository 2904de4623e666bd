# SPDX-License-Identifier: MIT
"""Copies to and from mappings of arrays that are not contiguous: what NumPy does to the same view."""

import random

import numpy as np
import pytest

import barmap
from dlpack_object import DlpackObject
from gpu_memory import Interface, bytes_like

RECORD = np.dtype([("key", "<u4"), ("pair", "<i2", 2), ("flag", "?")])
DTYPES = ["|u1", "<u2", ">i4", "<f4", "<f8", "<c16", "|S3", "<M8[ns]", RECORD]


def random_view(chance, base):
    """A view of the bytes as an array somebody sliced, reversed, transposed and repeated."""
    dtype = np.dtype(chance.choice(DTYPES))
    shape = tuple(chance.randint(1, 6) for _ in range(chance.randint(1, 4)))
    start = chance.randrange(64)
    count = int(np.prod(shape))
    view = base[start : start + count * dtype.itemsize].view(dtype).reshape(shape)
    for _ in range(chance.randint(0, 3)):
        step = chance.choice([-3, -2, -1, 1, 2, 3])
        axis = chance.randrange(view.ndim)
        begin = chance.choice([None, 0, 1, -1])
        chosen = view[(slice(None),) * axis + (slice(begin, None, step),)]
        view = chosen if chosen.size else view
    axes = list(range(view.ndim))
    chance.shuffle(axes)
    view = view.transpose(axes)
    if chance.random() < 0.2:
        view = view[..., np.newaxis]
    return view


def expect_equal(memory, base):
    assert memory.get() == base.tobytes(), "bytes outside of the view have changed, or others inside"


@pytest.mark.parametrize("seed", range(40))
def test_random_views_as_numpy(memory, seed):
    chance = random.Random(seed)
    base = bytes_like(memory)
    for _ in range(10):
        view = random_view(chance, base)
        size = view.nbytes
        with barmap.map(Interface(memory, view, base)) as mapping:
            begin = chance.randint(0, size)
            length = chance.randint(0, size - begin)
            assert mapping.read() == view.tobytes()
            assert mapping.read(begin) == view.tobytes()[begin:]
            assert mapping.read(begin, length) == view.tobytes()[begin : begin + length]
            there = bytearray(length)
            assert mapping.read_into(there, begin) == length
            assert there == view.tobytes()[begin : begin + length]

            content = bytearray(view.tobytes())
            content[begin : begin + length] = bytes(chance.randrange(256) for _ in range(length))
            mapping.write(bytes(content[begin : begin + length]), begin)
            view[...] = np.frombuffer(bytes(content), view.dtype).reshape(view.shape)
            expect_equal(memory, base)

            value = np.frombuffer(bytes(chance.randrange(1, 100) for _ in range(view.itemsize)), view.dtype)[0]
            first = chance.randint(0, view.size)
            elements = chance.randint(0, view.size - first)
            mapping.fill(value, first * view.itemsize, elements * view.itemsize)
            flat = view.flatten()
            flat[first : first + elements] = value
            view[...] = flat.reshape(view.shape)
            expect_equal(memory, base)
            for call in (lambda: mapping.read(0, size + 1), lambda: mapping.write(bytes(size + 1)),
                         lambda: mapping.read_into(bytearray(1), size),
                         lambda: mapping.fill(value, 0, size + view.itemsize)):
                with pytest.raises(IndexError, match=f"{size} bytes"):
                    call()
            expect_equal(memory, base)


def four_by_four(base):
    return base[:64].view("<i4").reshape(4, 4)


VIEWS = {
    "columns": lambda a: a[:, :2],
    "one_column": lambda a: a[:, 1],
    "transposed": lambda a: a.T,
    "reversed": lambda a: a[::-1],
    "negative_both": lambda a: a[::-1, ::-2],
    "fortran": lambda a: a.reshape(2, 8).T,
    "every_third": lambda a: a.ravel()[::3],
}


@pytest.mark.parametrize("name", VIEWS)
def test_an_array_of_the_shape_goes_in_and_out(memory, name):
    base = bytes_like(memory)
    view = VIEWS[name](four_by_four(base))
    values = np.arange(100, 100 + view.size, dtype="<i4").reshape(view.shape)
    with barmap.map(Interface(memory, view, base)) as mapping:
        mapping.write(values)
        view[...] = values
        expect_equal(memory, base)
        there = np.zeros(view.shape, "<i4")
        assert mapping.read_into(there) == view.nbytes
        assert (there == values).all()
        assert np.frombuffer(mapping.read(), "<i4").reshape(view.shape).tolist() == values.tolist()
        mapping.fill(-7)
        view[...] = -7
        expect_equal(memory, base)
        assert mapping.numpy().tolist() == view.tolist()


def test_dlpack_strides(memory):
    base = bytes_like(memory)
    view = four_by_four(base)[:, 1:3]
    x = DlpackObject(memory.address, (4, 2), (0, 32, 1), strides=(4, 1), byte_offset=4)
    with barmap.map(x) as mapping:
        mapping.write(np.arange(8, dtype="<i4").reshape(4, 2))
    view[...] = np.arange(8).reshape(4, 2)
    expect_equal(memory, base)


def test_large_rows_are_copied_without_the_gap(memory):
    """Long enough for a copy engine."""
    base = bytes_like(memory)
    view = base.reshape(4, 1 << 18)[:, : (1 << 17) + 5]
    content = np.random.default_rng(1).integers(0, 256, view.shape, np.uint8)
    with barmap.map(Interface(memory, view, base)) as mapping:
        mapping.write(content)
        view[...] = content
        expect_equal(memory, base)
        assert mapping.read() == content.tobytes()
        mapping.fill(9)
        view[...] = 9
        expect_equal(memory, base)


REPEATED = {
    "broadcast": lambda a: np.broadcast_to(a[0], (3, 4)),
    "one_element": lambda a: np.broadcast_to(a[0, :1], (5,)),
    "windows": lambda a: np.lib.stride_tricks.as_strided(a, (4, 4), (4, 4)),
}


@pytest.mark.parametrize("name", REPEATED)
def test_elements_that_share_memory_are_read_only(memory, name):
    base = bytes_like(memory)
    view = REPEATED[name](four_by_four(base))
    with barmap.map(Interface(memory, view, base)) as mapping:
        assert mapping.read() == view.tobytes()
        assert mapping.read(4, 8) == view.tobytes()[4:12]
        for call in (lambda: mapping.write(bytes(4)), lambda: mapping.fill(0)):
            with pytest.raises(ValueError, match="share memory.*before it was repeated"):
                call()
    expect_equal(memory, base)


def test_no_elements_are_refused(memory):
    base = bytes_like(memory)
    with pytest.raises(ValueError):
        barmap.map(Interface(memory, four_by_four(base)[:0], base))


def test_words_are_posted_to_elements(memory):
    base = bytes_like(memory)
    view = four_by_four(base)[:, :3:2]
    with barmap.map(Interface(memory, view, base)) as mapping:
        mapping.post(-5, 12, 4)
        view[1, 1] = -5
        expect_equal(memory, base)
        with pytest.raises(ValueError, match="two elements that are not contiguous"):
            mapping.post(1, 8, 8)
        with pytest.raises(IndexError, match="elements have 32 bytes"):
            mapping.post(1, 32, 4)
    expect_equal(memory, base)


VALUES = [
    ("f4", 2, 2.0), ("f4", -0.5, -0.5), ("u1", 255, 255), ("i2", -3, -3), ("c8", 1 + 2j, 1 + 2j),
    ("?", True, True), ("f8", np.float32(0.25), 0.25), ("i4", 2.9, 2), ("S3", b"ab", b"ab"),
    ("M8[s]", "2020-01-01", np.datetime64("2020-01-01", "s")), (">u4", 1, 1),
]


@pytest.mark.parametrize("dtype,value,stored", VALUES)
def test_fill_sets_values_as_numpy(dtype, value, stored):
    array = barmap.alloc((3, 5), dtype)
    array.fill(value)
    assert (array.numpy() == np.array(stored, dtype)).all()
    expected = np.zeros((3, 5), dtype)
    expected.fill(value)
    assert array.read() == expected.tobytes()


def test_fill_of_a_part():
    array = barmap.alloc(6, RECORD)
    array.fill(0)
    array.fill((7, (1, -1), True), offset=RECORD.itemsize, n=2 * RECORD.itemsize)
    expected = np.zeros(6, RECORD)
    expected[1:3] = (7, (1, -1), True)
    assert array.read() == expected.tobytes()
    array.fill((1, (0, 0), False), offset=5 * RECORD.itemsize)
    array.fill((1, (0, 0), False), offset=6 * RECORD.itemsize)
    expected[5] = (1, (0, 0), False)
    assert array.read() == expected.tobytes()


def test_a_large_element_is_repeated():
    dtype = np.dtype(("u1", 5000))
    array = barmap.alloc(3, dtype)
    array.fill(np.arange(5000, dtype="u2").astype("u1"))
    assert array.read() == 3 * (np.arange(5000) % 256).astype("u1").tobytes()


def test_what_fill_refuses(memory):
    floats, words = barmap.alloc(4, "f4"), barmap.alloc(4, "u2")
    floats.fill(1)
    for offset, n in ((2, 4), (0, 6), (4, -3)):
        with pytest.raises(ValueError, match="whole elements, of 4 bytes"):
            floats.fill(0, offset, n)
    for offset, n in ((-4, 4), (12, 8), (20, None)):
        with pytest.raises(IndexError, match="of 16 bytes"):
            floats.fill(0, offset, n)
    for value in (65536, -1):
        with pytest.raises(OverflowError, match=f"value is {value}: elements of uint16 are 0 to 65535"):
            words.fill(value)
    words.fill(65535)
    assert words.read() == b"\xff" * 8
    for value in ("x", object(), [1, 2]):
        with pytest.raises((TypeError, ValueError), match="(no element|elements) of float32"):
            floats.fill(value)
    assert floats.numpy().tolist() == [1, 1, 1, 1]
    with barmap.map(DlpackObject(memory.address, (4,), (4, 16, 1))) as bfloat16:
        for value in (1.0, 0.0, False, 1, b"1", b"123"):
            with pytest.raises(TypeError, match="elements of .* are raw, so give the 2 bytes"):
                bfloat16.fill(value)
        bfloat16.fill(b"\x80\x3f")
        assert bfloat16.read() == b"\x80\x3f" * 4
