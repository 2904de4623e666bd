# SPDX-License-Identifier: MIT
"""Rings to the CPU in an event loop."""

import asyncio

import barmap
import pytest

from gpu_side import OK, GpuSide

pytestmark = pytest.mark.simulated


@pytest.fixture
def gpu():
    return GpuSide("i4")


@pytest.fixture
def ring():
    with barmap.RingToCpu("i4", slots=64) as made:
        yield made


async def rounds(count=20):
    """Lets all tasks go on."""
    for _ in range(count):
        await asyncio.sleep(0)


def test_messages_that_are_there_are_returned(gpu, ring):
    async def main():
        for number in range(3):
            assert gpu.push(ring, number) == OK
        return [await ring.pop() for _ in range(3)]

    assert asyncio.run(main()) == [0, 1, 2]


def test_the_loop_goes_on_while_one_waits(gpu, ring):
    async def main():
        waiting = asyncio.ensure_future(ring.pop())
        await rounds()
        assert not waiting.done()
        await asyncio.sleep(0.03)  # it sleeps by now
        assert gpu.push(ring, 7) == OK
        return await waiting

    assert asyncio.run(main()) == 7


def test_a_loop_over_messages_ends_when_the_ring_is_closed(gpu, ring):
    async def main():
        found = []

        async def collect():
            async for message in ring:
                found.append(int(message))

        collecting = asyncio.ensure_future(collect())
        for number in range(5):
            assert gpu.push(ring, number) == OK
            await rounds(3)
        gpu.close(ring)
        await collecting
        with pytest.raises(EOFError, match="this ring is closed"):
            await ring.pop()
        return found

    assert asyncio.run(main()) == [0, 1, 2, 3, 4]


def test_what_comes_just_before_the_end_is_not_lost(gpu):
    class Ring(barmap.RingToCpu):
        def try_pop(self):
            message = super().try_pop()
            if self.number == 0 and not self.closed:
                assert gpu.push(self, 5) == OK
                gpu.close(self)
            return message

    with Ring("i4", slots=2) as ring:
        assert asyncio.run(ring.pop()) == 5


def test_a_cancelled_pop_loses_no_message(gpu, ring):
    async def main():
        found = []
        for number in range(60):
            waiting = asyncio.ensure_future(ring.pop())
            await rounds(number % 4)
            assert gpu.push(ring, number) == OK
            await rounds(number // 4 % 4)
            waiting.cancel()
            try:
                found.append(int(await waiting))
            except asyncio.CancelledError:
                pass
        return found + [int(each) for each in ring.pop_many()]

    assert asyncio.run(main()) == list(range(60))


def test_a_pop_that_takes_too_long_loses_no_message(gpu, ring):
    async def main():
        with pytest.raises(asyncio.TimeoutError):
            await asyncio.wait_for(ring.pop(), 0.01)
        assert gpu.push(ring, 3) == OK
        return await ring.pop()

    assert asyncio.run(main()) == 3


def test_several_tasks_share_a_ring(gpu, ring):
    async def main():
        tasks = [asyncio.ensure_future(ring.pop()) for _ in range(8)]
        await rounds()
        for number in range(8):
            assert gpu.push(ring, number) == OK
        return sorted(int(each) for each in await asyncio.gather(*tasks))

    assert asyncio.run(main()) == list(range(8))


def test_releasing_ends_who_waits(ring):
    async def main():
        waiting = asyncio.ensure_future(ring.pop())
        await rounds()
        ring.release()
        with pytest.raises(ValueError, match="this ring is released"):
            await waiting

    asyncio.run(main())


def test_waiting_sleeps(ring, monkeypatch):
    """An idle ring is looked at rarely."""
    pauses, now = [], [0.0]
    monkeypatch.setattr("barmap._signals.rings.time.monotonic", lambda: now[0])

    async def sleep(seconds):
        pauses.append(seconds)
        now[0] += max(seconds, 1e-4)
        if now[0] > 1:
            raise asyncio.CancelledError

    monkeypatch.setattr(asyncio, "sleep", sleep)
    with pytest.raises(asyncio.CancelledError):
        ring.pop().send(None)
    assert pauses[:10] == [0] * 10 and 0 not in pauses[11:]
    assert pauses == sorted(pauses) and pauses[11] == 0.001 and pauses[-1] == 0.01
    assert len(pauses) < 200
