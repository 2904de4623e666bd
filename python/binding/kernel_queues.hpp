// SPDX-License-Identifier: MIT
#pragma once

#include "held.hpp"

#include <barmap/kernel_queue.hpp>

#include <nanobind/nanobind.h>

#include <cstddef>
#include <cstdint>

namespace barmap::python {

/// A queue of copies that kernels submit, as Python holds it.
class held_kernel_queue : public held<kernel_queue> {
public:
    /// @throws error as device::open and kernel_queue
    held_kernel_queue(int ordinal, bool is_shared, bool or_rung_by_cpu);

    /// Enqueues a kernel that submits a list of copies. Of a list without room for any, only looks
    /// whether the queue is usable.
    /// @param pieces, count addresses for kernels, as of kernel_queue::enqueue()
    /// @param most rows of the list
    void submit(std::uintptr_t pieces, std::uintptr_t count, std::size_t most,
                std::int64_t at_most_ns, std::uintptr_t stream);
};

/// Adds the class KernelQueue, and what finds the GPU of an address.
void bind_kernel_queues(nanobind::module_& module);

} // namespace barmap::python
