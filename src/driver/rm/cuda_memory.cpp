// SPDX-License-Identifier: MIT
#include "driver/rm/cuda_memory.hpp"

#include "driver/cuda/context_scope.hpp"
#include "driver/cuda/driver_api.hpp"
#include "driver/rm/ipc_handle.hpp"

#include <barmap/error.hpp>

#include <string>
#include <unistd.h>

namespace barmap::rm {
namespace {

std::uint64_t object_size(ipc_fields const& fields) noexcept {
    // Above 2 MiB the driver rounds an object to 4 KiB only (580.159.04): the last GPU page of
    // 64 KiB may be longer than the object.
    constexpr std::uint64_t object_page = 4096;
    return fields.object_pages * object_page;
}

void check(ipc_fields const& fields, cuda::chunk const& chunk, client const& client) {
    if (fields.pid != static_cast<std::uint64_t>(::getpid()))
        throw error(errc::unsupported_memory,
                    "register memory of process " + std::to_string(fields.pid), "",
                    std::string(cuda::advice_for(memory_kind::imported)));
    if (fields.gpu_id != client.gpu_id())
        throw error(errc::wrong_device, "register cudaMalloc memory", "",
                    "open the device that owns the memory, for example with "
                    "device::from_pointer(pointer)");
    if (fields.size != chunk.capacity || fields.object_offset > object_size(fields) ||
        chunk.capacity > object_size(fields) - fields.object_offset ||
        chunk.before > fields.object_offset + chunk.offset)
        throw error(errc::unknown_layout, "read the IPC handle of cudaMalloc memory", "",
                    "this driver writes it in another way: use VMM memory with a POSIX-fd "
                    "handle type, or another backend");
}

cuda_object duplicate(std::shared_ptr<client const> const& client, cuda::memory const& memory,
                      cuda::chunk const& chunk) {
    CUipcMemHandle handle{};
    {
        cuda::context_scope scope(memory.context);
        cuda::check(cuda::api().ipc_get_mem_handle(&handle, chunk.base),
                    "get the IPC handle of cudaMalloc memory",
                    "the memory may have been freed, or come from an allocator that CUDA IPC "
                    "does not support");
    }
    ipc_fields const fields = parse(handle);
    check(fields, chunk, *client);
    return {{client, client->duplicate(fields.client, fields.memory)},
            fields.object_offset + chunk.offset - chunk.before,
            object_size(fields),
            fields.client};
}

} // namespace

std::vector<cuda_object> take(std::shared_ptr<client const> const& client,
                              cuda::memory const& memory) {
    std::vector<cuda_object> objects;
    for (cuda::chunk const& chunk : memory.chunks) {
        if (memory.kind == memory_kind::device) {
            objects.push_back(duplicate(client, memory, chunk));
            continue;
        }
        os::fd made;
        if (!memory.exported)
            made = cuda::export_chunk(chunk);
        int const descriptor = memory.exported ? memory.exported->get() : made.get();
        // VMM chunks are whole GPU pages, so that nothing before one is ever wanted.
        objects.push_back({{client, client->import(descriptor)}, chunk.offset, chunk.capacity, 0});
    }
    return objects;
}

} // namespace barmap::rm
