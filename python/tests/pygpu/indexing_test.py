# SPDX-License-Identifier: MIT
"""Views, and writing through them, against NumPy."""

import gc
import random

import numpy as np
import pytest

from barmap import pygpu

PICKS = [
    np.s_[0], np.s_[-1], np.s_[1, 2], np.s_[1, 2, 3], np.s_[-2, -3, -4],
    np.s_[:], np.s_[...], np.s_[()], np.s_[1:], np.s_[:, 1], np.s_[..., 1], np.s_[0, ..., 2],
    np.s_[::-1], np.s_[:, ::-1], np.s_[..., ::-1], np.s_[::-1, ::-1, ::-1], np.s_[:, 1:3, ::2],
    np.s_[..., 1:4:2], np.s_[..., -2::-2], np.s_[5:2], np.s_[:, 2:2], np.s_[None], np.s_[:, None, 1],
    np.s_[..., None], np.s_[None, 0, :, None], np.s_[np.int32(1)], np.s_[1:100], np.s_[-100:1],
]
FANCY = [
    np.array([1, 0, 1]), [0, 1], (slice(None), [2, 0]), np.array(True), (0, np.array([[0, 2]])),
]


def view_of(array, pick):
    """What NumPy picks, as an array even where it is one element."""
    parts = pick if isinstance(pick, tuple) else (pick,)
    return array[parts if any(part is ... for part in parts) else (*parts, ...)]


def grid(order="C", dtype="int32"):
    return np.asarray(np.arange(24, dtype=dtype).reshape(2, 3, 4), order=order)


@pytest.mark.parametrize("order", "CF")
@pytest.mark.parametrize("pick", PICKS, ids=str)
def test_views(pick, order, nothing_left):
    k = grid(order)
    a, wanted = pygpu.to_gpu(k.copy(order="K")), view_of(k, pick)
    v = a[pick]
    assert v.shape == wanted.shape and v.dtype == k.dtype
    assert np.array_equal(v.get(), wanted)
    if v.size:  # it is a view: the same memory
        assert v.ptr - a.ptr == view_of(k, pick).ctypes.data - k.ctypes.data
        assert all(n == 1 or s == t for n, s, t in zip(v.shape, v.strides, wanted.strides))
    assert (v.flags.c_contiguous, v.flags.f_contiguous) == (
        wanted.flags.c_contiguous, wanted.flags.f_contiguous) or not v.size


@pytest.mark.parametrize("order", "CF")
@pytest.mark.parametrize("pick", PICKS, ids=str)
def test_writing_through_views(pick, order, nothing_left):
    k = grid(order)
    a = pygpu.to_gpu(k.copy(order="K"))
    a[pick] = -7
    k[pick] = -7
    assert np.array_equal(a.get(), k)
    fresh = np.asarray(np.arange(k[pick].size, dtype="i4") + 100).reshape(np.shape(k[pick]))
    a[pick] = fresh
    k[pick] = fresh
    assert np.array_equal(a.get(), k)
    b = pygpu.to_gpu(np.asarray(fresh + 100, order="F"))
    a[pick] = b  # on the device
    k[pick] = fresh + 100
    assert np.array_equal(a.get(), k)
    v = a[pick]
    v.set(np.asarray(fresh))
    k[pick] = fresh
    assert np.array_equal(a.get(), k)


@pytest.mark.parametrize("pick", FANCY, ids=str)
def test_arrays_and_masks_as_an_index(pick, nothing_left):
    k = grid()
    a = pygpu.to_gpu(k.copy())
    got = a[pick]
    assert np.array_equal(got.get(), k[pick])
    got[...] = 0  # a new array
    assert np.array_equal(a.get(), k)
    a[pick] = 5
    k[pick] = 5
    assert np.array_equal(a.get(), k)
    mask = k > 11
    assert np.array_equal(a[mask].get(), k[mask])
    a[mask] = pygpu.to_gpu(-k[mask])
    k[mask] = -k[mask]
    assert np.array_equal(a.get(), k)


def test_an_index_that_leaves_the_array():
    a = pygpu.to_gpu(grid())
    for pick in (2, -3, (0, 3), (0, 0, 4), (0, 0, 0, 0), (..., 0, ...)):
        with pytest.raises(IndexError):
            a[pick]
        with pytest.raises(IndexError):
            a[pick] = 0
    for pick in ("a", 1.5, (0, 1.5)):
        with pytest.raises(IndexError):
            a[pick]


def test_a_view_of_a_view_keeps_the_memory(nothing_left):
    a = pygpu.to_gpu(grid())
    v = a[1][::-1][:, 1:]
    address = a.ptr
    del a
    gc.collect()
    others = [pygpu.to_gpu(np.zeros(24, "i4")) for _ in range(4)]
    assert all(other.ptr != address for other in others)
    assert np.array_equal(v.get(), grid()[1][::-1][:, 1:])


def test_each_view_has_a_host_side_of_its_own():
    k = grid()
    a = pygpu.to_gpu(k)
    v = a[0]
    host = v.get()
    host[...] = 99
    assert not (k == 99).any()
    v.to_device()
    assert (a.get()[0] == 99).all()


def test_iteration():
    a = pygpu.to_gpu(grid())
    assert len(a) == 2 and [row.shape for row in a] == [(3, 4)] * 2
    assert [int(x.item()) for x in pygpu.to_gpu(np.arange(3))] == [0, 1, 2]


def test_assigning_broadcasts():
    k, a = grid(), pygpu.to_gpu(grid())
    row = np.array([1, 2, 3, 4], "i4")
    for pick, value in ((np.s_[0], row), (np.s_[:, 1:], row[::-1]), (np.s_[1], [[5], [6], [7]]),
                        (np.s_[..., 0], 3.0)):
        a[pick] = value
        k[pick] = value
        assert np.array_equal(a.get(), k)
    a[1] = pygpu.to_gpu(row)[::-1]
    k[1] = row[::-1]
    a[0] = pygpu.to_gpu(np.array(77, "i4"))
    k[0] = 77
    assert np.array_equal(a.get(), k)


def test_assigning_what_does_not_fit():
    a = pygpu.to_gpu(grid())
    with pytest.raises(ValueError):
        a[0] = np.zeros(5, "i4")
    with pytest.raises(ValueError, match="does not fill"):
        a[0] = pygpu.GPUArray(5, "int32")
    with pytest.raises(ValueError, match="does not fill"):
        a[0, 0] = pygpu.GPUArray((2, 4), "int32")
    with pytest.raises(TypeError, match="astype"):
        a[0] = np.zeros((3, 4))
    with pytest.raises(TypeError, match="on the device"):
        a[0] = pygpu.GPUArray((3, 4), "float64")


def test_overlapping_copies_on_the_device(nothing_left):
    for to, source in ((np.s_[1:], np.s_[:-1]), (np.s_[:-1], np.s_[1:]), (np.s_[:], np.s_[::-1]),
                       (np.s_[2:8:2], np.s_[0:6:2])):
        k = np.arange(10)
        a = pygpu.to_gpu(k.copy())
        a[to] = a[source]
        k[to] = k[source].copy()
        assert np.array_equal(a.get(), k)


def test_shapes():
    k = grid()
    a = pygpu.to_gpu(k)
    assert np.array_equal(a.reshape(6, 4).get(), k.reshape(6, 4))
    assert np.array_equal(a.reshape((4, -1)).get(), k.reshape(4, -1))
    assert np.array_equal(a.reshape(-1).get(), k.ravel())
    assert np.array_equal(a.T.get(), k.T) and a.T.flags.f_contiguous
    assert np.array_equal(a.T.reshape(4, 6, order="F").get(), k.T.reshape(4, 6, order="F"))
    assert a.reshape(24).ptr == a.ptr
    assert pygpu.GPUArray(0).reshape(-1, 3).shape == (0, 3)
    for shape in ((5, 5), (-1, 7), (-1, -1), (-2, 12)):
        with pytest.raises(ValueError):
            a.reshape(shape)
    with pytest.raises(ValueError, match=r"copy\(\)"):
        a[:, ::2].reshape(-1)
    assert np.array_equal(a[:, ::2].copy().reshape(-1).get(), k[:, ::2].ravel())


@pytest.mark.parametrize("order", "CF")
def test_copy(order):
    a = pygpu.to_gpu(grid(order))
    b = a.copy()
    assert b.strides == a.strides and b.ptr != a.ptr
    b[...] = 0
    assert np.array_equal(a.get(), grid()) and not b.get().any()
    assert np.array_equal(a[::-1, ::2].copy().get(), grid()[::-1, ::2])


def random_pick(rng, shape):
    picks = []
    for n in shape:
        kind = rng.randrange(4)
        if kind == 0 and n:
            picks.append(rng.randrange(-n, n))
        elif kind == 1:
            picks.append(slice(None))
        else:
            step = rng.choice([-3, -2, -1, 1, 2, 3])
            ends = [rng.choice([None, rng.randrange(-n - 2, n + 3)]) for _ in range(2)]
            picks.append(slice(*ends, step))
    if rng.randrange(4) == 0:
        picks.insert(rng.randrange(len(picks) + 1), None)
    return tuple(picks[: rng.randrange(1, len(picks) + 1)])


@pytest.mark.parametrize("seed", range(20))
def test_random_views(seed, nothing_left):
    rng = random.Random(seed)
    for _ in range(25):
        shape = tuple(rng.randrange(1, 6) for _ in range(rng.randrange(1, 5)))
        order = rng.choice("CF")
        k = np.asarray(np.arange(np.prod(shape), dtype="i8").reshape(shape), order=order)
        a = pygpu.to_gpu(k.copy(order="K"))
        v, w = a, k
        for _ in range(rng.randrange(1, 4)):
            if not w.ndim:
                break
            pick = random_pick(rng, w.shape)
            v, w = v[pick], view_of(w, pick)
            if rng.randrange(3) == 0:
                v, w = v.T, w.T
        assert np.array_equal(v.get(), w)
        new = rng.randrange(1000) + np.arange(w.size).reshape(w.shape)
        if rng.randrange(2):
            v[...] = new
        else:
            v[...] = pygpu.to_gpu(np.asarray(new, order=rng.choice("CF")))
        w[...] = new
        assert np.array_equal(a.get(), k)
