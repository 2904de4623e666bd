# SPDX-License-Identifier: MIT
"""What rings refuse, and by which exception; and which values become messages."""

import fractions
import os

import barmap
import numpy as np
import pytest

NESTED = np.dtype([("id", "u2"), ("at", [("x", "f4"), ("y", "f4")]), ("m", "i1", (2, 2))])
PADDED = np.dtype([("a", "u1"), ("b", "f8"), ("c", "i2")], align=True)
SWAPPED = np.dtype({"names": ["x", "y"], "formats": ["i4", "i4"], "offsets": [4, 0]})


@pytest.fixture(params=[barmap.RingToGpu, barmap.RingToCpu])
def kind(request):
    return request.param


@pytest.mark.parametrize("dtype", ["O", [("x", "i4"), ("y", "O")], ("O", 3)])
def test_python_objects_are_refused(kind, dtype):
    with pytest.raises(TypeError, match="GPU memory cannot hold Python objects"):
        kind(dtype, slots=2)


@pytest.mark.parametrize("dtype", [">u4", [("id", "<u2"), ("at", ">f4")], (">i2", 3)])
def test_another_byte_order_is_refused(kind, dtype):
    with pytest.raises(ValueError, match="another byte order than the GPU's: give "):
        kind(dtype, slots=2)
    with kind("u4", slots=2) as ring:
        descriptor = ring.share()
        try:
            with pytest.raises(ValueError, match="another byte order"):
                kind.open_shared(descriptor, ">u4")
        finally:
            os.close(descriptor)


@pytest.mark.parametrize("dtype", ["nothing", 7, object()])
def test_what_is_no_dtype_is_refused(kind, dtype):
    with pytest.raises(TypeError):
        kind(dtype, slots=2)


@pytest.mark.parametrize("slots", [0, 3, 1 << 33])
def test_a_number_of_slots_that_is_no_power_of_two_is_refused(kind, slots):
    with pytest.raises(ValueError, match="give a power of two") as refused:
        kind("i4", slots=slots)
    assert isinstance(refused.value, barmap.Error)
    assert refused.value.operation.startswith("make a ring of ")


@pytest.mark.parametrize("slots, error", [(2.0, TypeError), ("2", TypeError), (-2, OverflowError)])
def test_slots_that_are_no_number_are_refused(kind, slots, error):
    with pytest.raises(error, match="^slots is (a float: give an integer|a str: give an integer|-2, which does not)"):
        kind("i4", slots=slots)


@pytest.mark.parametrize("dtype", ["S0", [], "V1048577"])
def test_messages_without_bytes_or_of_too_many_are_refused(kind, dtype):
    with pytest.raises(ValueError, match="give messages of 1 byte to 1 MiB"):
        kind(np.dtype(dtype), slots=2)


@pytest.mark.parametrize("device, error", [
    (99, barmap.Error), ("0", TypeError), (0.0, TypeError), (-1, OverflowError), (1 << 31, OverflowError),
])
def test_a_device_that_is_not_there_is_refused(kind, device, error):
    with pytest.raises(error):
        kind("i4", slots=2, device=device)


def test_a_device_may_be_an_object(kind):
    with kind("i4", slots=2, device=barmap.devices()[0]) as ring:
        assert ring.slots == 2


@pytest.mark.parametrize("timeout, says", [
    (-1, "a time cannot be negative"), (-1e-9, "a time cannot be negative"), (float("nan"), "is nan, which is no time"),
])
def test_times_that_cannot_be_are_refused(kind, timeout, says):
    with kind("i4", slots=2) as ring, pytest.raises(ValueError, match=says):
        ring.wait_for(timeout)


@pytest.mark.parametrize("timeout, called", [
    ("1", "a str"), ([1], "a list"), (1j, "a complex"), (np.complex64(1), "a numpy.complex64"),
])
def test_times_that_are_no_numbers_are_refused(kind, timeout, called):
    says = f"^timeout is {called}: give seconds, as a number$"
    with kind("i4", slots=2) as ring, pytest.raises(TypeError, match=says):
        ring.wait_for(timeout)


@pytest.mark.parametrize("timeout", [0, np.float32(0.001), np.int64(0), fractions.Fraction(1, 1000)])
def test_times_of_any_number(kind, timeout):
    with kind("i4", slots=2) as ring:
        assert ring.wait_for(timeout) == (kind is barmap.RingToGpu)


@pytest.mark.parametrize("dtype, value, stored", [
    ("i4", 5, 5), ("i4", True, 1), ("i4", np.int64(-5), -5), ("u8", 2**64 - 1, 2**64 - 1),
    ("i2", np.array(7, "i2"), 7), ("i2", np.array(7, "i8"), 7),
    ("f4", 1, 1.0), ("f4", 0.1, np.float32(0.1)), ("f4", np.float64(0.1), np.float32(0.1)),
    ("f2", 1.5, 1.5), ("c8", 1j, 1j), ("c8", 2, 2 + 0j), ("?", True, True), ("?", np.bool_(False), False),
    ("S4", b"ab", b"ab"), ("U3", "äöü", "äöü"), ("V2", b"ab", np.void(b"ab")),
    ("M8[s]", np.datetime64("2020-01-01", "s"), np.datetime64("2020-01-01", "s")),
    (NESTED, (1, (2.5, 3), [[1, 2], [3, 4]]), np.array((1, (2.5, 3), [[1, 2], [3, 4]]), NESTED)),
    (NESTED, (1, (2, 3), np.ones((2, 2), "i1")), np.array((1, (2, 3), np.ones((2, 2), "i1")), NESTED)),
    (NESTED, np.array((1, (2, 3), 4), NESTED)[()], np.array((1, (2, 3), 4), NESTED)),
    (PADDED, (2, 1.5, -3), (2, 1.5, -3)), (PADDED, (True, 1, 0), (1, 1.0, 0)),
    (SWAPPED, (1, 2), (1, 2)), ([("x", "f4")], (0.5,), (0.5,)),
    ("f8", float("-inf"), -np.inf),
    (("i2", 3), [1, 2, 3], np.array([1, 2, 3], "i2")), (("i2", 3), (1, 2, 3), np.array([1, 2, 3], "i2")),
    (("i2", 3), np.array([1, 2, 3], "i2"), np.array([1, 2, 3], "i2")),
])
def test_values_become_messages(dtype, value, stored, monkeypatch):
    pushed = []

    class Pushed:
        def push(self, message):
            pushed.append(message if isinstance(message, bytes) else message.tobytes())
            return 1

    dtype = np.dtype(dtype)
    with barmap.RingToGpu(dtype, slots=2) as ring:
        assert ring.try_push(value) and ring.depth == 1
        with monkeypatch.context() as patch:
            patch.setattr(ring, "_held", Pushed())
            assert ring.try_push(value)
    expected = np.zeros(1, dtype)
    expected[0] = stored
    assert pushed == [expected.tobytes()]


@pytest.mark.parametrize("dtype, value, error, reason", [
    ("i4", 1.5, TypeError, "float"), ("i4", 1.0, TypeError, "float"),
    ("i4", np.float32(1), TypeError, "float"), ("i4", "1", TypeError, "str"),
    ("i4", None, TypeError, "NoneType"), ("i4", 1j, TypeError, "complex"),
    ("i4", 2**31, OverflowError, "the message is 2147483648, which does not fit into int32"),
    ("u1", -1, OverflowError, "which does not fit into uint8"), ("u1", np.int64(256), OverflowError, "uint8"),
    ("f4", "1", TypeError, "the message is a str, and not float32"), ("f4", 1j, TypeError, "complex"),
    ("f4", [1.0], TypeError, "list"), ("?", 1, TypeError, "the message is an int, and not bool"),
    ("c8", "1", TypeError, "str"), ("S2", "ab", TypeError, "str"), ("U2", b"ab", TypeError, "bytes"),
    ("S2", b"abc", ValueError, "the message is 3 long, and .* has room for 2"),
    ("U2", "abc", ValueError, "room for 2"), ("V2", b"abc", ValueError, "room for 2"),
    ("i4", np.zeros(1, "i4"), TypeError, r"of shape \(1,\), and not int32"),
    ("i4", np.datetime64("2020"), TypeError, "datetime64"),
    (NESTED, 5, TypeError, "the message is an int: give a tuple"),
    (NESTED, [1, (2, 3), [[1, 2], [3, 4]]], TypeError, "the message is a list: give a tuple"),
    (NESTED, (1, (2, 3)), ValueError, "the message has 2 elements, and .* has 3"),
    (NESTED, (1, (2, 3, 4), [[1, 2], [3, 4]]), ValueError, "the message's at has 3 elements"),
    (NESTED, (-1, (2, 3), [[1, 2], [3, 4]]), OverflowError, "the message's id is -1"),
    (NESTED, (1, (2, "3"), [[1, 2], [3, 4]]), TypeError, "the message's at's y is a str"),
    (NESTED, (1, (2, 3), [[1, 2], [3, 400]]), OverflowError, r"m's \[1\]'s \[1\] is 400"),
    (NESTED, (1, (2, 3), [1, 2]), TypeError, r"m's \[0\] is an int: give a list"),
    (NESTED, (1, (2, 3), np.zeros((2, 2), "i2")), TypeError, "m is int16 of shape"),
    (NESTED, np.zeros((), [("id", "u2")])[()], TypeError, "the message is"),
    (PADDED, (1.0, 2.0, 3), TypeError, "float"), (PADDED, (256, 2.0, 3), OverflowError, "a is 256"),
    (PADDED, (1, 2.0), ValueError, "has 2 elements"), (PADDED, (1, 2.0, "3"), TypeError, "str"),
    ([("x", "f4")], 0.5, TypeError, "give a tuple"), ("f4", (0.5,), TypeError, "tuple"),
    (("i2", 3), 5, TypeError, "give a list"), (("i2", 3), [1, 2], ValueError, "has 2 elements"),
])
def test_values_of_another_kind_are_refused(dtype, value, error, reason):
    with barmap.RingToGpu(dtype, slots=2) as ring:
        with pytest.raises(error, match=reason):
            ring.try_push(value)
        assert ring.depth == 0


BATCHES = [
    ("i4", [1, 2], r"is a list: give np.array\(\w+, ring.dtype\)"),
    ("i4", b"1234", "is a bytes"),
    ("i4", np.zeros(2, "i8"), r"elements of int64, and the ring's messages are int32: convert them"),
    ("i4", np.zeros(2, "f4"), "elements of float32"), ("i4", np.zeros(2, ">i4"), "elements of >i4"),
    ("i4", np.zeros((), "i4"), r"shape \(\): give one axis of messages"),
    ("i4", np.zeros((2, 2), "i4"), r"shape \(2, 2\)"),
    ("i4", np.zeros(4, "i4")[::2], "is not contiguous: copy it"),
    (("i4", 3), np.zeros(3, "i4"), r"one axis of messages, \(n,\) \+ \(3,\)"),
    (("i4", 3), np.zeros((3, 4), "i4")[:, :3], "is not contiguous"),
    (NESTED, np.zeros(2, NESTED[1]), "elements of"),
]


@pytest.mark.parametrize("dtype, messages, reason", BATCHES)
def test_arrays_that_would_have_to_be_converted_are_refused(dtype, messages, reason):
    with barmap.RingToGpu(dtype, slots=2) as ring:
        with pytest.raises(TypeError, match="^messages .*" + reason):
            ring.push_many(messages)
        assert ring.depth == 0
    with barmap.RingToCpu(dtype, slots=2) as ring, pytest.raises(TypeError, match="^out .*" + reason):
        ring.pop_many(out=messages)


def test_an_array_to_pop_into_is_writable_and_alone():
    with barmap.RingToCpu("i4", slots=2) as ring:
        out = np.zeros(2, "i4")
        with pytest.raises(TypeError, match="give n or out, not both"):
            ring.pop_many(2, out=out)
        out.setflags(write=False)
        with pytest.raises(TypeError, match="out is read-only"):
            ring.pop_many(out=out)
        with pytest.raises(OverflowError):
            ring.pop_many(-1)
        with pytest.raises(TypeError):
            ring.pop_many(1.0)


def test_rings_have_no_other_direction():
    assert not hasattr(barmap.RingToGpu, "try_pop") and not hasattr(barmap.RingToCpu, "try_push")
    with pytest.raises(TypeError):
        barmap.RingToGpu("i4", 2, 0)  # the device is a keyword
