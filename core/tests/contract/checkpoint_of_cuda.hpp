// SPDX-License-Identifier: MIT
#pragma once

#include "contract/ways.hpp"
#include "cuda/driver_api.hpp"

#include <barmap/checkpoint.hpp>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <dlfcn.h>
#include <gtest/gtest.h>
#include <iterator>
#include <string_view>
#include <unistd.h>
#include <vector>

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

/// As a program goes through a checkpoint that it knows of.
inline void checkpoint_and_restore() {
    checkpoint_prepare(std::chrono::seconds(60));
    checkpoint_of_cuda::whole();
    checkpoint_restore();
}

/// Whether a load there would fault.
inline bool is_out_of_reach(void const* address) {
    int ends[2];
    EXPECT_EQ(::pipe(ends), 0);
    bool const result = ::write(ends[1], address, 1) < 0 && errno == EFAULT;
    ::close(ends[0]);
    ::close(ends[1]);
    return result;
}

inline std::vector<way> ways_that_come_back() {
    std::vector<way> result;
    std::ranges::copy_if(all_ways(), std::back_inserter(result), [](way const& each) {
        return each.backend != std::string_view("vulkan");
    });
    return result;
}

} // namespace barmap::contract
