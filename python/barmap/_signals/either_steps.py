# SPDX-License-Identifier: MIT
"""The common part of inputs and outputs of steps."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Dict, Mapping, Optional, SupportsIndex, Tuple, TypeVar

from .. import _barmap
from .._arrays.gpu_arrays import expect_contiguous, source_of
from .._base.held import Awaited
from .._arrays.layout import Layout, Source
from .._base.naming import kind_of
from .._base.numbers import unsigned
from .._base.streams import Stream, current_of, handle_of

if TYPE_CHECKING:
    import numpy.typing as npt

Steps = TypeVar("Steps", _barmap.StepInputs, _barmap.StepOutputs)


def tensor(name: Any, x: Any, is_written: bool) -> Source:
    """The GPU memory of a tensor. Raises TypeError or ValueError, which say what to do."""
    if not isinstance(name, str):
        raise TypeError(f"a tensor is called {name!r}: give a dict of arrays by names")
    source = source_of(name, x)
    if source.layout.nbytes == 0:
        raise ValueError(f"{name} has no elements: leave it out")
    expect_contiguous(name, source.layout)
    if is_written and source.read_only:
        raise TypeError(f"{name} is read-only: give an array that may be written")
    return source


class EitherSteps(Awaited[Steps]):
    """The common part of inputs and outputs."""

    _ARE_WRITTEN: bool  # the tensors, by the kernel
    _layouts: Dict[str, Layout]
    _arrays: Tuple[Any, ...]

    def __init__(self, tensors: Mapping[str, Any], versions: SupportsIndex) -> None:
        self._versions = unsigned(versions, "versions")
        if not hasattr(tensors, "items"):
            raise TypeError(
                f"tensors is {kind_of(tensors)}: give a dict of arrays on a GPU, by names"
            )
        sources = {name: tensor(name, x, self._ARE_WRITTEN) for name, x in tensors.items()}
        self._layouts = {name: each.layout for name, each in sources.items()}
        self._held = self._TYPE(
            [(each.address, each.layout.nbytes) for each in sources.values()], self._versions
        )
        self._arrays = tuple(tensors.values())
        self._owners = [each.owner for each in sources.values()]

    def _views(self, of: npt.NDArray[Any]) -> Dict[str, npt.NDArray[Any]]:
        """The parts of the bytes of a step, as arrays by name."""
        import numpy as np

        return {
            name: np.ndarray(layout.shape, layout.dtype, of, offset)
            for (name, layout), offset in zip(self._layouts.items(), self._held.offsets)
        }

    def _handle_of(self, stream: Optional[Stream]) -> int:
        return current_of(self._arrays) if stream is None else handle_of(stream)

    @property
    def versions(self) -> int:
        return self._versions

    @property
    def failed(self) -> bool:
        return self._held.failed

    def release(self) -> None:
        self._arrays, self._owners = (), []
        super().release()

    def __repr__(self) -> str:
        state = "released" if self.released else f"{self._versions} versions"
        return f"{type(self).__name__}({', '.join(self._layouts)}; {state})"
