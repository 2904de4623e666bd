# SPDX-License-Identifier: MIT
"""Device control: the functions of the CUDA runtime that are not about moving data.

Each returns its value, if it has one, and the runtime's answer: ``value, err = cudaGetDevice()``,
``err = cudaSetDevice(0)``.
"""

from __future__ import annotations

from typing import Any, Dict, Optional, Tuple

from .._barmap import pygpu as _runtime
from ._pointers import pointer_wrapper
from ._status import cudaError_t


def cudaGetDeviceCount() -> Tuple[int, cudaError_t]:
    """How many GPUs the process sees."""
    count, status = _runtime.device_count()
    return count, cudaError_t(status)


def cudaSetDevice(device: int) -> cudaError_t:
    """Makes a GPU the current one of this thread: what is made from now on is made there."""
    return cudaError_t(_runtime.set_device(device))


def cudaGetDevice() -> Tuple[int, cudaError_t]:
    """The current GPU of this thread.

    It is the GPU of the thread's current context, whichever library made it current; else the one
    that cudaSetDevice chose, or 0.
    """
    device, status = _runtime.get_device()
    return device, cudaError_t(status)


def cudaDeviceSynchronize() -> cudaError_t:
    """Waits until the current GPU has done all work of this process."""
    return cudaError_t(_runtime.synchronize_device())


def cudaDeviceReset() -> cudaError_t:
    """Ends all that the process has on the current GPU, other libraries' memory included.

    Arrays, streams and events that were made there stay objects, but answer
    cudaErrorContextIsDestroyed (709). Page-locked memory becomes ordinary memory.
    """
    return cudaError_t(_runtime.reset_device())


def cudaMemGetInfo() -> Tuple[Tuple[int, int], cudaError_t]:
    """Free and total memory of the current GPU, in bytes."""
    available, total, status = _runtime.memory_info()
    return (available, total), cudaError_t(status)


def cudaGetErrorName(error: int) -> str:
    """The name of a code, such as "cudaErrorInvalidDevice"."""
    return _runtime.error_name(int(error))


def cudaGetErrorString(error: int) -> str:
    """The meaning of a code."""
    return _runtime.error_string(int(error))


def cudaGetLastError() -> cudaError_t:
    """The last failure of this thread, which is forgotten by asking."""
    return cudaError_t(_runtime.last_error())


def cudaPeekAtLastError() -> cudaError_t:
    """The last failure of this thread, which is not forgotten."""
    return cudaError_t(_runtime.peek_at_last_error())


class _Handle:
    """The common part of streams and events."""

    _object: Any

    def get(self) -> pointer_wrapper:
        """The handle as a pointer object; ``int(x.get())`` is what C code takes."""
        return pointer_wrapper._of_handle(self._object.handle, self, type(self).__name__)

    def __int__(self) -> int:
        return int(self._object.handle)

    @property
    def _as_parameter_(self) -> Any:
        import ctypes

        return ctypes.c_void_p(self._object.handle)

    @property
    def device(self) -> int:
        """The GPU that was current when this was made."""
        return int(self._object.device)

    def last_status(self) -> cudaError_t:
        """The runtime's answer to the last call on this object, its creation at first."""
        return self._status

    def _note(self, status: int) -> cudaError_t:
        self._status = cudaError_t(status)
        return self._status

    def synchronize(self) -> cudaError_t:
        """Waits until the work before it is done."""
        return self._note(self._object.synchronize())

    def query(self) -> cudaError_t:
        """0 if the work before it is done, cudaErrorNotReady (600) if not."""
        return self._note(self._object.query())


class cudaEvent_t(_Handle):
    """A point in a stream's work. Created with the object, and destroyed with it.

    Parameters
    ----------
    flags : int, optional
        As of cudaEventCreateWithFlags: 1 waits without spinning, 2 takes no times.

    Examples
    --------
    >>> start, end = pygpu.cudaEvent_t(), pygpu.cudaEvent_t()
    >>> start.record(), end.record(), end.synchronize()
    (<cudaError: code=0>, <cudaError: code=0>, <cudaError: code=0>)
    >>> milliseconds, err = start.elapsed_time(end)
    >>> milliseconds >= 0
    True
    """

    def __init__(self, flags: int = 0) -> None:
        self._object = _runtime.Event(flags)
        self._status = cudaError_t(self._object.made)

    def record(self, stream: Optional[cudaStream_t] = None) -> cudaError_t:
        """Puts the event behind the work of a stream; of the default stream if none is given."""
        return self._note(self._object.record(None if stream is None else stream._object))

    def elapsed_time(self, end: cudaEvent_t) -> Tuple[float, cudaError_t]:
        """Milliseconds from this event to a later one; both must be done."""
        milliseconds, status = self._object.elapsed(end._object)
        return milliseconds, self._note(status)


class cudaStream_t(_Handle):
    """A queue of work. Created with the object, and destroyed with it.

    Parameters
    ----------
    flags : int, optional
        1 (cudaStreamNonBlocking) for a stream that does not wait for the default stream.
    priority : int, optional
        Lower is more urgent.

    Examples
    --------
    >>> stream, event = pygpu.cudaStream_t(), pygpu.cudaEvent_t()
    >>> event.record(stream), stream.wait(event), stream.synchronize()
    (<cudaError: code=0>, <cudaError: code=0>, <cudaError: code=0>)
    """

    def __init__(self, flags: int = 0, priority: int = 0) -> None:
        self._object = _runtime.Stream(flags, priority)
        self._status = cudaError_t(self._object.made)

    def wait(self, event: cudaEvent_t) -> cudaError_t:
        """Later work of this stream waits for the event."""
        return self._note(self._object.wait(event._object))

    def __cuda_stream__(self) -> Tuple[int, int]:
        """CUDA's protocol for handing streams from library to library."""
        return 0, self._object.handle


def cudaEventRecord(event: cudaEvent_t, stream: Optional[cudaStream_t] = None) -> cudaError_t:
    """Puts an event behind the work of a stream; of the default stream if none is given."""
    return event.record(stream)


def cudaEventSynchronize(event: cudaEvent_t) -> cudaError_t:
    """Waits for an event."""
    return event.synchronize()


def cudaEventQuery(event: cudaEvent_t) -> cudaError_t:
    """0 if the event is done, cudaErrorNotReady (600) if not."""
    return event.query()


def cudaEventElapsedTime(start: cudaEvent_t, end: cudaEvent_t) -> Tuple[float, cudaError_t]:
    """Milliseconds between two events that are done."""
    return start.elapsed_time(end)


def cudaStreamSynchronize(stream: cudaStream_t) -> cudaError_t:
    """Waits for all work of a stream."""
    return stream.synchronize()


def cudaStreamQuery(stream: cudaStream_t) -> cudaError_t:
    """0 if all work of a stream is done, cudaErrorNotReady (600) if not."""
    return stream.query()


def cudaStreamWaitEvent(stream: cudaStream_t, event: cudaEvent_t) -> cudaError_t:
    """Later work of a stream waits for an event."""
    return stream.wait(event)


class cudaDeviceProp:
    """The properties of a GPU. All are methods, as in PybindGPU.

    Parameters
    ----------
    device : int
        Where there is none such, `last_status` says so, and the other methods raise.

    Examples
    --------
    >>> prop = pygpu.cudaDeviceProp(0)
    >>> prop.last_status(), prop.pci_address()
    (<cudaError: code=0>, '0000:01:00.0')
    >>> prop.totalGlobalMem() > 0 and prop.name() != ""
    True
    """

    def __init__(self, device: int) -> None:
        self._facts: Optional[Dict[str, Any]]
        self._facts, status = _runtime.describe(device)
        self._device = device
        self._status = cudaError_t(status)

    def _fact(self, name: str) -> Any:
        if self._facts is None:
            from ._status import check

            check(self._status, f"read the properties of GPU {self._device}")
            raise AssertionError("a failure has a status")
        return self._facts[name]

    def last_status(self) -> cudaError_t:
        """The runtime's answer."""
        return self._status

    def name(self) -> str:
        """Its name."""
        return str(self._fact("name"))

    def uuid(self) -> str:
        """32 hexadecimal digits; zeros where the vendor gives none."""
        return str(self._fact("uuid").hex())

    def pciDomainID(self) -> int:
        """PCI domain."""
        return int(self._fact("pci_domain"))

    def pciBusID(self) -> int:
        """PCI bus."""
        return int(self._fact("pci_bus"))

    def pciDeviceID(self) -> int:
        """PCI device, also called slot."""
        return int(self._fact("pci_device"))

    def pci_address(self) -> str:
        """The PCI address as lspci writes it: "0000:65:00.0"."""
        domain, bus, slot = self.pciDomainID(), self.pciBusID(), self.pciDeviceID()
        return f"{domain:04x}:{bus:02x}:{slot:02x}.0"

    def totalGlobalMem(self) -> int:
        """Bytes of memory."""
        return int(self._fact("total_memory"))

    def major(self) -> int:
        """Compute capability, first number."""
        return int(self._fact("major"))

    def minor(self) -> int:
        """Compute capability, second number."""
        return int(self._fact("minor"))

    def multiProcessorCount(self) -> int:
        """Multiprocessors (NVIDIA) or compute units (AMD)."""
        return int(self._fact("multiprocessors"))

    def warpSize(self) -> int:
        """Threads in a warp or wavefront."""
        return int(self._fact("warp_size"))

    def maxThreadsPerBlock(self) -> int:
        """Most threads in a block."""
        return int(self._fact("max_threads_per_block"))

    def integrated(self) -> bool:
        """Whether it shares the memory of the CPU."""
        return bool(self._fact("integrated"))


def cudaGetDeviceProperties(device: int) -> Tuple[cudaDeviceProp, cudaError_t]:
    """The properties of a GPU, as an object."""
    properties = cudaDeviceProp(device)
    return properties, properties.last_status()
