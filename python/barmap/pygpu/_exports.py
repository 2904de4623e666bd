# SPDX-License-Identifier: MIT
"""How other libraries take an array on the device."""

from __future__ import annotations

from typing import Any, Dict, Optional, Tuple

from .. import _barmap
from .._barmap import pygpu as _runtime
from .._base.streams import stream_of_dlpack
from ._described import Described
from ._sharing import LEGACY_DEFAULT_STREAM
from ._status import check

_PER_THREAD_DEFAULT_STREAM = 2
# DLDeviceType and DLDataTypeCode
_DEVICE_TYPES = {"cuda": 2, "hip": 10}
_CODES = {"i": 0, "u": 1, "f": 2, "c": 5}


class Exported(Described):
    """Elements on the device that CuPy, PyTorch, Numba and others take as they are."""

    @property
    def __cuda_array_interface__(self) -> Dict[str, Any]:
        """The array, in version 3.

        Consumers must wait for the legacy default stream, on which copies to the device run.
        On AMD, where the interface has no value for that stream, copies are done when they return.
        """
        return {
            "shape": self.shape,
            "typestr": self._dtype.str,
            "data": (self.ptr, False),
            "strides": None if self.flags.c_contiguous else self.strides,
            "stream": LEGACY_DEFAULT_STREAM if _runtime.vendor() == "cuda" else None,
            "version": 3,
        }

    def __dlpack_device__(self) -> Tuple[int, int]:
        """The GPU, as DLPack names it."""
        return _DEVICE_TYPES[_runtime.vendor()], self.device

    def __dlpack__(self, *, stream: Optional[int] = None, **how: Any) -> Any:
        """A DLPack capsule of the same memory.

        Parameters
        ----------
        stream : int, optional
            The stream on which the array will be used: its later work waits for what was copied to
            the array before. -1 for no waiting.
        **how
            max_version, dl_device and copy, as the array API standard says.

        Raises
        ------
        BufferError
            If a copy or another device is asked for; if strides are no multiples of the element
            size, which DLPack cannot express.
        barmap.Error
            If there is no such stream.
        TypeError, ValueError
            For a stream that the standard does not allow.
        """
        size = self.itemsize
        if any(step % size for step in self.strides):
            raise BufferError(
                f"DLPack has no strides of {self.strides} bytes for elements of {size}: copy() the "
                "array first"
            )
        number = stream_of_dlpack(stream, _runtime.vendor())
        defaults = (-1, 0, LEGACY_DEFAULT_STREAM, _PER_THREAD_DEFAULT_STREAM)
        if number is not None and number not in defaults:
            status = _runtime.order_behind_default_stream(number, self.device)
            check(status, "let a stream wait for the array")
        kept = (self._memory, self._owner)
        device_type, device = self.__dlpack_device__()
        strides = [step // size for step in self.strides]
        code = _CODES[self._dtype.kind]
        array = _barmap.dlpack_array(
            kept, self.ptr, self.shape, strides, code, 8 * size, device_type, device
        )
        return array.__dlpack__(**how)
