# SPDX-License-Identifier: MIT
"""Threads and forked children, as tests start them, and the process's open descriptors."""

import faulthandler
import gc
import multiprocessing
import os
import resource
import threading
import time
import warnings

import barmap
import pytest

FORK = multiprocessing.get_context("fork")


def run_threads(*functions):
    """Runs each in a thread of its own, and raises what the first that failed has raised."""
    failures = []

    def guarded(function):
        try:
            function()
        except BaseException as failure:  # noqa: BLE001: handed to the test's thread
            failures.append(failure)

    threads = [threading.Thread(target=guarded, args=(function,)) for function in functions]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(60)
        assert not thread.is_alive()
    if failures:
        raise failures[0]


def in_child(function):
    """Runs a function in a forked child. Returns the exit status, or minus the signal."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # Python 3.12 warns of fork with threads
        child = os.fork()
    if child == 0:
        status = 1
        faulthandler.disable()  # a SIGSEGV may be what is expected
        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
        try:
            function()
            status = 0
        except BaseException as failure:  # noqa: BLE001
            os.write(2, f"in the child: {failure!r}\n".encode())
        finally:
            os._exit(status)
    return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])


def descriptors():
    """How many descriptors this process has open."""
    gc.collect()
    return len(os.listdir("/proc/self/fd"))


def expect_descriptors(at_most):
    """Expects that no more descriptors are open, soon: threads that serve other processes close theirs
    only after those have received what they asked for.

    Where such a thread is late before a test, `at_most` is higher than what stays open.
    """
    end = time.monotonic() + 60
    while (now := descriptors()) > at_most:
        assert time.monotonic() < end, f"{now} descriptors are open, and {at_most} were"
        time.sleep(0.01)


def expect_refused(*calls):
    """Expects that each call refuses a forked child and says what to do instead."""
    for call in calls:
        with pytest.raises(barmap.Error, match="parent") as refused:
            call()
        assert refused.value.code == 11  # barmap::errc::forked_child
        assert "spawn" in refused.value.advice or "forked child" in refused.value.advice


def expect_refused_because(reason, *calls):
    """Expects that each call refuses a forked child for that reason, a regular expression."""
    for call in calls:
        with pytest.raises(barmap.Error, match=reason) as refused:
            call()
        assert refused.value.code == 11  # barmap::errc::forked_child


class Child:
    """A forked process that runs a function with its end of a pipe."""

    def __init__(self, function):
        self.end, other = FORK.Pipe()
        self.process = FORK.Process(target=function, args=(other,))
        self.process.start()

    def hear(self):
        assert self.end.poll(60)
        return self.end.recv()

    def expect_success(self):
        self.process.join(60)
        assert self.process.exitcode == 0
