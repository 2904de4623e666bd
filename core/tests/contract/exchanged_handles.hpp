// SPDX-License-Identifier: MIT
#pragma once

#include "shared/changed_driver.hpp"

#include <array>

namespace barmap::contract {

/// While this lives, the driver's handle of GPU 0 is that of GPU 1 and the other way round: CUDA
/// does not say that a GPU's handle is its ordinal. The primary contexts that are asked for are
/// counted by handle. @pre there are two GPUs
struct exchanged_handles : test::changed_driver {
    exchanged_handles() {
        retained = {};
        table.device_get = [](CUdevice* handle, int ordinal) {
            if (ordinal < 0 || ordinal > 1)
                return cuda::error_invalid_device;
            *handle = 1 - ordinal;
            return cuda::success;
        };
        table.pointer_get_attributes = [](unsigned count, int* names, void** values,
                                          CUdeviceptr address) {
            CUresult const result = real.pointer_get_attributes(count, names, values, address);
            for (unsigned i = 0; i < count; ++i)
                if (names[i] == cuda::pointer_device_ordinal)
                    exchange(*static_cast<int*>(values[i]));
            return result;
        };
        table.primary_ctx_retain = [](CUcontext* context, CUdevice handle) {
            ++retained.at(static_cast<std::size_t>(handle));
            return real.primary_ctx_retain(context, handle);
        };
    }
    static inline std::array<unsigned, 2> retained;

private:
    static void exchange(int& ordinal) {
        if (ordinal == 0 || ordinal == 1) // not where no GPU has the memory
            ordinal = 1 - ordinal;
    }
};

} // namespace barmap::contract
