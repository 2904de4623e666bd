# SPDX-License-Identifier: MIT
"""Sending and fetching the elements of an array on the device."""

from __future__ import annotations

from typing import Any

from . import _transfers
from ._exports import Exported
from ._host_memory import is_dense
from ._indexing import Layout
from ._pointers import POINTER_WRAPPERS, pointer_wrapper
from ._sharing import expect_same
from ._status import check, cudaError_t

_SUCCESS = cudaError_t(0)


class Transferred(Exported):
    """Elements on the device with a host side, a NumPy array of the same shape and data type."""

    _host: Any  # None until it is needed

    def _set(self, memory: Any, layout: Layout, dtype: Any, owner: Any) -> None:
        self._memory, self._layout, self._dtype, self._owner = memory, layout, dtype, owner
        self._host = None
        self._status = _SUCCESS

    def _do(self, status: int, operation: str) -> None:
        if status == 0:
            self._status = _SUCCESS
            return
        self._status = cudaError_t(status)
        check(status, operation)

    def _upload(self, values: Any) -> None:
        """Sends values of the same shape and data type."""
        self._do(_transfers.upload(self._memory, self._layout, values), "copy to the device")

    def _download(self, to: Any) -> None:
        """Fetches into a writable array of the same shape and data type."""
        self._do(_transfers.download(self._memory, self._layout, to), "copy from the device")

    @property
    def host_data(self) -> pointer_wrapper:
        """Pointer to the host side; safe.

        Raises
        ------
        ValueError
            If the host side is not contiguous.
        """
        host = self._host_side()
        if not is_dense(host):
            raise ValueError("the host side is not contiguous: get() gives it as an array")
        return POINTER_WRAPPERS[self._dtype.name]._of_host(host)

    @property
    def last_status(self) -> cudaError_t:
        """The runtime's answer to the last call for this array."""
        return self._status

    def _host_side(self) -> Any:
        if self._host is None:
            import numpy as np

            order: Any = "C" if self.flags.c_contiguous or not self.flags.f_contiguous else "F"
            self._host = np.zeros(self.shape, self._dtype, order)
        return self._host

    def allocate(self) -> None:
        """Does nothing: the memory is there from the start."""

    def to_device(self) -> None:
        """Sends the host side to the device."""
        self._upload(self._host_side())

    to_gpu = to_device

    def to_host(self) -> None:
        """Fetches the host side from the device.

        Raises
        ------
        ValueError
            If it is a read-only array.
        """
        host = self._host_side()
        if not host.flags.writeable:
            raise ValueError("the host side is a read-only array: get() makes a new one")
        self._download(host)

    def get(self, copy: bool = False) -> Any:
        """Fetches the host side from the device, and returns it.

        Parameters
        ----------
        copy : bool, optional
            Return a new array. Otherwise it is the host side's memory, which the next get changes,
            and which `to_device` sends; where this was made of an array, that one's memory.

        Returns
        -------
        numpy.ndarray
        """
        if self._host is not None and not self._host.flags.writeable:
            return self._fetched()
        self.to_host()
        return self._host.copy(order="A") if copy else self._host.view()

    def _fetched(self) -> Any:
        """A new array with what is on the device; the host side stays as it is."""
        import numpy as np

        array = np.empty(self.shape, self._dtype)
        self._download(array)
        return array

    def set(self, host_data: Any) -> None:
        """Sends an array of the same shape and data type to the device; the host side stays.

        Raises
        ------
        TypeError, ValueError
            If it has another data type or shape.
        """
        expect_same(host_data, self._layout.shape, self._dtype)
        self._upload(host_data)

    def item(self) -> Any:
        """The one element, as a Python number.

        Raises
        ------
        ValueError
            If there is not exactly one.
        """
        if self.size != 1:
            raise ValueError(f"an array of {self.size} elements is no single number")
        return self._fetched().item()
