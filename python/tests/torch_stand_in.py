# SPDX-License-Identifier: MIT
"""What barmap.torch needs of PyTorch, over NumPy and the driver of these tests."""

import types

import numpy as np


class Tensor:
    """A tensor on the CPU, or one that says that it is elsewhere."""

    def __init__(self, values, dtype=None, device="cpu", requires_grad=False):
        self.array, self.requires_grad = np.asarray(values), requires_grad
        self.dtype = dtype or module.int64
        self.device = types.SimpleNamespace(type=device)
        self.shape = self.array.shape

    def __getitem__(self, which):
        return Tensor(self.array[which], self.dtype)

    def __setitem__(self, which, value):
        self.array[which] = value

    def view(self, dtype):
        return Tensor(self.array.view(NUMPY[dtype]), dtype)

    def reshape(self, shape):
        return Tensor(self.array.reshape(shape), self.dtype)

    def copy_(self, other):
        assert not other.requires_grad  # or this one would have gradients, too
        self.array[...] = other.array

    def detach(self):
        return Tensor(self.array, self.dtype, self.device.type)

    def numpy(self):
        if self.requires_grad:
            raise RuntimeError("Can't call numpy() on Tensor that requires grad.")
        if self.dtype == module.bfloat16 or self.device.type != "cpu":
            raise TypeError(f"no array of {self.dtype} on {self.device.type}")
        return self.array

    def numel(self):
        return self.array.size

    def is_contiguous(self):
        return self.array.flags.c_contiguous

    def data_ptr(self):
        return self.array.__array_interface__["data"][0]


class GpuTensor(Tensor):
    """A tensor on the simulated GPU, over a barmap.Array. Elements of bfloat16 are raw, as there."""

    __module__ = "torch"

    def __init__(self, memory, dtype):
        super().__init__(np.zeros(memory.shape, memory.dtype), dtype, "cuda")
        self.__cuda_array_interface__ = memory.__cuda_array_interface__
        self.memory = memory


class Cuda(types.ModuleType):
    """torch.cuda: the current stream, and whether it is captured, are set by the test."""

    stream = types.SimpleNamespace(cuda_stream=0, device_index=0, synchronize=lambda: None)
    is_capturing = False

    def current_stream(self, device=None):
        return self.stream

    def is_current_stream_capturing(self):
        return self.is_capturing


module = types.ModuleType("torch")
module.cuda = Cuda("torch.cuda")
module.int64, module.int32, module.Tensor = "torch.int64", "torch.int32", Tensor
module.bfloat16, module.uint8 = "torch.bfloat16", "torch.uint8"
NUMPY = {"torch.int64": "i8", "torch.int32": "i4", "torch.uint8": "u1", "torch.bfloat16": "V2"}
module.from_numpy = lambda array: Tensor(array, module.uint8)
module.empty = lambda shape, dtype, device: Tensor(np.empty(shape, NUMPY[dtype]), dtype, device)
module.tensor = lambda values, dtype: Tensor(np.array(values, "i8"), dtype)
