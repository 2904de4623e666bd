// SPDX-License-Identifier: MIT
#include "contract/machine.hpp"
#include "transfer/cpu/routines.hpp"

#include <algorithm>
#include <array>
#include <cstring>

/// What a mapping reaches. The rules are those of docs/ordering.md, by number.
namespace barmap::contract {
namespace {

using data_test = contract_test;

TEST_P(data_test, every_place_inside_an_allocation_can_be_mapped) {
    device const gpu = device::open(0);
    unsigned seed = 1;
    for (memory_kind const kind : kinds_of_device_memory) {
        if (!adopts(kind))
            continue;
        SCOPED_TRACE(to_string(kind));
        auto const block = make_memory(kind, 8 * mib);
        for (std::size_t const offset :
             {std::size_t{0}, std::size_t{1}, std::size_t{63}, std::size_t{4095},
              std::size_t{65537}, 2 * mib - 1, 3 * mib, 5 * mib + 77})
            for (std::size_t const bytes :
                 {std::size_t{1}, std::size_t{7}, std::size_t{4097}, mib + 1}) {
                pin const pinned = gpu.pin(block->address() + offset, bytes);
                EXPECT_EQ(pinned.memory(), kind);
                EXPECT_EQ(pinned.size(), bytes);
                EXPECT_EQ(pinned.gpu_address(), block->address() + offset);
                EXPECT_EQ(pinned.backend(), GetParam().backend);
                expect_same_memory(pinned.map(), block->address() + offset, seed++);
            }
        expect_same_memory(gpu.pin(block->address(), 8 * mib).map(), block->address(), seed++);
        expect_same_memory(gpu.pin(block->address() + 8 * mib - 1, 1).map(),
                           block->address() + 8 * mib - 1, seed++);
    }
}

TEST_P(data_test, a_mapping_keeps_to_its_bytes) {
    device const gpu = device::open(0);
    auto const block = some_memory(64 * kib);
    auto const before = pattern(64 * kib, 1), written = pattern(1001, 2);
    write_by_driver(block->address(), before);
    mapping const part = gpu.pin(block->address() + 5003, written.size()).map();
    write(part.window(), written);
    auto expected = before;
    std::copy(written.begin(), written.end(), expected.begin() + 5003);
    EXPECT_TRUE(read_by_driver(block->address(), 64 * kib) == expected) << "O3";
}

TEST_P(data_test, neighbours_in_one_page_keep_apart) {
    if (!adopts(memory_kind::device))
        GTEST_SKIP() << GetParam().backend << " does not map cudaMalloc memory";
    device const gpu = device::open(0);
    std::vector<std::unique_ptr<device_block>> blocks;
    std::vector<mapping> maps;
    for (unsigned i = 0; i < 8; ++i) {
        blocks.push_back(std::make_unique<device_block>(kib));
        maps.push_back(gpu.pin(blocks[i]->address(), kib).map());
    }
    ASSERT_LT(blocks[1]->address() - blocks[0]->address(), 4 * kib) << "not in one page";
    for (unsigned i = 0; i < 8; ++i)
        write(maps[i].window(), pattern(kib, i));
    for (unsigned i = 0; i < 8; ++i)
        EXPECT_TRUE(read_by_driver(blocks[i]->address(), kib) == pattern(kib, i)) << i;
    // The first in the page goes; those after it stay where they are.
    maps[0] = {};
    blocks[0]->release();
    expect_same_memory(gpu.pin(blocks[5]->address() + 3, 900).map(), blocks[5]->address() + 3, 9);
    expect_same_memory(maps[7], blocks[7]->address(), 10);
}

TEST_P(data_test, contiguous_chunks_become_one_cpu_range) {
    device const gpu = device::open(0);
    if (!GetParam().joins_chunks) {
        virtual_block const two(0, {2 * mib, 2 * mib});
        expect_refusal([&] { (void)gpu.pin(two.address(), 4 * mib).map(); },
                       errc::unsupported_operation, "one by one");
        expect_same_memory(gpu.pin(two.address() + 2 * mib, 2 * mib).map(), two.address() + 2 * mib,
                           1);
        return;
    }
    for (int const handles : {cuda::handle_type_posix_fd, cuda::handle_type_none}) {
        if (!adopts(handles ? memory_kind::virtual_exportable : memory_kind::virtual_opaque))
            continue;
        virtual_block const block(0, {2 * mib, 4 * mib, 2 * mib, 6 * mib, 2 * mib}, handles);
        expect_same_memory(gpu.pin(block.address(), block.size()).map(), block.address(), 3);
        std::uintptr_t const inside = block.address() + mib + 5;
        mapping const odd = gpu.pin(inside, 13 * mib + 77).map();
        expect_same_memory(odd, inside, 4);
        // Contiguous: plain CPU accesses across every seam, 8 bytes at a time.
        auto const all = pattern(odd.size(), 6);
        write_by_driver(inside, all);
        for (std::size_t const seam : {2 * mib, 6 * mib, 8 * mib, 14 * mib}) {
            std::size_t const at = seam - mib - 5 - 4;
            EXPECT_EQ(std::memcmp(odd.data() + at, all.data() + at, 8), 0) << seam;
        }
        std::uintptr_t const last = block.address() + block.size() - 1;
        expect_same_memory(gpu.pin(last, 1).map(), last, 7);
    }
}

TEST_P(data_test, two_mappings_of_one_pin_reach_the_same_bytes) {
    device const gpu = device::open(0);
    auto const block = some_memory(mib);
    pin const pinned = gpu.pin(block->address() + 17, 100 * kib);
    mapping const first = pinned.map();
    mapping second = pinned.map();
    expect_same_memory(first, block->address() + 17, 1);
    expect_same_memory(second, block->address() + 17, 2);
    auto const sent = pattern(100 * kib, 3);
    write(first.window(), sent);
    std::vector<std::byte> seen(sent.size());
    read(seen, second.window());
    EXPECT_TRUE(seen == sent) << "O29";
    second = {};
    expect_same_memory(first, block->address() + 17, 4);
    expect_same_memory(pinned.map(), block->address() + 17, 5);
}

TEST_P(data_test, a_range_can_be_pinned_twice) {
    device const gpu = device::open(0);
    auto const block = some_memory(mib);
    pin const left = gpu.pin(block->address(), 300 * kib);
    pin const right = gpu.pin(block->address() + 100 * kib, 300 * kib);
    mapping const left_map = left.map(), right_map = right.map();
    auto const sent = pattern(200 * kib, 1);
    write(left_map.window(100 * kib, 200 * kib), sent);
    std::vector<std::byte> seen(sent.size());
    read(seen, right_map.window());
    EXPECT_TRUE(seen == sent) << "O29";
}

TEST_P(data_test, words_and_lines_arrive) {
    device const gpu = device::open(0);
    auto const block = some_memory(4 * kib);
    mapping const map = gpu.pin(block->address(), 4 * kib).map();
    write_by_driver(block->address(), std::vector<std::byte>(4 * kib));
    post(map.window(8, 8), std::uint64_t{0x0123456789abcdef});
    post(map.window(18, 2), std::uint16_t{0xbeef});
    std::array<std::byte, 64> line;
    line.fill(std::byte{0x5a});
    post_line(map.window(64, 64), line);
    write_value(map.window(200, 4), 3.5f);
    flush_stores(); // O6
    auto const seen = read_by_driver(block->address(), 256);
    std::uint64_t word = 0;
    std::memcpy(&word, seen.data() + 8, sizeof word);
    EXPECT_EQ(word, 0x0123456789abcdef);
    std::uint16_t half = 0;
    std::memcpy(&half, seen.data() + 18, sizeof half);
    EXPECT_EQ(half, 0xbeef);
    EXPECT_TRUE(std::equal(line.begin(), line.end(), seen.begin() + 64));
    EXPECT_EQ(read_value<float>(map.window(200, 4)), 3.5f) << "O11";
    EXPECT_EQ(std::count(seen.begin(), seen.end(), std::byte{0}), 256 - 8 - 2 - 64 - 2) << "O3";
}

TEST_P(data_test, empty_transfers_touch_nothing) {
    device const gpu = device::open(0);
    auto const block = some_memory(4 * kib);
    mapping const map = gpu.pin(block->address(), 1).map();
    auto const before = pattern(4 * kib, 1);
    write_by_driver(block->address(), before);
    write(map.window(1, 0), {});
    read({}, map.window(1, 0));
    EXPECT_TRUE(read_by_driver(block->address(), 4 * kib) == before) << "O27";
}

TEST_P(data_test, a_window_stays_inside_its_mapping) {
    device const gpu = device::open(0);
    auto const block = some_memory(64 * kib);
    mapping const map = gpu.pin(block->address() + 100, 1000).map();
    EXPECT_EQ(map.window(1000, 0).size, 0u);
    EXPECT_EQ(map.window(10, 990).data, map.data() + 10);
    constexpr std::size_t all = static_cast<std::size_t>(-1);
    using part = std::pair<std::size_t, std::size_t>; // not bindings: a lambda cannot take those
    for (part const& out :
         {part{0, 1001}, part{1000, 1}, part{1001, 0}, part{all, 1}, part{1, all}})
        expect_refusal([&] { (void)map.window(out.first, out.second); }, errc::out_of_range,
                       "of a mapping of 1000");
}

TEST_P(data_test, measured_copy_kernels_move_the_same_bytes) {
    clear_environment("BARMAP_COPY");
    device const gpu = device::open(0);
    auto const block = some_memory(3 * mib);
    mapping const map = gpu.pin(block->address() + 1, 3 * mib - 1).map();
    EXPECT_FALSE(map.store_routine(4096).empty());
    EXPECT_FALSE(map.load_routine(4096).empty());
    expect_same_memory(map, block->address() + 1, 1);
}

TEST_P(data_test, a_chosen_copy_routine_serves_every_size_and_keeps_the_kind_of_memory) {
    device const gpu = device::open(0);
    auto const block = some_memory(mib);
    mapping map = gpu.pin(block->address() + 3, mib - 3).map();
    cache_kind const kind = map.kind();
    for (copy::copy_routine const& routine : copy::all_routines()) {
        if (!copy::supported(routine) || copy::only_when_asked_for(routine))
            continue;
        map.use_copy_routine(routine.name);
        EXPECT_EQ(map.kind(), kind);
        EXPECT_EQ(map.window().plan->kind, kind) << "it says which fence a read needs";
        for (std::size_t const bytes : {std::size_t{1}, std::size_t{64}, 4 * kib, mib}) {
            EXPECT_EQ(map.store_routine(bytes), routine.name) << bytes;
            EXPECT_EQ(map.load_routine(bytes), routine.name) << bytes;
        }
        expect_same_memory(map, block->address() + 3, 2);
    }
}

// O12, O29; in coherent memory, which that of the simulated GPU is, nothing could show more.
TEST_P(data_test, what_was_written_through_one_mapping_is_read_through_another) {
    device const gpu = device::open(0);
    auto const block = some_memory(4 * kib);
    mapping const map = gpu.pin(block->address(), 4 * kib).map();
    pin const other_pin = gpu.pin(block->address(), 4 * kib);
    mapping const writer = other_pin.map();
    for (std::uint64_t counter = 1; counter <= 100; ++counter) {
        write_value(writer.window(512, 8), counter);
        ASSERT_EQ(read_value<std::uint64_t>(map.window(512, 8)), counter);
    }
}

TEST_P(data_test, a_forced_routine_keeps_the_fences_of_the_mapping) {
    device const gpu = device::open(0);
    auto const block = some_memory(4 * kib);
    mapping map = gpu.pin(block->address(), 4 * kib).map();
    EXPECT_EQ(map.window().plan->kind, map.kind());
    map.use_copy_routine("portable");
    EXPECT_EQ(map.window().plan->kind, map.kind());
    EXPECT_EQ(map.store_routine(4096), "portable");
}

BARMAP_OVER_NEWEST_WAYS(data_test);

} // namespace
} // namespace barmap::contract
