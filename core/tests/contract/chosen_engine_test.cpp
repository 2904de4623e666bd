// SPDX-License-Identifier: MIT
#include "contract/engine_machine.hpp"
#include "contract/machine.hpp"
#include "shared/changed_driver.hpp"

#include <algorithm>
#include <array>
#include <cstdint>
#include <numeric>
#include <string_view>
#include <vector>

/// mapping::use_engine(): one engine for all copies of a mapping.
namespace barmap::contract {
namespace {

std::uint64_t copies_of(device const& gpu, std::string_view name) {
    auto const all = gpu.started_engines();
    auto const found = std::ranges::find(all, name, &engine_report::name);
    return found == all.end() ? 0 : found->copies;
}

class chosen_engine_test : public testing::TestWithParam<engine_way> {
protected:
    engine_machine machine_{nullptr, GetParam().how};
    device gpu_ = device::open(0);
    pin memory_ = gpu_.allocate(mib);
    mapping map_ = memory_.map();
    std::string_view name_ = GetParam().engine;
};
INSTANTIATE_TEST_SUITE_P(ways, chosen_engine_test, testing::ValuesIn(newest_held_ways()),
                         name_of_way);

TEST_P(chosen_engine_test, makes_every_copy_of_the_mapping) {
    map_.use_engine(name_);
    EXPECT_EQ(map_.engines_from(copy_direction::to_gpu), 0u);
    std::uint64_t before = copies_of(gpu_, name_);
    for (std::size_t const bytes : {std::size_t{1}, std::size_t{8}, std::size_t{1000}, 300 * kib}) {
        std::vector<std::uint8_t> sent(bytes), found(bytes);
        std::iota(sent.begin(), sent.end(), std::uint8_t(bytes));
        map_.copy_to_gpu(3, sent);
        map_.copy_to_cpu(found, 3);
        EXPECT_EQ(sent, found) << bytes;
        EXPECT_EQ(copies_of(gpu_, name_), before += 2) << bytes;
    }
    map_.copy_to_gpu(0, std::span<std::byte const>());
    EXPECT_EQ(copies_of(gpu_, name_), before) << "of nothing";
}

TEST_P(chosen_engine_test, leaves_other_mappings_as_they_are) {
    mapping const other = memory_.map();
    map_.use_engine(name_);
    std::uint64_t const before = copies_of(gpu_, name_);
    other.copy_to_gpu(0, std::array<char, 8>{});
    EXPECT_EQ(copies_of(gpu_, name_), before);
    EXPECT_GT(other.engines_from(copy_direction::to_cpu), 0u);
}

TEST_P(chosen_engine_test, gives_way_to_loads_and_stores_and_to_what_is_fastest) {
    map_.use_engine(name_);
    map_.use_engine("mapping");
    EXPECT_GT(map_.engines_from(copy_direction::to_gpu), map_.size()) << "no copy may wait";
    std::uint64_t const before = copies_of(gpu_, name_);
    std::vector<std::byte> const host(512 * kib);
    map_.copy_to_gpu(0, host);
    EXPECT_EQ(copies_of(gpu_, name_), before);
    map_.use_engine("auto");
    EXPECT_EQ(map_.engines_from(copy_direction::to_gpu),
              memory_.map().engines_from(copy_direction::to_gpu));
}

TEST(chosen_engine, that_is_unknown_or_cannot_copy_is_refused) {
    engine_machine machine(nullptr, {.chip = fake::rm::unknown_chip}); // without a channel
    device const gpu = device::open(0);
    device_block const block(mib);
    pin const pinned = gpu.pin(block.address(), mib);
    mapping map = pinned.map();
    expect_refusal([&] { map.use_engine("nonsense"); }, errc::invalid_argument, "barmap info");
    expect_refusal([&] { map.use_engine("driver"); }, errc::unsupported_operation, "cannot hold");
    expect_refusal([&] { map.use_engine("channel"); }, errc::backend_absent, "channel");
    map.copy_to_gpu(0, std::array<char, 100>{}); // as before
    mapping empty;
    expect_refusal([&] { empty.use_engine("driver"); }, errc::invalid_argument, "map some memory");
}

TEST(chosen_engine, that_fails_makes_the_copy_fail) {
    engine_machine machine(nullptr, {.chip = fake::rm::unknown_chip});
    device const gpu = device::open(0);
    mapping map = gpu.allocate(mib).map();
    map.use_engine("driver");
    changed_driver changed;
    changed->memcpy_async = [](CUdeviceptr, CUdeviceptr, std::size_t, CUstream) -> CUresult {
        return cuda::error_unknown;
    };
    expect_refusal([&] { map.copy_to_gpu(0, std::array<char, 100>{}); }, errc::backend_broken,
                   "driver");
}

// Values whose number the type tells are bytes like any.
TEST(values_of_a_known_number, are_copied) {
    engine_machine machine(nullptr);
    mapping const map = device::open(0).allocate(4096).map();
    std::array<int, 3> const sent{1, 2, 3};
    std::array<int, 3> found{};
    map.copy_to_gpu(8, sent);
    map.copy_to_cpu(found, 8);
    EXPECT_EQ(sent, found);
    map.copy_to_gpu(20, std::as_bytes(std::span(sent)));
    map.copy_to_cpu(std::as_writable_bytes(std::span(found)), 20);
    EXPECT_EQ(sent, found);
}

} // namespace
} // namespace barmap::contract
