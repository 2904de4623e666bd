// SPDX-License-Identifier: MIT
#include "contract/batch_fixture.hpp"
#include "contract/checkpoint_of_cuda.hpp"
#include "fake/gdrdrv_driver.hpp"

#include <barmap/checkpoint.hpp>

#include <functional>
#include <memory>
#include <vector>

/// Processes that CUDA has checkpointed and restored without checkpoint_prepare().
namespace barmap::contract {
namespace {

class overtaken_test : public contract_test {};
INSTANTIATE_TEST_SUITE_P(ways, overtaken_test, over(ways_that_come_back()),
                         [](auto const& info) { return name_of(info.param); });

// What the mapping reaches is what the memory was: the case that all this is for.
TEST_P(overtaken_test, without_prepare_set_up_calls_are_refused) {
    std::function<void(device const&, pin const&)> const calls[] = {
        [](device const&, pin const&) { (void)device::open(0); },
        [](device const& gpu, pin const& held) { (void)gpu.pin(held.gpu_address(), 8); },
        [](device const& gpu, pin const&) { (void)gpu.allocate(8); },
        [](device const& gpu, pin const&) { (void)gpu.allocate_host(8); },
        [](device const& gpu, pin const&) { (void)gpu.batch_queue(); },
        [](device const&, pin const& held) { (void)held.map(); },
        [](device const&, pin const& held) { (void)held.share(); },
    };
    device const gpu = device::open(0);
    auto const block = some_memory(2 * mib);
    pin const held = gpu.pin(block->address(), 2 * mib);
    mapping const map = held.map();
    unsigned seed = 1;
    for (auto const& call : calls) {
        write(map.window(), pattern(2 * mib, seed));
        checkpoint_of_cuda::whole();
        write(map.window(), pattern(2 * mib, 99));
        EXPECT_TRUE(read_by_driver(block->address(), 2 * mib) == pattern(2 * mib, seed))
            << "what is written reaches nobody";
        for (int i = 0; i < 2; ++i)
            expect_refusal([&] { call(gpu, held); }, errc::checkpointed,
                           "without checkpoint_prepare()", "call checkpoint_restore()");
        expect_refusal([&] { (void)held.revoked(); }, errc::checkpointed, "without");
        checkpoint_restore();
        std::vector<std::byte> seen(2 * mib);
        read(seen, map.window());
        EXPECT_TRUE(seen == pattern(2 * mib, seed)) << "and is lost";
        expect_same_memory(map, block->address(), ++seed);
    }
}

// Nothing else has looked since.
TEST_P(overtaken_test, restore_notices_that_prepare_was_left_out) {
    device const gpu = device::open(0);
    auto const block = some_memory(2 * mib);
    mapping const map = gpu.pin(block->address(), 2 * mib).map();
    checkpoint_of_cuda::whole();
    checkpoint_restore();
    expect_same_memory(map, block->address(), 1);
}

// As the driver does when CUDA releases the memory for the checkpoint.
TEST(overtaken_pin, that_was_revoked_is_pinned_again) {
    machine machine("580");
    auto const module = machine.add<fake::gdrdrv_driver>({.persistent = false});
    set_environment("BARMAP_BACKEND", "gdrdrv");
    machine.use();
    device_block const block(2 * mib);
    pin const held = device::open(0).pin(block.address(), 2 * mib);
    mapping const map = held.map();
    checkpoint_of_cuda::whole();
    module->take_away(block.address());
    EXPECT_TRUE(held.revoked());
    checkpoint_restore();
    EXPECT_FALSE(held.revoked());
    expect_same_memory(map, block.address(), 1);
    module->take_away(block.address()); // and not if it is prepared
    expect_refusal([] { checkpoint_prepare(); }, errc::unsupported_operation,
                   "memory that the driver has revoked", "destroy the pin");
}

way vulkan_beside_dmabuf() {
    way result = way_of("vulkan");
    result.driver = way_of("dmabuf").driver;
    return result;
}

using overtaken_vulkan_test = contract_test;
INSTANTIATE_TEST_SUITE_P(ways, overtaken_vulkan_test, testing::Values(vulkan_beside_dmabuf()),
                         [](auto const& info) { return name_of(info.param); });

// It reaches memory that is nobody's by then, and cannot be mapped again where it is.
TEST_P(overtaken_vulkan_test, without_prepare_what_vulkan_maps_is_named) {
    clear_environment("BARMAP_BACKEND");
    device const gpu = device::open(0);
    auto const block = some_memory(2 * mib);
    mapping const other = gpu.allocate(mib, "dmabuf").map();
    pin const held = gpu.pin(block->address(), 2 * mib, {.backend = "vulkan"});
    auto map = std::make_unique<mapping>(held.map());
    write_value(map->window(0, 4), 17);
    checkpoint_of_cuda::whole();
    for (int i = 0; i < 2; ++i) {
        expect_refusal([&] { (void)gpu.allocate(8); }, errc::checkpointed, "without");
        expect_refusal([] { checkpoint_restore(); }, errc::unsupported_operation, "a mapping",
                       "destroy the mapping");
    }
    EXPECT_EQ(read_value<int>(map->window(0, 4)), 17);
    map.reset();
    checkpoint_restore();
    write_value(other.window(0, 4), 1);
    EXPECT_FALSE(is_out_of_reach(other.data()));
    expect_same_memory(held.map(), block->address(), 2);
}

} // namespace
} // namespace barmap::contract
