# SPDX-License-Identifier: MIT
"""The shapes of vLLM 0.24's handler; tensors are (address, bytes from one block to the next)."""

import abc
import collections
import types

import vllm_movers

THRESHOLD_BYTES = 28 * 1024


def _select_swap_blocks_fn(page_size, gpu_to_cpu):
    return vllm_movers.batch_call if gpu_to_cpu or page_size >= THRESHOLD_BYTES else vllm_movers.triton


class OffloadingHandler(abc.ABC):
    @abc.abstractmethod
    def transfer_async(self, job_id, spec):
        pass

    @abc.abstractmethod
    def get_finished(self):
        pass

    @abc.abstractmethod
    def wait(self, job_ids):
        pass

    def shutdown(self):
        return


class SingleDirectionOffloadingHandler(OffloadingHandler):
    def __init__(self, gpu_tensors, cpu_tensors, block_size_factor, kv_cache_groups_data_refs, gpu_to_cpu,
                 mmap_region=None):
        self.src_tensors = gpu_tensors if gpu_to_cpu else cpu_tensors
        self.dst_tensors = cpu_tensors if gpu_to_cpu else gpu_tensors
        self.gpu_to_cpu = gpu_to_cpu
        (self.page_size,) = kv_cache_groups_data_refs
        self._swap_blocks_batch = _select_swap_blocks_fn(self.page_size, gpu_to_cpu)
        self._transfer_streams = {}
        self._transfers = collections.deque()

    def transfer_async(self, job_id, transfer_spec):
        src_blocks, dst_blocks = transfer_spec
        src, dst, sizes = vllm_movers.lists(self.src_tensors[0], src_blocks, self.dst_tensors[0], dst_blocks,
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


class CpuGpuOffloadingHandlers:
    def __init__(self, gpu, cpu, page_size):
        self.gpu_to_cpu_handler, self.cpu_to_gpu_handler = (
            SingleDirectionOffloadingHandler(
                gpu_tensors=[gpu], cpu_tensors=[cpu], block_size_factor=1,
                kv_cache_groups_data_refs=[page_size], gpu_to_cpu=gpu_to_cpu,
            ) for gpu_to_cpu in (True, False))

    def submit_store(self, job_id, gpu_blocks, cpu_blocks):
        return self.gpu_to_cpu_handler.transfer_async(job_id, (gpu_blocks, cpu_blocks))

    def submit_load(self, job_id, cpu_blocks, gpu_blocks):
        return self.cpu_to_gpu_handler.transfer_async(job_id, (cpu_blocks, gpu_blocks))

    @property
    def handlers(self):
        return self.gpu_to_cpu_handler, self.cpu_to_gpu_handler
