# SPDX-License-Identifier: MIT
"""The inputs and results of steps, such as those of a language model's decode loop."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, Any, Dict, Mapping, Optional, SupportsIndex

from .. import _barmap
from .either_steps import EitherSteps
from .._base.error import Error
from .._base.streams import Stream
from .._base.waiting import pause

if TYPE_CHECKING:
    from .._batches.batches import GpuArray, HostArray


class StepInputs(EitherSteps[_barmap.StepInputs]):
    """GPU arrays that the CPU fills for each step: all of them at once, without a driver call.

    `push` publishes the contents of the arrays in `host`, about as fast as the CPU copies the bytes.
    `enqueue_load` makes a stream copy the next push into the GPU arrays, with one kernel of one block,
    before its later work: call it before each step, or once while a CUDA graph is captured, each
    replay of which loads the next push. The kernels that read the arrays need no change.

    Loads and pushes pair up in order, and a push may come before or after its load. On the GPU, a
    load waits for its push for at most 10 seconds; if none comes, the GPU arrays stay as they were,
    later work continues, and `failed` is true: make a new object then.

    It is a context manager: leaving the block releases it; see `release`. In a forked child calls raise
    `barmap.Error`. One thread at a time fills `host` and pushes. The GPU arrays
    are kept until `release`.

    Parameters
    ----------
    tensors : dict of arrays on one GPU, by name
        With ``__cuda_array_interface__`` or DLPack, or a `barmap.Mapping`: contiguous, and 1 MiB in
        all at most. An element type that NumPy lacks (bfloat16) comes as raw bytes, ``V2``.
    versions : int, optional
        How many steps may be pushed before the first is loaded, a power of two.

    Raises
    ------
    barmap.Error
        If there is no memory.
    TypeError
        If one is no array on a GPU, or is read-only.
    ValueError
        For an array that is not contiguous, or has no elements; for none at all, for arrays on
        several GPUs, and for other sizes.

    Attributes
    ----------
    host : dict of numpy.ndarray
        Arrays to fill for the next step, by name: of the shapes and dtypes of the GPU arrays. They
        keep their last pushed contents.
    versions : int
    failed : bool
        A load has given up waiting.
    released : bool

    Examples
    --------
    >>> positions, mask = barmap.alloc(4, "i8"), barmap.alloc(2, "u1")
    >>> with barmap.StepInputs({"positions": positions, "mask": mask}) as inputs:
    ...     inputs.host["positions"][:] = [3, 1, 4, 1]
    ...     pushed = inputs.push(mask=np.array([1, 0], "u1"))
    ...     inputs.enqueue_load()
    ...     inputs.host["mask"].tolist(), pushed
    ([1, 0], True)
    """

    _TYPE = _barmap.StepInputs
    _CALLED = "StepInputs"
    _ARE_WRITTEN = True
    host: Dict[str, Any]

    def __init__(self, tensors: Mapping[str, GpuArray], versions: SupportsIndex = 4) -> None:
        super().__init__(tensors, versions)
        self._held.describe(
            [(name, each.dtype, each.shape) for name, each in self._layouts.items()]
        )
        self.host = self._views(self._held.staging())
        self._push = self._held.push

    def push(
        self, arrays: Optional[Mapping[str, HostArray]] = None, /, **named: HostArray
    ) -> bool:
        """Copies what is given into `host`, and publishes all that `host` holds.

        Parameters
        ----------
        arrays : dict, optional
            Arrays by name.
        **named
            The same as keywords: of exactly the input's dtype and shape, contiguous. Nothing is
            converted, and nothing is copied or published if one is refused.

        Returns
        -------
        bool
            Whether a version was free. If not, `host` holds what was given, and ``push()`` is all
            that is left to do after `wait_for`.

        Raises
        ------
        TypeError
            For another dtype, or what is no array.
        ValueError
            For another shape or a name that is no input's.

        Examples
        --------
        >>> with barmap.StepInputs({"x": barmap.alloc(2, "f4")}, versions=1) as inputs:
        ...     inputs.push(x=np.array([1, 2], "f4")), inputs.push({"x": np.array([3, 4], "f4")})
        (True, False)
        """
        if arrays is None:
            return self._push(named or None)
        if named or not isinstance(arrays, dict):
            arrays = {**arrays, **named}
        return self._push(arrays)

    def enqueue_load(self, stream: Optional[Stream] = None) -> None:
        """Has a stream lay the next push into the GPU arrays, before what it is given later.

        Any thread may call it. While the stream is captured, it becomes part of the graph.

        Parameters
        ----------
        stream : optional
            PyTorch's, CuPy's, an object with ``__cuda_stream__``, or a handle. If not given: the
            current stream of PyTorch or CuPy, whose arrays these are; else the default stream.

        Raises
        ------
        barmap.Error
            If CUDA reports an error.
        TypeError
            If it is no stream; without one, if there are arrays of PyTorch and of CuPy.

        Examples
        --------
        >>> with barmap.StepInputs({"x": barmap.alloc(2, "f4")}) as inputs:
        ...     if inputs.push(x=np.array([1, 2], "f4")):
        ...         inputs.enqueue_load()
        """
        self._held.enqueue_load(self._handle_of(stream))

    def release(self) -> None:
        self.host = {}
        super().release()


class StepOutputs(EitherSteps[_barmap.StepOutputs]):
    """GPU arrays whose contents the CPU gets after each step, without a synchronisation: the tokens
    that a sampler has chosen.

    `enqueue_store` makes a stream publish the contents of the arrays, with one kernel of one block,
    after its earlier work; in a CUDA graph, each replay publishes them. On the GPU, a store waits for
    room for at most 10 seconds; if nothing is popped, that step's results are lost, and `failed`
    is true.

    Parameters, exceptions and lifetime are as with `StepInputs`, and read-only arrays are allowed.
    Any number of threads may use one: their calls take turns.

    Parameters
    ----------
    tensors : dict of arrays on one GPU, by name
    versions : int, optional
        How many steps may be stored before the first is popped, a power of two.

    Attributes
    ----------
    versions : int
    failed : bool
        A store has given up waiting.
    released : bool

    Examples
    --------
    >>> tokens = barmap.alloc(3, "i8")
    >>> tokens.write(np.array([5, 6, 7], "i8"))
    >>> with barmap.StepOutputs({"tokens": tokens}) as outputs:
    ...     outputs.enqueue_store()
    ...     if outputs.wait_for(60):
    ...         print(outputs.pop())
    {'tokens': array([5, 6, 7])}
    """

    _TYPE = _barmap.StepOutputs
    _CALLED = "StepOutputs"
    _ARE_WRITTEN = False

    def __init__(self, tensors: Mapping[str, GpuArray], versions: SupportsIndex = 64) -> None:
        super().__init__(tensors, versions)
        self._nbytes = self._held.nbytes

    def enqueue_store(self, stream: Optional[Stream] = None) -> None:
        """Has a stream publish what the GPU arrays hold, after what it was given before.

        Parameters
        ----------
        stream : optional
            As that of `StepInputs.enqueue_load`, which also lists the exceptions.

        Examples
        --------
        >>> with barmap.StepOutputs({"x": barmap.alloc(2, "f4")}) as outputs:
        ...     outputs.enqueue_store()
        """
        self._held.enqueue_store(self._handle_of(stream))

    def pop(self) -> Any:
        """Gets the results of the oldest step that has not been popped.

        Returns
        -------
        dict of numpy.ndarray by name, or None
            Copies, which stay as they are.

        Examples
        --------
        >>> with barmap.StepOutputs({"x": barmap.alloc(2, "f4")}) as outputs:
        ...     outputs.pop() is None
        True
        """
        import numpy as np

        results = np.empty(self._nbytes, np.uint8)
        return self._views(results) if self._held.pop(results) else None

    async def get(self) -> Any:
        """Waits for results, while the event loop continues, as `RingToCpu.pop` waits.

        It may be cancelled at any time: results are then either returned or still there.

        Returns
        -------
        dict of numpy.ndarray by name
            As by `pop`.

        Raises
        ------
        barmap.Error
            If a store has given up, and there are none.

        Examples
        --------
        >>> async def print_all(outputs):
        ...     while True:
        ...         print(await outputs.get())
        """
        begin = time.monotonic()
        while True:
            has_failed = self.failed  # what came before is there by then
            results = self.pop()
            if results is not None:
                return results
            if has_failed:
                raise Error(
                    "cannot get the results of a step: a store has given up waiting for room; make "
                    "a new StepOutputs, with more versions"
                )
            await pause(begin)
