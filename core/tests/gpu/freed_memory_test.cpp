// SPDX-License-Identifier: MIT
#include "real_gpu.hpp"

#include <algorithm>
#include <memory>
#include <span>
#include <vector>

/// Memory that is freed while a mapping of it lives: copies reach the pinned memory. Runs by the
/// engine that barmap chooses, and by CUDA's copies (BARMAP_ENGINE=driver), which know addresses
/// only.
namespace barmap::gpu_test {
namespace {

using freed_memory_test = real_gpu;

constexpr std::size_t bytes = 4 * mib;

std::unique_ptr<memory> of_cuda_malloc(std::uintptr_t /*at*/) {
    return std::make_unique<device_block>(bytes);
}

std::unique_ptr<memory> of_cuda_mem_create(std::uintptr_t at) {
    return std::make_unique<virtual_block>(0, std::vector{bytes / 2, bytes / 2},
                                           cuda::handle_type_posix_fd, at);
}

/// Copies through the mapping once its memory is freed and, if CUDA gives the address again, has
/// another owner.
void expect_the_next_owner_is_spared(std::unique_ptr<memory> (*make)(std::uintptr_t)) {
    device const gpu = device::open(0);
    host_buffer const pinned = gpu.allocate_host(bytes);
    std::vector<std::byte> pageable(bytes);
    auto const ours = pattern(bytes, 70), sent = pattern(bytes, 71), theirs = pattern(bytes, 72);
    unsigned owners = 0;
    for (std::size_t i = 0; i < rounds(20); ++i) {
        std::span<std::byte> const host = i % 2 == 0 ? pinned.bytes() : std::span(pageable);
        for (bool const is_to_gpu : {true, false}) {
            std::unique_ptr<memory> block = make(0);
            std::uintptr_t const address = block->address();
            mapping map = gpu.pin(address, bytes).map();
            std::ranges::copy(ours, host.begin());
            map.copy_to_gpu(0, host);
            block.reset();
            std::unique_ptr<memory> const next = make(address);
            owners += next->address() == address;
            write_by_driver(next->address(), theirs);
            std::ranges::copy(sent, host.begin());
            if (is_to_gpu) {
                map.copy_to_gpu(0, host);
                std::ranges::fill(host, std::byte{});
            }
            map.copy_to_cpu(host, 0);
            EXPECT_TRUE(std::ranges::equal(host, is_to_gpu ? sent : ours));
            EXPECT_TRUE(read_by_driver(next->address(), bytes) == theirs);
        }
    }
    EXPECT_EQ(cuda::api().ctx_synchronize(), cuda::success) << "the context lives";
    if (owners == 0)
        GTEST_SKIP() << "the driver gave other addresses, so that no owner was in the way";
}

TEST_F(freed_memory_test, of_cuda_malloc_leaves_its_next_owner_alone) {
    expect_the_next_owner_is_spared(of_cuda_malloc);
}

TEST_F(freed_memory_test, of_cuda_mem_create_leaves_its_next_owner_alone) {
    expect_the_next_owner_is_spared(of_cuda_mem_create);
}

} // namespace
} // namespace barmap::gpu_test
