# SPDX-License-Identifier: MIT
"""Transfers between agents of two processes.

Usage: processes_test.py [unittest's arguments]; NIXL_PLUGIN_DIR is where the plug-in lies.
"""

import json
import os
import pathlib
import random
import struct
import subprocess
import sys
import unittest

import machine
from machine import Agent, Memory, OnGpu, Pageable

SIZE = 1 << 20


class Process:
    """Another process with an agent."""

    def __init__(self, name):
        program = pathlib.Path(__file__).with_name("other_process.py")
        self.name = name
        self.process = subprocess.Popen([sys.executable, "-B", program, name], stdin=subprocess.PIPE,
                                        stdout=subprocess.PIPE, text=True)

    def ask(self, what, *positional, **named):
        self.process.stdin.write(json.dumps([what, positional, named]) + "\n")
        self.process.stdin.flush()
        return json.loads(self.process.stdout.readline())

    def end(self):
        self.process.communicate()


class There(Memory):
    """Memory of the other process, as it says."""

    def __init__(self, process, kind, *arguments, **how):
        super().__init__(*self.register(process, kind, *arguments, **how))
        self.process, self.segment = process, "DRAM" if kind == "Pageable" else "VRAM"

    def register(self, process, *arguments, **how):
        address, size, self.gpu = process.ask("register", *arguments, **how)
        self.index = process.count = getattr(process, "count", -1) + 1
        return address, size

    def put(self, data, at=0):
        assert at == 0
        self.process.ask("put", self.index, data.hex())

    def get(self, at=0, size=None):
        data = bytes.fromhex(self.process.ask("get", self.index))
        return data[at:][:size]


class TwoProcesses(unittest.TestCase):
    def setUp(self):
        machine.use_gpu(0)
        self.dice = random.Random(self.id())
        self.agent = Agent()
        self.other = Process(f"the other of {os.getpid()}, {self.id()}")
        self.addCleanup(self.other.end)

    def meet(self):
        self.agent.nixl.add_remote_agent(bytes.fromhex(self.other.ask("metadata")))
        self.other.ask("meet", self.agent.nixl.get_agent_metadata().hex())

    def memory(self, kind, *arguments):
        made = kind(SIZE, *arguments)
        self.addCleanup(made.free)
        self.agent.register(made)
        return made

    def test_gpu_memory_of_the_other_process(self):
        here = [self.memory(Pageable), self.memory(OnGpu, 0), self.memory(OnGpu, machine.last_gpu())]
        there = [There(self.other, "OnGpu", SIZE, 0), There(self.other, "OnGpu", SIZE, machine.last_gpu()),
                 There(self.other, "OnGpu", 4096, 0, part=(512, 2048))]  # shares its backing object with others
        self.meet()
        for mine in here:
            for theirs in there:
                first, end = (0, SIZE) if theirs.size == SIZE else (512, 2560)
                room = (end - first) // 16
                order = self.dice.sample(range(16), 16)
                pieces = [(i * room + 1, first + order[i] * room, self.dice.randrange(1, room)) for i in range(16)]
                for operation in ("WRITE", "READ"):
                    with self.subTest(here=type(mine), gpu=mine.gpu, there=theirs.gpu, operation=operation):
                        before, after = self.dice.randbytes(SIZE), self.dice.randbytes(theirs.size)
                        mine.put(before), theirs.put(after)
                        ours, others = bytearray(before), bytearray(after)
                        self.agent.transfer(operation, mine, theirs, pieces, to=self.other.name)
                        for a, b, n in pieces:
                            if operation == "WRITE":
                                others[b:b + n] = ours[a:a + n]
                            else:
                                ours[a:a + n] = others[b:b + n]
                        self.assertTrue(mine.get() == ours, "this side")
                        self.assertTrue(theirs.get() == others, "that side")

    def test_one_transfer_of_several_memories(self):
        here = [self.memory(Pageable), self.memory(OnGpu, 0)]
        there = [There(self.other, "OnGpu", SIZE, 0) for _ in range(3)]
        self.meet()
        for mine in here:
            data = [self.dice.randbytes(SIZE) for _ in there]
            for memory in there:
                memory.put(bytes(SIZE))
            mine.put(b"".join(each[:4096] for each in data) + bytes(SIZE - 3 * 4096))
            agent = self.agent.nixl
            handle = agent.initialize_xfer(
                "WRITE", agent.get_xfer_descs([mine.region(i * 4096, 4096) for i in range(3)], mine.segment),
                agent.get_xfer_descs([memory.region(512, 4096) for memory in there], "VRAM"), self.other.name)
            self.agent.finish(handle)
            handle.release()
            for memory, each in zip(there, data):
                self.assertTrue(bytes(512) + each[:4096] + bytes(SIZE - 4608) == memory.get())

    def test_notices(self):
        mine = self.memory(Pageable)
        theirs = There(self.other, "OnGpu", SIZE, 0)
        self.meet()
        mine.put(b"\x11" * SIZE)
        self.agent.transfer("WRITE", mine, theirs, [(0, 0, SIZE)], to=self.other.name, notice=b"written")
        self.assertEqual({self.agent.name: ["written"]}, self.other.ask("notices", 1))
        self.assertEqual(b"\x11" * SIZE, theirs.get())
        self.other.ask("notify", self.agent.name, "thanks")
        self.assertEqual({self.other.name: [b"thanks"]}, self.agent.wait_for_notices(1))

    @machine.on_simulated_gpus
    def test_what_was_opened_is_closed(self):
        mine = self.memory(Pageable)
        theirs = There(self.other, "OnGpu", SIZE, 0)
        self.meet()
        self.agent.transfer("WRITE", mine, mine, [(0, 4096, 4096)])  # starts the queue
        before = machine.live_objects()
        handle = self.agent.prepare("WRITE", mine, theirs, [(0, 0, 64)], to=self.other.name)
        opened = machine.live_objects()
        self.assertGreater(opened, before)
        self.agent.nixl.remove_remote_agent(self.other.name)
        self.assertEqual(opened, machine.live_objects())  # a transfer has it still
        handle.release()
        self.assertEqual(before, machine.live_objects())

    def test_what_is_out_of_reach(self):
        mine = self.memory(Pageable)
        there = [There(self.other, "Pageable", SIZE), There(self.other, "OfPool", SIZE)]
        on_gpu = There(self.other, "OnGpu", SIZE, 0)
        self.meet()  # the one does not keep the other from being known
        for theirs in there:
            with self.assertRaises(machine.bindings().nixlNotSupportedError):
                self.agent.prepare("WRITE", mine, theirs, [(0, 0, 64)], to=self.other.name)
        self.agent.transfer("WRITE", mine, on_gpu, [(0, 0, 64)], to=self.other.name)

    def test_metadata_that_names_other_memory(self):
        mine = self.memory(Pageable)
        theirs = There(self.other, "OnGpu", SIZE, 0)
        told = bytes.fromhex(self.other.ask("metadata"))
        process = told.index(machine.HAS_HANDLE) + len(machine.HAS_HANDLE)
        in_opened = process + 16 + 16 + 64  # behind the process, the GPU and the handle
        self.assertEqual(0, *struct.unpack_from("<Q", told, in_opened))
        size = told.index(struct.pack("<QQ", theirs.address, SIZE)) + 8
        for what, at, number in (("it ends a byte behind", in_opened, 1),
                                 ("it begins behind", in_opened, 64 * SIZE),
                                 ("it begins before", in_opened, 2**64 - SIZE),
                                 ("it is larger", size, SIZE + 1)):
            with self.subTest(what):
                forged = bytearray(told)
                struct.pack_into("<Q", forged, at, number)
                self.agent.nixl.add_remote_agent(bytes(forged))
                for _ in range(2):
                    with self.assertRaises(machine.bindings().nixlInvalidParamError):
                        self.agent.prepare("READ", mine, theirs, [(0, 0, 64)], to=self.other.name)
                self.agent.nixl.remove_remote_agent(self.other.name)
        self.agent.nixl.add_remote_agent(told)
        self.agent.transfer("READ", mine, theirs, [(0, 0, SIZE)], to=self.other.name)

    def test_the_other_process_ends(self):
        mine = self.memory(Pageable)
        theirs, never_opened = (There(self.other, "OnGpu", 4 * SIZE, 0) for _ in range(2))
        self.meet()
        self.agent.transfer("WRITE", mine, theirs, [(0, 0, 64)], to=self.other.name)  # opens it
        handle = self.agent.prepare("WRITE", mine, theirs, [(0, 0, 64)], to=self.other.name, notice=b"written")
        self.other.end()
        with self.assertRaises(machine.bindings().nixlBackendError):
            self.agent.prepare("WRITE", mine, never_opened, [(0, 0, 64)], to=self.other.name)
        with self.assertRaises(machine.bindings().nixlRemoteDisconnectError):
            self.agent.nixl.send_notif(self.other.name, b"anybody there?")
        with self.assertRaises(machine.bindings().nixlRemoteDisconnectError):
            self.agent.finish(handle, b"written")
        handle.release()


if __name__ == "__main__":
    machine.run_tests()
