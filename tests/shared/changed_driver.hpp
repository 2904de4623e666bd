// SPDX-License-Identifier: MIT
#pragma once

#include "driver/cuda/driver_api.hpp"

namespace barmap::test {

/// CUDA's driver with calls that a test replaces, until this goes or is restored. One at a time.
class changed_driver {
public:
    static inline cuda::driver_api table; ///< what is called
    static inline cuda::driver_api real;  ///< what was, for what stands in place of a call

    changed_driver() {
        real = table = cuda::api();
        cuda::replace_api(&table);
    }
    changed_driver(changed_driver const&) = delete;
    changed_driver& operator=(changed_driver const&) = delete;
    ~changed_driver() { restore(); }
    static void restore() { cuda::replace_api(nullptr); }

    [[nodiscard]] cuda::driver_api* operator->() { return &table; }
};

/// Memory of pools is as that of a graph's node: CUDA names no pool for it, and no context.
struct pools_of_graphs : changed_driver {
    pools_of_graphs() {
        table.pointer_get_attribute = [](void* to, int what, CUdeviceptr address) {
            CUresult const result = real.pointer_get_attribute(to, what, address);
            if (what == cuda::pointer_mempool_handle)
                *static_cast<CUmemoryPool*>(to) = nullptr;
            return result;
        };
    }
};

} // namespace barmap::test
