// SPDX-License-Identifier: MIT
#include "real_gpu.hpp"
#include "shared/in_child.hpp"

#include <cstdlib>
#include <fstream>
#include <unistd.h>

namespace barmap::gpu_test {
namespace {

using lifetime_test = real_gpu;

TEST_F(lifetime_test, children_hold_their_parents) {
    mapping map;
    device_block const block(mib);
    {
        device const gpu = device::open(0);
        pin const pinned = gpu.pin(block.address(), mib);
        map = pinned.map();
    }
    expect_same_memory(map, block.address(), 1);
}

TEST_F(lifetime_test, a_mapping_survives_cuMemFree) {
    device const gpu = device::open(0);
    device_block block(4 * mib);
    mapping const map = gpu.pin(block.address(), 4 * mib).map();
    std::vector<std::byte> const written = pattern(4 * mib, 2);
    write(map.window(), written);
    block.release();
    std::vector<std::byte> seen(4096);
    read(seen, map.window(0, 4096));
    EXPECT_TRUE(std::equal(seen.begin(), seen.end(), written.begin()));
}

TEST_F(lifetime_test, a_mapping_survives_its_context) {
    device const gpu = device::open(0);
    CUcontext context = nullptr;
    expect_success(cu().ctx_create(&context, 0, 0));
    CUdeviceptr address = 0;
    expect_success(cu().mem_alloc(&address, 4 * mib));
    mapping map = gpu.pin(static_cast<std::uintptr_t>(address), 4 * mib).map();
    expect_same_memory(map, address, 3);
    expect_success(cu().ctx_destroy(context));
    std::vector<std::byte> const written = pattern(4096, 4);
    std::vector<std::byte> seen(4096);
    write(map.window(), written);
    read(seen, map.window(0, 4096));
    EXPECT_EQ(seen, written);
    map = {};
}

TEST_F(lifetime_test, a_forked_child_has_no_mapping_and_leaves_the_parents_alone) {
    auto gpu = std::make_unique<device>(device::open(0));
    device_block const block(mib);
    auto pinned = std::make_unique<pin>(gpu->pin(block.address(), mib));
    auto map = std::make_unique<mapping>(pinned->map());
    expect_segmentation_fault(in_child(0, [&] {
        [[maybe_unused]] auto const value = *static_cast<std::byte volatile*>(map->data());
    }));
    expect_exit(7, in_child(0, [&] {
                    bool const refused =
                        code_of([&] { (void)pinned->map(); }) == errc::forked_child;
                    map.reset(); // must neither crash nor reach into the parent's objects
                    pinned.reset();
                    gpu.reset();
                    ::_exit(refused ? 7 : 1);
                }));
    expect_same_memory(*map, block.address(), 5);
}

TEST_F(lifetime_test, a_process_may_end_with_live_objects) {
    testing::FLAGS_gtest_death_test_style = "threadsafe"; // a new process: CUDA does not fork
    EXPECT_EXIT(
        {
            CUcontext context = nullptr;
            cu().primary_ctx_retain(&context, 0);
            cu().ctx_set_current(context);
            CUdeviceptr address = 0;
            cu().mem_alloc(&address, mib);
            static mapping const map = device::open(0).pin(std::uintptr_t{address}, mib).map();
            write(map.window(0, 8), pattern(8, 6));
            std::exit(0);
        },
        testing::ExitedWithCode(0), "");
}

std::size_t lines_of_maps() {
    std::ifstream maps("/proc/self/maps");
    std::size_t lines = 0;
    for (std::string line; std::getline(maps, line);)
        ++lines;
    return lines;
}

TEST_F(lifetime_test, nothing_is_left_behind) {
    device const gpu = device::open(0);
    device_block const block(mib);
    { mapping const warm = gpu.pin(block.address(), mib).map(); }
    std::uint64_t const bar1 = gpu.bar1().available;
    std::size_t const maps = lines_of_maps();
    for (int i = 0; i < 1000; ++i)
        mapping const map = gpu.pin(block.address() + static_cast<unsigned>(i), 65536).map();
    EXPECT_EQ(gpu.bar1().available, bar1);
    EXPECT_LE(lines_of_maps(), maps + 2);
}

} // namespace
} // namespace barmap::gpu_test
