// SPDX-License-Identifier: MIT
#include "driver/memory_names.hpp"

#include "cuda/context_scope.hpp"
#include "cuda/driver_api.hpp"
#include "cuda/memory.hpp"
#include "driver/rm/exported_objects.hpp"
#include "driver/rm/ipc_handle.hpp"
#include "system/region.hpp"

namespace barmap::cuda {

std::optional<memory_names> memory_names::of(CUdevice device, CUdeviceptr address) {
    try {
        relaxed_capture const relaxed; // of another thread, which this is not to end
        context_scope const scope = context_scope::on_device(device);
        CUipcMemHandle handle{};
        if (api().ipc_get_mem_handle(&handle, address) == success) {
            rm::ipc_fields const fields = rm::parse(handle);
            return memory_names{fields.client, fields.memory, allocation_id(address)};
        }
        if (auto const told = rm::exported_objects::of(address, os::page_size()))
            return memory_names{told->client, told->parts.front().object, allocation_id(address)};
        return std::nullopt;
    } catch (error const&) {
        return std::nullopt;
    }
}

} // namespace barmap::cuda
