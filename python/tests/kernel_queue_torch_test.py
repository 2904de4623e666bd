# SPDX-License-Identifier: MIT
"""barmap.torch's copies by kernel queues: against a stand-in of PyTorch, and compiled by PyTorch, if it is there."""

import importlib.util
import subprocess
import sys

import barmap
import pytest
from barmap import _barmap
from kernel_queue_test import StandIn
from torch_stand_in import GpuTensor
from torch_steps_test import of_torch, stream  # noqa: F401: fixtures
from which_gpu import REAL_GPU


def test_the_current_stream_submits(of_torch, stream, monkeypatch):  # noqa: F811
    monkeypatch.setattr(_barmap, "KernelQueue", StandIn)
    pieces = GpuTensor(barmap.alloc((4, 3), "i8"), "torch.int64")
    count = GpuTensor(barmap.alloc((), "i8"), "torch.int64")
    with barmap.KernelQueue() as queue:
        of_torch.submit_pieces(queue, pieces, count)
        of_torch.submit_pieces(queue, pieces, seconds=1)
        first, second = queue._held.calls
    assert stream.cuda_stream != 0
    assert first == (pieces.memory.gpu_address, count.memory.gpu_address, 4, 10_000_000_000, stream.cuda_stream)
    assert second[2:] == (4, 1_000_000_000, stream.cuda_stream)
    with pytest.raises(ValueError, match="^this KernelQueue is closed$"):
        of_torch.submit_pieces(queue, pieces)


# A queue that copies when it is told to, which no stream has to come to. What the pieces write is
# changed before and read behind, in the same function.
COMPILED = """
import barmap
barmap.sim()
import barmap.torch
import torch

class Queue:
    calls = 0
    def submit(self, pieces, count=None, *, seconds):
        assert seconds == 3 and into.tolist() == [before + 1, before + 1], into
        into.add_(pieces.sum() if count is None else count)
        self.calls += 1

queue, into = Queue(), torch.zeros(2, dtype=torch.int64)
table = torch.arange(12).reshape(4, 3)

def step(which, count=None):
    into.add_(1)
    barmap.torch.submit_pieces(queue, table[which], count, seconds=3)
    return into * 2

for backend in ("eager", "aot_eager"):
    torch.compiler.reset()
    compiled = torch.compile(step, backend=backend)
    for which, count, copied in (([1, 2], None, 33), ([3], None, 30), ([3], torch.tensor(5), 5)):
        before = into[0].item()
        found = compiled(torch.tensor(which), count)
        assert into.tolist() == [before + 1 + copied] * 2, (backend, into)
        assert found.tolist() == [2 * (before + 1 + copied)] * 2, (backend, found)
    torch.compiler.reset()
    try:
        torch.compile(step, backend=backend, fullgraph=True)(torch.tensor([1]))
    except Exception as refused:
        assert "fullgraph" in str(refused) or "torch.compiler.disable" in str(refused), refused
    else:
        raise AssertionError("it is a part of the graph")
assert queue.calls == 6
"""


# What the program has on a GPU, and without one: a queue that copies, as a GPU would, what the rows say.
ON_A_GPU = """
import barmap
import barmap.torch
import torch
from barmap._batches import kernel_queues

class Queue(barmap.KernelQueue):
    calls = 0
    def submit(self, *arguments, **named):
        super().submit(*arguments, **named)
        self.calls += 1

torch.set_default_device("cuda")
torch.zeros(1)  # starts CUDA
queue = Queue()
"""
ON_THE_CPU = """
import ctypes
import barmap
barmap.sim()
import barmap.torch
import torch
from barmap._batches import kernel_queues

class Queue:
    _number = 12345
    calls = 0
    def submit(self, rows, count=None, *, seconds):
        assert seconds == 3 and rows.shape[1] == 3
        for to, source, size in rows[: None if count is None else int(count)].tolist():
            ctypes.memmove(to, source, size)
        self.calls += 1

queue = Queue()
kernel_queues.numbered[queue._number] = queue
"""
# Compiled code works with copies of tensors where it likes to: all that follows must see the bytes, whichever tensor they
# went to.
OPERATOR = """
import importlib.util

pool = torch.arange(64, dtype=torch.int64)
table = torch.tensor([[0, 8 * 40, 16], [16, 0, 8], [24, 8 * 63, 8], [0, 8 * 8, 32]])
inside = torch.tensor([[0, 32, 16]])  # made in compiled code, it would be on the CPU whatever the default device (2.11)

def is_copied_and_used(cache, which, count):
    cache = cache + 1  # a tensor of the graph's own
    before = cache.sum()
    barmap.torch.copy_pieces(queue, cache, pool, table[which], count, seconds=3)
    return cache * 2, before

def is_only_copied(cache, which, count):
    barmap.torch.copy_pieces(queue, cache, pool, table[which], count, seconds=3)

def goes_to_a_part(cache, which, count):
    barmap.torch.copy_pieces(queue, cache[2:], pool, table[which], count, seconds=3)
    return cache.sum()

def stays_in_one_tensor(cache, which, count):
    cache[4:] += pool[:4]
    barmap.torch.copy_pieces(queue, cache, cache, inside, seconds=3)
    return cache + 0

def twice(cache, which, count):
    barmap.torch.copy_pieces(queue, cache, pool, table[which], count, seconds=3)
    seen = cache * 2
    barmap.torch.copy_pieces(queue, cache, pool, table[:1], seconds=3)
    return seen, cache + seen

def parts(found):
    return [] if found is None else list(found) if isinstance(found, tuple) else [found]

backends = ["eager", "aot_eager"]
if pool.device.type == "cpu" or importlib.util.find_spec("triton"):
    backends.append("inductor")
steps = (is_copied_and_used, is_only_copied, goes_to_a_part, stays_in_one_tensor, twice)
for backend in backends:
    for step in steps:
        torch.compiler.reset()
        compiled = torch.compile(step, backend=backend, fullgraph=True)
        for which, count in (([0, 1], None), ([2], None), ([3, 2], torch.tensor([1])), ([1, 0], torch.tensor([0]))):
            eager, whole = torch.full((8,), -5), torch.full((8,), -5)
            expected = parts(step(eager, torch.tensor(which), count))
            calls = queue.calls
            found = parts(compiled(whole, torch.tensor(which), count))
            assert queue.calls > calls, (backend, step)
            assert torch.equal(eager, whole), (backend, step, eager, whole)
            assert all(map(torch.equal, expected, found)), (backend, step, expected, found)
            assert len(expected) == len(found)

operator = torch.ops.barmap.copy_pieces.default
torch.library.opcheck(operator, (torch.zeros(8, dtype=torch.int64), pool, table[:2], None, queue._number, 3.0))
"""
REFUSED = """
cache = torch.zeros(8, dtype=torch.int64)
for refused, says, arguments in (
    (ValueError, "to is not contiguous", (pool.reshape(8, 8).t(), pool, table)),
    (ValueError, "source is not contiguous", (cache, pool[::2], table)),
    (TypeError, "pieces has torch.int32: give int64", (cache, pool, table.int())),
    (ValueError, "pieces has the shape (4, 2)", (cache, pool, table[:, :2])),
    (ValueError, "pieces has the shape (3,)", (cache, pool, table[0])),
):
    try:
        barmap.torch.copy_pieces(queue, *arguments, seconds=3)
    except refused as error:
        assert says in str(error), error
    else:
        raise AssertionError(says)
del kernel_queues.numbered[queue._number]
try:
    barmap.torch.copy_pieces(queue, cache, pool, table)
except ValueError as error:
    assert "is gone" in str(error), error
else:
    raise AssertionError("there is no such queue")
"""


# Each replay of a graph copies the rows that the table has then, and as many as `count` says.
IN_A_GRAPH = """
which, count = torch.tensor([0]), torch.tensor([1])
for source in pool, pool.cpu().pin_memory():
    cache, graph = torch.zeros(8, dtype=torch.int64), torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        barmap.torch.copy_pieces(queue, cache, source, table[which], count, seconds=3)
    for row, rows in (0, 1), (3, 1), (2, 1), (1, 0), (1, 1):
        which.fill_(row)
        count.fill_(rows)
        cache.zero_()
        graph.replay()
        to, at, size = (int(x) // 8 for x in table[row])
        expected = [0] * 8
        expected[to : to + size * rows] = range(at, at + size * rows)
        assert cache.tolist() == expected, (row, rows, cache)
queue.check()
"""


def run(program):
    if importlib.util.find_spec("torch") is None:
        pytest.skip("torch is not installed")
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=False, timeout=600)
    if "Torch not compiled with CUDA enabled" in done.stderr:
        pytest.skip("this torch has no CUDA")
    assert done.returncode == 0, done.stderr


@pytest.mark.parametrize("program", [COMPILED, ON_THE_CPU + OPERATOR + REFUSED], ids=["around it", "as an operator"])
def test_compiled_code_sees_what_is_copied(program):
    run(program)


@pytest.mark.skipif(not REAL_GPU, reason="PyTorch has no simulated GPU: set BARMAP_REQUIRE")
def test_compiled_code_and_graphs_see_what_a_gpu_has_copied():
    run(ON_A_GPU + OPERATOR + IN_A_GRAPH + REFUSED)


class OperatorsTensor:
    """What the operator asks of a tensor, to refuse it."""

    def __init__(self, is_cuda=True, is_pinned=False, contiguous=True, dtype=None, shape=(4, 3)):
        self.is_cuda, self.shape, self.dtype = is_cuda, shape, dtype
        self.is_pinned, self.is_contiguous, self.dim = lambda: is_pinned, lambda: contiguous, lambda: len(shape)


def test_the_operator_refuses_what_it_cannot_copy(of_torch, monkeypatch):  # noqa: F811
    operator = of_torch.piece_operator
    good, pageable, strided = OperatorsTensor(), OperatorsTensor(is_cuda=False), OperatorsTensor(contiguous=False)
    pinned, int64 = OperatorsTensor(is_cuda=False, is_pinned=True), operator.torch.int64
    pieces = OperatorsTensor(dtype=int64)
    monkeypatch.setattr(operator.kernel_queues, "numbered", {1: object()})
    for error, says, to, source, rows, queue in (
        (ValueError, "^the KernelQueue of this barmap::copy_pieces is gone: keep it", good, good, pieces, 2),
        (ValueError, "^to is not contiguous", strided, good, pieces, 1),
        (ValueError, "^source is not contiguous", good, strided, pieces, 1),
        (ValueError, "^to is in pageable memory, which a GPU cannot reach: pin it$", pageable, good, pieces, 1),
        (ValueError, "^source is in pageable memory, which a GPU cannot reach: pin it$", good, pageable, pieces, 1),
        (TypeError, "^pieces has None: give int64$", pinned, good, OperatorsTensor(), 1),
        (ValueError, r"^pieces has the shape \(4, 2\)", good, good, OperatorsTensor(dtype=int64, shape=(4, 2)), 1),
        (ValueError, r"^pieces has the shape \(3,\)", good, good, OperatorsTensor(dtype=int64, shape=(3,)), 1),
    ):
        with pytest.raises(error, match=says):
            operator.copy_pieces(to, source, rows, None, queue, 1.0)


def test_an_old_pytorch_has_no_operators(of_torch):  # noqa: F811
    with pytest.raises(RuntimeError, match="from 2.4 on: update it, or call submit_pieces$"):
        of_torch.copy_pieces(None, None, None, None)
