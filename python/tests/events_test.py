# SPDX-License-Identifier: MIT
"""Events of a mapping.

Only a kernel module delivers real ones (gdrcopy/driver_tests/library/events.py); here the class that waits for
them is shown a mapping whose events come out of a pipe.
"""

import asyncio
import os
import select
import struct
import threading
import time

import barmap
import pytest
from concurrency import descriptors, expect_descriptors
from gpu_memory import reported_backends

RECORD = struct.Struct("QQQQ")


class PipedMapping(bytearray):
    """What `barmap.types.MappingEvents` needs of a mapping of 300 bytes at 1000."""

    def __init__(self):
        super().__init__(300)
        self._left = 300
        self._taking = threading.Lock()
        self.out, self.in_ = os.pipe2(os.O_NONBLOCK | os.O_CLOEXEC)

    def _bytes(self):
        return memoryview(self)

    def _event_fd(self):
        return self.out

    def _next_event(self):
        try:
            return RECORD.unpack(os.read(self.out, RECORD.size))
        except BlockingIOError:
            return None

    def tell(self, address, nbytes, sequence, lost=0):
        os.write(self.in_, RECORD.pack(address, nbytes, sequence, lost))

    def end(self):
        os.close(self.out)
        os.close(self.in_)


@pytest.fixture
def mapping():
    piped = PipedMapping()
    yield piped
    piped.end()


@pytest.fixture
def events(mapping):
    return barmap.types.MappingEvents(mapping)


def test_poll_never_waits(mapping, events):
    assert events.poll() is None
    mapping.tell(1000, 100, 1)
    assert events.poll() == barmap.types.MappingEvent(gpu_address=1000, nbytes=100, sequence=1, lost=0)
    assert events.poll() is None


def test_its_descriptor_tells(mapping, events):
    assert select.select([events], [], [], 0)[0] == []
    mapping.tell(1000, 100, 1)
    assert select.select([events], [], [], 0)[0] == [events]


def test_iteration_ends_when_all_is_gone(mapping, events):
    mapping.tell(1200, 100, 1)
    mapping.tell(1000, 200, 2)
    assert [event.sequence for event in events] == [1, 2]
    assert list(events) == [] and list(barmap.types.MappingEvents(mapping)) == []


def test_after_lost_events_all_is_gone(mapping, events):
    mapping.tell(1200, 100, 1)
    mapping.tell(1000, 300, 9, 8)
    assert [(event.sequence, event.lost) for event in events] == [(1, 0), (9, 8)]


def test_iteration_waits(mapping, events):
    later = threading.Timer(0.05, mapping.tell, (1000, 300, 1))
    later.start()
    assert next(events).nbytes == 300
    later.join()


def test_nobody_closes_while_somebody_waits(mapping, events):
    seen = []
    waiter = threading.Thread(target=lambda: seen.extend(events))
    waiter.start()
    refused = False
    while not refused:
        try:
            mapping.append(0)  # a bytearray with a buffer out refuses to move, as a mapping to close
            mapping.pop()
        except BufferError:
            refused = True
    mapping.tell(1000, 300, 1)
    waiter.join()
    mapping.append(0)
    assert len(seen) == 1


def test_nobody_takes_what_somebody_waits_for(mapping, events):
    seen = []
    waiter = threading.Thread(target=lambda: seen.extend(events))
    waiter.start()
    while not mapping._taking.locked():
        time.sleep(0.001)
    for take in (events.poll, events.__next__):
        with pytest.raises(RuntimeError, match="waits"):
            take()
    mapping.tell(1000, 300, 1)
    waiter.join()
    assert len(seen) == 1 and events.poll() is None

    async def run():
        mapping._left = 300
        waiting = asyncio.create_task(events.__anext__())
        await asyncio.sleep(0)
        mapping.tell(1000, 300, 2)
        with pytest.raises(RuntimeError, match="waits"):
            events.poll()
        assert (await waiting).sequence == 2

    asyncio.run(run())


def test_asyncio(mapping, events):
    async def collect():
        return [event.sequence async for event in events]

    async def run():
        waiting = asyncio.create_task(collect())
        await asyncio.sleep(0.01)
        mapping.tell(1000, 100, 1)
        await asyncio.sleep(0.01)
        assert not waiting.done()
        mapping.tell(1100, 200, 2)
        return await asyncio.wait_for(waiting, 10)

    assert asyncio.run(run()) == [1, 2]


def test_one_waits_at_a_time(mapping):
    async def run():
        first, second = (
            asyncio.create_task(barmap.types.MappingEvents(mapping).__anext__()) for _ in range(2)
        )
        await asyncio.sleep(0.01)
        with pytest.raises(RuntimeError, match="waits"):
            await second
        mapping.tell(1000, 300, 1)
        assert (await first).sequence == 1

    asyncio.run(run())


def test_a_cancelled_wait_leaves_nothing(mapping, events):
    async def run():
        waiting = asyncio.create_task(events.__anext__())
        await asyncio.sleep(0.01)
        waiting.cancel()
        with pytest.raises(asyncio.CancelledError):
            await waiting

    asyncio.run(run())
    before = descriptors()
    asyncio.run(run())
    expect_descriptors(before)
    mapping.append(0)  # no buffer is out


def test_a_mapping_without_events_says_so(memory):
    with barmap.map(memory.address, 64) as mapping:
        with pytest.raises(barmap.Error, match="with events=True"):
            mapping.events()
    with pytest.raises(ValueError, match="closed"):
        mapping.events()
    with pytest.raises(barmap.Error, match="with events=True"):
        barmap.alloc(16, "u1").events()


def test_no_other_backend_has_them(memory, no_leak):
    with pytest.raises(barmap.Error, match="use_persistent_mapping=0"):
        barmap.map(memory.address, 64, events=True)
    array = barmap.alloc(16, "u1")
    with pytest.raises(barmap.Error, match="use_persistent_mapping=0"):
        barmap.map(array, events=True)
    array.close()
    assert not any(row["events"] for row in reported_backends())
