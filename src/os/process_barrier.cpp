// SPDX-License-Identifier: MIT
#include "os/process_barrier.hpp"

#include <cerrno>
#include <dlfcn.h>
#include <linux/membarrier.h>
#include <sched.h>
#include <sys/syscall.h>
#include <unistd.h>

namespace barmap::os {
namespace {

// Of linux/membarrier.h since 5.10, for older headers.
constexpr int private_expedited_rseq = 1 << 7;
constexpr int register_private_expedited_rseq = 1 << 8;

bool membarrier(int command) noexcept {
    constexpr int most_tries = 100; // while memory is short
    for (int i = 0; i < most_tries; ++i) {
        if (::syscall(SYS_membarrier, command, 0, 0) == 0)
            return true;
        if (errno != ENOMEM)
            return false;
        ::sched_yield();
    }
    return false;
}

} // namespace

bool register_process_barrier() noexcept {
    return membarrier(MEMBARRIER_CMD_REGISTER_PRIVATE_EXPEDITED);
}

bool process_barrier() noexcept {
    return membarrier(MEMBARRIER_CMD_PRIVATE_EXPEDITED);
}

bool register_restart_barrier() noexcept {
    return membarrier(register_private_expedited_rseq);
}

bool restart_barrier() noexcept {
    return membarrier(private_expedited_rseq);
}

// Looked up, not linked, so that what is built here also loads where glibc has no such names.
bool find_rseq(std::ptrdiff_t& offset) noexcept {
    auto const* const size = static_cast<unsigned int const*>(::dlsym(RTLD_DEFAULT, "__rseq_size"));
    auto const* const place =
        static_cast<std::ptrdiff_t const*>(::dlsym(RTLD_DEFAULT, "__rseq_offset"));
    if (!size || !place || *size == 0)
        return false;
    offset = *place;
    return true;
}

} // namespace barmap::os
