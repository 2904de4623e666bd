# SPDX-License-Identifier: MIT
"""barmap's back-end, loaded by an agent of NIXL's wheel: what transfers copy.

Usage: backend_test.py [unittest's arguments]; NIXL_PLUGIN_DIR is where the plug-in lies.
"""

import ctypes
import os
import random
import signal
import threading
import unittest

import machine
from machine import Agent, OfPool, OnGpu, Pageable, Pinned

SIZE = 1 << 20


def random_pieces(dice, count, size):
    """Disjoint ones, at odd places on both sides, in another order on each: (begin, begin, size)."""
    room = size // count
    theirs = list(range(count))
    dice.shuffle(theirs)
    for mine, other in enumerate(theirs):
        n = dice.randrange(1, room)
        yield mine * room + dice.randrange(room - n), other * room + dice.randrange(room - n), n


class OneMachine(unittest.TestCase):
    def setUp(self):
        machine.use_gpu(0)
        self.dice = random.Random(self.id())

    def memory(self, kind, *arguments, size=SIZE):
        made = kind(size, *arguments)
        self.addCleanup(made.free)
        return made

    def fill(self, memory):
        data = self.dice.randbytes(memory.size)
        memory.put(data)
        return data

    def expect_copied(self, agent, operation, here, there, pieces, **how):
        """Every byte of both sides, also those that no piece has."""
        mine, theirs = bytearray(self.fill(here)), bytearray(self.fill(there))
        agent.transfer(operation, here, there, pieces, **how)
        for a, b, n in pieces:
            if operation == "WRITE":
                theirs[b:b + n] = mine[a:a + n]
            else:
                mine[a:a + n] = theirs[b:b + n]
        self.assertTrue(here.get() == mine, "this side")
        self.assertTrue(there.get() == theirs, "that side")


class Inside(OneMachine):
    """Transfers of one agent with itself."""

    KINDS = {"pageable": (Pageable,), "pinned": (Pinned,), "a GPU": (OnGpu, 0), "a pool": (OfPool, 0)}

    def test_every_pair_of_memories_both_ways(self):
        agent = Agent()
        kinds = self.KINDS | ({"another GPU": (OnGpu, 1)} if machine.last_gpu() else {})
        for of_here, here_is in kinds.items():
            for of_there, there_is in kinds.items():
                if {"a pool", "another GPU"} == {of_here, of_there}:
                    continue  # cuMemPoolSetAccess is the program's
                here, there = self.memory(*here_is), self.memory(*there_is)
                known = [agent.register(here), agent.register(there)]
                for operation in ("WRITE", "READ"):
                    with self.subTest(here=of_here, there=of_there, operation=operation):
                        self.expect_copied(agent, operation, here, there,
                                           list(random_pieces(self.dice, 100, SIZE)))
                for each in known:
                    agent.nixl.deregister_memory(each)

    def test_a_transfer_is_posted_again(self):
        agent, here, there = Agent(), self.memory(Pageable), self.memory(OnGpu)
        agent.register(here), agent.register(there)
        handle = agent.prepare("WRITE", here, there, [(0, 4096, 8192)])
        for _ in range(3):
            data = self.fill(here)
            agent.finish(handle)
            self.assertEqual(data[:8192], there.get(4096, 8192))

    def test_a_release_waits_for_the_copies(self):
        agent, here, there = Agent(), self.memory(Pageable), self.memory(OnGpu)
        agent.register(here), agent.register(there)
        for _ in range(20):
            data = self.fill(here)
            handle = agent.prepare("WRITE", here, there, [(i, i, 4096) for i in range(0, SIZE, 4096)])
            agent.nixl.transfer(handle)
            handle.release()
            self.assertTrue(data == there.get())

    def test_memory_that_takes_the_place_of_other_memory(self):
        agent, there = Agent(), self.memory(OnGpu)
        agent.register(there)
        here = self.memory(Pageable)
        known = agent.register(here)
        old = agent.prepare("WRITE", here, there, [(0, 0, SIZE)])
        agent.nixl.deregister_memory(known)
        here.replace()
        agent.register(here)
        self.expect_copied(agent, "WRITE", here, there, [(0, 0, SIZE)])
        self.expect_copied(agent, "READ", here, there, [(0, 0, SIZE)])
        old.release()

    def test_registrations_share_pages(self):
        agent, here, there = Agent(), self.memory(Pageable), self.memory(OnGpu)
        agent.register(there)
        parts = [(100, 40), (140, 5000), (5000, 60), (8192, 8192), (12000, 30000), (300000, 700000), (0, SIZE)]
        known = {part: agent.register(here, *part) for part in parts}
        while known:
            for at, n in known:  # some cross from one of CUDA's registrations into the next one
                with self.subTest(at=at, n=n, left=len(known)):
                    self.expect_copied(agent, self.dice.choice(("READ", "WRITE")), here, there, [(at, at + 1, n - 1)])
            part = self.dice.choice(list(known))
            agent.nixl.deregister_memory(known.pop(part))

    def test_agents_share_pages(self):
        first, second = Agent(), Agent()
        here, there = self.memory(Pageable), self.memory(OnGpu)
        of_first = first.register(here, 0, 3000)
        for agent in (first, second):
            agent.register(there)
        second.register(here, 3000, 9000)
        first.nixl.deregister_memory(of_first)
        self.expect_copied(second, "WRITE", here, there, [(3000, 1, 9000)])

    @machine.on_simulated_gpus
    def test_nothing_is_left(self):
        def once():
            agent = Agent()
            pageable, on_gpu, on_other = Pageable(SIZE), OnGpu(SIZE), OnGpu(SIZE, machine.last_gpu())
            for each in (pageable, on_gpu, on_other):
                agent.register(each)
            agent.transfer("WRITE", pageable, on_gpu, [(0, 0, SIZE)])
            agent.transfer("READ", on_gpu, on_other, [(0, 0, SIZE)])
            del agent
            on_gpu.free(), on_other.free()
        once()
        before = machine.live_objects()
        for _ in range(3):
            once()
        self.assertEqual(before, machine.live_objects())

    def test_threads_transfer_at_once(self):
        agent = Agent()
        memories = [(self.memory(Pageable), self.memory(OnGpu, i % (machine.last_gpu() + 1))) for i in range(4)]
        for here, there in memories:
            agent.register(here), agent.register(there)
        failures = []

        def work(here, there, dice):
            try:
                for _ in range(20):
                    data = dice.randbytes(SIZE)
                    here.put(data)
                    agent.transfer("WRITE", here, there, [(i, i, 4096) for i in range(0, SIZE, 4096)])
                    here.put(bytes(SIZE))
                    agent.transfer("READ", here, there, [(i, i, 4096) for i in range(0, SIZE, 4096)])
                    assert here.get() == data
            except Exception as failure:
                failures.append(failure)

        threads = [threading.Thread(target=work, args=(*each, random.Random(i))) for i, each in enumerate(memories)]
        for each in threads:
            each.start()
        for each in threads:
            each.join()
        self.assertEqual([], failures)


class TwoAgents(OneMachine):
    """Of one process."""

    def test_every_pair_of_memories_both_ways(self):
        for here_is in ((Pageable,), (Pinned,), (OnGpu, 0)):
            for there_is in ((Pageable,), (Pinned,), (OnGpu, machine.last_gpu()), (OfPool, 0)):
                first, second = Agent(), Agent()
                here, there = self.memory(*here_is), self.memory(*there_is)
                first.register(here), second.register(there)
                first.meet(second)
                for operation in ("WRITE", "READ"):
                    with self.subTest(here=here_is, there=there_is, operation=operation):
                        self.expect_copied(first, operation, here, there,
                                           list(random_pieces(self.dice, 50, SIZE)), to=second.name)

    def test_a_notice_comes_when_the_bytes_are_there(self):
        first, second = Agent(), Agent()
        here, there = self.memory(Pageable), self.memory(OnGpu)
        first.register(here), second.register(there)
        first.meet(second)
        for i in range(10):
            data = self.fill(here)
            text = b"round %d\0!" % i
            handle = first.prepare("WRITE", here, there, [(0, 0, SIZE)], to=second.name, notice=text)
            self.assertEqual("PROC", first.nixl.transfer(handle, text))
            self.assertEqual({}, second.nixl.get_new_notifs())  # it goes when the sender finds the copies done
            while first.nixl.check_xfer_state(handle) == "PROC":
                pass
            self.assertEqual({first.name: [text]}, second.wait_for_notices(1))
            self.assertTrue(data == there.get())

    def test_a_notice_goes_once(self):
        first, second = Agent(), Agent()
        here, there = self.memory(Pageable), self.memory(OnGpu)
        first.register(here), second.register(there)
        first.meet(second)
        handle = first.prepare("WRITE", here, there, [(0, 0, SIZE)], to=second.name, notice=b"written")
        for _ in range(2):
            first.finish(handle, b"written")
            for _ in range(3):
                self.assertEqual(0, self.ask_the_back_end(handle))
            second.nixl.send_notif(second.name, b"behind it")  # datagrams keep their order
            self.assertEqual({first.name: [b"written"], second.name: [b"behind it"]}, second.wait_for_notices(2))

    @staticmethod
    def ask_the_back_end(handle):
        """What its checkXfer says; NIXL itself does not ask it again about a transfer that is done."""
        in_table = 13  # of virtual functions, in all of NIXL 1.0 to 1.5
        engine, request = (ctypes.c_void_p * 2).from_address(handle._handle)
        table = ctypes.c_void_p.from_address(engine).value
        functions = (ctypes.c_void_p * (in_table + 1)).from_address(table)
        return ctypes.CFUNCTYPE(ctypes.c_int, ctypes.c_void_p, ctypes.c_void_p)(functions[in_table])(engine, request)

    def test_deregistering_waits_for_the_copies(self):
        first, second, size = Agent(), Agent(), 16 * SIZE
        there = self.memory(Pageable, size=size)
        second.register(there)
        for kind in (OnGpu, Pageable) * 5:
            here = self.memory(kind, size=size)
            known = first.register(here)
            second.nixl.add_remote_agent(first.nixl.get_agent_metadata())
            data = self.fill(here)
            handle = second.prepare("READ", there, here, [(i, i, 4096) for i in range(0, size, 4096)], to=first.name)
            second.nixl.transfer(handle)
            first.nixl.deregister_memory(known)
            self.assertTrue(data == there.get())
            while (state := second.nixl.check_xfer_state(handle)) == "PROC":
                pass
            self.assertEqual("DONE", state)
            handle.release()

    def test_notices_alone(self):
        first, second = Agent(), Agent()
        first.meet(second)
        texts = [b"%d" % i for i in range(1000)] + [bytes(100000)]
        for text in texts:
            first.nixl.send_notif(second.name, text)
        self.assertEqual({first.name: texts}, second.wait_for_notices(len(texts)))
        second.nixl.send_notif(second.name, b"to itself")
        self.assertEqual({second.name: [b"to itself"]}, second.wait_for_notices(1))

    def test_a_forked_child_drops_its_copies(self):
        first, second = Agent(), Agent()
        here, there = self.memory(Pageable), self.memory(OnGpu)
        first.register(here), second.register(there)
        first.meet(second)
        data = self.fill(here)
        handle = first.prepare("WRITE", here, there, [(0, 0, SIZE)], to=second.name)
        child = os.fork()
        if child == 0:
            signal.alarm(60)  # ends a child that hangs
            try:
                del handle, first, second
                os._exit(0)
            finally:
                os._exit(1)
        self.assertEqual((child, 0), os.waitpid(child, 0))
        first.finish(handle)
        self.assertTrue(data == there.get())
        first.nixl.send_notif(second.name, b"still there")
        self.assertEqual({first.name: [b"still there"]}, second.wait_for_notices(1))


if __name__ == "__main__":
    machine.run_tests()
