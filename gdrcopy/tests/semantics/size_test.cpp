// SPDX-License-Identifier: MIT
#include "semantics/fixture.hpp"

#include <algorithm>
#include <sys/resource.h>

/// Memory of every size, and many mappings of it. The contract is that of gdrapi.h.
namespace barmap::dropin {
namespace {

using sizes = semantics;

/// One byte, by the driver and by the mapping.
void expect_same_byte(cuda_driver const& cuda, gdr_mh_t handle, std::uint64_t gpu,
                      unsigned char* cpu, unsigned char value) {
    unsigned char seen = 0;
    EXPECT_EQ(gdr_copy_to_mapping(handle, cpu, &value, 1), 0);
    require_cuda(cuda.to_host(&seen, gpu, 1), "cuMemcpyDtoH");
    EXPECT_EQ(seen, value);
    value = static_cast<unsigned char>(~value);
    require_cuda(cuda.to_device(gpu, &value, 1), "cuMemcpyHtoD");
    require_cuda(cuda.synchronize(), "cuCtxSynchronize");
    EXPECT_EQ(gdr_copy_from_mapping(handle, &seen, cpu, 1), 0);
    EXPECT_EQ(seen, value);
}

/// Pins whole GPU pages around an allocation, as UCX's registration cache does, and looks at the
/// first and the last byte of the allocation and of its last page.
void expect_reachable(cuda_driver const& cuda, gdr_t g, std::size_t size) {
    SCOPED_TRACE(size);
    std::uint64_t address = 0;
    require_cuda(cuda.mem_alloc(&address, size), "cuMemAlloc");
    std::uint64_t const begin = page_of(address), end = next_page(address + size);
    gdr_mh_t handle{};
    void* va = nullptr;
    ASSERT_EQ(gdr_pin_buffer(g, begin, end - begin, 0, 0, &handle), 0);
    ASSERT_EQ(gdr_map(g, handle, &va, end - begin), 0);
    auto* const cpu = static_cast<unsigned char*>(va) + (address - begin);
    std::uint64_t const last_page = std::max(page_of(address + size - 1), address) - address;
    expect_same_byte(cuda, handle, address, cpu, 1);
    expect_same_byte(cuda, handle, address + last_page, cpu + last_page, 2);
    expect_same_byte(cuda, handle, address + size - 1, cpu + size - 1, 3);
    // What lies behind the allocation, up to the end of the page, may be written to and read.
    unsigned char byte = 0;
    std::size_t const all = end - begin - 1;
    EXPECT_EQ(gdr_copy_from_mapping(handle, &byte, static_cast<unsigned char*>(va) + all, 1), 0);
    EXPECT_EQ(gdr_copy_to_mapping(handle, static_cast<unsigned char*>(va) + all, &byte, 1), 0);
    EXPECT_EQ(gdr_unmap(g, handle, va, end - begin), 0);
    EXPECT_EQ(gdr_unpin_buffer(g, handle), 0);
    require_cuda(cuda.mem_free(address), "cuMemFree");
}

TEST_F(sizes, of_allocations_are_all_reachable) {
    constexpr std::size_t block = 2 << 20; // above it CUDA rounds up to less than a GPU page
    for (std::size_t size = 1; size <= 4 * block; size += 1 + size / 3 * 2 + size % 7 * 641)
        expect_reachable(cuda_, g_, size);
    for (std::size_t size = 1; size <= 4 * block; size += 53'249)
        expect_reachable(cuda_, g_, size);
    for (std::size_t size :
         {block - 1, block, block + 1, block + 4, block + 4096, block + 65536, 2 * block - 4096,
          2 * block + 4, 2 * block + 65535, std::size_t{4'256'768}, std::size_t{8'000'000}})
        expect_reachable(cuda_, g_, size);
}

/// A limit on descriptors, while it lives.
class descriptor_limit {
public:
    explicit descriptor_limit(rlim_t most) {
        getrlimit(RLIMIT_NOFILE, &before_);
        rlimit const now{std::min(most, before_.rlim_max), before_.rlim_max};
        setrlimit(RLIMIT_NOFILE, &now);
    }
    ~descriptor_limit() { setrlimit(RLIMIT_NOFILE, &before_); }
    descriptor_limit(descriptor_limit const&) = delete;
    descriptor_limit& operator=(descriptor_limit const&) = delete;

private:
    rlimit before_{};
};

TEST_F(sizes, of_ten_thousand_mappings_do_not_count_in_descriptors) {
    constexpr std::size_t count = 10'000;
    if (simulated())
        GTEST_SKIP() << "backend dmabuf, the simulated GPU's, holds a descriptor for each pin";
    gpu_block const block = memory(GPU_PAGE_SIZE);
    descriptor_limit const few(256);
    std::vector<gdr_mh_t> handles;
    std::vector<unsigned char*> addresses;
    for (std::size_t i = 0; i < count && !HasFailure(); ++i) {
        handles.push_back(pinned(block.address, block.size));
        addresses.push_back(mapped(handles.back()));
    }
    ASSERT_EQ(addresses.size(), count);
    for (std::size_t i = 0; i < count; i += count / 10)
        expect_same_byte(cuda_, handles[i], block.address, addresses[i],
                         static_cast<unsigned char>(i + 1));
}

TEST_F(sizes, of_descriptors_are_enough_for_a_mapping_made_again_and_again) {
    constexpr int count = 10'000;
    gpu_block const block = memory(GPU_PAGE_SIZE);
    descriptor_limit const few(256);
    gdr_mh_t const handle = pinned(block.address, block.size);
    holdings const before = holdings::now();
    for (int i = 0; i < count && !HasFailure(); ++i) {
        void* va = nullptr;
        ASSERT_EQ(gdr_map(g_, handle, &va, 1), 0) << i;
        ASSERT_EQ(gdr_unmap(g_, handle, va, 1), 0) << i;
    }
    EXPECT_EQ(holdings::now(), before);
    expect_same_byte(cuda_, handle, block.address, mapped(handle), 5);
}

// As many as the limit allows, and then an errno; nothing that was made is harmed.
TEST_F(sizes, of_the_descriptor_table_end_in_an_errno) {
#if defined(__SANITIZE_ADDRESS__)
    GTEST_SKIP() << "the sanitizers' own checks need descriptors";
#endif
    gpu_block const block = memory(GPU_PAGE_SIZE);
    gdr_mh_t const handle = pinned(block.address, block.size);
    unsigned char* const va = mapped(handle);
    std::vector<gdr_mh_t> more;
    {
        descriptor_limit const few(64);
        for (int i = 0; i < 64; ++i) {
            gdr_mh_t made{};
            int const answer = gdr_pin_buffer(g_, block.address, block.size, 0, 0, &made);
            EXPECT_TRUE(answer >= 0 && answer <= 133) << answer;
            if (answer != 0)
                break;
            more.push_back(made);
        }
    }
    for (gdr_mh_t const each : more)
        EXPECT_EQ(gdr_unpin_buffer(g_, each), 0);
    expect_same_byte(cuda_, handle, block.address, va, 5);
    EXPECT_EQ(gdr_unpin_buffer(g_, pinned(block.address, 1)), 0);
}

} // namespace
} // namespace barmap::dropin
