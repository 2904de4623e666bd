// SPDX-License-Identifier: MIT
#include "real_gpu.hpp"

#include <cstdlib>
#include <filesystem>
#include <iterator>

namespace barmap::gpu_test {

std::size_t open_descriptors() {
    return static_cast<std::size_t>(
        std::distance(std::filesystem::directory_iterator("/proc/self/fd"), {}));
}

std::size_t rounds(std::size_t usual) {
    char const* const factor = std::getenv("ENGINE_TEST_ROUNDS");
    return usual * (factor ? std::strtoull(factor, nullptr, 10) : 1);
}

void expect_success(CUresult result) {
    char const* name = nullptr;
    cuda::api().get_error_name(result, &name);
    ASSERT_EQ(result, cuda::success) << (name ? name : "unknown CUresult");
}

void real_gpu::SetUp() {
    std::string why;
    cuda::driver_api const* driver = cuda::try_api(why);
    bool const real = driver && !driver->simulated && device::count() > 0;
    if (!real && std::getenv("BARMAP_REQUIRE"))
        FAIL() << "BARMAP_REQUIRE is set and there is no real GPU: " << why;
    if (!real)
        GTEST_SKIP() << "no real GPU: " << (why.empty() ? "simulated" : why);
    use(0);
}

void real_gpu::TearDown() {
    for (int const ordinal : retained_)
        cu().primary_ctx_release(ordinal);
}

void real_gpu::use(int ordinal) {
    CUcontext context = nullptr;
    expect_success(cu().primary_ctx_retain(&context, ordinal));
    retained_.push_back(ordinal);
    expect_success(cu().ctx_set_current(context));
}

int real_gpu::count() {
    return device::count();
}

device_block::device_block(std::size_t bytes) {
    expect_success(cuda::api().mem_alloc(&address_, bytes));
}

void device_block::release() {
    if (address_ != 0)
        cuda::api().mem_free(address_);
    address_ = 0;
}

virtual_block::virtual_block(int ordinal, unsigned chunks, int handle_types) : chunks_(chunks) {
    cuda::driver_api const& cu = cuda::api();
    CUmemAllocationProp properties{};
    properties.type = cuda::allocation_type_pinned;
    properties.requestedHandleTypes = handle_types;
    properties.location = {cuda::location_type_device, ordinal};
    expect_success(cu.mem_address_reserve(&address_, size(), 0, 0, 0));
    for (unsigned i = 0; i < chunks; ++i) {
        CUmemGenericAllocationHandle handle = 0;
        expect_success(cu.mem_create(&handle, chunk_size, &properties, 0));
        expect_success(cu.mem_map(address_ + i * chunk_size, chunk_size, 0, handle, 0));
        expect_success(cu.mem_release(handle));
    }
    CUmemAccessDesc const access{properties.location, cuda::access_read_write};
    expect_success(cu.mem_set_access(address_, size(), &access, 1));
}

virtual_block::~virtual_block() {
    cuda::api().mem_unmap(address_, size());
    cuda::api().mem_address_free(address_, size());
}

std::vector<std::byte> pattern(std::size_t bytes, unsigned seed) {
    std::vector<std::byte> result(bytes);
    std::uint32_t state = seed * 2654435761u + 1;
    for (std::byte& each : result) {
        state = state * 1664525u + 1013904223u;
        each = static_cast<std::byte>(state >> 24);
    }
    return result;
}

void expect_same_memory(mapping const& mapping, std::uintptr_t gpu_address, unsigned seed) {
    cuda::driver_api const& cu = cuda::api();
    std::size_t const bytes = mapping.size();
    std::vector<std::byte> const first = pattern(bytes, seed), second = pattern(bytes, seed + 1);
    std::vector<std::byte> seen(bytes);
    write(mapping.window(), first);
    expect_success(cu.memcpy_dtoh(seen.data(), gpu_address, bytes));
    EXPECT_EQ(seen, first) << "written through the mapping, read by the driver";
    expect_success(cu.memcpy_htod(gpu_address, second.data(), bytes));
    // A small pageable copy returns when its source has been staged, not when it has landed.
    expect_success(cu.ctx_synchronize());
    read(seen, mapping.window());
    EXPECT_EQ(seen, second) << "written by the driver, read through the mapping";
}

} // namespace barmap::gpu_test
