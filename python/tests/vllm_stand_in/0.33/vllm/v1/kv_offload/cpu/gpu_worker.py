# SPDX-License-Identifier: MIT
"""The shapes of vLLM 0.33's handler; tensors are (address, bytes from one block to the next)."""

import collections
import functools
import types

import vllm_movers

THRESHOLD_BYTES = 28 * 1024


def _select_swap_blocks_fn(page_size, gpu_to_cpu, host_memory_is_pinned=True):
    if gpu_to_cpu or not host_memory_is_pinned or page_size >= THRESHOLD_BYTES:
        return vllm_movers.batch_call
    return functools.partial(lambda *args, bytes_per_chunk, **named: vllm_movers.triton(*args, **named),
                             bytes_per_chunk=4096)


class SingleDirectionOffloadingHandler:
    def __init__(self, gpu_tensors, cpu_tensors, blocks_per_chunk, layer_refs_per_group, gpu_to_cpu,
                 canonical_layout=False, host_memory_is_pinned=True):
        self.src_tensors = gpu_tensors if gpu_to_cpu else cpu_tensors
        self.dst_tensors = cpu_tensors if gpu_to_cpu else gpu_tensors
        self.gpu_to_cpu = gpu_to_cpu
        (self.page_size,) = layer_refs_per_group
        self._swap_blocks_batch = _select_swap_blocks_fn(self.page_size, gpu_to_cpu, host_memory_is_pinned)
        self._transfer_streams = {}
        self._transfers = collections.deque()

    def transfer_async(self, job_id, src_spec, dst_spec):
        src, dst, sizes = vllm_movers.lists(self.src_tensors[0], src_spec, self.dst_tensors[0], dst_spec,
                                            self.page_size)
        stream = vllm_movers.Stream()
        with vllm_movers.current(stream):
            self._swap_blocks_batch(src, dst, sizes, is_src_access_order_any=not self.gpu_to_cpu)
        self._transfer_streams[job_id] = stream
        self._transfers.append(job_id)
        return True

    def get_finished(self):
        results = []
        while self._transfers and self._transfer_streams[self._transfers[0]].query():
            job_id = self._transfers.popleft()
            del self._transfer_streams[job_id]
            results.append(types.SimpleNamespace(job_id=job_id, success=True))
        return results

    def wait(self, job_ids):
        for job_id in job_ids:
            if job_id in self._transfer_streams:
                self._transfer_streams[job_id].synchronize()

    def shutdown(self):
        self.wait(list(self._transfers))


class CPUOffloadingWorker:
    def __init__(self, gpu, cpu, page_size, host_memory_is_pinned=True):
        make_handler = functools.partial(
            SingleDirectionOffloadingHandler, gpu_tensors=[gpu], cpu_tensors=[cpu], blocks_per_chunk=1,
            layer_refs_per_group=[page_size], host_memory_is_pinned=host_memory_is_pinned)
        self._store_handler = make_handler(gpu_to_cpu=True)
        self._load_handler = make_handler(gpu_to_cpu=False)
        self._expedited_load_handler = make_handler(gpu_to_cpu=False)

    def submit_store(self, job_id, src_spec, dst_spec):
        return self._store_handler.transfer_async(job_id, src_spec, dst_spec)

    def submit_load(self, job_id, src_spec, dst_spec, expedited=False):
        handler = self._expedited_load_handler if expedited else self._load_handler
        return handler.transfer_async(job_id, src_spec, dst_spec)

    @property
    def handlers(self):
        return self._store_handler, self._load_handler, self._expedited_load_handler
