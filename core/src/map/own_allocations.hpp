// SPDX-License-Identifier: MIT
#pragma once

#include "cuda/memory.hpp"

#include <memory>
#include <mutex>
#include <vector>

namespace barmap {

/// Memory that a backend allocated on one GPU, so that other backends can register it: to CUDA it
/// is imported memory, and does not say from where. Thread rule: every member may be called at
/// once.
class own_allocations {
public:
    void add(CUdeviceptr address, std::size_t size, std::shared_ptr<os::fd const> const& exported);

    /// If the range lies in one of them, adds what backends can import it by. @throws error
    void find(cuda::memory& memory);

private:
    struct allocation {
        CUdeviceptr address;
        std::size_t size;
        unsigned long long id; ///< CUDA's, which differs for later memory at the same address
        std::weak_ptr<os::fd const> exported;
    };
    std::mutex lock_;
    std::vector<allocation> list_; ///< under the lock
};

} // namespace barmap
