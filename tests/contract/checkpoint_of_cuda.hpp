// SPDX-License-Identifier: MIT
#pragma once

#include "driver/cuda/driver_api.hpp"

#include <dlfcn.h>
#include <gtest/gtest.h>
#include <unistd.h>

namespace barmap::contract {

/// The simulated GPU's calls by which a process is checkpointed: that of this process, by itself.
class checkpoint_of_cuda {
public:
    static void lock() { call("cuCheckpointProcessLock"); }
    static void checkpoint() { call("cuCheckpointProcessCheckpoint"); }
    static void restore() { call("cuCheckpointProcessRestore"); }
    static void unlock() { call("cuCheckpointProcessUnlock"); }
    static void whole() {
        lock();
        checkpoint();
        restore();
        unlock();
    }

private:
    static void call(char const* name) {
        auto* const function =
            reinterpret_cast<CUresult (*)(int, void*)>(::dlsym(cuda::api().library, name));
        ASSERT_NE(function, nullptr) << name;
        ASSERT_EQ(function(::getpid(), nullptr), cuda::success) << name;
    }
};

} // namespace barmap::contract
