# SPDX-License-Identifier: MIT
"""barmap.torch.submit_pieces: against a stand-in of PyTorch, and compiled by PyTorch, if it is there."""

import importlib.util
import subprocess
import sys

import barmap
import pytest
from barmap import _barmap
from kernel_queue_test import StandIn
from torch_stand_in import GpuTensor
from torch_steps_test import of_torch, stream  # noqa: F401: fixtures


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


def test_compiled_code_sees_what_is_copied():
    if importlib.util.find_spec("torch") is None:
        pytest.skip("torch is not installed")
    done = subprocess.run([sys.executable, "-c", COMPILED], capture_output=True, text=True, check=False, timeout=300)
    assert done.returncode == 0, done.stderr
