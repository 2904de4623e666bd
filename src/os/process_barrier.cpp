// SPDX-License-Identifier: MIT
#include "os/process_barrier.hpp"

#include <linux/membarrier.h>
#include <sys/syscall.h>
#include <unistd.h>

namespace barmap::os {

bool register_process_barrier() noexcept {
    return ::syscall(SYS_membarrier, MEMBARRIER_CMD_REGISTER_PRIVATE_EXPEDITED, 0, 0) == 0;
}

void process_barrier() noexcept {
    ::syscall(SYS_membarrier, MEMBARRIER_CMD_PRIVATE_EXPEDITED, 0, 0);
}

namespace {
// Of linux/membarrier.h since 5.10, for older headers.
constexpr int private_expedited_rseq = 1 << 7;
constexpr int register_private_expedited_rseq = 1 << 8;
} // namespace

bool register_restart_barrier() noexcept {
    return ::syscall(SYS_membarrier, register_private_expedited_rseq, 0, 0) == 0;
}

void restart_barrier() noexcept {
    ::syscall(SYS_membarrier, private_expedited_rseq, 0, 0);
}

} // namespace barmap::os
