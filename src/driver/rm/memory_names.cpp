// SPDX-License-Identifier: MIT
#include "driver/rm/memory_names.hpp"

#include "driver/cuda/context_scope.hpp"
#include "driver/cuda/driver_api.hpp"
#include "driver/cuda/memory.hpp"
#include "driver/rm/ipc_handle.hpp"

namespace barmap::rm {

std::optional<memory_names> memory_names::of(CUdevice device, CUdeviceptr address) {
    try {
        cuda::relaxed_capture const relaxed; // of another thread, which this is not to end
        cuda::context_scope const scope = cuda::context_scope::on_device(device);
        CUipcMemHandle handle{};
        if (cuda::api().ipc_get_mem_handle(&handle, address) != cuda::success)
            return std::nullopt;
        ipc_fields const fields = parse(handle);
        return memory_names{fields.client, fields.memory, cuda::allocation_id(address)};
    } catch (error const&) {
        return std::nullopt;
    }
}

} // namespace barmap::rm
