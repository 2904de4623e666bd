# SPDX-License-Identifier: MIT
"""Opens what a forked child has inherited, by descriptors that the process that made it sends.

It sends one when the child first uses an object. A descriptor keeps GPU memory, so a fork hands
none to children that never ask.
"""

from __future__ import annotations

import array
import errno
import os
import signal
import socket
import threading
from typing import Dict, Optional, Tuple

from .. import _barmap

_UNASKED = (
    "its process cannot be asked for it, since it had no descriptor left at the fork, or did not "
    "fork the child by os.fork() or multiprocessing: start the child with spawn, or share() the "
    "object before the fork and open the descriptor in the child"
)
_ENDED = (
    "the process that made it has ended, or has no descriptor or thread left to answer: use it in "
    "the child before that, or share() it before the fork and open the descriptor in the child"
)
_RELEASED = (
    "the process that made it has released it or dropped its last reference: keep it there until "
    "the child has used it once"
)

_FAULTS = {signal.SIGBUS, signal.SIGFPE, signal.SIGILL, signal.SIGSEGV}
_MOST_TEXT = 4096


def _connected() -> Tuple[socket.socket, socket.socket]:
    both = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
    for each in both:
        each.settimeout(None)  # whatever socket.setdefaulttimeout() was given
    return both


def _receive(where: socket.socket) -> Tuple[bytes, Optional[int]]:
    """The received bytes, and the descriptor, if there is one. It is not inheritable."""
    # Not by socket.recv_fds, which ignores flags before Python 3.12.
    received = array.array("i")
    room = socket.CMSG_LEN(received.itemsize)
    data, rights, _, _ = where.recvmsg(_MOST_TEXT, room, socket.MSG_CMSG_CLOEXEC)
    for _, _, each in rights:
        received.frombytes(each[: received.itemsize])
    return data, received[0] if received else None


class _Questions:
    """Two connected sockets of a process. Its forked children inherit one, to ask by.

    A question is the number of an object, with a socket for the answer. An answer is a descriptor,
    or a text that says why there is none.
    """

    def __init__(self) -> None:
        self._near, self._far = _connected()
        self._made = {each: os.fstat(each.fileno()) for each in (self._near, self._far)}
        self.are_answered = False

    def _is_open(self, end: socket.socket) -> bool:
        """Not if the program has closed it, and perhaps opened another file by its number."""
        try:
            return os.path.samestat(os.fstat(end.fileno()), self._made[end])
        except OSError:
            return False

    def _close(self, end: socket.socket) -> None:
        if self._is_open(end):
            end.close()
        else:
            end.detach()

    def close(self) -> None:
        self.close_near()
        self._close(self._far)

    def close_near(self) -> None:
        """Makes a child, which calls this, and its siblings notice the end of their parent."""
        self._close(self._near)

    def answer(self) -> None:
        """The work of a thread of the process, until the process ends, or a child ends it: the next
        fork begins again.
        """
        signal.pthread_sigmask(signal.SIG_BLOCK, signal.valid_signals() - _FAULTS)
        try:
            while self._is_open(self._near):
                question, back = _receive(self._near)
                if back is not None:
                    _answer(int.from_bytes(question, "little"), back)
                elif not question:  # a child has shut the sockets down
                    return
        finally:
            _questions.pop(_barmap.this_process(), None)
            self.close()

    def ask(self, number: int) -> Tuple[Optional[int], str]:
        """A descriptor of the object, or None and why there is none."""
        if not self._is_open(self._far):
            raise OSError(errno.EBADF, os.strerror(errno.EBADF))
        near, far = _connected()
        with near:
            with far:
                socket.send_fds(self._far, [number.to_bytes(8, "little")], [far.fileno()])
            text, descriptor = _receive(near)
        return descriptor, text.decode(errors="replace").strip() or _ENDED


def _answer(number: int, back: int) -> None:
    try:
        to = socket.socket(fileno=back)
    except OSError:  # a child may send any descriptor
        os.close(back)
        return
    with to:
        descriptor, text = None, _RELEASED
        try:
            thing = _barmap.find_inheritable(number)
            if thing is not None:
                descriptor = thing._share()
        except Exception as refusal:
            text = f"the process that made it cannot share it: {refusal}"
        try:
            to.setblocking(False)  # a child that does not read keeps no other waiting
            if descriptor is None:
                to.send(text.encode()[:_MOST_TEXT])
            else:
                socket.send_fds(to, [b" "], [descriptor])
        except OSError:  # the child has ended meanwhile
            pass
        finally:
            if descriptor is not None:
                os.close(descriptor)


_questions: Dict[int, _Questions] = {}  # by the process that answers them
_opening = threading.RLock()  # one at a time, since a ring that is opened twice has two producers


def open_in_child(thing: _barmap.Inheritable) -> Optional[str]:
    """Makes an inherited object the child's own. The extension calls it when the child uses one.

    Returns why it cannot, if so.
    """
    with _opening:
        if not thing._is_inherited:  # another thread was faster
            return None
        questions = _questions.get(thing._maker)
        if questions is None:
            return _UNASKED
        try:
            descriptor, why_not = questions.ask(thing._number)
        except ConnectionError:
            return _ENDED
        except OSError as failure:
            return f"its process cannot be asked for it: {failure.strerror}"
        if descriptor is None:
            return why_not
        try:
            if thing._is_inherited:  # a signal handler of this thread was faster
                thing._open_in_child(descriptor)
        finally:
            os.close(descriptor)
        return None


def _before_fork() -> None:
    me = _barmap.this_process()
    if me in _questions or not _barmap.has_inheritables():
        return
    try:
        made = _Questions()
    except OSError:  # no descriptors are left: the child is refused
        return
    if _questions.setdefault(me, made) is not made:  # another thread forks as well
        made.close()


def _after_fork_in_parent() -> None:
    me = _barmap.this_process()
    questions = _questions.get(me)
    if questions is None or questions.are_answered:
        return
    questions.are_answered = True
    try:
        threading.Thread(target=questions.answer, name="barmap-inherited", daemon=True).start()
    except RuntimeError:  # no threads are left, or the interpreter ends
        del _questions[me]
        questions.close()


def _after_fork_in_child() -> None:
    global _opening
    _opening = threading.RLock()  # a thread of the parent may have held it
    for each in _questions.values():
        each.close_near()


def watch_forks() -> None:
    os.register_at_fork(
        before=_before_fork,
        after_in_parent=_after_fork_in_parent,
        after_in_child=_after_fork_in_child,
    )
