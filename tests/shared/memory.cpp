// SPDX-License-Identifier: MIT
#include "shared/memory.hpp"

#include "cuda/driver_api.hpp"

#include <cstring>
#include <gtest/gtest.h>
#include <utility>

namespace barmap::test {
namespace {

cuda::driver_api const& cu() {
    return cuda::api();
}

CUmemAllocationProp properties_of(int ordinal, int handle_types) {
    CUmemAllocationProp properties{};
    properties.type = cuda::allocation_type_pinned;
    properties.requestedHandleTypes = handle_types;
    properties.location = {cuda::location_type_device, ordinal};
    return properties;
}

int current_ordinal() {
    CUdevice device = 0;
    expect_success(cu().ctx_get_device(&device));
    return device;
}

} // namespace

void expect_success(CUresult result) {
    char const* name = nullptr;
    if (result != cuda::success)
        cu().get_error_name(result, &name);
    ASSERT_EQ(result, cuda::success) << (name ? name : "unknown CUresult");
}

device_block::device_block(std::size_t bytes) {
    expect_success(cu().mem_alloc(&address_, bytes));
}

void device_block::release() {
    if (address_ != 0)
        cu().mem_free(address_);
    address_ = 0;
}

virtual_block::virtual_block(int ordinal, std::vector<std::size_t> const& chunk_sizes,
                             int handle_types, std::uintptr_t wish) {
    for (std::size_t const bytes : chunk_sizes) {
        chunks_.push_back({size_, bytes, true});
        size_ += bytes;
    }
    CUmemAllocationProp const properties = properties_of(ordinal, handle_types);
    expect_success(cu().mem_address_reserve(&address_, size_, 0, wish, 0));
    for (chunk const& each : chunks_) {
        CUmemGenericAllocationHandle handle = 0;
        expect_success(cu().mem_create(&handle, each.bytes, &properties, 0));
        expect_success(cu().mem_map(address_ + each.offset, each.bytes, 0, handle, 0));
        expect_success(cu().mem_release(handle));
    }
    CUmemAccessDesc const access{properties.location, cuda::access_read_write};
    expect_success(cu().mem_set_access(address_, size_, &access, 1));
}

virtual_block::~virtual_block() {
    for (std::size_t which = 0; which < chunks_.size(); ++which)
        unmap(which);
    cu().mem_address_free(address_, size_);
}

void virtual_block::unmap(std::size_t which) {
    chunk& one = chunks_.at(which);
    if (std::exchange(one.mapped, false))
        expect_success(cu().mem_unmap(address_ + one.offset, one.bytes));
}

imported_chunk::imported_chunk(int descriptor, std::size_t bytes) : size_(bytes) {
    CUmemGenericAllocationHandle handle = 0;
    expect_success(cu().mem_import_from_shareable_handle(
        &handle, reinterpret_cast<void*>(std::intptr_t{descriptor}), cuda::handle_type_posix_fd));
    expect_success(cu().mem_address_reserve(&address_, bytes, 0, 0, 0));
    expect_success(cu().mem_map(address_, bytes, 0, handle, 0));
    expect_success(cu().mem_release(handle));
    CUmemAccessDesc const access{{cuda::location_type_device, current_ordinal()},
                                 cuda::access_read_write};
    expect_success(cu().mem_set_access(address_, bytes, &access, 1));
}

imported_chunk::~imported_chunk() {
    expect_success(cu().mem_unmap(address_, size_));
    cu().mem_address_free(address_, size_);
}

pool_block::pool_block(std::size_t bytes, from which) {
    if (which == from::the_default_pool) {
        expect_success(cu().mem_alloc_async(&address_, bytes, nullptr));
    } else {
        CUmemPoolProps properties{};
        properties.allocType = cuda::allocation_type_pinned;
        properties.handleTypes = cuda::handle_type_posix_fd;
        properties.location = {cuda::location_type_device, current_ordinal()};
        expect_success(cu().mem_pool_create(&pool_, &properties));
        expect_success(cu().mem_alloc_from_pool_async(&address_, bytes, pool_, nullptr));
    }
    expect_success(cu().ctx_synchronize());
}

pool_block::~pool_block() {
    cu().mem_free_async(address_, nullptr);
    cu().ctx_synchronize();
    if (pool_)
        cu().mem_pool_destroy(pool_);
}

managed_block::managed_block(std::size_t bytes) {
    expect_success(cu().mem_alloc_managed(&address_, bytes, cuda::mem_attach_global));
}

managed_block::~managed_block() {
    cu().mem_free(address_);
}

pinned_block::pinned_block(std::size_t bytes) : size_(bytes) {
    void* pointer = nullptr;
    expect_success(cu().mem_host_alloc(&pointer, bytes, 0));
    std::memset(pointer, 0, bytes);
    address_ = reinterpret_cast<std::uintptr_t>(pointer);
}

pinned_block::~pinned_block() {
    cu().mem_free_host(bytes().data());
}

external_block::external_block(std::size_t bytes) {
    CUmemAllocationProp const properties =
        properties_of(current_ordinal(), cuda::handle_type_posix_fd);
    CUmemGenericAllocationHandle handle = 0;
    expect_success(cu().mem_create(&handle, bytes, &properties, 0));
    int fd = -1; // the driver's from the import on
    expect_success(cu().mem_export_to_shareable_handle(&fd, handle, cuda::handle_type_posix_fd, 0));
    CUDA_EXTERNAL_MEMORY_HANDLE_DESC source{};
    source.type = cuda::external_handle_opaque_fd;
    source.handle.fd = fd;
    source.size = bytes;
    expect_success(cu().import_external_memory(&external_, &source));
    expect_success(cu().mem_release(handle));
    CUDA_EXTERNAL_MEMORY_BUFFER_DESC part{};
    part.size = bytes;
    expect_success(cu().external_memory_get_mapped_buffer(&address_, external_, &part));
}

external_block::~external_block() {
    cu().mem_free(address_);
    cu().destroy_external_memory(external_);
}

std::unique_ptr<memory> make_memory(memory_kind kind, std::size_t bytes) {
    constexpr std::size_t step = virtual_block::granularity;
    std::size_t const rounded = (bytes + step - 1) / step * step;
    switch (kind) {
    case memory_kind::device:
        return std::make_unique<device_block>(bytes);
    case memory_kind::virtual_exportable:
        return std::make_unique<virtual_block>(current_ordinal(), std::vector{rounded});
    case memory_kind::virtual_opaque:
        return std::make_unique<virtual_block>(current_ordinal(), std::vector{rounded},
                                               cuda::handle_type_none);
    case memory_kind::pool:
        return std::make_unique<pool_block>(bytes, pool_block::from::the_default_pool);
    case memory_kind::pool_exportable:
        return std::make_unique<pool_block>(bytes, pool_block::from::a_pool_with_fd_handles);
    case memory_kind::managed:
        return std::make_unique<managed_block>(bytes);
    case memory_kind::host:
        return std::make_unique<pinned_block>(bytes);
    case memory_kind::imported:
        return std::make_unique<external_block>(rounded);
    case memory_kind::graph:
    case memory_kind::allocated:
    case memory_kind::unknown:
        break;
    }
    return nullptr;
}

// In words, and through a pointer: much of it is made, in builds without optimisation.
std::vector<std::byte> pattern(std::size_t bytes, unsigned seed) {
    std::vector<std::byte> result(bytes);
    std::uint64_t state = seed * 0x9e3779b97f4a7c15u + 1;
    auto* word = reinterpret_cast<std::uint64_t*>(result.data());
    std::uint64_t* const end = word + bytes / sizeof state;
    for (;; ++word) {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        if (word == end)
            break;
        *word = state;
    }
    if (std::size_t const rest = bytes % sizeof state; rest != 0)
        std::memcpy(word, &state, rest);
    return result;
}

std::vector<std::byte> read_by_driver(std::uintptr_t from, std::size_t bytes) {
    std::vector<std::byte> result(bytes);
    expect_success(cu().memcpy_dtoh(result.data(), from, bytes));
    return result;
}

void write_by_driver(std::uintptr_t to, void const* from, std::size_t bytes) {
    expect_success(cu().memcpy_htod(to, from, bytes));
    expect_success(cu().stream_synchronize(nullptr));
}

void write_by_driver(std::uintptr_t to, std::vector<std::byte> const& bytes) {
    write_by_driver(to, bytes.data(), bytes.size());
}

void fill_by_driver(std::uintptr_t to, unsigned char value, std::size_t bytes) {
    expect_success(cu().memset_d8(to, value, bytes));
    expect_success(cu().stream_synchronize(nullptr));
}

void expect_same_memory(mapping const& mapping, std::uintptr_t gpu_address, unsigned seed) {
    std::size_t const bytes = mapping.size();
    std::vector<std::byte> const first = pattern(bytes, seed), second = pattern(bytes, seed + 1);
    write(mapping.window(), first);
    EXPECT_TRUE(read_by_driver(gpu_address, bytes) == first)
        << bytes << " bytes, written through the mapping, read by the driver";
    write_by_driver(gpu_address, second);
    std::vector<std::byte> seen(bytes);
    read(seen, mapping.window());
    EXPECT_TRUE(seen == second) << bytes
                                << " bytes, written by the driver, read through the mapping";
}

void expect_other_memory(mapping const& mapping, std::vector<std::byte> const& held,
                         std::uintptr_t gpu_address) {
    std::size_t const bytes = mapping.size();
    std::vector<std::byte> const there = pattern(bytes, 101), here = pattern(bytes, 102);
    std::vector<std::byte> seen(bytes);
    read(seen, mapping.window());
    EXPECT_TRUE(seen == held) << "the mapping does not follow the address";
    write_by_driver(gpu_address, there);
    read(seen, mapping.window());
    EXPECT_TRUE(seen == held) << "what the driver writes is for the other memory";
    write(mapping.window(), here);
    flush_stores();
    EXPECT_TRUE(read_by_driver(gpu_address, bytes) == there) << "and what the mapping gets is not";
    read(seen, mapping.window());
    EXPECT_TRUE(seen == here);
}

} // namespace barmap::test
