// SPDX-License-Identifier: MIT
#include "base/config.hpp"
#include "contract/engine_machine.hpp"
#include "contract/machine.hpp"
#include "cuda/host_registration.hpp"
#include "system/region.hpp"

#include <algorithm>
#include <chrono>
#include <cstring>
#include <thread>
#include <utility>
#include <vector>

#include <sys/mman.h>

/// Copies by mapping::copy_to_gpu() and copy_to_cpu(), over every engine, for all but small ones.
namespace barmap::contract {
namespace {

class adaptive_copy_test : public testing::TestWithParam<engine_way> {
protected:
    engine_machine machine_{GetParam().engine, GetParam().how};

    [[nodiscard]] static bool is_channel() {
        return GetParam().engine == std::string_view("channel");
    }

    /// Memory that the engine holds: the driver's holds none of cudaMalloc.
    [[nodiscard]] static std::unique_ptr<memory> held_memory(std::size_t bytes) {
        if (is_channel())
            return std::make_unique<device_block>(bytes);
        return std::make_unique<virtual_block>(0, std::vector{bytes});
    }

    static engine_report report_of(device const& gpu, std::string_view name) {
        for (engine_report const& each : gpu.started_engines())
            if (each.name == name)
                return each;
        return {};
    }
};
INSTANTIATE_TEST_SUITE_P(ways, adaptive_copy_test, over(newest_held_ways()), name_of_way);

void round_trip(mapping const& map, std::span<std::byte> host, std::size_t offset, unsigned seed) {
    auto const sent = pattern(host.size(), seed);
    std::memcpy(host.data(), sent.data(), sent.size());
    map.copy_to_gpu(offset, host);
    std::memset(host.data(), 0, host.size());
    map.copy_to_cpu(host, offset);
    EXPECT_EQ(std::memcmp(host.data(), sent.data(), sent.size()), 0)
        << host.size() << " bytes at " << offset;
    std::vector<std::byte> seen(host.size());
    read(seen, map.window(offset, host.size()));
    EXPECT_TRUE(seen == sent) << "the mapping sees what the engine wrote";
}

// With the least that BARMAP_POLICY may give, a staging buffer has a place for each part.
TEST_P(adaptive_copy_test, stages_in_the_smallest_parts) {
    ::setenv("BARMAP_POLICY",
             "part_to_cpu=4096,medium_part_to_cpu=4096,large_part_to_cpu=4096,part_to_gpu=4096,"
             "large_part_to_gpu=4096,whole_to_cpu=1,whole_to_gpu=1",
             1);
    config::read_again();
    device const gpu = device::open(0);
    auto const block = held_memory(8 * mib);
    mapping const map = gpu.pin(block->address(), 8 * mib).map();
    std::vector<std::byte> host(3 * mib + 5);
    round_trip(map, host, 3, 1);
}

TEST_P(adaptive_copy_test, copies_adaptively_whatever_the_size) {
    device const gpu = device::open(0);
    auto const block = held_memory(8 * mib);
    mapping const map = gpu.pin(block->address(), 8 * mib).map();
    unsigned seed = 10;
    for (std::size_t const bytes :
         {std::size_t{1}, std::size_t{1023}, std::size_t{1024}, 32 * kib - 1, 32 * kib,
          40 * kib + 7, 129 * kib + 1, 600 * kib + 3, 3 * mib + 5, 5 * mib + 9}) {
        std::vector<std::byte> host(bytes);
        round_trip(map, host, 3 + seed, seed);
        ++seed;
    }
    engine_report const used = report_of(gpu, GetParam().engine);
    EXPECT_EQ(used.state, backend_state::usable) << used.reason;
    EXPECT_GE(used.copies, 13u);
    EXPECT_GT(used.bytes, 16 * mib);
    EXPECT_EQ(used.failures, 0u);
}

TEST_P(adaptive_copy_test, copies_directly_to_and_from_pinned_memory) {
    device const gpu = device::open(0);
    auto const block = held_memory(12 * mib);
    mapping const map = gpu.pin(block->address(), 12 * mib).map();
    void* allocated = nullptr;
    expect_success(cuda::api().mem_host_alloc(&allocated, 11 * mib, 0));
    round_trip(map, {static_cast<std::byte*>(allocated) + 5, 10 * mib}, 1, 30);
    std::vector<std::byte> own(2 * mib);
    expect_success(cuda::api().mem_host_register(own.data() + 77, mib, 0));
    round_trip(map, std::span(own).subspan(100, 300 * kib), 9, 31);
    // Partly registered: staged.
    round_trip(map, std::span(own).subspan(mib, 300 * kib), 9, 32);
    expect_success(cuda::api().mem_host_unregister(own.data() + 77));
    round_trip(map, std::span(own).subspan(100, 300 * kib), 9, 33);
    expect_success(cuda::api().mem_free_host(allocated));
    EXPECT_EQ(report_of(gpu, GetParam().engine).copies, 8u);
}

// The engine begins before CUDA has said what is there now.
TEST_P(adaptive_copy_test, notices_that_other_memory_took_the_place_of_pinned_memory) {
    device const gpu = device::open(0);
    device_block block(mib);
    mapping const map = gpu.pin(block.address(), mib).map();
    os::region const place = os::region::shared_memory(mib);
    std::span<std::byte> const host(place.data(), place.size());
    unsigned seed = 40;
    for (int round = 0; round < 3; ++round) {
        expect_success(cuda::api().mem_host_register(host.data(), mib, 0));
        for (std::size_t const bytes : {mib, 300 * kib, 40 * kib})
            round_trip(map, host.last(bytes), 0, seed++); // reached, then recalled
        expect_success(cuda::api().mem_host_unregister(host.data()));
        void* const other = ::mmap(host.data(), mib, PROT_READ | PROT_WRITE,
                                   MAP_FIXED | MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
        ASSERT_EQ(other, host.data());
        for (std::size_t const bytes : {mib, 300 * kib, 40 * kib})
            round_trip(map, host.last(bytes), 0, seed++);
    }
    EXPECT_EQ(report_of(gpu, GetParam().engine).failures, 0u);
}

// Memory that CUDA does not know is copied rightly in any case, also once it has been pinned.
TEST_P(adaptive_copy_test, asks_only_now_and_then_whether_pageable_memory_is_pinned) {
    device const gpu = device::open(0);
    device_block block(mib);
    mapping const map = gpu.pin(block.address(), mib).map();
    std::vector<std::byte> host(mib), other(mib);
    round_trip(map, host, 0, 34);
    static std::uintptr_t asked;
    static int calls;
    asked = reinterpret_cast<std::uintptr_t>(host.data());
    changed_driver counting;
    counting->pointer_get_attributes = [](unsigned count, int* names, void** values,
                                          CUdeviceptr at) {
        calls += at == asked;
        return changed_driver::real.pointer_get_attributes(count, names, values, at);
    };
    auto const calls_of = [&](auto action) {
        calls = 0;
        action();
        return calls;
    };
    auto const last = std::chrono::milliseconds(11);
    std::this_thread::sleep_for(last);
    EXPECT_EQ(calls_of([&] { map.copy_to_gpu(0, host); }), 1);
    EXPECT_EQ(calls_of([&] {
                  map.copy_to_cpu(other, 0); // of another place it asks, and remembers that one
                  map.copy_to_cpu(host, 0);
              }),
              1);
    // On a busy machine some copies begin more than 10 ms after the one before.
    EXPECT_LT(calls_of([&] {
                  for (int i = 0; i < 200; ++i)
                      map.copy_to_cpu(std::span(host).first(4 * kib), 0);
              }),
              200);
    expect_success(cuda::api().mem_host_register(host.data(), mib, 0));
    round_trip(map, host, 0, 35);
    std::this_thread::sleep_for(last);
    EXPECT_EQ(calls_of([&] { round_trip(map, host, 0, 36); }), 2) << "pinned: each time";
    expect_success(cuda::api().mem_host_unregister(host.data()));
    round_trip(map, host, 0, 37);
}

TEST_P(adaptive_copy_test, copies_directly_to_and_from_host_buffers) {
    device const gpu = device::open(0);
    auto const block = held_memory(12 * mib);
    mapping const map = gpu.pin(block->address(), 12 * mib).map();
    { // what the first copy starts stays
        std::vector<std::byte> some(64 * kib);
        round_trip(map, some, 0, 59);
    }
    fake::left_over const before = machine_->held();
    for (std::size_t const bytes : {std::size_t{1}, 64 * kib, 5 * mib + 3, 9 * mib}) {
        host_buffer const buffer = gpu.allocate_host(bytes);
        ASSERT_EQ(buffer.size(), bytes);
        EXPECT_TRUE(
            std::ranges::all_of(buffer.bytes(), [](std::byte b) { return b == std::byte{}; }));
        round_trip(map, buffer.bytes(), 7, 60);
        std::size_t const half = bytes / 2;
        round_trip(map, buffer.bytes().subspan(half, bytes - half), 7, 61);
        unsigned type = 0;
        expect_success(cuda::api().pointer_get_attribute(
            &type, cuda::pointer_memory_type, reinterpret_cast<std::uintptr_t>(buffer.data())));
        EXPECT_EQ(type, cuda::memory_type_host) << "CUDA knows it, too";
        EXPECT_TRUE(is_pinned(buffer.bytes()));
        EXPECT_TRUE(is_pinned(buffer.bytes().first(0)));
    }
    host_buffer first = gpu.allocate_host(100), second = std::move(first);
    EXPECT_EQ(first.data(), nullptr);
    EXPECT_EQ(first.size(), 0u);
    EXPECT_EQ(second.size(), 100u);
    second = {};
    EXPECT_EQ(refusal_of([&] { (void)gpu.allocate_host(0); }).code,
              make_error_code(errc::invalid_argument));
    EXPECT_EQ(refusal_of([&] { (void)gpu.allocate_host(~std::size_t{0}); }).code,
              make_error_code(errc::invalid_argument));
    EXPECT_EQ(machine_->held(), before);
}

TEST_P(adaptive_copy_test, pinned_memory_is_told_from_other_memory) {
    auto const block = held_memory(2 * mib);
    std::size_t const page = os::page_size();
    os::region const pages = os::region::shared_memory(3 * page);
    {
        cuda::host_registration const one(0, {pages.data(), page}, ""),
            another(0, {pages.data() + page, page}, "");
        EXPECT_TRUE(is_pinned({pages.data() + 1, 2 * page - 1})) << "as two";
        EXPECT_FALSE(is_pinned({pages.data(), 2 * page + 1})) << "beyond the end";
    }
    std::vector<std::byte> const pageable(kib);
    EXPECT_FALSE(is_pinned(pageable));
    EXPECT_FALSE(is_pinned({reinterpret_cast<std::byte const*>(block->address()), kib}));
}

TEST_P(adaptive_copy_test, host_buffers_are_pinned_for_every_context) {
    device const gpu = device::open(0);
    static unsigned flags;
    flags = 0;
    changed_driver watching;
    watching->mem_host_register = [](void* memory, std::size_t bytes, unsigned given) {
        flags = given;
        return changed_driver::real.mem_host_register(memory, bytes, given);
    };
    (void)gpu.allocate_host(mib);
    EXPECT_EQ(flags, 1u) << "CU_MEMHOSTREGISTER_PORTABLE";
}

TEST_P(adaptive_copy_test, copies_to_chunks_in_a_row) {
    device const gpu = device::open(0);
    virtual_block block(0, {2 * mib, 4 * mib, 2 * mib});
    mapping const map = gpu.pin(block.address() + 100, 8 * mib - 200).map();
    std::vector<std::byte> host(7 * mib);
    round_trip(map, host, 55, 40);
    EXPECT_EQ(report_of(gpu, GetParam().engine).copies, 2u);
}

TEST_P(adaptive_copy_test, copies_to_memory_of_its_own) {
    device const gpu = device::open(0);
    mapping const map = gpu.allocate(3 * mib).map();
    std::vector<std::byte> host(2 * mib);
    round_trip(map, host, 4096, 41);
    EXPECT_EQ(report_of(gpu, GetParam().engine).copies, 2u);
}

// The mapping keeps the memory; another allocation may by then be at the address.
TEST_P(adaptive_copy_test, never_reaches_the_memory_that_took_a_freed_ones_place) {
    device const gpu = device::open(0);
    for (bool const copied_before : {false, true}) {
        std::vector<std::size_t> const chunk{2 * mib};
        auto first = std::make_unique<virtual_block>(0, chunk);
        std::uintptr_t const address = first->address();
        mapping const map = gpu.pin(address, mib).map();
        std::vector<std::byte> host = pattern(mib, 50);
        write(map.window(), host);
        if (copied_before)
            map.copy_to_cpu(host, 0);
        first.reset();
        virtual_block const second(0, chunk, cuda::handle_type_posix_fd, address);
        ASSERT_EQ(second.address(), address) << "or nothing is tested";
        auto const theirs = pattern(2 * mib, 51);
        write_by_driver(address, theirs);
        std::uint64_t const copies_before = report_of(gpu, GetParam().engine).copies;
        round_trip(map, host, 0, 52);
        EXPECT_TRUE(read_by_driver(address, 2 * mib) == theirs);
        // A channel reaches what the pin holds, the driver's engine what it held itself in time.
        EXPECT_EQ(report_of(gpu, GetParam().engine).copies - copies_before,
                  is_channel() || copied_before ? 2u : 0u);
    }
}

// Which has no address here, so that CUDA cannot copy it.
TEST_P(adaptive_copy_test, copies_to_memory_that_an_ipc_handle_names) {
    device const gpu = device::open(0);
    device_block const block(4 * mib);
    CUipcMemHandle handle{};
    expect_success(cuda::api().ipc_get_mem_handle(&handle, block.address()));
    mapping const map = gpu.pin(handle, 5, 4 * mib - 5).map();
    std::vector<std::byte> host(3 * mib + 1);
    round_trip(map, host, 7, 53);
    EXPECT_TRUE(read_by_driver(block.address() + 12, host.size()) == host);
    EXPECT_EQ(report_of(gpu, GetParam().engine).copies, is_channel() ? 2u : 0u);
}

TEST_P(adaptive_copy_test, leaves_memory_that_the_engine_cannot_hold_to_loads_and_stores) {
    device const gpu = device::open(0);
    device_block block(4 * mib);
    pin const pinned = gpu.pin(block.address(), 4 * mib);
    std::vector<std::byte> host(3 * mib);
    round_trip(pinned.map(), host, 9, 54);
    EXPECT_EQ(report_of(gpu, GetParam().engine).copies, is_channel() ? 2u : 0u);
    for (engine_report const& each : pinned.engines())
        if (each.name == "driver") {
            EXPECT_EQ(each.state, backend_state::absent);
            EXPECT_NE(each.reason.find("cannot hold this memory"), std::string::npos);
            EXPECT_NE(each.advice.find("cuMemCreate"), std::string::npos);
        }
}

// Which engines copy this memory is asked of the pin; of the GPU, which ones work at all.
TEST_P(adaptive_copy_test, a_pin_says_which_engine_cannot_reach_its_memory) {
    bool const reaches_what_is_held = GetParam().engine == std::string_view("channel");
    device const gpu = device::open(0);
    device_block const block(2 * mib);
    CUipcMemHandle handle{};
    expect_success(cuda::api().ipc_get_mem_handle(&handle, block.address()));
    pin const named = gpu.pin(handle, 0, 2 * mib);
    bool is_there = false;
    for (engine_report const& each : named.engines()) {
        if (each.name != GetParam().engine)
            continue;
        is_there = true;
        EXPECT_EQ(each.state, reaches_what_is_held ? backend_state::usable : backend_state::absent);
        EXPECT_EQ(each.reason ==
                      "it cannot hold this memory, which another thread may free during a copy",
                  !reaches_what_is_held)
            << each.reason;
        EXPECT_EQ(each.advice.empty(), reaches_what_is_held) << each.advice;
    }
    EXPECT_TRUE(is_there);
    EXPECT_EQ(report_of(gpu, GetParam().engine).state, backend_state::usable);
    pin const own = gpu.allocate(2 * mib);
    for (engine_report const& each : own.engines())
        if (each.name == GetParam().engine) {
            EXPECT_EQ(each.state, backend_state::usable) << each.reason;
        }
    EXPECT_TRUE(pin().engines().empty());
}

TEST_P(adaptive_copy_test, copies_adaptively_in_several_threads) {
    device const gpu = device::open(0);
    auto const block = held_memory(8 * mib);
    mapping const map = gpu.pin(block->address(), 8 * mib).map();
    std::vector<std::thread> all;
    for (unsigned t = 0; t < 4; ++t)
        all.emplace_back([&, t] {
            std::vector<std::byte> host(300 * kib + t);
            for (unsigned i = 0; i < 5; ++i)
                round_trip(map, host, t * 2 * mib + i, 100 * t + i);
        });
    for (std::thread& each : all)
        each.join();
}

TEST_P(adaptive_copy_test, is_not_started_for_small_copies) {
    clear_environment("BARMAP_ENGINE");
    device const gpu = device::open(0);
    device_block block(mib);
    mapping const map = gpu.pin(block.address(), mib).map();
    std::vector<std::byte> host(32 * kib - 1);
    map.copy_to_gpu(0, host);
    map.copy_to_cpu(std::span(host).first(1023), 0);
    EXPECT_TRUE(gpu.started_engines().empty());
    EXPECT_EQ(map.engines_from(copy_direction::to_gpu), 32 * kib);
    EXPECT_EQ(map.engines_from(copy_direction::to_cpu), kib);
    map.copy_to_cpu(std::span(host).first(kib), 0);
    EXPECT_FALSE(gpu.started_engines().empty());
}

TEST_P(adaptive_copy_test, stays_inside_the_mapping) {
    device const gpu = device::open(0);
    device_block block(mib);
    mapping const map = gpu.pin(block.address(), mib).map();
    std::vector<std::byte> host(2 * mib);
    for (auto const& [offset, bytes] : {std::pair{std::size_t{0}, mib + 1},
                                        {mib, std::size_t{1}},
                                        {~std::size_t{0}, std::size_t{2}},
                                        {mib / 2, mib}}) {
        auto const part = std::span(host).first(bytes);
        std::size_t const at = offset; // clang 14 captures no structured binding
        expect_refusal([&] { map.copy_to_gpu(at, part); }, errc::out_of_range, "copy");
        expect_refusal([&] { map.copy_to_cpu(part, at); }, errc::out_of_range, "copy");
    }
    map.copy_to_gpu(mib, std::span<std::byte>{}); // nothing, at the end
    mapping().copy_to_cpu(std::span<std::byte>{}, 0);
    EXPECT_EQ(refusal_of([&] { mapping().copy_to_gpu(0, std::span(host)); }).code,
              make_error_code(errc::out_of_range));
}

} // namespace
} // namespace barmap::contract
