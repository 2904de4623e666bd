# SPDX-License-Identifier: MIT
"""What barmap's back-end refuses, how NIXL reports it, and that the agent works afterwards.

Usage: refusal_test.py [unittest's arguments]; NIXL_PLUGIN_DIR is where the plug-in lies.
"""

import ctypes
import os
import re
import socket
import subprocess
import sys
import unittest

import machine
from machine import Agent, Managed, Memory, OnGpu, Pageable, Pinned

SIZE = 1 << 20
PAGE = os.sysconf("SC_PAGE_SIZE")


class As(Memory):
    """Memory under another description."""

    def __init__(self, of, segment=None, at=0, size=None):
        super().__init__(of.address + at, of.size - at if size is None else size)
        self.segment, self.gpu, self.of = segment or of.segment, of.gpu, of


class Refusal(unittest.TestCase):
    def setUp(self):
        machine.use_gpu(0)
        self.agent = Agent()
        self.errors = machine.bindings()

    def memory(self, kind, *arguments, known=True):
        made = kind(SIZE, *arguments)
        self.addCleanup(made.free)
        if known:
            self.agent.register(made)
        return made

    def expect_work(self, agent=None):
        agent = agent or self.agent
        here, there = self.memory(Pageable, known=False), self.memory(OnGpu, known=False)
        agent.register(here), agent.register(there)
        here.put(b"\x5a" * SIZE)
        agent.transfer("WRITE", here, there, [(0, 0, SIZE)])
        self.assertTrue(b"\x5a" * SIZE == there.get())

    def test_memory_that_no_batch_takes(self):
        pinned = self.memory(Pinned, known=False)
        on_gpu = self.memory(OnGpu, known=False)
        managed = self.memory(Managed, known=False)
        pageable = self.memory(Pageable, known=False)
        for what, memory in {
            "managed as VRAM": As(managed, "VRAM"),
            "managed as DRAM": As(managed, "DRAM"),
            "pinned as VRAM": As(pinned, "VRAM"),
            "pageable as VRAM": As(pageable, "VRAM"),
            "GPU memory as DRAM": As(on_gpu, "DRAM"),
            "beyond the allocation": As(on_gpu, size=2 * SIZE),
            "no bytes of host memory": As(pageable, size=0),
            "no bytes of GPU memory": As(on_gpu, size=0),
            "a null address": As(Memory(0, 4096)),
            "addresses that wrap around": As(Memory(2**64 - 8192, 16384)),
        }.items():
            with self.subTest(what), self.assertRaises(self.errors.nixlBackendError):
                self.agent.register(memory)
        self.expect_work()

    def test_gpu_memory_under_another_number(self):
        on_gpu = self.memory(OnGpu, known=False)
        for gpu in (1, 7):
            wrong = As(on_gpu)
            wrong.gpu = gpu
            with self.subTest(gpu), self.assertRaises(self.errors.nixlBackendError):
                self.agent.register(wrong)
        self.expect_work()

    @machine.on_simulated_gpus
    def test_no_context_appears_on_another_gpu(self):
        """Neither with the back-end nor with host memory: the current GPU pins it."""
        program = (
            "import ctypes, machine\n"
            "machine.call('cuInit', 0)\n"
            "machine.use_gpu(1)\n"
            "agent = machine.Agent()\n"
            "agent.register(machine.Pageable(1 << 20))\n"
            "flags, active = ctypes.c_uint(), ctypes.c_int()\n"
            "machine.call('cuDevicePrimaryCtxGetState', 0, ctypes.byref(flags), ctypes.byref(active))\n"
            "assert not active.value, 'GPU 0 has a context'\n")
        ended = subprocess.run([sys.executable, "-B", "-c", program], capture_output=True, text=True, check=False,
                               cwd=os.path.dirname(os.path.abspath(machine.__file__)))
        self.assertEqual((0, ""), (ended.returncode, ended.stderr if ended.returncode else ""))

    def test_segments_that_it_does_not_take(self):
        with self.assertRaises(self.errors.nixlNotFoundError):
            self.agent.nixl.register_memory([(0, 4096, 0, "")], "FILE")

    def test_host_memory_of_which_the_program_has_pinned_a_part(self):
        pages = self.memory(Pageable, known=False)
        before = machine.live_objects()
        for first, last in ((0, 1), (4, 5), (7, 8)):
            with self.subTest(first=first):
                part = ctypes.c_void_p(pages.address + first * PAGE)
                machine.call("cuMemHostRegister_v2", part, ctypes.c_size_t((last - first) * PAGE), 0)
                with self.assertRaises(self.errors.nixlBackendError):
                    self.agent.register(pages, 0, 8 * PAGE)
                self.agent.nixl.deregister_memory(self.agent.register(pages, first * PAGE, PAGE))
                machine.call("cuMemHostUnregister", part)
                self.assertEqual(before, machine.live_objects())
        self.agent.register(pages)

    def test_what_a_refused_range_shares_is_let_go(self):
        pages = self.memory(Pageable, known=False)
        before = machine.live_objects()
        known = self.agent.register(pages, 0, 2 * PAGE)
        part = ctypes.c_void_p(pages.address + 4 * PAGE)
        machine.call("cuMemHostRegister_v2", part, ctypes.c_size_t(PAGE), 0)
        with self.assertRaises(self.errors.nixlBackendError):
            self.agent.register(pages, 0, 8 * PAGE)
        machine.call("cuMemHostUnregister", part)
        self.agent.nixl.deregister_memory(known)
        self.assertEqual(before, machine.live_objects())
        self.agent.register(pages, 0, 8 * PAGE)

    def test_a_part_of_a_list_is_refused_as_a_whole(self):
        pages, managed = self.memory(Pageable, known=False), self.memory(Managed, known=False)
        before = machine.live_objects()
        with self.assertRaises(self.errors.nixlBackendError):
            self.agent.nixl.register_memory([(*pages.region(), ""), (*As(managed, "DRAM").region(), "")], "DRAM")
        self.assertEqual(before, machine.live_objects())

    def test_parameters(self):
        for gpu in (str(machine.last_gpu() + 1), "-1", "one", "0x0", ""):
            with self.subTest(gpu), self.assertRaises(self.errors.nixlBackendError):
                Agent(gpu=gpu)
        agent = Agent(gpu=str(machine.last_gpu()), what_it_does_not_know="is left alone")
        self.expect_work(agent)

    def expect_failure(self, program, what, said, **variables):
        """Of a program of its own. @param what NIXL raises, and what the back-end says"""
        ended = subprocess.run([sys.executable, "-B", "-c", "import machine; " + program],
                               cwd=os.path.dirname(os.path.abspath(machine.__file__)),
                               env={**os.environ, **variables}, capture_output=True, text=True, check=False)
        self.assertNotEqual(0, ended.returncode)
        self.assertIn(what, ended.stderr)
        self.assertRegex(ended.stderr, "barmap: NIXL back-end: .*" + said)

    @machine.on_simulated_gpus
    def test_a_machine_without_a_gpu(self):
        self.expect_failure("machine.Agent()", "nixlBackendError", "GPU", BARMAP_SIM_DEVICES="0")

    @machine.on_simulated_gpus
    def test_what_is_to_be_done_is_said(self):
        for segment, made, said in (("DRAM", "OnGpu(4096)", "register the former as VRAM_SEG"),
                                    ("VRAM", "Pinned(4096)", "register the latter as DRAM_SEG"),
                                    ("VRAM", "Pageable(4096)", "CUDA knows no GPU memory there")):
            self.expect_failure("machine.call('cuInit', 0); machine.use_gpu(0); "
                                f"memory = machine.{made}; memory.segment = '{segment}'; "
                                "machine.Agent().register(memory)", "nixlBackendError", said)

    @machine.on_simulated_gpus
    def test_gpus_without_access_to_each_other(self):
        self.expect_failure("machine.call('cuInit', 0); agent = machine.Agent(); "
                            "a, b = machine.OnGpu(64, 0), machine.OnGpu(64, 1); "
                            "agent.register(a), agent.register(b); agent.prepare('WRITE', a, b, [(0, 0, 64)])",
                            "nixlNotSupportedError", "GPU 0 reach memory of GPU 1",
                            BARMAP_SIM_FAIL="cuCtxEnablePeerAccess:217", BARMAP_SIM_DEVICES="2")

    def test_memory_that_is_not_registered_any_more(self):
        for here_is, there_is in ((Pageable, OnGpu), (OnGpu, Pageable), (OnGpu, OnGpu)):
            other, here, there = Agent(), self.memory(here_is, known=False), self.memory(there_is)
            known = other.register(here)
            self.agent.meet(other)
            handle = self.agent.prepare("READ", there, here, [(0, 0, SIZE)], to=other.name)
            self.agent.finish(handle)
            other.nixl.deregister_memory(known)
            with self.assertRaises(self.errors.nixlInvalidParamError):
                self.agent.nixl.transfer(handle)
            with self.assertRaises(self.errors.nixlInvalidParamError):
                self.agent.prepare("READ", there, here, [(0, 0, SIZE)], to=other.name)
            other.register(here)
            self.agent.transfer("READ", there, here, [(0, 0, SIZE)], to=other.name)
            with self.assertRaises(self.errors.nixlInvalidParamError):
                self.agent.nixl.transfer(handle)  # what is there now may be other memory
            handle.release()
        self.expect_work()

    def test_an_agent_that_has_ended(self):
        other, here, there = Agent(), self.memory(Pageable), self.memory(OnGpu, known=False)
        name = other.name
        other.register(there)
        self.agent.nixl.add_remote_agent(other.nixl.get_agent_metadata())
        handle = self.agent.prepare("WRITE", here, there, [(0, 0, SIZE)], to=name)
        del other
        with self.assertRaises(self.errors.nixlRemoteDisconnectError):
            self.agent.nixl.transfer(handle)
        handle.release()
        self.agent.nixl.remove_remote_agent(name)  # NIXL 1.5.1 does not do it by itself
        other = Agent(name)
        other.register(there)
        self.agent.nixl.add_remote_agent(other.nixl.get_agent_metadata())
        self.agent.transfer("WRITE", here, there, [(0, 0, SIZE)], to=name)

    @machine.on_simulated_gpus
    def test_deregistered_memory_is_not_pinned(self):
        here, there = self.memory(Pageable, known=False), self.memory(OnGpu)
        known = self.agent.register(here)
        handle = self.agent.prepare("WRITE", here, there, [(0, 0, SIZE)])
        started = machine.live_objects()
        self.agent.nixl.deregister_memory(known)
        self.assertLess(machine.live_objects(), started)
        handle.release()

    @machine.on_simulated_gpus  # a real driver keeps small memory mapped for a while
    def test_memory_that_is_freed_before_it_is_copied(self):
        here, there = self.memory(Pageable), OnGpu(SIZE)
        self.agent.register(there)
        handle = self.agent.prepare("WRITE", here, there, [(0, 0, SIZE)])
        there.free()
        # The engine `driver` looks before it copies, the channel meets it under way.
        with self.assertRaises((self.errors.nixlNotSupportedError, self.errors.nixlBackendError)):
            self.agent.finish(handle)
        handle.release()
        self.expect_work()

    @machine.on_simulated_gpus
    def test_a_batch_that_fails_under_way(self):
        here, there = self.memory(Pageable), self.memory(OnGpu)
        self.agent.transfer("WRITE", here, there, [(0, 0, 64)])
        for times in range(1, 4):
            with self.subTest(times):
                handle = self.agent.prepare("WRITE", here, there, [(i, i, 64) for i in range(0, SIZE, 128)])
                self.assertEqual("PROC", self.agent.nixl.transfer(handle))
                machine.DRIVER.barmap_sim_fail(1, 700)
                try:
                    with self.assertRaises(self.errors.nixlBackendError):
                        while self.agent.nixl.check_xfer_state(handle) == "PROC":
                            pass
                finally:
                    machine.DRIVER.barmap_sim_fail(0, 0)
                handle.release()
                self.expect_work()

    def test_memory_that_another_agent_claims(self):
        other, here = Agent(), self.memory(Pageable)
        for owner in (self.agent, other):
            for kind in (Pageable, OnGpu):
                with self.subTest(owner=owner.name, kind=kind):
                    memory = self.memory(kind, known=False)
                    owner.register(memory)
                    memory.put(b"\x11" * SIZE)
                    told, name = owner.nixl.get_agent_metadata(), owner.name.encode()
                    thief = self.agent.nixl.add_remote_agent(told.replace(name, b"thief" + name[5:])).decode()
                    for operation in ("READ", "WRITE"):
                        with self.assertRaises(self.errors.nixlInvalidParamError):
                            self.agent.prepare(operation, here, memory, [(0, 0, SIZE)], to=thief)
                    self.agent.nixl.remove_remote_agent(thief)
        process = told.index(machine.HAS_HANDLE) + len(machine.HAS_HANDLE)  # this one: as if it were another
        self.agent.nixl.add_remote_agent(told[:process] + bytes(16) + told[process + 16:])
        with self.assertRaises(self.errors.nixlBackendError):  # CUDA opens no handle in the process that made it
            self.agent.prepare("READ", here, memory, [(0, 0, SIZE)], to=other.name)
        self.agent.nixl.remove_remote_agent(other.name)
        self.agent.meet(other)
        self.agent.transfer("WRITE", here, memory, [(0, 0, SIZE)], to=other.name)
        self.assertTrue(here.get() == memory.get())

    def metadata_with(self, agent, change):
        """Of another agent, with the words of its connection information changed."""
        told = agent.nixl.get_agent_metadata()
        found = re.search(rb"([0-9a-f-]{36}) (barmap-nixl-[0-9a-f]{32}) ([0-9a-f]{32})", told)
        words = change(*found.groups())
        self.assertEqual(len(found[0]), len(words))
        return told[:found.start()] + words + told[found.end():]

    def test_an_agent_of_another_machine(self):
        other, here = Agent(), self.memory(Pageable)
        there = self.memory(OnGpu, known=False)
        other.register(there)
        elsewhere = self.metadata_with(other, lambda start, *rest: b" ".join((start[::-1], *rest)))
        with self.assertRaises(self.errors.nixlBackendError):  # no back-end in common
            self.agent.nixl.add_remote_agent(elsewhere)
        for what in (lambda: self.agent.prepare("WRITE", here, there, [(0, 0, 64)], to=other.name),
                     lambda: self.agent.nixl.send_notif(other.name, b"hello"),
                     lambda: self.agent.nixl.make_connection(other.name)):
            with self.assertRaises(Exception) as caught:
                what()
            self.assertIn(type(caught.exception), (self.errors.nixlNotFoundError, self.errors.nixlBackendError))
        known = [(*there.region(), "")]
        self.agent.nixl.add_remote_agent(other.nixl.get_partial_agent_metadata(
            other.nixl.get_reg_descs(known, "VRAM"), inc_conn_info=False))
        with self.assertRaises(self.errors.nixlNotSupportedError):  # as if other back-ends knew it
            self.agent.prepare("WRITE", here, there, [(0, 0, 64)], to=other.name)
        self.expect_work()

    def test_another_agent_of_the_same_name(self):
        first = Agent()
        self.agent.nixl.add_remote_agent(first.nixl.get_agent_metadata())
        self.agent.nixl.add_remote_agent(first.nixl.get_agent_metadata())
        second = Agent(first.name)
        with self.assertRaises(self.errors.nixlNotAllowedError):
            self.agent.nixl.add_remote_agent(second.nixl.get_agent_metadata())
        self.agent.nixl.remove_remote_agent(first.name)
        self.agent.nixl.add_remote_agent(second.nixl.get_agent_metadata())
        self.agent.nixl.send_notif(first.name, b"to the second")
        self.assertEqual({self.agent.name: [b"to the second"]}, second.wait_for_notices(1))
        self.assertEqual({}, first.nixl.get_new_notifs())

    def test_metadata_that_is_not_understood(self):
        other, memory = Agent(), self.memory(OnGpu, known=False)
        other.register(memory)
        told = other.nixl.get_agent_metadata()
        version = told.index(machine.HAS_HANDLE)
        with self.assertRaises(self.errors.nixlMismatchError):
            self.agent.nixl.add_remote_agent(told[:version] + b"\2" + told[version + 1:])
        with self.assertRaises(self.errors.nixlMismatchError):
            self.agent.nixl.add_remote_agent(self.metadata_with(
                other, lambda start, name, key: start + name + key + b"  "))

    def test_notices_that_are_too_long(self):
        other = Agent()
        self.agent.meet(other)
        with self.assertRaises(self.errors.nixlBackendError):
            self.agent.nixl.send_notif(other.name, bytes(8 << 20))
        self.agent.nixl.send_notif(other.name, b"short")
        self.assertEqual({self.agent.name: [b"short"]}, other.wait_for_notices(1))

    def test_strangers_are_not_heard(self):
        told = re.search(rb"(barmap-nixl-[0-9a-f]{32}) ([0-9a-f]{32})", self.agent.nixl.get_agent_metadata())
        name, key = told.groups()
        with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as stranger:
            for text in (b"", b"hello", bytes(1000), key, key[:-1], key + b"\xff\xff\xff\xff" + b"name",
                         b"0" * 32 + b"\4\0\0\0name and text"):
                stranger.sendto(text, b"\0" + name)
            stranger.sendto(key + b"\4\0\0\0name and text", b"\0" + name)
        self.assertEqual({"name": [b" and text"]}, self.agent.wait_for_notices(1))


if __name__ == "__main__":
    machine.run_tests()
