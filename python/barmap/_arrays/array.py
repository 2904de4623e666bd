# SPDX-License-Identifier: MIT
"""Arrays in GPU memory that the CPU reaches."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Dict, Optional, Sequence, SupportsIndex, Tuple, Union

from .. import _barmap
from .layout import Layout, lengths
from .._base.machine import Device, ordinal_of
from .mapping import Mapping
from .._base.naming import backend_name, dtype_name
from .._base.streams import stream_of_dlpack

if TYPE_CHECKING:
    import numpy.typing as npt

_CUDA = 2  # DLDeviceType
_DLPACK_CODES = {"i": 0, "u": 1, "f": 2, "c": 5, "b": 6}  # DLDataTypeCode by numpy.dtype.kind


class Array(Mapping):
    """An array in GPU memory that the CPU reaches, made by `barmap.alloc`. It is its own `Mapping`.

    Libraries take it by ``__cuda_array_interface__`` or DLPack, for example
    ``torch.from_dlpack(array)`` or ``cupy.asarray(array)``. Their arrays keep it alive.
    `close` is refused as long as something made by DLPack is alive; users of the other interface
    are unknown, and `close` frees the memory all the same.

    Examples
    --------
    >>> array = barmap.alloc((2, 2), "f8")
    >>> array.fill(0)
    >>> array.write(np.float64(1.5), offset=8)
    >>> array.numpy()
    array([[0. , 1.5],
           [0. , 0. ]])
    >>> array.__cuda_array_interface__["shape"]
    (2, 2)
    """

    def __init__(
        self,
        shape: Union[SupportsIndex, Sequence[SupportsIndex]],
        dtype: npt.DTypeLike,
        device: Union[None, SupportsIndex, Device] = None,
        backend: Optional[str] = None,
    ) -> None:
        layout = Layout.of(lengths(shape), dtype)
        _barmap.MappedMemory.__init__(
            self, layout.nbytes, device=ordinal_of(device),
            backend=backend_name(backend),
        )
        self._lay_out(layout, typed=True)

    @property
    def __cuda_array_interface__(self) -> Dict[str, Any]:
        """Version 3, without a stream: work that wrote to the array must be complete."""
        if self.closed:
            raise ValueError("this array is closed")
        if self.gpu_address == 0:
            raise AttributeError("this array has no GPU address in this process")
        return {
            "version": 3,
            "shape": self.shape,
            "typestr": self.dtype.str,
            "descr": self.dtype.descr,
            "data": (self.gpu_address, False),
            "strides": None,
            "stream": None,
        }

    def __dlpack_device__(self) -> Tuple[int, int]:
        """The GPU, as DLPack names it."""
        return _CUDA, self.device

    def __dlpack__(self, *, stream: Optional[int] = None, **how: Any) -> Any:
        """A DLPack capsule of this memory. Nothing is copied or synchronised.

        Parameters
        ----------
        stream : int, optional
            Of those that the array API standard allows; none is synchronised.
        **how
            max_version, dl_device and copy, as the standard says.

        Raises
        ------
        BufferError
            If DLPack has no such dtype, or a copy or another device is asked for.
        barmap.Error
            In a forked child.
        TypeError, ValueError
            For a stream that the standard does not allow; if the array is closed.
        """
        stream_of_dlpack(stream)
        try:
            code = _DLPACK_CODES[self.dtype.kind]
        except KeyError:
            raise BufferError(f"DLPack has no elements of {dtype_name(self.dtype)}") from None
        if not self.dtype.isnative:
            raise BufferError(f"DLPack has no elements in another byte order ({self.dtype.str})")
        size = self.dtype.itemsize
        strides = [step // size for step in self.strides]
        # The memoryview keeps the array alive, and open.
        array = _barmap.dlpack_array(
            self._bytes_on_gpu(), self.gpu_address, self.shape, strides, code, 8 * size, _CUDA,
            self.device,
        )
        return array.__dlpack__(**how)


def alloc(
    shape: Union[SupportsIndex, Sequence[SupportsIndex]],
    dtype: npt.DTypeLike,
    *,
    device: Union[None, SupportsIndex, Device] = None,
    backend: Optional[str] = None,
) -> Array:
    """Allocates an array in GPU memory that the CPU reaches. Its contents are not initialised.

    Parameters
    ----------
    shape : int or sequence of int
    dtype : numpy.dtype or what it is made from
    device : int or Device, optional
        The GPU, or its ordinal. If not given, the current one: that of this thread's CUDA context
        (``torch.cuda.set_device``, ``cupy.cuda.Device.use``), or GPU 0.
    backend : str, optional
        Name of the backend to use; the first that can, if not given.

    Returns
    -------
    Array

    Raises
    ------
    barmap.Error
        If there is no GPU, no backend or no memory.
    TypeError, ValueError
        For a shape or dtype that NumPy refuses; for elements that are Python objects, an array
        without bytes, and a name that no backend has.

    Examples
    --------
    >>> barmap.alloc((2, 3), "f4").nbytes
    24
    """
    return Array(shape, dtype, device, backend)
