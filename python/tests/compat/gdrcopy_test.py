# SPDX-License-Identifier: MIT
"""The package gdrcopy: what it does, and what it refuses."""

import copy
import errno
import pickle

import barmap.gdrcopy
import gdrcopy
import numpy as np
import pytest
from gdrcopy import GDRCopy, GDRError, GDRHandle

CONSTANTS = {
    "GDR_MAPPING_TYPE_NONE": 0, "GDR_MAPPING_TYPE_WC": 1, "GDR_MAPPING_TYPE_CACHING": 2,
    "GDR_MAPPING_TYPE_DEVICE": 3, "GDR_PIN_FLAG_DEFAULT": 0, "GDR_PIN_FLAG_FORCE_PCIE": 1,
    "GDR_ATTR_USE_PERSISTENT_MAPPING": 1, "GDR_ATTR_SUPPORT_PIN_FLAG_FORCE_PCIE": 2,
    "GDR_ATTR_USING_DMA_BUF_MMAP": 3,
}


@pytest.fixture
def gdr(driver):
    with GDRCopy() as opened:
        yield opened


@pytest.fixture
def handle(gdr, memory):
    """The first 4000 bytes of the memory, mapped."""
    pinned = gdr.pin_buffer_v2(memory.address, 4000)
    pinned.map(4000)
    return pinned


def refused(call, code=errno.EINVAL, kind=GDRError):
    with pytest.raises(kind) as caught:
        call()
    error = caught.value
    assert (error.code, error.errno) == (code, code)
    assert str(error) == error.message and errno.errorcode[code] in error.message
    return error


def test_names():
    assert {name: getattr(gdrcopy, name) for name in CONSTANTS} == CONSTANTS
    for name in barmap.gdrcopy.__all__:
        assert getattr(gdrcopy, name) is getattr(barmap.gdrcopy, name)


def test_versions(gdr):
    assert gdrcopy.get_version() == (2, 6)
    major, minor = gdrcopy.get_driver_version(gdr)
    assert (major, minor) >= (2, 0)
    refused(lambda: gdrcopy.get_driver_version(GDRCopy()), kind=RuntimeError)
    for wrong in (None, 1, "gdr", object()):
        with pytest.raises(TypeError):
            gdrcopy.get_driver_version(wrong)


def test_attributes(gdr):
    for name in CONSTANTS:
        if name.startswith("GDR_ATTR"):
            assert gdr.get_attribute(CONSTANTS[name]) in (0, 1)
    for unknown in (0, 4, 1000):
        assert str(unknown) in str(refused(lambda: gdr.get_attribute(unknown)))
    for wrong in (-1, 1 << 31):
        with pytest.raises(OverflowError):
            gdr.get_attribute(wrong)


def test_both_ways(handle, memory):
    host = np.zeros(4000, "u1")
    assert handle.copy_from_mapping(host.ctypes.data, 4000) is None
    assert host.tobytes() == memory.get(0, 4000)
    host[:] = host[::-1].copy()
    before = memory.get(4000)
    assert handle.copy_to_mapping(host.ctypes.data, 4000) is None
    assert memory.get(0, 4000) == host.tobytes()
    assert memory.get(4000) == before


@pytest.mark.parametrize("size", [0, 1, 2, 3, 4, 8, 63, 64, 100, 4095, 4096, 4097, 65536, 1 << 20])
def test_sizes(gdr, memory, size):
    handle = gdr.pin_buffer(memory.address, memory.nbytes)
    handle.map(memory.nbytes)
    before = memory.get()
    new = np.frombuffer(bytes(255 - b for b in before[:size]), "u1").copy()
    handle.copy_to_mapping(new.ctypes.data, size)
    assert memory.get() == new.tobytes() + before[size:]
    there = np.full(size + 8, 77, "u1")
    handle.copy_from_mapping(there.ctypes.data, size)
    assert there.tobytes() == new.tobytes() + bytes([77]) * 8


def test_an_address_that_is_not_aligned(gdr, memory):
    handle = gdr.pin_buffer(memory.address + 100003, 10)
    handle.map(10)
    there = np.zeros(10, "u1")
    handle.copy_from_mapping(there.ctypes.data, 10)
    assert there.tobytes() == memory.get(100003, 10)
    assert handle.get_info()["va"] == memory.address + 100003


def test_numbers_of_numpy(gdr, memory):
    handle = gdr.pin_buffer(np.uint64(memory.address), np.int64(64), np.int32(0), np.uint8(0))
    handle.map(np.uint16(64))
    host = np.zeros(64, "u1")
    handle.copy_from_mapping(np.uint64(host.ctypes.data), np.int64(64))
    handle.copy_to_mapping(np.uint64(host.ctypes.data), np.int32(64))
    assert host.tobytes() == memory.get(0, 64)
    gdr.pin_buffer_v2(np.uint64(memory.address), np.int64(64), np.int8(0)).unpin()


def test_info_is_that_of_now(gdr, memory):
    handle = gdr.pin_buffer(memory.address, 4000)
    info = handle.get_info()
    assert list(info) == ["va", "mapped_size", "page_size", "mapped", "wc_mapping", "mapping_type"]
    assert (info["va"], info["mapped_size"], info["page_size"]) == (memory.address, 65536, 65536)
    unmapped = (False, False, gdrcopy.GDR_MAPPING_TYPE_NONE)
    assert (info["mapped"], info["wc_mapping"], info["mapping_type"]) == unmapped
    handle.map(4000)
    info = handle.get_info()
    assert info["mapped"] is True
    assert info["mapping_type"] in (1, 2, 3)
    assert info["wc_mapping"] is (info["mapping_type"] == gdrcopy.GDR_MAPPING_TYPE_WC)
    handle.unmap()
    info = handle.get_info()
    assert (info["mapped"], info["wc_mapping"], info["mapping_type"]) == unmapped


def test_the_address_of_a_mapping_is_the_memory(handle, memory):
    import ctypes

    handle.unmap()
    pointer = handle.map(4000)
    assert isinstance(pointer, int)
    assert ctypes.string_at(pointer, 100) == memory.get(0, 100)


def test_callback_flag(handle):
    assert handle.get_callback_flag() is False


def test_flags(gdr, memory):
    handle = gdr.pin_buffer_v2(memory.address, 64, flags=gdrcopy.GDR_PIN_FLAG_DEFAULT)
    handle.unpin()
    try:
        gdr.pin_buffer_v2(memory.address, 64, gdrcopy.GDR_PIN_FLAG_FORCE_PCIE).unpin()
    except GDRError as refusal:  # where the GPU is not coherent with the CPU
        assert refusal.code == 22
    assert "flags" in str(refused(lambda: gdr.pin_buffer_v2(memory.address, 64, 2)))


def test_opening_and_closing():
    gdr = GDRCopy()
    gdr.close()
    for turn in range(3):
        gdr.open()
        refused(gdr.open, kind=RuntimeError)
        gdr.close()
        gdr.close()
    for call in (lambda: gdr.pin_buffer(0x1000, 8), lambda: gdr.pin_buffer_v2(0x1000, 8),
                 lambda: gdr.get_attribute(1)):
        assert "open()" in str(refused(call, kind=RuntimeError))


def test_context_manager(memory):
    with GDRCopy() as gdr:
        with gdr as again:
            assert again is gdr
            handle = gdr.pin_buffer(memory.address, 8)
        refused(lambda: gdr.get_attribute(1), kind=RuntimeError)
    refused(handle.get_info)
    with pytest.raises(ZeroDivisionError), GDRCopy() as gdr:
        1 / 0
    refused(lambda: gdr.get_attribute(1), kind=RuntimeError)


def test_what_cannot_be_pinned(gdr, driver, memory):
    host = np.zeros(64, "u1")
    for address in (0x1000, 0, host.ctypes.data):
        for pin in (gdr.pin_buffer, gdr.pin_buffer_v2):
            assert len(str(refused(lambda: pin(address, 64)))) > 40
    refused(lambda: gdr.pin_buffer(memory.address, 0))
    refused(lambda: gdr.pin_buffer(memory.address, 1 << 60))
    managed = driver.allocate_managed(4096)
    assert "managed" in str(refused(lambda: gdr.pin_buffer(managed.address, 8), errno.ENOTSUP))
    managed.free()


def test_numbers_that_are_none(gdr, handle, memory):
    for wrong in ("1", 1.5, None, [1], b"\1"):
        for call in (lambda: gdr.pin_buffer(wrong, 8), lambda: gdr.pin_buffer(memory.address, wrong),
                     lambda: gdr.pin_buffer_v2(memory.address, 8, wrong), lambda: handle.map(wrong),
                     lambda: gdr.get_attribute(wrong), lambda: handle.copy_to_mapping(wrong, 8),
                     lambda: handle.copy_from_mapping(wrong, 8),
                     lambda: handle.copy_to_mapping(memory.address, wrong)):
            with pytest.raises(TypeError):
                call()
    for wrong in (-1, 1 << 64):
        for call in (lambda: gdr.pin_buffer(wrong, 8), lambda: gdr.pin_buffer(memory.address, wrong),
                     lambda: gdr.pin_buffer(memory.address, 8, wrong),
                     lambda: gdr.pin_buffer(memory.address, 8, 0, wrong),
                     lambda: gdr.pin_buffer_v2(memory.address, 8, wrong),
                     lambda: handle.map(wrong), lambda: handle.copy_to_mapping(wrong, 8),
                     lambda: handle.copy_from_mapping(8, wrong)):
            with pytest.raises(OverflowError):
                call()


def test_mapping(gdr, memory):
    handle = gdr.pin_buffer(memory.address, 4000)
    size = handle.get_info()["mapped_size"]
    for wrong in (0, size + 1, 1 << 60):
        refused(lambda: handle.map(wrong))
    handle.map(size)
    assert "unmap()" in str(refused(lambda: handle.map(size), errno.EAGAIN, RuntimeError))
    handle.unmap()
    handle.unmap()
    handle.map(1)
    handle.unpin()
    handle.unpin()
    handle.unmap()
    for call in (handle.get_info, lambda: handle.map(8), handle.get_callback_flag,
                 lambda: handle.copy_to_mapping(memory.address, 8)):
        assert "unpinned" in str(refused(call, kind=RuntimeError))


def test_copies_that_are_refused(handle, memory):
    before = memory.get()
    size = handle.get_info()["mapped_size"]
    host = np.zeros(size + 1, "u1")
    for copy_bytes in (handle.copy_to_mapping, handle.copy_from_mapping):
        assert "host_ptr" in str(refused(lambda: copy_bytes(0, 8)))
        assert str(size) in str(refused(lambda: copy_bytes(host.ctypes.data, size + 1)))
        refused(lambda: copy_bytes(host.ctypes.data, (1 << 64) - 1))
    handle.unmap()
    for copy_bytes in (handle.copy_to_mapping, handle.copy_from_mapping):
        for n in (0, 8):
            assert "map()" in str(refused(lambda: copy_bytes(host.ctypes.data, n), kind=RuntimeError))
    assert memory.get() == before and not host.any()


def test_errors():
    assert issubclass(GDRError, Exception) and not issubclass(GDRError, RuntimeError)
    assert "EBUSY" in str(GDRError(errno.EBUSY))
    assert "9999" in str(GDRError(9999))
    for kind in (GDRError, gdrcopy.GDRStateError):
        error = kind(errno.ENOMEM, "too little memory")
        for same in (pickle.loads(pickle.dumps(error)), copy.copy(error)):
            assert type(same) is kind
            assert (same.code, same.message, str(same)) == (12, "too little memory") + (str(error),)


def test_handles_come_from_pins_only(gdr):
    with pytest.raises((TypeError, AttributeError)):
        GDRHandle(gdr, 5)


@pytest.mark.parametrize("name", ["copy_to_mapping", "copy_from_mapping"])
def test_an_engine_that_failed_is_told(handle, monkeypatch, name):
    monkeypatch.setattr(barmap.gdrcopy, f"_{name}", lambda *_: errno.EIO)
    host = np.zeros(4000, "u1")
    error = refused(lambda: getattr(handle, name)(host.ctypes.data, host.size), errno.EIO)
    assert "copy 4000 bytes" in str(error)
