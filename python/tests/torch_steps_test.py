# SPDX-License-Identifier: MIT
"""barmap.torch.step_inputs and token_ring, against a stand-in of PyTorch."""

import asyncio
import ctypes
import importlib
import sys
import types

import barmap
import numpy as np
import pytest
import torch_stand_in
from torch_stand_in import GpuTensor, Tensor

BFLOAT16 = np.dtype("V2")


@pytest.fixture
def stream(driver):
    handle = ctypes.c_void_p()
    driver("cuStreamCreate", ctypes.byref(handle), 1)
    yield types.SimpleNamespace(cuda_stream=handle.value, device_index=0,
                                synchronize=lambda: driver("cuStreamSynchronize", handle))
    driver("cuStreamDestroy_v2", handle)


@pytest.fixture
def of_torch(monkeypatch, stream):
    monkeypatch.setitem(sys.modules, "torch", torch_stand_in.module)
    monkeypatch.setattr(torch_stand_in.module.cuda, "stream", stream)
    importlib.import_module("barmap.torch")
    yield sys.modules["barmap.torch"]
    del sys.modules["barmap.torch"]
    del barmap.torch


@pytest.fixture
def tensors():
    made = {"tokens": GpuTensor(barmap.alloc((3,), "i8"), "torch.int64"),
            "scale": GpuTensor(barmap.alloc((2, 2), BFLOAT16), "torch.bfloat16")}
    for each in made.values():
        each.memory.fill(0)
    return made


def raw(numbers):
    return np.array(numbers, "u2").view(BFLOAT16)


def test_inputs_have_tensors_to_fill(of_torch, stream, tensors):
    with of_torch.step_inputs(tensors, versions=2) as inputs:
        assert isinstance(inputs, barmap.StepInputs) and inputs.versions == 2
        assert all(isinstance(each, Tensor) for each in inputs.host.values())
        assert [(each.dtype, each.shape) for each in inputs.host.values()] == [
            ("torch.int64", (3,)), ("torch.bfloat16", (2, 2))]
        inputs.host["tokens"][:] = [4, 5, 6]
        assert inputs.push()
        inputs.enqueue_load()  # on the current stream
        stream.synchronize()
        assert np.frombuffer(tensors["tokens"].memory.read(), "i8").tolist() == [4, 5, 6]
        scale = Tensor(raw([[1, 2], [3, 4]]), "torch.bfloat16")
        assert inputs.push({"tokens": Tensor(np.int64([7, 8, 9]))}, scale=scale)
        assert inputs.push(tokens=np.int64([1, 2, 3]))
        assert not inputs.push(tokens=Tensor(np.int64([0, 0, 1])))
        inputs.enqueue_load()
        stream.synchronize()
        assert np.frombuffer(tensors["tokens"].memory.read(), "i8").tolist() == [7, 8, 9]
        assert tensors["scale"].memory.read() == scale.array.tobytes()
        inputs.enqueue_load()
        stream.synchronize()
        assert np.frombuffer(tensors["tokens"].memory.read(), "i8").tolist() == [1, 2, 3]
        assert inputs.push()
        inputs.enqueue_load()
        stream.synchronize()
        assert np.frombuffer(tensors["tokens"].memory.read(), "i8").tolist() == [0, 0, 1]


@pytest.mark.parametrize("given, error, says", [
    ({"other": Tensor(np.zeros(3, "i8"))}, ValueError, r"no input 'other': the inputs are \['tokens'"),
    ({"tokens": Tensor(np.zeros(3, "i4"), "torch.int32")}, TypeError, "torch.int32 on .*: give torch.int64"),
    ({"tokens": Tensor(np.zeros(3, "i8"), device="cuda")}, TypeError, "give torch.int64 on the CPU"),
    ({"tokens": Tensor(np.zeros(4, "i8"))}, ValueError, r"tokens has the shape \(4,\), and the input has \(3,\)"),
    ({"tokens": Tensor(np.ones(3, "i8")), "scale": raw([[1, 2], [3, 4]])}, TypeError, "tensors only"),
    ({"tokens": Tensor(np.ones(3, "i8")), "scale": 3}, TypeError, "tensors only"),
    ({"tokens": [1, 2, 3]}, TypeError, "tokens is a list"),
])
def test_tensors_that_are_refused(of_torch, tensors, given, error, says):
    with of_torch.step_inputs(tensors) as inputs:
        with pytest.raises(error, match=says):
            inputs.push(given)
        assert not inputs.host["tokens"].array.any()


def test_tensors_with_gradients_are_copied(of_torch, tensors):
    with of_torch.step_inputs(tensors) as inputs:
        assert inputs.push(tokens=Tensor(np.array([1, 2, 3], "i8"), requires_grad=True))
        assert inputs.host["tokens"].array.tolist() == [1, 2, 3]


@pytest.mark.parametrize("given", [
    {"tokens": Tensor(np.ones(3, "i8"))}, {"scale": Tensor(raw([[1, 2], [3, 4]]), "torch.bfloat16")},
    {"tokens": np.ones(3, "i8")}, {},
])
def test_what_is_released_says_so(of_torch, tensors, given):
    inputs = of_torch.step_inputs(tensors)
    inputs.release()
    with pytest.raises(ValueError, match="^this StepInputs is released$"):
        inputs.push(given)


@pytest.mark.parametrize("failure", [RuntimeError, AttributeError, TypeError, ValueError])
def test_a_failure_of_the_push_is_raised_at_once(of_torch, tensors, failure):
    with of_torch.step_inputs(tensors) as inputs:
        calls = []

        def push(arrays):
            calls.append(arrays)
            raise failure("of the push itself")

        inputs._push = push
        with pytest.raises(failure, match="^of the push itself$"):
            inputs.push(tokens=Tensor(np.ones(3, "i8")))
        assert len(calls) == 1 and not inputs.host["tokens"].array.any()


def test_tokens_come_as_tensors(of_torch, stream, tensors):
    tokens = tensors["tokens"]
    with of_torch.token_ring(tokens, capacity=2) as ring:
        assert isinstance(ring, barmap.StepOutputs) and ring.versions == 2
        assert ring.pop() is None and not ring.wait_for(0)
        found = []
        for number in range(3):
            tokens.memory.write(np.int64([number, 5, 6]))
            ring.push()
            stream.synchronize()
            assert ring.wait_for(60)
            found.append(ring.pop() if number else asyncio.run(ring.get()))
        assert [each.array.tolist() for each in found] == [[i, 5, 6] for i in range(3)]
        assert all((each.dtype, each.shape) == ("torch.int64", (3,)) for each in found)
    with of_torch.token_ring(tensors["scale"]) as ring:
        ring.push()
        assert ring.wait_for(60)
        assert (ring.pop().dtype, ring.versions) == ("torch.bfloat16", 64)
