// SPDX-License-Identifier: MIT
#include "cuda/memory.hpp"

#include "cuda/context_scope.hpp"
#include "cuda/driver_api.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <string>

namespace barmap::cuda {
namespace {

struct attributes {
    unsigned memory_type = 0;
    int is_managed = 0;
    int ordinal = -1;
    int ipc_capable = 0;
    int handle_types = 0;
    CUcontext context = nullptr;
    CUdeviceptr range_start = 0;
    std::size_t range_size = 0;
    CUmemoryPool pool = nullptr;
};

// cuPointerGetAttributes leaves an attribute at zero where it does not apply, and succeeds even for
// a pointer that CUDA does not know, so the memory type alone says whether anything is there.
attributes attributes_of(CUdeviceptr address) {
    driver_api const& cu = api();
    attributes a;
    std::array<int, 8> names{pointer_memory_type,    pointer_is_managed,
                             pointer_device_ordinal, pointer_is_legacy_cuda_ipc_capable,
                             pointer_context,        pointer_range_start_addr,
                             pointer_range_size,     pointer_allowed_handle_types};
    std::array<void*, 8> values{&a.memory_type, &a.is_managed,  &a.ordinal,    &a.ipc_capable,
                                &a.context,     &a.range_start, &a.range_size, &a.handle_types};
    CUresult const result = cu.pointer_get_attributes(static_cast<unsigned>(names.size()),
                                                      names.data(), values.data(), address);
    if (result == error_invalid_value)
        return {};
    check(result, "read the attributes of a GPU pointer");
    // Since CUDA 11.3; asked for apart, so that an older driver's refusal costs nothing else.
    if (cu.pointer_get_attribute(&a.pool, pointer_mempool_handle, address) != success)
        a.pool = nullptr;
    return a;
}

// The range attributes of VMM memory span every chunk that touches this one; the address range is
// that of the one chunk, which the driver reports only where a context is current (580.159.04).
void narrow_to_chunk(CUdeviceptr address, attributes& a) {
    CUdevice device = 0;
    check(api().device_get(&device, a.ordinal), "open the GPU that owns a VMM chunk");
    context_scope const scope = context_scope::any(device);
    check(api().mem_get_address_range(&a.range_start, &a.range_size, address),
          "find the bounds of a VMM chunk", "the memory may have been unmapped");
}

bool has_allocation_handle(CUdeviceptr address, CUmemAllocationProp* properties) {
    driver_api const& cu = api();
    CUmemGenericAllocationHandle handle = 0;
    if (cu.mem_retain_allocation_handle(&handle, reinterpret_cast<void*>(address)) != success)
        return false;
    bool const known = cu.mem_get_allocation_properties(properties, handle) == success;
    cu.mem_release(handle);
    return known;
}

memory_kind kind_of(CUdeviceptr address, attributes const& a) {
    if (a.memory_type == 0)
        return memory_kind::unknown;
    if (a.is_managed)
        return memory_kind::managed;
    if (a.memory_type != memory_type_device)
        return memory_kind::host;
    if (a.pool)
        return (a.handle_types & handle_type_posix_fd) ? memory_kind::pool_exportable
                                                       : memory_kind::pool;
    CUmemAllocationProp properties{};
    if (!a.ipc_capable && has_allocation_handle(address, &properties))
        return (properties.requestedHandleTypes & handle_type_posix_fd)
                   ? memory_kind::virtual_exportable
                   : memory_kind::virtual_opaque;
    if (a.ipc_capable)
        return memory_kind::device;
    // Imported memory belongs to a context; memory nodes of graphs do not (580.159.04).
    return a.context ? memory_kind::imported : memory_kind::graph;
}

bool is_virtual(memory_kind kind) noexcept {
    return kind == memory_kind::virtual_exportable || kind == memory_kind::virtual_opaque;
}

std::string hexadecimal(CUdeviceptr value) {
    std::array<char, 16> digits{};
    auto const end = std::to_chars(digits.data(), digits.data() + digits.size(), value, 16);
    return "0x" + std::string(digits.data(), end.ptr);
}

/// Whether these are the bounds of an allocation with a part in [from, to). A driver's figures are
/// not relied on: all that follows counts on them.
bool has_part_in(attributes const& a, CUdeviceptr from, CUdeviceptr to) noexcept {
    CUdeviceptr const end = a.range_start + a.range_size;
    return end > a.range_start && end > from && a.range_start < to;
}

/// The first allocation that has a part in [at, end), and an address in it as `at`; or an unknown
/// kind.
attributes first_allocation(CUdeviceptr& at, CUdeviceptr end, memory_kind& kind) {
    constexpr CUdeviceptr alignment = 256; // of every address that cuMemAlloc gives
    while (at < end) {
        attributes const a = attributes_of(at);
        kind = kind_of(at, a);
        if (kind != memory_kind::unknown)
            return a;
        CUdeviceptr const next = at / alignment * alignment + alignment;
        if (next < at) // it was the last of all addresses
            break;
        at = next;
    }
    return {};
}

/// The memory in [address, address + bytes), rounded out to pages. A page holds part of an
/// allocation at least; one of a single byte is inside of it, and ranges of them are of one
/// allocation, or of VMM chunks.
memory describe_in(CUdeviceptr page, CUdeviceptr address, std::size_t bytes,
                   std::string_view operation) {
    if (address == 0 || bytes == 0 || address + bytes < address)
        throw error(errc::invalid_argument,
                    std::string(operation) + " " + range_text(address, bytes), "",
                    "give a GPU address, and a size greater than 0 that does not wrap around");
    if (address + bytes > ~CUdeviceptr{0} / page * page)
        return {}; // nothing lies there, and rounding would wrap around
    memory result;
    CUdeviceptr at = address / page * page;
    CUdeviceptr const end = (address + bytes + page - 1) / page * page;
    result.address = at;
    result.size = end - at;
    while (at < end) {
        memory_kind kind = memory_kind::unknown;
        // The wanted range says best which allocation is meant, but may lie outside of all.
        CUdeviceptr inside = std::max(at, address);
        attributes a = first_allocation(inside, at + page, kind);
        if (kind == memory_kind::unknown && at < address)
            a = first_allocation(inside = at, at + page, kind);
        bool const first = result.chunks.empty();
        if (first) {
            result.kind = kind;
            result.ordinal = a.ordinal;
            result.context = a.context;
            if (kind == memory_kind::unknown || kind == memory_kind::host ||
                kind == memory_kind::managed)
                return result;
        }
        if (kind != result.kind || a.ordinal != result.ordinal ||
            (page == 1 && !first && !is_virtual(kind)))
            throw error(errc::out_of_range, "pin " + range_text(address, bytes), "",
                        "the allocation ends " +
                            (page == 1 ? "at " + hexadecimal(at) +
                                             ": pin a range inside one allocation, or inside "
                                             "contiguous VMM chunks on one GPU"
                                       : "before " + hexadecimal(at) +
                                             ": pin a range whose pages all hold memory of one "
                                             "kind on one GPU"));
        if (is_virtual(kind))
            narrow_to_chunk(inside, a);
        if (!has_part_in(a, at, at + page))
            throw error(errc::unknown_layout, "find the bounds of " + range_text(address, bytes),
                        "", "the driver does not report the bounds of this allocation");
        CUdeviceptr const allocation_end = a.range_start + a.range_size;
        CUdeviceptr const stop =
            allocation_end >= end ? end : (allocation_end + page - 1) / page * page;
        CUdeviceptr const from = std::max(at, a.range_start);
        CUdeviceptr const to = std::min(stop, allocation_end);
        result.chunks.push_back(
            {a.range_start, a.range_size, from - a.range_start, to - from, from - at, stop - to});
        at = stop;
    }
    return result;
}

} // namespace

std::string range_text(CUdeviceptr address, std::size_t bytes) {
    return std::to_string(bytes) + (bytes == 1 ? " byte at " : " bytes at ") + hexadecimal(address);
}

memory describe_pages(CUdeviceptr address, std::size_t bytes, std::string_view operation) {
    return describe_in(gpu_page_size, address, bytes, operation);
}

memory describe(CUdeviceptr address, std::size_t bytes, std::string_view operation) {
    return describe_in(1, address, bytes, operation);
}

unsigned long long allocation_id(CUdeviceptr address) noexcept {
    unsigned long long id = 0;
    return api().pointer_get_attribute(&id, pointer_buffer_id, address) == success ? id : 0;
}

os::fd export_chunk(allocation_part const& chunk) {
    driver_api const& cu = api();
    CUmemGenericAllocationHandle handle = 0;
    check(cu.mem_retain_allocation_handle(&handle, reinterpret_cast<void*>(chunk.base)),
          "find the allocation handle of VMM memory", "the memory may have been unmapped");
    int descriptor = -1;
    CUresult const exported =
        cu.mem_export_to_shareable_handle(&descriptor, handle, handle_type_posix_fd, 0);
    cu.mem_release(handle);
    if (exported != success)
        os::expect_descriptors("export VMM memory as a file descriptor");
    check(exported, "export VMM memory as a file descriptor",
          "create it with requestedHandleTypes = CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR");
    return os::fd(descriptor);
}

std::string_view advice_for(memory_kind kind) noexcept {
    switch (kind) {
    case memory_kind::device:
    case memory_kind::virtual_exportable:
    case memory_kind::allocated:
        return "see `barmap info` for what each backend needs";
    case memory_kind::virtual_opaque:
        return "create the memory with requestedHandleTypes = "
               "CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR, or allocate it with cudaMalloc";
    case memory_kind::pool:
    case memory_kind::pool_exportable:
        return "allocate with cudaMalloc instead of cudaMallocAsync, or let barmap allocate it";
    case memory_kind::graph:
        return "copy it to memory of cudaMalloc in the graph, and pin that";
    case memory_kind::imported:
        return "pin it in the process that allocated it, or by its IPC handle (device::pin of an "
               "ipc_handle), or let barmap allocate memory that several APIs share";
    case memory_kind::managed:
        return "managed memory is already a CPU pointer: use it directly, or allocate with "
               "cudaMalloc";
    case memory_kind::host:
        return "host memory is already a CPU pointer: use it directly";
    case memory_kind::unknown:
        return "give an address in live GPU memory of this process: CUDA knows no live allocation "
               "there; it was freed, it is ordinary host memory, or it belongs to another process";
    }
    return "";
}

} // namespace barmap::cuda
