# SPDX-License-Identifier: MIT
"""What is refused, and with which exception."""

import os
import pickle
import subprocess
import sys

import barmap
import numpy as np
import pytest
from dlpack_object import DlpackObject
from gpu_memory import Interface, bytes_like


@pytest.mark.parametrize("x", [None, 1.5, "text", b"bytes", [1], object(), np.zeros(4)])
def test_things_without_gpu_memory(x):
    with pytest.raises(TypeError):
        barmap.map(x)


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
    {"shape": (-1,)}, {"typestr": "nonsense"},
])
def test_malformed_interfaces(memory, change):
    base = bytes_like(memory)
    with pytest.raises((TypeError, ValueError)):
        barmap.map(Interface(memory, base[:8], base, **change))


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


def test_memory_that_cannot_be_mapped(driver, memory):
    assert error_of(lambda: barmap.map(0x1000, 8)).advice
    assert error_of(lambda: barmap.map(memory.address, memory.nbytes + 1)).code == 2
    error_of(lambda: barmap.map(memory.address, 0))
    error_of(lambda: barmap.map(0, 8))
    managed = driver.allocate_managed(4096)
    assert "managed" in str(error_of(lambda: barmap.map(managed.address, 8)))
    managed.free()


def test_backends_by_name(memory):
    for row in barmap.info()["backends"]:
        name = row["name"]
        if row["state"] != "usable":
            assert error_of(lambda: barmap.map(memory.address, 8, backend=name)).backend == name
    with barmap.map(memory.address, 8) as any_mapping:
        with barmap.map(memory.address, 8, backend=any_mapping.backend) as mapping:
            assert mapping.backend == any_mapping.backend
    error_of(lambda: barmap.map(memory.address, 8, backend="nonsense"))
    error_of(lambda: barmap.alloc(8, "u1", backend="nonsense"))


def test_allocations():
    error_of(lambda: barmap.alloc(0, "u1"))
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
        assert error_of(call).code == 2
    assert data == bytearray(n) and array.read() == b"\x07" * 64


def test_lengths():
    array = barmap.alloc(64, "u1")
    for call in (lambda: array.read(0, -1), lambda: array.fill(0, 0, -1), lambda: array.read(65),
                 lambda: array.post(1, 57), lambda: array.post(1, -8)):
        assert error_of(call).code == 2
    assert array.read(64) == array.read(64, 0) == array.read(10, 0) == b""
    array.write(b"", 64)
    assert array.read_into(bytearray(), 64) == 0


def test_buffers():
    array = barmap.alloc(64, "u1")
    for wrong in (None, 1, "text", [1]):
        with pytest.raises(TypeError):
            array.write(wrong)
    with pytest.raises((TypeError, BufferError)):
        array.read_into(b"constant")
    with pytest.raises((ValueError, BufferError)):
        array.write(np.zeros((4, 4))[:, 1])
    with pytest.raises(TypeError):
        array.write(b"x", 1.5)


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
    with pytest.raises(TypeError):
        array.post(1.0, 0)
    assert error_of(lambda: array.post(1, 4)).code == 1
    for byte in (-1, 256):
        with pytest.raises(ValueError):
            array.fill(byte)


@pytest.mark.parametrize("program", [
    "import barmap; barmap.devices(); barmap.sim()",
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
        "assert {row['state'] for row in found['backends']} == {'absent'}, found\n"
        "assert all(row['reason'] and row['gpu'] is None for row in found['backends'])"
    )
    subprocess.run([sys.executable, "-c", program], check=True,
                   env={**os.environ, "BARMAP_SIM": "1", "BARMAP_SIM_DEVICES": "0"})
