# SPDX-License-Identifier: MIT
"""The plug-in for vLLM (entry point ``vllm.general_plugins``): barmap copies the blocks that vLLM
offloads to CPU memory and loads again.

It is off unless BARMAP_VLLM=1. vLLM makes one handler for each direction
(``SingleDirectionOffloadingHandler``), and a handler calls one function for all blocks of a transfer.
The plug-in derives from that class and replaces that function. vLLM's own function copies what
barmap refuses, and all that barmap has begun and not ended, before the transfer counts as finished.
"""

from __future__ import annotations

import importlib.util
import inspect
import logging
import os
import sys
from typing import TYPE_CHECKING, Any, Dict, Iterable, List, NamedTuple, Optional, Sequence, Set

from . import _barmap
from ._base.error import Error

if TYPE_CHECKING:
    from importlib.machinery import ModuleSpec
    from types import ModuleType

    import numpy as np
    import numpy.typing as npt

    Numbers = npt.NDArray[np.int64]

MODULE = "vllm.v1.kv_offload.cpu.gpu_worker"
CLASS = "SingleDirectionOffloadingHandler"
FUNCTION = "_swap_blocks_batch"  # an attribute of the handler
METHODS: Dict[str, Set[str]] = {  # with arguments that the plug-in uses
    "__init__": {"gpu_to_cpu"}, "transfer_async": {"job_id"}, "get_finished": set(), "wait": {"job_ids"},
    "shutdown": set(),
}

logger = logging.getLogger("vllm.plugins.barmap")  # below vLLM's logger, which prints it
_said: Set[str] = set()
_failure = ""  # why barmap copies no more in this process


def register() -> None:
    """vLLM calls this in each of its processes, before it imports its handlers in one of them."""
    if os.environ.get("BARMAP_VLLM") != "1":
        return
    if MODULE in sys.modules:
        _derive(sys.modules[MODULE])
    elif not any(isinstance(each, _Finder) for each in sys.meta_path):
        try:
            is_there = importlib.util.find_spec(MODULE) is not None
        except Exception:  # whatever it is, vLLM can do without
            is_there = False
        if is_there:
            sys.meta_path.insert(0, _Finder())
        else:
            _leave_to_vllm(f"there is no module {MODULE}")


class _Finder:
    """Derives from the handler when vLLM imports it: many of its processes never do, and the import
    before a fork might start CUDA."""

    def find_spec(self, name: str, path: Optional[Sequence[str]], target: Any = None) -> Optional[ModuleSpec]:
        if name != MODULE:
            return None
        others = (each for each in sys.meta_path if each is not self)
        spec = next(filter(None, (each.find_spec(name, path, target) for each in others)), None)
        if spec is not None and spec.loader is not None:
            execute = spec.loader.exec_module

            def execute_and_derive(module: ModuleType) -> None:
                execute(module)
                if module.__name__ == MODULE:  # a loader may load others as well
                    _derive(module)

            setattr(spec.loader, "exec_module", execute_and_derive)
        return spec


def _derive(module: ModuleType) -> None:
    try:
        _derive_from(module)
    except Exception as refusal:  # whatever it is, vLLM can do without
        _leave_to_vllm(f"{type(refusal).__name__}: {refusal}")


def _derive_from(module: ModuleType) -> None:
    theirs = getattr(module, CLASS, None)
    if not isinstance(theirs, type):
        _leave_to_vllm(f"{MODULE} has no class {CLASS}")
    elif not issubclass(theirs, _Handler):
        for method, needed in METHODS.items():
            found = getattr(theirs, method, None)
            missing = needed.difference(inspect.signature(found).parameters) if found else needed
            if found is None or missing:
                _leave_to_vllm(f"{CLASS} has no {method}({', '.join(sorted(needed))})")
                return
        setattr(module, CLASS, type(CLASS, (_Handler, theirs), {"__module__": MODULE}))


class _Handler:
    """The plug-in's additions to vLLM's handler."""

    _batches: Optional[_Batches] = None

    def __init__(self, *args: Any, **named: Any) -> None:
        theirs: Any = super()
        theirs.__init__(*args, **named)
        of_vllm = getattr(self, FUNCTION, None)
        if not callable(of_vllm):
            _leave_to_vllm(f"{CLASS} has no function {FUNCTION}")
        elif _can_start():
            arguments = inspect.signature(theirs.__init__).bind(*args, **named).arguments
            self._batches = _Batches(of_vllm, stores=arguments["gpu_to_cpu"])
            setattr(self, FUNCTION, self._batches.swap)

    def transfer_async(self, job_id: int, *args: Any, **named: Any) -> Any:
        theirs: Any = super()
        if self._batches is not None:
            self._batches.forget_latest()  # of a transfer that vLLM has refused
        result = theirs.transfer_async(job_id, *args, **named)
        if self._batches is not None:
            self._batches.name_latest(job_id)
        return result

    def get_finished(self) -> Any:
        theirs: Any = super()
        finished = theirs.get_finished()
        if self._batches is not None:
            self._batches.settle([each.job_id for each in finished])
        return finished

    def wait(self, job_ids: Iterable[int]) -> None:
        theirs: Any = super()
        named = list(job_ids)
        theirs.wait(named)
        if self._batches is not None:
            self._batches.settle(named)

    def shutdown(self) -> None:
        theirs: Any = super()
        theirs.shutdown()
        if self._batches is not None and os.environ.get("BARMAP_LOG") in ("info", "debug"):
            logger.info(self._batches.account())


class _Batch(NamedTuple):
    queue: _barmap.BatchQueue
    ticket: int
    lists: Sequence[Any]  # vLLM's tensors, which it uses again when the transfer is finished
    options: Dict[str, Any]


class _Batches:
    """The copies of one handler: all stores, or all loads."""

    def __init__(self, of_vllm: Any, stores: bool) -> None:
        self._of_vllm, self._stores = of_vllm, stores
        self._latest: List[_Batch] = []
        self._under_way: Dict[int, List[_Batch]] = {}
        self._taken = self._pieces = self._left = self._failed = 0

    def swap(self, src_ptrs: Any, dst_ptrs: Any, sizes: Any, **options: Any) -> None:
        """Copies blocks in the order of PyTorch's current stream, as vLLM's function does."""
        why = _failure
        if not why:
            try:
                self._latest.append(self._submit(src_ptrs, dst_ptrs, sizes, options))
                self._taken += 1
                self._pieces += sizes.numel()
                return
            except Exception as refusal:  # nothing of it is in flight, whatever it is
                why = f"{type(refusal).__name__}: {refusal}"
                _warn_once(f"vLLM's own function copies batches that barmap refuses: {why}",
                           kind=type(refusal).__name__)
        self._left += 1
        self._of_vllm(src_ptrs, dst_ptrs, sizes, **options)

    def _submit(self, src_ptrs: Any, dst_ptrs: Any, sizes: Any, options: Dict[str, Any]) -> _Batch:
        unknown = set(options) - {"is_src_access_order_any"}  # as strict an order is always right
        if unknown:
            raise TypeError(f"arguments {sorted(unknown)} are unknown")
        from_, to, nbytes = (each.numpy() for each in (src_ptrs, dst_ptrs, sizes))
        self._expect_pinned(to if self._stores else from_, nbytes)
        stream = _current_stream()
        queue = _barmap.batch_queue(stream.device_index)
        order = stream.cuda_stream
        ticket = queue.submit(to, from_, nbytes, order, order, None)
        return _Batch(queue, ticket, (src_ptrs, dst_ptrs, sizes), options)

    def _expect_pinned(self, host: Numbers, nbytes: Numbers) -> None:
        """vLLM pins all of its CPU blocks or none: two of them tell."""
        for at in {0, len(host) - 1}:
            if not _barmap.is_pinned(int(host[at]), int(nbytes[at])):
                raise ValueError("the memory of the blocks on the CPU is not pinned, or the process is prepared for a "
                                 "checkpoint")

    def forget_latest(self) -> None:
        self._latest = []

    def name_latest(self, job_id: int) -> None:
        if self._latest:
            self._under_way[job_id], self._latest = self._latest, []

    def settle(self, job_ids: Iterable[int]) -> None:
        """Of transfers whose streams are past them: has vLLM copy again what has failed."""
        for batch in (each for job_id in job_ids for each in self._under_way.pop(job_id, [])):
            try:
                batch.queue.wait(batch.ticket, None)
            except Error as failure:
                self._failed += 1
                _give_up(f"a batch failed: {failure}")
                # Both sides are still vLLM's to copy: it frees them with the finished transfer.
                self._of_vllm(*batch.lists, **batch.options)
                _current_stream().synchronize()

    def account(self) -> str:
        return (f"{'stores' if self._stores else 'loads'}: barmap copied {self._taken} batches of "
                f"{self._pieces} blocks, of which {self._failed} failed and were copied again; "
                f"vLLM's own function copied {self._left} batches")


def _can_start() -> bool:
    """Starts the engine, and says in one line who copies in this process."""
    if _failure:
        return False
    ordinal = None
    try:
        ordinal = _current_stream().device_index
        engine = _barmap.batch_queue(ordinal).engine
    except Exception as refusal:  # whatever it is, vLLM can do without
        _give_up(f"no engine starts: {refusal}")
        return False
    if engine != "channel" and engine != os.environ.get("BARMAP_ENGINE"):
        _give_up(f"GPU {ordinal} has no channel (see `barmap info`), and barmap's engine "
                 f"{engine!r} is no faster than vLLM's own movers")
        return False
    _say_once(logging.INFO, f"barmap {_barmap.version} copies the blocks of the key-value cache that are "
                            f"offloaded and loaded, by the engine {engine!r} of GPU {ordinal}")
    return True


def _current_stream() -> Any:
    import torch

    return torch.cuda.current_stream()


def _give_up(why: str) -> None:
    global _failure
    _failure = why
    _warn_once(f"vLLM's own movers copy all blocks from now on: {why}", kind="give up")


def _leave_to_vllm(why: str) -> None:
    version = getattr(sys.modules.get("vllm"), "__version__", "of an unknown version")
    _warn_once(f"BARMAP_VLLM=1 has no effect: barmap {_barmap.version} does not know vLLM {version}: "
               f"{why}", kind="unknown")


def _warn_once(text: str, kind: str) -> None:
    _say_once(logging.WARNING, text, kind)


def _say_once(level: int, text: str, kind: str = "") -> None:
    if kind not in _said:
        _said.add(kind)
        logger.log(level, text)
