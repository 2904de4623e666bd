# SPDX-License-Identifier: MIT
"""How a process answers the forked children that ask it for what they inherit."""

import os
import signal
import socket
import subprocess
import sys
import weakref

import barmap
import pytest
from concurrency import descriptors, expect_descriptors, expect_refused_because, in_child

pytestmark = [
    pytest.mark.simulated,  # its backend shares
    pytest.mark.filterwarnings("ignore:.*fork.*:DeprecationWarning"),  # of Python 3.12
]


@pytest.fixture
def array():
    with barmap.alloc((4, 8), "i4") as made:
        yield made


PROGRAM = """
import gc, os, threading, barmap
barmap.sim()
def fork():
    child = os.fork()
    if child == 0:
        os._exit(0)
    os.waitpid(child, 0)
def state():
    gc.collect()
    return [thread.name for thread in threading.enumerate()][1:], len(os.listdir("/proc/self/fd"))
array = barmap.alloc(8, "u1")
rings = [barmap.RingToGpu("i4", slots=2) for _ in range(3)]
"""


def test_nothing_is_started_without_live_objects():
    program = PROGRAM + """
array.close()
for ring in rings:
    ring.release()
arena = barmap.Arena(128, 128)  # which no child can open
before = state()
fork()
assert state() == before and before[0] == [], (before, state())
"""
    subprocess.run([sys.executable, "-c", program], timeout=60, check=True)


def test_a_child_inherits_one_descriptor_for_all_objects():
    program = PROGRAM + """
before = state()
child = os.fork()
if child == 0:
    assert state() == ([], before[1] + 1), (before, state())
    os._exit(0)
assert os.waitpid(child, 0)[1] == 0
for _ in range(3):
    fork()
assert state() == (["barmap-inherited"], before[1] + 2), (before, state())
"""
    subprocess.run([sys.executable, "-W", "ignore", "-c", program], timeout=60, check=True)


def test_the_thread_takes_no_signals():
    program = PROGRAM + """
import signal
child = os.fork()
if child == 0:
    array.read()  # the thread runs
    os._exit(0)
assert os.waitpid(child, 0)[1] == 0
[thread] = [each for each in threading.enumerate() if each.name == "barmap-inherited"]
with open(f"/proc/self/task/{thread.native_id}/status") as status:
    [blocked] = [int(line.split()[1], 16) for line in status if line.startswith("SigBlk")]
assert blocked >> (signal.SIGCHLD - 1) & blocked >> (signal.SIGUSR1 - 1) & 1, hex(blocked)
assert not blocked >> (signal.SIGSEGV - 1) & 1, hex(blocked)
"""
    subprocess.run([sys.executable, "-W", "ignore", "-c", program], timeout=60, check=True)


def test_no_thread_is_left_to_answer():
    program = PROGRAM + """
def refuse(self):
    raise RuntimeError("no threads are left")
threading.Thread.start = refuse
for _ in range(2):
    child = os.fork()
    if child == 0:
        try:
            array.read()
        except barmap.Error as refused:
            os._exit("thread left" not in refused.advice)
        os._exit(1)
    assert os.waitpid(child, 0)[1] == 0
"""
    subprocess.run([sys.executable, "-c", program], timeout=60, check=True)


def run(program):
    subprocess.run([sys.executable, "-W", "ignore", "-c", PROGRAM + program], timeout=60,
                   check=True)


READ_IN_CHILD = """
child = os.fork()
if child == 0:
    array.read()
    os._exit(0)
assert os.waitpid(child, 0)[1] == 0
"""


def test_a_default_timeout_of_sockets_ends_nothing():
    run("""
import socket, time
socket.setdefaulttimeout(0.01)
fork()
time.sleep(0.2)
""" + READ_IN_CHILD)


HOSTILE_CHILDREN = {
    "no number": "socket.send_fds(to, [b'x' * 4096], [near.fileno()])",
    "no socket": "socket.send_fds(to, [bytes(8)], [os.open('/dev/null', os.O_RDONLY)])",
    "nothing": "to.send(b'')",
    "no room for the answer": """
near.setblocking(False)
try:
    while True:
        near.send(bytes(4096))
except BlockingIOError:
    near.setblocking(True)
socket.send_fds(to, [bytes(8)], [near.fileno()])
os.write(writes, b"x")
os.read(lives, 1)  # and does not read from the other one
""",
    "no connection": "to.shutdown(socket.SHUT_RDWR)",
}


@pytest.mark.parametrize("does", HOSTILE_CHILDREN)
def test_a_hostile_child_keeps_no_other_from_an_answer(does):
    run(f"""
import signal, socket
is_asked, writes = os.pipe()
lives, ended = os.pipe()
signal.alarm(50)
hostile = os.fork()
if hostile == 0:
    os.close(ended)
    [to] = [each._far for each in barmap._sharing.inherited._questions.values()]
    near, far = socket.socketpair()
    exec({HOSTILE_CHILDREN[does]!r})
    os.write(writes, b"x")
    os._exit(0)
os.read(is_asked, 1)
if {does in ("nothing", "no connection")}:
    for each in threading.enumerate():
        if each.name == "barmap-inherited":
            each.join()
{READ_IN_CHILD}
os.close(ended)
os.waitpid(hostile, 0)
assert [each.name for each in threading.enumerate()][1:] == ["barmap-inherited"]
""")


def test_what_the_program_opens_in_place_of_the_sockets_is_left_alone():
    run("""
fork()
os.closerange(3, 1 << 10)
files = [os.open("/dev/null", os.O_RDONLY) for _ in range(64)]
child = os.fork()
if child == 0:
    for each in files:
        os.fstat(each)
    os._exit(0)
assert os.waitpid(child, 0)[1] == 0
""")


def test_a_signal_handler_opens_what_is_being_opened(array):
    def child():
        ask, views = barmap._sharing.inherited._Questions.ask, []

        def ask_when_a_signal_came(self, number):
            barmap._sharing.inherited._Questions.ask = ask
            views.append(memoryview(array))
            return ask(self, number)

        barmap._sharing.inherited._Questions.ask = ask_when_a_signal_came
        array.write(b"x")
        assert bytes(views[0].cast("B")[:1]) == b"x"

    assert in_child(child) == 0


def test_answers_leave_nothing(array):
    mappings = [barmap.map(array.gpu_address, 64) for _ in range(3)]

    def child():
        array.read()
        before = descriptors()
        for each in mappings:
            each.read()
            each.close()
        assert descriptors() <= before  # without those that were inherited

    assert in_child(child) == 0
    before = descriptors()
    assert in_child(child) == 0
    expect_descriptors(before)
    gone = weakref.ref(mappings[0])
    mappings.clear()
    assert gone() is None


def test_what_is_being_freed_is_refused():
    run("""
import socket
near, far = socket.socketpair()
class Owner:
    __cuda_array_interface__ = array.__cuda_array_interface__
    def __del__(self):  # the last reference of the mapping has gone
        near.send(b"ask")
        assert near.recv(16) == b"has released it"
mapping = barmap.map(Owner())
child = os.fork()
if child == 0:
    far.recv(16)
    try:
        mapping.read()
    except barmap.Error as refused:
        far.send(b"has released it" if "has released it" in refused.advice else b"?")
    os._exit(0)
del mapping, far
assert os.waitpid(child, 0)[1] == 0
gc.collect()
fork()
""")


def test_the_parent_has_ended():
    program = """
import os, signal, barmap
signal.signal(signal.SIGPIPE, signal.SIG_DFL)
barmap.sim()
array = barmap.alloc(8, "u1")
parent_runs, parent = os.pipe()
if os.fork() == 0:
    os.close(parent)
    os.read(parent_runs, 1)
    try:
        array.read()
    except barmap.Error as refused:
        print(refused.code, refused.advice)
"""
    done = subprocess.run([sys.executable, "-W", "ignore", "-c", program], capture_output=True,
                          text=True, timeout=60, check=False)
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.startswith("11 the process that made it has ended")


def test_programs_that_are_started_do_not_get_what_was_sent():
    near, far = socket.socketpair()
    with near, far:
        socket.send_fds(near, [b" "], [near.fileno()])
        data, descriptor = barmap._sharing.inherited._receive(far)
    assert data == b" " and not os.get_inheritable(descriptor)
    os.close(descriptor)


def test_a_child_that_python_has_not_forked():
    program = PROGRAM + """
import ctypes
child = ctypes.PyDLL(None).fork()
if child == 0:
    try:
        array.read()
    except barmap.Error as refused:
        print(refused.code, refused.advice, flush=True)
    os._exit(0)
os.waitpid(child, 0)
"""
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True,
                          timeout=60, check=True)
    assert "did not fork the child by os.fork()" in done.stdout and done.stdout.startswith("11 ")


def test_a_child_that_has_closed_its_descriptors(array):
    def child():
        signal.alarm(60)
        os.closerange(3, 1 << 10)
        expect_refused_because("Bad file descriptor", array.read)
        pairs = [socket.socketpair() for _ in range(64)]
        expect_refused_because("Bad file descriptor", array.read)
        for pair in pairs:
            for each in pair:
                each.setblocking(False)
                with pytest.raises(BlockingIOError):
                    each.recv(1)

    assert in_child(child) == 0
