// SPDX-License-Identifier: MIT
#pragma once

#include "cuda/driver_api.hpp"

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

    /// The driver tells this value of an attribute: of all pointers, or of the one given.
    template <class Value>
    void tell(int attribute, Value value, CUdeviceptr pointer = 0) {
        static struct {
            int attribute;
            Value value;
            CUdeviceptr pointer;
        } told;
        told = {attribute, value, pointer};
        table.pointer_get_attributes = [](unsigned count, int* names, void** values,
                                          CUdeviceptr of) {
            CUresult const result = real.pointer_get_attributes(count, names, values, of);
            for (unsigned i = 0; i < count; ++i)
                if (names[i] == told.attribute && (told.pointer == 0 || told.pointer == of))
                    *static_cast<Value*>(values[i]) = told.value;
            return result;
        };
    }
};

/// CUDA pins no host memory but what it has allocated, as on some systems.
struct pins_only_its_own : changed_driver {
    pins_only_its_own() {
        table.mem_host_register = [](void*, std::size_t, unsigned) -> CUresult {
            return cuda::error_not_supported;
        };
    }
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
