// SPDX-License-Identifier: MIT
#include "semantics/fixture.hpp"

#include <algorithm>

namespace barmap::dropin {

int get_info_v1(gdr_t g, gdr_mh_t handle, info_v1* info) {
    using function = int (*)(gdr_t, gdr_mh_t, info_v1*);
    static auto const found = reinterpret_cast<function>(::dlsym(RTLD_DEFAULT, "gdr_get_info"));
    return found(g, handle, info);
}

void semantics::SetUp() {
    cuda_ = start_cuda(0);
    g_ = gdr_open();
    ASSERT_NE(g_, nullptr);
}

void semantics::TearDown() {
    if (g_) {
        EXPECT_EQ(gdr_close(g_), 0);
    }
    for (gpu_block const& each : blocks_)
        free_block(&cuda_, each);
    cuda_.primary_release(cuda_.device);
}

gpu_block semantics::memory(std::size_t size, unsigned seed) {
    blocks_.push_back(allocate_block(&cuda_, size, seed));
    return blocks_.back();
}

void semantics::release(gpu_block const& block) {
    std::erase_if(blocks_, [&](gpu_block const& each) { return each.address == block.address; });
    free_block(&cuda_, block);
}

gdr_mh_t semantics::pinned(std::uint64_t address, std::size_t size) {
    gdr_mh_t handle{0};
    EXPECT_EQ(gdr_pin_buffer(g_, address, size, 0, 0, &handle), 0);
    EXPECT_NE(handle.h, 0u);
    return handle;
}

unsigned char* semantics::mapped(gdr_mh_t handle) {
    void* va = nullptr;
    EXPECT_EQ(gdr_map(g_, handle, &va, info_of(handle).mapped_size), 0);
    EXPECT_NE(va, nullptr);
    return static_cast<unsigned char*>(va);
}

gdr_info_t semantics::info_of(gdr_mh_t handle) {
    gdr_info_t info{};
    EXPECT_EQ(gdr_get_info(g_, handle, &info), 0);
    return info;
}

void semantics::expect_same_memory(gdr_mh_t handle, unsigned char* cpu, gpu_block block) {
    std::vector<unsigned char> bytes(block.size);
    upload_pattern(&cuda_, block.address, block.size, block.seed + 10);
    EXPECT_EQ(gdr_copy_from_mapping(handle, bytes.data(), cpu, bytes.size()), 0);
    require_pattern(bytes.data(), bytes.size(), block.seed + 10, "gdr_copy_from_mapping");
    fill_pattern(bytes.data(), bytes.size(), block.seed);
    EXPECT_EQ(gdr_copy_to_mapping(handle, cpu, bytes.data(), bytes.size()), 0);
    require_untouched(&cuda_, block);
}

bool semantics::simulated() {
    return holdings::of_the_simulation("barmap_sim_live") != nullptr;
}

} // namespace barmap::dropin
