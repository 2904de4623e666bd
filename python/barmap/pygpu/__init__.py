# SPDX-License-Identifier: MIT
"""PyGPU, later called PybindGPU: light-weight control of GPUs, and moving data to and from them.

The runtime is NVIDIA's or AMD's (BARMAP_RUNTIME=cuda or hip), loaded at the first call. Calls of the
runtime return what it answered, as objects; `GPUArray` raises instead.

The examples assume ``import numpy as np`` and ``from barmap import pygpu``.
"""

from __future__ import annotations

from typing import Any

from . import _control, _device_array, _dtypes, _pointers
from ._control import *  # noqa: F403
from ._device_array import DEVICE_ARRAYS, DeviceArray
from ._dtypes import SUPPORTED_DTYPES, UnsupportedDataType, dtype
from ._pointers import POINTER_WRAPPERS, pointer_wrapper
from ._status import cudaError_t

major_version, minor_version, release_version = 0, 2, 1
