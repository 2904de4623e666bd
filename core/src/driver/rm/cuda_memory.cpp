// SPDX-License-Identifier: MIT
#include "driver/rm/cuda_memory.hpp"

#include "cuda/context_scope.hpp"
#include "cuda/driver_api.hpp"
#include "driver/rm/exported_objects.hpp"
#include "driver/rm/ipc_handle.hpp"
#include "system/region.hpp"

#include <barmap/error.hpp>

#include <algorithm>
#include <string>
#include <unistd.h>

namespace barmap::rm {
namespace {

using client_ptr = std::shared_ptr<client const>;

/// The wanted part of an allocation, rounded out to pages of the CPU.
struct page_range {
    explicit page_range(cuda::allocation_part const& chunk)
        : begin((chunk.base + chunk.offset) / page * page),
          end((chunk.base + chunk.offset + chunk.length + page - 1) / page * page) {}
    CUdeviceptr page = os::page_size();
    CUdeviceptr begin, end;
};

[[noreturn]] void refuse_layout(char const* operation) {
    throw error(errc::unknown_layout, operation, "",
                "this driver describes memory in an unknown way: please report this with its "
                "version, and use another backend");
}

std::uint64_t object_size(ipc_fields const& fields) noexcept {
    // Above 2 MiB the driver rounds an object to 4 KiB only (580.159.04): the last GPU page of
    // 64 KiB may be longer than the object.
    constexpr std::uint64_t object_page = 4096;
    return fields.object_pages * object_page;
}

void check(ipc_fields const& fields, cuda::allocation_part const& chunk, client const& client) {
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
                    "this driver writes it in an unknown way: use VMM memory with a POSIX-fd "
                    "handle type, or another backend");
}

/// cudaMalloc memory, of which the IPC handle and an export, where there is one, say the same.
cuda_object by_ipc_handle(client_ptr const& client, cuda::allocation_part const& chunk) {
    CUipcMemHandle handle{};
    cuda::check(cuda::api().ipc_get_mem_handle(&handle, chunk.base),
                "get the IPC handle of cudaMalloc memory",
                "the memory may have been freed, or come from an allocator that CUDA IPC "
                "does not support");
    ipc_fields const fields = parse(handle);
    check(fields, chunk, *client);
    page_range const pages(chunk);
    auto const told = exported_objects::of(pages.begin, pages.end - pages.begin);
    if (told) {
        exported_objects::part const& first = told->parts.front();
        if (told->client != fields.client || first.object != fields.memory || told->in_all != 1 ||
            first.offset != fields.object_offset + (pages.begin - chunk.base))
            refuse_layout("find the same memory by CUDA's IPC handle and by an export");
    }
    return {{client, client->duplicate(fields.client, fields.memory)},
            fields.object_offset + chunk.offset - chunk.before,
            chunk.extent(),
            object_size(fields),
            fields.client,
            told ? "its IPC handle and CUDA's export, which agree" : "its IPC handle"};
}

/// cudaMalloc memory of any process, by the IPC handle that its owner gave away.
cuda_object by_told_handle(client_ptr const& client, CUipcMemHandle const& handle,
                           cuda::allocation_part const& chunk) {
    constexpr char what[] = "find memory by a CUDA IPC handle";
    ipc_fields const fields = parse(handle);
    if (fields.gpu_id != client->gpu_id())
        throw error(errc::wrong_device, what, "", "open the device that owns the memory");
    if (chunk.offset > fields.size || chunk.length > fields.size - chunk.offset)
        throw error(errc::out_of_range, what, "",
                    "the allocation has " + std::to_string(fields.size) + " bytes");
    std::optional<abi::handle> const duplicate =
        client->try_duplicate(fields.client, fields.memory);
    if (!duplicate)
        throw error(errc::unsupported_memory, what, "",
                    "no process of this machine has that memory, or this process may not refer to "
                    "it: its owner may have freed it, or ended");
    memory_object object(client, *duplicate);
    std::uint64_t const size = client->size_of(object.handle());
    if (object_size(fields) > size || fields.object_offset > size ||
        fields.size > size - fields.object_offset)
        refuse_layout(what);
    return {std::move(object), fields.object_offset + chunk.offset,
            chunk.length,      size,
            fields.client,     "its IPC handle"};
}

/// Whether the parts' sizes can be right: libcuda may miscount them.
bool add_up(exported_objects const& told, std::uint64_t bytes) noexcept {
    std::uint64_t sum = 0;
    for (exported_objects::part const& each : told.parts) {
        if (each.bytes == 0 || each.bytes > bytes - sum)
            return false;
        sum += each.bytes;
    }
    return told.parts.size() < told.in_all ? sum < bytes : sum == bytes;
}

/// Asks for all of [from, from + bytes), and for its last page: both have to lie in one object.
void expect_contiguous(abi::handle client, exported_objects::part const& part, CUdeviceptr from,
                       std::uint64_t bytes, std::size_t page) {
    for (std::uint64_t const skipped : {std::uint64_t{0}, bytes - page}) {
        auto const told = exported_objects::of(from + skipped, bytes - skipped);
        if (!told || told->client != client || told->in_all != 1 ||
            told->parts.front().object != part.object ||
            told->parts.front().offset != part.offset + skipped)
            refuse_layout("find the end of a memory object");
    }
}

/// The objects that libcuda reports for a range of whole pages, each with the length of its part
/// of the range.
/// @param told libcuda's report for the whole range
std::vector<cuda_object> by_export(client_ptr const& client, exported_objects told,
                                   page_range const& pages) {
    std::vector<cuda_object> found;
    for (CUdeviceptr from = pages.begin;;) {
        bool const counted = add_up(told, pages.end - from);
        for (exported_objects::part const& each : told.parts) {
            bool const first = &each == &told.parts.front();
            memory_object object(client, client->duplicate(told.client, each.object));
            std::uint64_t const size = client->size_of(object.handle());
            std::uint64_t const left =
                std::min<std::uint64_t>(size - std::min(size, each.offset), pages.end - from);
            std::uint64_t const bytes = counted ? each.bytes : left;
            if (bytes == 0 || bytes > left) {
                if (first)
                    refuse_layout("find the bounds of a memory object");
                break; // miscounted after all: what comes before it is right
            }
            if (!counted)
                expect_contiguous(told.client, each, from, bytes, pages.page);
            found.push_back(
                {std::move(object), each.offset, bytes, size, told.client, "CUDA's export"});
            from += bytes;
            if (!counted) // the offsets of those behind it are also wrong
                break;
        }
        if (from >= pages.end)
            return found;
        auto next = exported_objects::of(from, pages.end - from);
        if (!next)
            refuse_layout("find the objects of a memory range");
        told = std::move(*next);
    }
}

/// From whole pages to what is wanted of them.
void narrow(std::vector<cuda_object>& found, cuda::allocation_part const& chunk,
            page_range const& pages) {
    std::uint64_t const head = chunk.base + chunk.offset - pages.begin;
    std::uint64_t const tail = pages.end - (chunk.base + chunk.offset + chunk.length);
    cuda_object& first = found.front();
    if (chunk.before > first.offset + head || head >= first.length || tail >= found.back().length)
        refuse_layout("find the bounds of a memory object");
    first.offset += head - chunk.before;
    first.length += chunk.before - head;
    found.back().length += chunk.after - tail;
}

cuda_object by_descriptor(client_ptr const& client, int descriptor,
                          cuda::allocation_part const& chunk) {
    // VMM chunks are whole GPU pages, so that nothing before one is ever wanted.
    return {{client, client->import(descriptor)},
            chunk.offset,
            chunk.extent(),
            chunk.capacity,
            0,
            "a file descriptor"};
}

std::vector<cuda_object> take_chunk(client_ptr const& client, cuda::memory const& memory,
                                    cuda::allocation_part const& chunk) {
    std::vector<cuda_object> found;
    if (memory.ipc_handle) {
        found.push_back(by_told_handle(client, *memory.ipc_handle, chunk));
        return found;
    }
    if (memory.exported) {
        found.push_back(by_descriptor(client, memory.exported->get(), chunk));
        return found;
    }
    cuda::context_scope const scope =
        memory.context ? cuda::context_scope(memory.context)
                       : cuda::context_scope::on_device(cuda::device_with(memory.ordinal));
    if (memory.kind == memory_kind::device) {
        found.push_back(by_ipc_handle(client, chunk));
        return found;
    }
    page_range const pages(chunk);
    if (auto told = exported_objects::of(pages.begin, pages.end - pages.begin)) {
        found = by_export(client, std::move(*told), pages);
        narrow(found, chunk, pages);
        return found;
    }
    if (memory.kind != memory_kind::virtual_exportable)
        throw error(errc::unsupported_memory,
                    "find the objects of " + std::string(to_string(memory.kind)), "",
                    std::string(cuda::advice_for(memory.kind)));
    found.push_back(by_descriptor(client, cuda::export_chunk(chunk).get(), chunk));
    return found;
}

} // namespace

std::vector<cuda_object> take(client_ptr const& client, std::span<held_object const> held) {
    std::vector<cuda_object> objects;
    for (held_object const& each : held)
        objects.push_back({{client, client->duplicate(each.client, each.object)},
                           each.offset,
                           each.length,
                           each.size,
                           each.client,
                           "a pin"});
    return objects;
}

std::vector<cuda_object> take(client_ptr const& client, cuda::memory const& memory) {
    std::vector<cuda_object> objects;
    for (cuda::allocation_part const& chunk : memory.chunks)
        for (cuda_object& found : take_chunk(client, memory, chunk))
            objects.push_back(std::move(found));
    return objects;
}

} // namespace barmap::rm
