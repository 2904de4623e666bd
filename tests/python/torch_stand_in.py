# SPDX-License-Identifier: MIT
"""What barmap.torch needs of PyTorch, over NumPy and the driver of these tests."""

import types

import numpy as np


class Tensor:
    """A tensor on the CPU, or one that says that it is elsewhere."""

    def __init__(self, values, dtype=None, device="cpu"):
        self.array = np.asarray(values)
        self.dtype = dtype or module.int64
        self.device = types.SimpleNamespace(type=device)

    def numel(self):
        return self.array.size

    def is_contiguous(self):
        return self.array.flags.c_contiguous

    def data_ptr(self):
        return self.array.__array_interface__["data"][0]


class Cuda(types.ModuleType):
    """torch.cuda: the current stream, and whether it is captured, are set by the test."""

    stream = types.SimpleNamespace(cuda_stream=0, device_index=0, synchronize=lambda: None)
    is_capturing = False

    def current_stream(self):
        return self.stream

    def is_current_stream_capturing(self):
        return self.is_capturing


module = types.ModuleType("torch")
module.cuda = Cuda("torch.cuda")
module.int64, module.int32, module.Tensor = "torch.int64", "torch.int32", Tensor
module.tensor = lambda values, dtype: Tensor(np.array(values, "i8"), dtype)
