# SPDX-License-Identifier: MIT
"""What inputs and outputs of steps have."""

from __future__ import annotations

from typing import (
    TYPE_CHECKING, Any, Dict, Generic, Mapping, Optional, SupportsIndex, Tuple, TypeVar,
)

from . import _barmap
from ._layout import Layout, Source
from ._naming import kind_of
from ._numbers import unsigned
from ._streams import Stream, current_of, handle_of

if TYPE_CHECKING:
    import numpy.typing as npt

Held = TypeVar("Held", _barmap.StepInputs, _barmap.StepOutputs)
_Self = TypeVar("_Self", bound="EitherSteps[Any]")


def tensor(name: Any, x: Any, is_written: bool) -> Source:
    """The GPU memory of a tensor. Raises TypeError or ValueError, which say what to do."""
    from . import _mapping, _sources

    if not isinstance(name, str):
        raise TypeError(f"a tensor is called {name!r}: give a dict of arrays by names")
    if isinstance(x, _mapping.Mapping):
        source = Source(x._bytes(), x.gpu_address + x._layout.offset, x._layout, x.readonly)
    else:
        try:
            source = _sources.find_array(x, "it is", "give an array on a GPU")
        except TypeError as refused:
            raise TypeError(f"{name}: {refused}") from None
    layout = source.layout
    if layout.nbytes == 0:
        raise ValueError(f"{name} has no elements: leave it out")
    wanted = Layout.of(layout.shape, layout.dtype)
    for length, stride, other in zip(layout.shape, layout.strides, wanted.strides):
        if length != 1 and stride != other:
            raise ValueError(
                f"{name} is not contiguous (shape {layout.shape}, strides {layout.strides}): give one "
                "that is, and have its contents copied on the GPU"
            )
    if is_written and source.read_only:
        raise TypeError(f"{name} is read-only: give an array that may be written")
    return source


class EitherSteps(Generic[Held]):
    """What inputs and outputs have."""

    _held: Held
    _layouts: Dict[str, Layout]
    _arrays: Tuple[Any, ...]

    def __init__(self, tensors: Mapping[str, Any], versions: SupportsIndex) -> None:
        self._versions = unsigned(versions, "versions")
        if not hasattr(tensors, "items"):
            raise TypeError(
                f"tensors is {kind_of(tensors)}: give a dict of arrays on a GPU, by names"
            )
        sources = {name: tensor(name, x, self._are_written()) for name, x in tensors.items()}
        self._layouts = {name: each.layout for name, each in sources.items()}
        self._held = self._make(
            [(each.address, each.layout.nbytes) for each in sources.values()], self._versions
        )
        self._arrays = tuple(tensors.values())
        self._owners = [each.owner for each in sources.values()]

    @staticmethod
    def _are_written() -> bool:
        raise NotImplementedError

    @staticmethod
    def _make(tensors: Any, versions: int) -> Held:
        raise NotImplementedError

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

    @property
    def released(self) -> bool:
        return self._held.released

    def release(self) -> None:
        """Frees the memory, and lets go of the tensors. Releasing twice is allowed.

        No stream and no graph may use it any more: as `cudaFree` does, this waits for all kernels
        that run. Garbage collection does the same. The memory stays as long as somebody has an
        array of `StepInputs.host`.

        Examples
        --------
        >>> inputs = barmap.StepInputs({"x": barmap.alloc(2, "i4")})
        >>> inputs.release()
        >>> inputs.released
        True
        """
        self._arrays, self._owners = (), []
        self._held.release()

    def __enter__(self: _Self) -> _Self:
        if self.released:
            raise ValueError(f"this {type(self).__name__} is released")
        return self

    def __exit__(self, *_: object) -> None:
        self.release()

    def __repr__(self) -> str:
        state = "released" if self.released else f"{self._versions} versions"
        return f"<barmap.{type(self).__name__} of {', '.join(self._layouts)}; {state}>"
