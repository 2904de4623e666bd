# SPDX-License-Identifier: MIT
"""Device control, streams, events, and what calls answer."""

import ctypes
import threading

import pytest

from barmap import Error, pygpu

INVALID_VALUE, INVALID_DEVICE, INVALID_HANDLE, NOT_READY = 1, 101, 400, 600


def test_devices():
    count, err = pygpu.cudaGetDeviceCount()
    assert count >= 1 and err == 0
    assert pygpu.cudaSetDevice(0) == 0
    assert pygpu.cudaGetDevice() == (0, 0)
    assert pygpu.cudaDeviceSynchronize() == 0
    (available, total), err = pygpu.cudaMemGetInfo()
    assert 0 < available <= total and err == 0
    assert pygpu.cuda_enabled is True


def test_a_device_that_is_not_there():
    before = pygpu.cudaGetDevice()
    for device in (-1, 99):
        assert pygpu.cudaSetDevice(device) == INVALID_DEVICE
    assert pygpu.cudaGetDevice() == before


def test_each_thread_has_a_device_of_its_own(two_devices):
    assert pygpu.cudaSetDevice(1) == 0
    seen = []
    thread = threading.Thread(target=lambda: seen.append(pygpu.cudaGetDevice()))
    thread.start()
    thread.join()
    assert seen == [(0, 0)] and pygpu.cudaGetDevice() == (1, 0)


def test_an_answer_is_an_object_and_an_integer():
    err = pygpu.cudaSetDevice(99)
    assert repr(err) == str(err) == f"{err}" == "<cudaError: code=101>"
    assert err == 101 and err == pygpu.cudaError_t(101) and err != pygpu.cudaError_t(0)
    assert err.as_int() == int(err) == 101 and type(err.as_int()) is int
    assert {err: "there is none"}[101] == "there is none"
    assert bool(err) and not pygpu.cudaSetDevice(0)


def test_names_and_texts(vendor):
    prefix = "hip" if vendor.name == "hip" else "cuda"
    assert pygpu.cudaGetErrorName(0) == f"{prefix}Success"
    assert pygpu.cudaGetErrorName(pygpu.cudaSetDevice(99)) == f"{prefix}ErrorInvalidDevice"
    assert pygpu.cudaGetErrorString(1) == "invalid argument"
    assert pygpu.cudaGetErrorString(pygpu.cudaError_t(100)) != ""


def test_the_names_of_codes_that_are_the_runtimes_own(vendor):
    if vendor.name != "cuda":
        pytest.skip("of CUDA's codes")
    assert pygpu.cudaGetErrorName(35) == "cudaErrorInsufficientDriver"
    assert "driver" in pygpu.cudaGetErrorString(35)
    assert pygpu.cudaGetErrorName(12345) == "unrecognized error code"
    assert pygpu.cudaGetErrorString(12345) == "unrecognized error code"


def test_the_last_error():
    pygpu.cudaSetDevice(99)
    assert pygpu.cudaSetDevice(0) == 0  # success does not hide it
    assert pygpu.cudaPeekAtLastError() == INVALID_DEVICE
    assert pygpu.cudaGetLastError() == INVALID_DEVICE
    assert pygpu.cudaGetLastError() == 0


def test_the_last_error_is_the_threads_own():
    pygpu.cudaSetDevice(99)
    seen = []
    thread = threading.Thread(target=lambda: seen.append(pygpu.cudaGetLastError()))
    thread.start()
    thread.join()
    assert seen == [0] and pygpu.cudaGetLastError() == INVALID_DEVICE


def test_properties():
    properties, err = pygpu.cudaGetDeviceProperties(0)
    assert err == 0 and properties.last_status() == 0
    assert properties.name() and len(properties.uuid()) == 32
    int(properties.uuid(), 16)
    domain, bus, slot = properties.pciDomainID(), properties.pciBusID(), properties.pciDeviceID()
    assert properties.pci_address() == f"{domain:04x}:{bus:02x}:{slot:02x}.0"
    assert properties.totalGlobalMem() > 0
    assert properties.major() >= 1 and properties.minor() >= 0
    assert properties.multiProcessorCount() > 0 and properties.maxThreadsPerBlock() > 0
    assert properties.warpSize() in (32, 64)
    assert properties.integrated() in (True, False)


def test_properties_of_two_devices(two_devices):
    first, second = pygpu.cudaDeviceProp(0), pygpu.cudaDeviceProp(1)
    assert first.pci_address() != second.pci_address() and first.uuid() != second.uuid()


def test_properties_of_a_device_that_is_not_there():
    properties, err = pygpu.cudaGetDeviceProperties(99)
    assert err == properties.last_status() == INVALID_DEVICE
    with pytest.raises(Error, match="properties of GPU 99") as raised:
        properties.name()
    assert raised.value.code == INVALID_DEVICE and raised.value.advice


def test_streams_and_events(nothing_left):
    stream, start, end = pygpu.cudaStream_t(), pygpu.cudaEvent_t(), pygpu.cudaEvent_t()
    assert stream.last_status() == start.last_status() == 0
    assert pygpu.cudaEventRecord(start, stream) == 0
    assert pygpu.cudaEventRecord(end, stream) == 0
    assert pygpu.cudaEventSynchronize(end) == 0
    assert pygpu.cudaEventQuery(end) == 0 and pygpu.cudaStreamSynchronize(stream) == 0
    assert pygpu.cudaStreamQuery(stream) == 0
    milliseconds, err = pygpu.cudaEventElapsedTime(start, end)
    assert milliseconds >= 0 and err == 0
    assert start.elapsed_time(end) == (milliseconds, 0)
    assert pygpu.cudaEventRecord(start) == 0 and start.synchronize() == 0


def test_handles(nothing_left):
    stream, event = pygpu.cudaStream_t(1), pygpu.cudaEvent_t(2)
    for each in (stream, event):
        pointer = each.get()
        assert int(each) == int(pointer) != 0 and not pointer.is_safe()
        assert ctypes.c_void_p.from_param(each).value == int(each)
        assert ctypes.c_void_p.from_param(pointer).value == int(each)
        with pytest.raises(ValueError, match="no host memory"):
            pointer.get()
        with pytest.raises(TypeError, match="handle"):
            pointer.create(1)
        assert each.device == 0
    assert stream.__cuda_stream__() == (0, int(stream))


def test_a_pointer_keeps_its_stream(vendor, nothing_left):
    pointer = pygpu.cudaStream_t().get()
    event = pygpu.cudaEvent_t()
    vendor.run_on_host(int(pointer), lambda: None)
    assert event.record() == 0 and event.synchronize() == 0


def test_work_that_goes_on(vendor, nothing_left):
    gate = threading.Event()
    stream, other = pygpu.cudaStream_t(1), pygpu.cudaStream_t(1)
    event, late = pygpu.cudaEvent_t(), pygpu.cudaEvent_t()
    vendor.run_on_host(stream, gate.wait)
    assert event.record(stream) == 0
    assert other.wait(event) == 0 and late.record(other) == 0
    assert stream.query() == other.query() == NOT_READY
    assert event.query() == late.query() == NOT_READY and event.last_status() == NOT_READY
    gate.set()
    assert other.synchronize() == 0
    assert stream.query() == event.query() == late.query() == 0


def test_times_that_cannot_be_told(nothing_left):
    untimed, timed, never = pygpu.cudaEvent_t(2), pygpu.cudaEvent_t(), pygpu.cudaEvent_t()
    assert untimed.record() == timed.record() == timed.synchronize() == 0
    for start, end in ((untimed, timed), (timed, untimed), (never, timed), (timed, never)):
        milliseconds, err = pygpu.cudaEventElapsedTime(start, end)
        assert milliseconds == 0 and err == INVALID_HANDLE


def test_a_stream_that_could_not_be_made(nothing_left):
    stream = pygpu.cudaStream_t(64)
    assert stream.last_status() == INVALID_VALUE and int(stream) == 0
    event = pygpu.cudaEvent_t()
    # Its handle, 0, never means the default stream.
    for err in (stream.synchronize(), stream.query(), stream.wait(event), event.record(stream)):
        assert err == INVALID_VALUE


def test_an_event_that_could_not_be_made(nothing_left):
    event = pygpu.cudaEvent_t(64)
    assert event.last_status() == INVALID_VALUE and int(event) == 0
    good = pygpu.cudaEvent_t()
    for err in (event.record(), event.query(), event.synchronize(),
                pygpu.cudaStream_t().wait(event), good.elapsed_time(event)[1]):
        assert err == INVALID_VALUE


def test_wrong_types():
    with pytest.raises(TypeError):
        pygpu.cudaStream_t("blue")
    with pytest.raises(TypeError):
        pygpu.cudaSetDevice("0")
    with pytest.raises(AttributeError):
        pygpu.cudaEventRecord(pygpu.cudaStream_t())
