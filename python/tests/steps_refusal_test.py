# SPDX-License-Identifier: MIT
"""What inputs and outputs of steps refuse, and by which exception."""

import types

import barmap
import numpy as np
import pytest

from dlpack_object import DlpackObject
from gpu_memory import Interface
from steps_test import expect, step, tensors  # noqa: F401: a fixture


@pytest.mark.parametrize("change, error, says", [
    (lambda a: a.astype("i4"), TypeError, r"positions has elements of int32, and the input has int64"),
    (lambda a: a.astype(">i8"), TypeError, "positions has elements of >i8"),
    (lambda a: a.tolist(), TypeError, r"positions is a list: give a NumPy array of int64 and shape \(5,\)"),
    (lambda a: b"12345", TypeError, "positions is a bytes"),
    (lambda a: types.SimpleNamespace(dtype="nothing"), TypeError, "elements of nothing"),
    (lambda a: types.SimpleNamespace(dtype=a.dtype), TypeError, "bytes-like"),
    (lambda a: a[:4], ValueError, r"positions has the shape \(4,\), and the input has \(5,\)"),
    (lambda a: a[None], ValueError, r"the shape \(1, 5\)"),
    (lambda a: a[0], ValueError, r"the shape \(\)"),
    (lambda a: np.repeat(a, 2)[::2], ValueError, "positions is not contiguous"),
])
def test_arrays_that_are_refused_change_nothing(driver, tensors, change, error, says):
    with barmap.StepInputs(tensors) as inputs:
        wanted = {**step(6), "positions": change(step(6)["positions"])}
        for call in (lambda: inputs.push(wanted), lambda: inputs.push(**wanted)):
            with pytest.raises(error, match=says):
                call()
        assert not any(each.tobytes().strip(b"\0") for each in inputs.host.values())
        assert inputs.push(step(1))
        inputs.enqueue_load()
        expect(driver, tensors, step(1))


def test_names_that_are_no_inputs_are_refused(tensors):
    with barmap.StepInputs(tensors) as inputs:
        with pytest.raises(ValueError, match=r"no input 'other': the inputs are \['positions', 'mask'"):
            inputs.push(other=np.zeros(1))
        with pytest.raises(ValueError, match="no input 3"):
            inputs.push({3: np.zeros(1)})
        for wrong in ([np.zeros(1)], 7):
            with pytest.raises(TypeError):
                inputs.push(wrong)


def test_arrays_that_are_refused_keep_nothing(tensors):
    with barmap.StepInputs(tensors) as inputs:
        array = bytearray(8 * 5)
        view = np.frombuffer(array, "i8")
        for wrong in (np.zeros(3), None):
            with pytest.raises((TypeError, ValueError)):
                inputs.push(positions=view, odd=wrong)
        for refused in (view[:4], view[::-1]):  # of another shape, and not contiguous
            with pytest.raises(ValueError):
                inputs.push(positions=refused)
        del refused
        assert inputs.push(positions=view)
        del view
        array.append(0)  # nobody has its buffer


@pytest.mark.parametrize("make, error, says", [
    (lambda like: {"x": np.zeros(3)}, TypeError,
     r"^x: it is a numpy\.ndarray in host memory: give an array on a GPU$"),
    (lambda like: {"x": [1, 2]}, TypeError, "^x: it is a list: give an array on a GPU$"),
    (lambda like: {"x": like.block.address}, TypeError, "^x: it is an int: give an array on a GPU$"),
    (lambda like: {3: like("f4", slice(0, 64))}, TypeError, "a tensor is called 3"),
    (lambda like: [like("f4", slice(0, 64))], TypeError, "give a dict"),
    (lambda like: {"x": like("f4", slice(0, 64), step=2)}, ValueError, "x is not contiguous"),
    (lambda like: {"x": like("f4", slice(0, 0))}, ValueError, "x has no elements"),
    (lambda like: {}, ValueError, "give at least one"),
    (lambda like: {"x": barmap.alloc(1 << 20, "u1"), "y": barmap.alloc(1, "u1")},
     ValueError, "1 MiB"),
])
def test_tensors_that_are_refused(memory, make, error, says):
    base = np.frombuffer(memory.get(), "u1").copy()

    def like(dtype, where, step=1):
        return Interface(memory, base[where].view(dtype)[::step], base)

    like.block = memory
    for kind in (barmap.StepInputs, barmap.StepOutputs):
        with pytest.raises(error, match=says):
            kind(make(like))


@pytest.mark.parametrize("kind", [barmap.StepInputs, barmap.StepOutputs])
def test_the_stride_of_an_axis_of_one_does_not_matter(memory, kind):
    x = DlpackObject(memory.address, (1, 4, 1, 2), (0, 32, 1), strides=(77, 2, 3, 1))
    with kind({"x": x}) as steps:
        assert not steps.released


@pytest.mark.parametrize("kind", [barmap.StepInputs, barmap.StepOutputs])
def test_versions_that_are_refused(kind):
    x = {"x": barmap.alloc(1, "i4")}
    for versions, error in ((3, ValueError), (0, ValueError), (-1, OverflowError), ("2", TypeError)):
        with pytest.raises(error):
            kind(x, versions)


@pytest.mark.parametrize("kind", [barmap.StepInputs, barmap.StepOutputs])
def test_streams_and_times_that_are_refused(kind):
    with kind({"x": barmap.alloc(1, "i4")}) as steps:
        launch = steps.enqueue_load if kind is barmap.StepInputs else steps.enqueue_store
        with pytest.raises(TypeError, match="a str is not a stream"):
            launch("stream")
        for wrong, says in ((-1, "a time cannot be negative"), (float("nan"), "nan, which is no time")):
            with pytest.raises(ValueError, match=says):
                steps.wait_for(wrong)
        for wrong in (-1, 1 << 64):
            with pytest.raises(OverflowError, match="the handle of the stream is"):
                launch(wrong)


def test_inputs_that_share_memory_are_refused(memory):
    array = barmap.alloc(64, "u1")
    apart = {"a": Part(array, 0, 32), "b": Part(array, 32, 32)}
    with barmap.StepInputs(apart):
        pass
    for shared in ({"a": array, "b": array}, {"a": Part(array, 0, 33), "b": Part(array, 32, 8)},
                   {"a": Part(array, 40, 8), "b": Part(array, 0, 64)}):
        with pytest.raises(ValueError, match="tensors 0 and 1 share memory: give each its own"):
            barmap.StepInputs(shared)
        with barmap.StepOutputs(shared):  # which are only read
            pass


class Part:
    """Bytes of an array."""

    def __init__(self, array, offset, nbytes):
        self.__cuda_array_interface__ = {
            **array.__cuda_array_interface__, "shape": (nbytes,), "data": (array.gpu_address + offset, False)}
        self.array = array
