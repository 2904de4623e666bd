// SPDX-License-Identifier: MIT
#include "contract/machine.hpp"
#include "cuda/memory.hpp"
#include "shared/in_child.hpp"
#include "shared/peer.hpp"

#include <cstdlib>
#include <optional>

/// Who outlives whom. The rules are those of docs/ordering.md, by number.
namespace barmap::contract {
namespace {

using lifetime_test = contract_test;

TEST_P(lifetime_test, children_hold_their_parents) {
    mapping map;
    auto const block = some_memory(mib);
    {
        device const gpu = device::open(0);
        pin const pinned = gpu.pin(block->address(), mib);
        map = pinned.map();
    }
    expect_same_memory(map, block->address(), 1);
    EXPECT_EQ(map.backend(), GetParam().backend);
}

TEST_P(lifetime_test, everything_goes_with_the_last_owner) {
    auto const block = some_memory(mib);
    fake::left_over const before = the_machine().held();
    {
        pin pinned = device::open(0).pin(block->address() + 5, 3000);
        mapping map = pinned.map();
        mapping const moved = std::move(map);
        map = pinned.map();
        pinned = device::open(0).pin(block->address(), mib);
        EXPECT_NE(the_machine().held(), before);
    }
    EXPECT_EQ(the_machine().held(), before);
}

TEST_P(lifetime_test, many_cycles_leave_nothing_behind) {
    auto const block = some_memory(mib);
    device const gpu = device::open(0);
    mapping const stays = gpu.pin(block->address(), mib).map();
    fake::left_over const before = the_machine().held();
    for (std::size_t i = 0; i < 200; ++i) {
        pin const pinned = gpu.pin(block->address() + i, 65536 + i);
        mapping const first = pinned.map(), second = pinned.map();
    }
    EXPECT_EQ(the_machine().held(), before);
}

TEST_P(lifetime_test, empty_objects_are_harmless) {
    mapping const map;
    EXPECT_EQ(map.size(), 0u);
    EXPECT_EQ(map.data(), nullptr);
    EXPECT_EQ(map.window().size, 0u);
    pin const nothing;
    EXPECT_EQ(nothing.size(), 0u);
    EXPECT_EQ(nothing.gpu_address(), 0u);
    EXPECT_EQ(nothing.memory(), memory_kind::unknown);
    expect_refusal([&] { (void)nothing.map(); }, errc::invalid_argument, "pin some memory first");
}

TEST_P(lifetime_test, a_mapping_survives_cuMemFree) {
    if (!adopts(memory_kind::device))
        GTEST_SKIP() << GetParam().backend << " does not map cudaMalloc memory";
    device const gpu = device::open(0);
    device_block block(4 * mib);
    pin const pinned = gpu.pin(block.address(), 4 * mib);
    mapping const map = pinned.map();
    auto const before = pattern(4 * mib, 1), after = pattern(4 * mib, 2);
    write(map.window(), before);
    block.release();
    std::vector<std::byte> seen(4 * mib);
    read(seen, map.window());
    EXPECT_TRUE(seen == before) << "O22";
    write(map.window(), after);
    read(seen, map.window());
    EXPECT_TRUE(seen == after) << "O22";
    // What comes next at the GPU address is not what the mapping reaches.
    device_block const next(4 * mib);
    write_by_driver(next.address(), before);
    read(seen, map.window());
    EXPECT_TRUE(seen == after) << "O22";
}

// A pin holds memory, not addresses: what it is mapped to later is what it was made of.
TEST_P(lifetime_test, a_pin_is_mapped_after_cuMemFree) {
    if (!adopts(memory_kind::device))
        GTEST_SKIP() << GetParam().backend << " does not map cudaMalloc memory";
    device const gpu = device::open(0);
    constexpr std::size_t bytes = 4 * mib;
    device_block block(4 * bytes); // leaves room for the alignment of what comes next
    std::uintptr_t const address = block.address();
    pin const pinned = gpu.pin(address, bytes), not_mapped_yet = gpu.pin(address, bytes);
    mapping const first = pinned.map();
    auto const old = pattern(bytes, 1), later = pattern(bytes, 2), other = pattern(bytes, 3);
    write(first.window(), old);
    block.release();
    virtual_block const next(0, {bytes}, cuda::handle_type_posix_fd, address);
    ASSERT_EQ(next.address(), address) << "the address is to mean other memory now";
    write_by_driver(next.address(), other);
    std::vector<std::byte> seen(bytes);
    mapping const second = pinned.map(), third = not_mapped_yet.map();
    for (mapping const* each : {&first, &second, &third}) {
        read(seen, each->window());
        EXPECT_TRUE(seen == old) << "O22";
    }
    write(second.window(), later);
    for (mapping const* each : {&first, &second, &third}) {
        read(seen, each->window());
        EXPECT_TRUE(seen == later) << "O22";
    }
    EXPECT_TRUE(read_by_driver(next.address(), bytes) == other) << "O22";
}

TEST_P(lifetime_test, a_mapping_survives_the_unmapping_of_a_chunk) {
    if (!adopts(memory_kind::virtual_exportable))
        GTEST_SKIP() << GetParam().backend << " does not map VMM memory";
    device const gpu = device::open(0);
    virtual_block block(0, {2 * mib, 2 * mib, 2 * mib});
    bool const joins = GetParam().joins_chunks;
    mapping const map =
        gpu.pin(block.address() + (joins ? 0 : 2 * mib), joins ? block.size() : 2 * mib).map();
    auto const written = pattern(map.size(), 1);
    write(map.window(), written);
    block.unmap(1);
    std::vector<std::byte> seen(written.size());
    read(seen, map.window());
    EXPECT_TRUE(seen == written) << "O22";
}

/// Pins memory of a pool that goes back to the GPU, and is allocated again at the same address.
void expect_a_pin_to_stay_behind(memory_kind kind) {
    constexpr std::size_t bytes = 3 * mib;
    device const gpu = device::open(0);
    auto block = std::make_unique<pool_block>(bytes, pool_block::from::the_default_pool);
    std::uintptr_t const address = block->address();
    pin const held = gpu.pin(address, bytes), not_mapped_yet = gpu.pin(address, bytes);
    EXPECT_EQ(held.memory(), kind);
    mapping const map = held.map();
    write_by_driver(address, pattern(bytes, 1));
    block.reset();
    CUmemoryPool pool = nullptr;
    expect_success(cuda::api().device_get_default_mem_pool(&pool, 0));
    expect_success(cuda::api().mem_pool_trim_to(pool, 0));
    pool_block const next(bytes, pool_block::from::the_default_pool);
    ASSERT_EQ(next.address(), address) << "the address is to mean other memory now";
    expect_other_memory(not_mapped_yet.map(), pattern(bytes, 1), address);
    expect_other_memory(map, pattern(bytes, 102), address);
    expect_same_memory(gpu.pin(address, bytes).map(), address, 3);
}

TEST_P(lifetime_test, a_pin_stays_with_what_a_pool_has_given_back) {
    if (!adopts(memory_kind::pool))
        GTEST_SKIP() << GetParam().backend << " does not map memory of pools";
    expect_a_pin_to_stay_behind(memory_kind::pool);
}

// As between two launches.
TEST_P(lifetime_test, a_pin_stays_with_what_a_graphs_node_has_given_back) {
    if (!adopts(memory_kind::graph))
        GTEST_SKIP() << GetParam().backend << " does not map memory nodes of graphs";
    pools_of_graphs const driver;
    expect_a_pin_to_stay_behind(memory_kind::graph);
}

TEST_P(lifetime_test, a_mapping_survives_its_context) {
    if (!adopts(memory_kind::device))
        GTEST_SKIP() << GetParam().backend << " does not map cudaMalloc memory";
    device const gpu = device::open(0);
    CUcontext context = nullptr;
    expect_success(cu().ctx_create(&context, 0, 0));
    CUdeviceptr address = 0;
    expect_success(cu().mem_alloc(&address, 4 * mib));
    pin pinned = gpu.pin(static_cast<std::uintptr_t>(address), 4 * mib);
    mapping map = pinned.map();
    expect_same_memory(map, address, 3);
    expect_success(cu().ctx_destroy(context));
    auto const written = pattern(4096, 4);
    std::vector<std::byte> seen(4096);
    write(map.window(), written);
    read(seen, map.window(0, 4096));
    EXPECT_TRUE(seen == written) << "O23";
    map = {};
    pinned = {};
    the_machine().use();
    auto const block = some_memory(mib);
    expect_same_memory(gpu.pin(block->address(), mib).map(), block->address(), 5);
}

// The device was opened with a context that is gone when the device goes, and its scratch memory
// went with it.
TEST_P(lifetime_test, a_device_survives_the_context_it_was_opened_in) {
    CUcontext context = nullptr;
    expect_success(cu().ctx_create(&context, 0, 0));
    auto gpu = std::make_unique<device>(device::open(0));
    expect_success(cu().ctx_destroy(context));
    the_machine().use();
    auto const block = some_memory(mib);
    expect_same_memory(gpu->pin(block->address(), mib).map(), block->address(), 1);
    gpu.reset();
    expect_same_memory(device::open(0).pin(block->address(), mib).map(), block->address(), 2);
}

TEST_P(lifetime_test, a_forked_child_has_no_mapping) {
    device const gpu = device::open(0);
    auto const block = some_memory(mib);
    mapping const map = gpu.pin(block->address() + 1, mib - 1).map();
    expect_segmentation_fault(
        in_child(0, [&] { *static_cast<std::byte volatile*>(map.data()) = std::byte{1}; }));
    expect_segmentation_fault(in_child(0, [&] {
        [[maybe_unused]] auto const value =
            *static_cast<std::byte volatile*>(map.data() + map.size() - 1);
    }));
    expect_same_memory(map, block->address() + 1, 1);
}

TEST_P(lifetime_test, a_forked_child_may_drop_what_it_inherited) {
    auto gpu = std::make_unique<device>(device::open(0));
    auto const block = some_memory(mib);
    auto pinned = std::make_unique<pin>(gpu->pin(block->address(), mib));
    auto map = std::make_unique<mapping>(pinned->map());
    auto const written = pattern(mib, 1);
    write(map->window(), written);
    fake::left_over const before = the_machine().held();
    // Status 86 would say that the child reached into its parent's driver objects.
    expect_exit(7, in_child(7, [&] {
                    map.reset();
                    pinned.reset();
                    gpu.reset();
                }));
    EXPECT_EQ(the_machine().held(), before) << "O24";
    std::vector<std::byte> seen(mib);
    read(seen, map->window());
    EXPECT_TRUE(seen == written) << "O24";
    expect_same_memory(pinned->map(), block->address(), 2);
}

TEST_P(lifetime_test, a_forked_child_can_make_nothing_of_what_it_inherited) {
    device const gpu = device::open(0);
    auto const block = some_memory(mib);
    pin const pinned = gpu.pin(block->address(), mib);
    mapping const map = pinned.map();
    fake::left_over const before = the_machine().held();
    int refused = 0;
    expect_exit(4, in_child(4, [&] {
                    auto const expect_refusal = [&](auto attempt) {
                        try {
                            attempt();
                        } catch (error const& failure) {
                            refused += failure.code() == errc::forked_child;
                        }
                    };
                    expect_refusal([&] { (void)pinned.map(); });
                    expect_refusal([&] { (void)gpu.pin(block->address(), mib); });
                    expect_refusal([&] { (void)gpu.allocate(mib); });
                    expect_refusal([&] { (void)device::open(0); });
                    ::_exit(refused);
                }));
    EXPECT_EQ(the_machine().held(), before) << "O24";
}

TEST_P(lifetime_test, a_window_of_an_empty_mapping_moves_nothing) {
    mapping const empty;
    write(empty.window(), {});
    read({}, empty.window(0, 0));
    EXPECT_EQ(empty.window().size, 0u) << "O27";
}

TEST_P(lifetime_test, a_process_may_end_with_live_objects) {
    auto const end_with_live_objects = [&] {
        static mapping early; // goes last: made before anything that the library keeps
        static auto const block = some_memory(mib);
        static mapping const map = device::open(0).pin(block->address(), mib).map();
        static device const gpu = device::open(0);
        early = gpu.pin(block->address(), mib).map();
        write(map.window(0, 8), pattern(8, 6));
        std::exit(0);
    };
    testing::FLAGS_gtest_death_test_style = "threadsafe"; // a new process: CUDA does not fork
    EXPECT_EXIT(end_with_live_objects(), testing::ExitedWithCode(0), "") << "O25";
}

BARMAP_OVER_ALL_WAYS(lifetime_test);

/// A VMM chunk of another process, of which this one has a descriptor.
class imported_chunk_test : public contract_test {
protected:
    static constexpr std::size_t bytes = 4 * mib;

    // Forked before this process loads a driver, which does not survive that.
    void prepare() override {
        owner_.emplace([](line const& to_test) {
            machine own("580");
            own.use();
            virtual_block const block(0, {bytes});
            write_by_driver(block.address(), pattern(bytes, 1));
            to_test.send_descriptor(cuda::export_chunk({.base = block.address()}).get());
            char word = 0;
            EXPECT_TRUE(to_test.receive(&word, 1));
            EXPECT_TRUE(read_by_driver(block.address(), bytes) == pattern(bytes, 2));
        });
    }

    std::optional<peer> owner_;
};

TEST_P(imported_chunk_test, stays_with_its_pin) {
    if (GetParam().backend == std::string_view("dmabuf"))
        GTEST_SKIP() << "the simulated GPU makes no dma-buf of what was exported before";
    device const gpu = device::open(0);
    fake::left_over const before = the_machine().held();
    {
        os::fd descriptor(owner_->receive_descriptor());
        auto chunk = std::make_unique<imported_chunk>(descriptor.get(), bytes);
        descriptor = {};
        pin const held = gpu.pin(chunk->address(), bytes);
        EXPECT_EQ(held.memory(), memory_kind::virtual_exportable);
        mapping const map = held.map();
        std::vector<std::byte> seen(bytes);
        read(seen, map.window());
        EXPECT_TRUE(seen == pattern(bytes, 1));
        expect_same_memory(map, chunk->address(), 3);
        chunk.reset();
        write(map.window(), pattern(bytes, 2));
        flush_stores();
        owner_->send("x", 1); // lets it look
        expect_exit(0, owner_->wait());
        mapping const again = held.map();
        read(seen, again.window());
        EXPECT_TRUE(seen == pattern(bytes, 2)) << "the memory outlives its owner";
    }
    EXPECT_EQ(the_machine().held(), before);
}

BARMAP_OVER_ALL_WAYS(imported_chunk_test);

} // namespace
} // namespace barmap::contract
