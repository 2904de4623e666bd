# SPDX-License-Identifier: MIT
"""What is refused, and with which exception."""

import array
import ctypes
import os
import pickle
import subprocess
import sys

import barmap
import numpy as np
import pytest
from dlpack_object import DlpackObject
from gpu_memory import Interface, bytes_like, reported_backends


class OfHost:
    """An array of another library in host memory."""

    def __dlpack_device__(self):
        return (3, 0)


@pytest.mark.parametrize("x, called", [
    (None, "a NoneType"), (1.5, "a float"), ("text", "a str"), (b"bytes", "a bytes"), ([1], "a list"),
    (object(), "an object"), (np.zeros(4), r"a numpy\.ndarray in host memory"),
    (OfHost(), rf"a {OfHost.__module__}\.OfHost in pinned host memory"),
])
def test_things_without_gpu_memory(x, called):
    with pytest.raises(TypeError, match=f"^cannot map {called}: give an object .* on a CUDA GPU"):
        barmap.map(x)


def test_memory_of_another_process(memory):
    """No backend reaches what this handle names; what is wrong with it is said before."""
    told = barmap.IpcMemory(bytes(64), 4096)
    owner = "process" if barmap.devices()[0].simulated else "GPU"
    with pytest.raises(barmap.Error, match=f"another {owner}"):
        barmap.map(told)
    with pytest.raises(TypeError, match="nbytes goes with an address"):
        barmap.map(told, 8)
    with pytest.raises(ValueError, match="no events"):
        barmap.map(told, events=True)
    with pytest.raises(ValueError, match="64 bytes"):
        barmap.map(told._replace(handle=b"short"))
    with pytest.raises(TypeError):
        barmap.map(told._replace(handle=64))
    with pytest.raises(ValueError, match="the backends are"):
        barmap.map(told, backend="unknown")
    for wrong in (told._replace(nbytes=-1), told._replace(offset=-1)):
        with pytest.raises((OverflowError, ValueError)):
            barmap.map(wrong)
    with pytest.raises(barmap.Error):
        barmap.map(told._replace(device=1000))


def test_nbytes_goes_with_addresses_only(memory):
    base = bytes_like(memory)
    with pytest.raises(TypeError):
        barmap.map(memory.address)
    with pytest.raises(TypeError):
        barmap.map(Interface(memory, base[:8], base), 8)
    with pytest.raises(ValueError):
        barmap.map(-1, 8)
    with pytest.raises(ValueError):
        barmap.map(memory.address, -8)


@pytest.mark.parametrize("change", [
    {"version": 1}, {"mask": object()}, {"strides": (1, 2)}, {"typestr": "|O8", "descr": None},
    {"shape": (-1,)}, {"typestr": "nonsense"}, {"typestr": ""}, {"typestr": "|"}, {"typestr": None},
])
def test_malformed_interfaces(memory, change):
    base = bytes_like(memory)
    with pytest.raises((TypeError, ValueError)):
        barmap.map(Interface(memory, base[:8], base, **change))


@pytest.mark.parametrize("key", ["shape", "typestr", "data"])
def test_interfaces_without_what_they_need(memory, key):
    base = bytes_like(memory)
    array = Interface(memory, base[:8], base)
    del array.__cuda_array_interface__[key]
    with pytest.raises(TypeError, match=f"^__cuda_array_interface__ lacks '{key}'$"):
        barmap.map(array)


@pytest.mark.parametrize("change", [
    {"device": 1}, {"device": 10}, {"dtype": (2, 32, 4)}, {"dtype": (1, 4, 1)}, {"major": 2},
    {"flags": 2},
])
def test_malformed_dlpack(memory, change):
    x = DlpackObject(**{"address": memory.address, "shape": (4,), "dtype": (1, 8, 1), **change})
    with pytest.raises(TypeError):
        barmap.map(x)


def error_of(call):
    with pytest.raises(barmap.Error) as caught:
        call()
    error = caught.value
    assert isinstance(error, RuntimeError)
    assert error.operation and error.category and error.code != 0
    assert error.operation in str(error) and error.advice in str(error)
    copy = pickle.loads(pickle.dumps(error))
    assert (str(copy), copy.code, copy.advice) == (str(error), error.code, error.advice)
    return error


def wrong_argument(call):
    """A wrong argument is a ValueError, too."""
    assert isinstance(error_of(call), ValueError)


def test_memory_that_cannot_be_mapped(driver, memory):
    refused = error_of(lambda: barmap.map(0x1000, 8))
    assert refused.advice and not isinstance(refused, ValueError)
    assert error_of(lambda: barmap.map(memory.address, memory.nbytes + 1)).code == 2
    wrong_argument(lambda: barmap.map(memory.address, 0))
    wrong_argument(lambda: barmap.map(0, 8))
    managed = driver.allocate_managed(4096)
    tensor = DlpackObject(managed.address, (8,), (1, 8, 1), device=13)
    for x in ((managed.address, 8), (tensor,)):
        assert "managed" in str(error_of(lambda x=x: barmap.map(*x)))
    managed.free()


def test_backends_by_name(memory):
    for row in reported_backends():
        name = row["name"]
        if row["state"] != "usable":
            assert error_of(lambda: barmap.map(memory.address, 8, backend=name)).backend == name
    with barmap.map(memory.address, 8) as any_mapping:
        with barmap.map(memory.address, 8, backend=any_mapping.backend) as mapping:
            assert mapping.backend == any_mapping.backend
    wrong_argument(lambda: barmap.map(memory.address, 8, backend="nonsense"))
    wrong_argument(lambda: barmap.alloc(8, "u1", backend="nonsense"))


def test_allocations():
    wrong_argument(lambda: barmap.alloc(0, "u1"))
    error_of(lambda: barmap.alloc(8, "u1", device=99))
    error_of(lambda: barmap.alloc(1 << 50, "u1"))
    for shape, dtype in ((-1, "u1"), ((2, -3), "u1")):
        with pytest.raises(ValueError):
            barmap.alloc(shape, dtype)
    for shape, dtype in ((1, "O"), (1, "nonsense"), ("x", "u1"), (None, "u1")):
        with pytest.raises((TypeError, ValueError)):
            barmap.alloc(shape, dtype)


RANGES = [(-1, 1), (0, 65), (64, 1), (65, 0), (1 << 62, 8), (60, 5)]


@pytest.mark.parametrize("offset,n", RANGES)
def test_ranges(offset, n):
    array = barmap.alloc(64, "u1")
    array.fill(7)
    data = bytearray(n)
    for call in (lambda: array.write(data, offset), lambda: array.read_into(data, offset),
                 lambda: array.read(offset, n), lambda: array.fill(0, offset, n)):
        with pytest.raises(IndexError, match=f"{n} bytes at offset {offset} .* of 64 bytes"):
            call()
    assert data == bytearray(n) and array.read() == b"\x07" * 64


def test_lengths():
    array = barmap.alloc(64, "u1")
    for call in (lambda: array.read(65), lambda: array.post(1, 57), lambda: array.post(1, -8),
                 lambda: array.read(1 << 80), lambda: array.fill(0, 0, 1 << 80)):
        with pytest.raises(IndexError):
            call()
    for call in (lambda: array.read(0, -1), lambda: array.fill(0, 0, -1)):
        with pytest.raises(ValueError, match="n is -1"):
            call()
    assert array.read(64) == array.read(64, 0) == array.read(10, 0) == b""
    array.write(b"", 64)
    assert array.read_into(bytearray(), 64) == 0


def test_buffers():
    array = barmap.alloc(64, "u1")
    for wrong in (None, 1, "text", [1]):
        with pytest.raises(TypeError, match="bytes-like"):
            array.write(wrong)
    with pytest.raises((TypeError, BufferError)):
        array.read_into(b"constant")
    with pytest.raises((ValueError, BufferError)):
        array.write(np.zeros((4, 4))[:, 1])


FLOATS = [1.5, -2.0]
SAME = {
    "array": np.array(FLOATS, "f4"),
    "spelled_otherwise": np.array(FLOATS, "<f4"),
    "memoryview": memoryview(np.array(FLOATS, "f4")),
    "bytes": np.array(FLOATS, "f4").tobytes(),
    "bytearray": bytearray(np.array(FLOATS, "f4").tobytes()),
    "memoryview_of_bytes": memoryview(np.array(FLOATS, "f4").tobytes()),
    "array_of_bytes": np.array(FLOATS, "f4").view("u1"),
    "array_of_python": array.array("f", FLOATS),
    "ctypes": (ctypes.c_float * 2)(*FLOATS),
}
OTHER = {
    "array": np.array(FLOATS),
    "same_size": np.array([1, 2], "i4"),
    "other_byte_order": np.array(FLOATS, ">f4"),
    "one": np.float64(1),
    "memoryview": memoryview(np.array(FLOATS)),
    "array_of_python": array.array("d", FLOATS),
    "ctypes": (ctypes.c_int * 2)(1, 2),
    "dates": np.array([1], "M8[s]"),
}


@pytest.mark.parametrize("buf", SAME.values(), ids=SAME)
def test_elements_of_the_same_type(buf):
    floats = barmap.alloc(2, "f4")
    floats.write(buf)
    assert floats.numpy().tolist() == FLOATS
    if not memoryview(buf).readonly:
        floats.fill(0)
        assert floats.read_into(buf) == 8 and bytes(buf) == bytes(8)


@pytest.mark.parametrize("buf", OTHER.values(), ids=OTHER)
def test_elements_of_another_type(memory, buf):
    floats = barmap.alloc(4, "f4")
    floats.fill(7)
    before = floats.read()
    for mapping in (floats, barmap.map(floats)):
        with pytest.raises(TypeError, match="the mapping has float32.*tobytes"):
            mapping.write(buf)
        with pytest.raises((TypeError, BufferError), match="the mapping has float32|readonly"):
            mapping.read_into(buf)
    assert floats.read() == before
    # Memory that nobody has given a type takes all.
    with barmap.map(memory.address, 16) as mapping:
        mapping.write(buf)
        expected = buf.tobytes() if hasattr(buf, "tobytes") else bytes(buf)
        assert mapping.read(0, len(expected)) == expected


def test_raw_elements_take_what_numpy_lacks():
    halves = barmap.alloc(2, "V2")
    halves.write(np.full(2, 0x3F80, "u2"))
    assert halves.read() == b"\x80\x3f" * 2


def test_bytes_of_another_type_than_bytes():
    with pytest.raises(TypeError, match="float64.*uint8"):
        barmap.alloc(64, "u1").write(np.zeros(8))


CALLS = {
    "nothing": lambda m: m.write(),
    "too_much": lambda m: m.read(0, 1, 2),
    "unknown_name": lambda m: m.read(offfset=1),
    "twice": lambda m: m.write(b"", buf=b""),
    "fraction": lambda m: m.write(b"x", 1.5),
    "fraction_of_a_length": lambda m: m.read(0, 1.0),
    "text_as_offset": lambda m: m.read_into(bytearray(1), "0"),
    "fraction_as_word": lambda m: m.post(1.0, 0),
    "no_offset": lambda m: m.post(1),
    "bytes_as_byte": lambda m: m.fill(b"x"),
    "not_a_mapping": lambda m: barmap.Mapping.write(1, b""),
    "mapping_of_nothing": lambda m: barmap.Mapping(1),
    "backend": lambda m: barmap.map(m.gpu_address, 8, backend=1),
    "backend_of_array": lambda m: barmap.alloc(8, "u1", backend=b"rm"),
    "device": lambda m: barmap.alloc(8, "u1", device="0"),
    "shape": lambda m: barmap.alloc((2, 1.5), "u1"),
    "nbytes": lambda m: barmap.map(m.gpu_address, 1.5),
}


@pytest.mark.parametrize("call", CALLS.values(), ids=CALLS)
def test_arguments_of_the_wrong_type(call):
    with pytest.raises(TypeError) as caught:
        call(barmap.alloc(64, "u1"))
    assert "\n" not in str(caught.value) and "incompatible" not in str(caught.value)


@pytest.mark.parametrize("call", [
    lambda x: x[0], lambda x: x[1:, ...], lambda x: len(x), list, lambda x: 3 in x,
    lambda x: x.__setitem__(0, 1),
])
def test_elements_are_those_of_numpy(call):
    array = barmap.alloc(4, "u1")
    array.fill(3)
    for x in (array, barmap.map(array)):
        with pytest.raises(TypeError, match=rf"^a barmap\.{type(x).__name__} has no .* numpy\(\)"):
            call(x)
        assert x and bytes(x) == bytearray(x) == np.asarray(x).tobytes() == b"\x03" * 4


class BelowZero:
    """An array that lies before its first element, which is at the lowest address."""

    __cuda_array_interface__ = {"version": 3, "shape": (4,), "typestr": "|u1", "data": (0, False),
                                "strides": (-1,)}


@pytest.mark.parametrize("refused,call", [
    (OverflowError, lambda: barmap.map(1 << 64, 8)),
    (OverflowError, lambda: barmap.map(BelowZero())),
    (ValueError, lambda: barmap.map(4096, 1 << 64)),
    (ValueError, lambda: barmap.alloc((1 << 40, 1 << 40), "u1")),
    (OverflowError, lambda: barmap.alloc(8, "u1", device=1 << 40)),
    (OverflowError, lambda: barmap.alloc(8, "u1", device=-1)),
])
def test_numbers_that_no_gpu_has(refused, call):
    with pytest.raises(refused) as caught:
        call()
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize("shape, is_too_big", [
    ((1 << 60,), True), (((1 << 60) - 1,), False), ((1 << 40, 1 << 40), True), ((1 << 40, 1 << 40, 0), False),
])
def test_elements_that_repeat_have_at_most_as_many_bytes_as_there_are_addresses(memory, shape, is_too_big):
    base = bytes_like(memory)
    repeated = Interface(memory, base[:8], base, shape=shape, typestr="<f8", strides=(0,) * len(shape))
    if is_too_big:
        with pytest.raises(ValueError, match="is too big"):
            barmap.map(repeated)
    elif 0 not in shape:
        assert barmap.map(repeated).nbytes == 8


@pytest.mark.parametrize("value,size,stored", [
    (0xFF, 1, b"\xff"), (-1, 1, b"\xff"), (-128, 1, b"\x80"), (0x1234, 2, b"\x34\x12"),
    (-2, 4, b"\xfe\xff\xff\xff"), (2**64 - 1, 8, b"\xff" * 8), (-(2**63), 8, b"\0" * 7 + b"\x80"),
    (np.uint32(5), 4, b"\x05\0\0\0"),
])
def test_posted_words(value, size, stored):
    array = barmap.alloc(16, "u1")
    array.fill(0x55)
    array.post(value, 8, size)
    assert array.read() == b"\x55" * 8 + stored + b"\x55" * (8 - size)


def test_words_that_cannot_be_posted():
    array = barmap.alloc(64, "u1")
    for value, size in ((256, 1), (-129, 1), (2**64, 8), (-(2**63) - 1, 8), (2**63, 4)):
        with pytest.raises(OverflowError):
            array.post(value, 0, size)
    for size in (0, 3, 16, -8):
        with pytest.raises(ValueError):
            array.post(1, 0, size)
    with pytest.raises(ValueError, match="multiple of the word's 8 bytes"):
        array.post(1, 4)
    for byte in (-1, 256):
        with pytest.raises(OverflowError, match="0 to 255"):
            array.fill(byte)


@pytest.mark.parametrize("program", [
    "import barmap\ntry: barmap.batch_queue()\nexcept barmap.Error: pass\nbarmap.sim()",
    "import barmap\ntry: barmap.alloc(1, 'u1')\nexcept barmap.Error: pass\nbarmap.sim()",
])
def test_the_simulated_gpu_cannot_be_turned_on_late(program):
    environment = {**os.environ, "BARMAP_SIM": "0", "CUDA_VISIBLE_DEVICES": ""}
    done = subprocess.run([sys.executable, "-c", program], env=environment, capture_output=True,
                          text=True, check=False)
    assert done.returncode == 1 and "before anything else" in done.stderr, done.stderr


def test_without_a_gpu_import_and_info_work():
    program = (
        "import barmap; assert barmap.devices() == []; found = barmap.info()\n"
        "rows = [row for row in found['results'] if row['kind'] == 'backend']\n"
        "assert {row['state'] for row in rows} == {'absent'}, found\n"
        "assert all(row['reason'] and row['gpu'] is None for row in rows)"
    )
    subprocess.run([sys.executable, "-c", program], check=True,
                   env={**os.environ, "BARMAP_SIM": "1", "BARMAP_SIM_DEVICES": "0"})
