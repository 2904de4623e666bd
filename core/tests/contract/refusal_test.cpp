// SPDX-License-Identifier: MIT
#include "contract/machine.hpp"
#include "shared/in_child.hpp"
#include "shared/peer.hpp"

#include <limits>
#include <optional>

/// What cannot be mapped is refused by an error that names it and says what to do instead.
namespace barmap::contract {
namespace {

class refusal_test : public contract_test {
protected:
    static refusal pinning(std::uintptr_t address, std::size_t bytes) {
        device const gpu = device::open(0);
        return refusal_of([&] { (void)gpu.pin(address, bytes); });
    }
    /// Refused because of its kind, which the message names.
    static void expect_kind(std::uintptr_t address, memory_kind kind, std::string_view advice) {
        SCOPED_TRACE(to_string(kind));
        expect_refusal(pinning(address, 4096), errc::unsupported_memory, to_string(kind), advice);
    }
};

TEST_P(refusal_test, what_is_no_memory_of_a_gpu) {
    managed_block const managed(mib);
    pinned_block const host(mib);
    std::vector<std::byte> const ordinary(64 * kib);
    expect_kind(managed.address(), memory_kind::managed, "use it directly");
    expect_kind(host.address(), memory_kind::host, "use it directly");
    expect_kind(reinterpret_cast<std::uintptr_t>(ordinary.data()), memory_kind::unknown,
                "ordinary host memory");
    expect_kind(reinterpret_cast<std::uintptr_t>(&managed), memory_kind::unknown, "host memory");
    expect_kind(4096, memory_kind::unknown, "no live allocation");
    expect_refusal(pinning(0x1234, 8), errc::unsupported_memory,
                   "cannot pin 8 bytes at 0x1234, an address that CUDA does not know",
                   "give an address");
    expect_refusal([] { (void)device::from_pointer(reinterpret_cast<void*>(0x1234)); },
                   errc::unsupported_memory,
                   "cannot find the GPU that owns 1 byte at 0x1234, an address");
}

TEST_P(refusal_test, a_null_pointer_is_named) {
    expect_refusal([] { (void)device::from_pointer(nullptr); }, errc::invalid_argument,
                   "find the GPU that owns 1 byte at 0x0");
}

TEST_P(refusal_test, a_window_outside_of_its_mapping_is_named) {
    auto const block = some_memory(mib);
    mapping const map = device::open(0).pin(block->address(), mib).map();
    refusal const seen = refusal_of([&] { (void)map.window(mib - 7, 8); });
    expect_refusal(seen, errc::out_of_range, "8 bytes at offset 1048569 of a mapping of 1048576");
    EXPECT_EQ(seen.text.find("allocation"), std::string::npos) << seen.text;
}

TEST_P(refusal_test, what_this_backend_does_not_register) {
    for (auto const& [kind, advice] : std::initializer_list<std::pair<memory_kind, char const*>>{
             {memory_kind::virtual_opaque, "CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR"},
             {memory_kind::pool, "cudaMalloc instead of cudaMallocAsync"},
             {memory_kind::pool_exportable, "cudaMalloc instead of cudaMallocAsync"}})
        if (!adopts(kind)) {
            auto const block = make_memory(kind, mib);
            expect_kind(block->address(), kind, advice);
            expect_kind(block->address() + 12345, kind, advice);
        }
}

TEST_P(refusal_test, external_memory_of_another_api) {
    external_block const block(2 * mib);
    expect_kind(block.address(), memory_kind::imported, "in the process that allocated it");
}

TEST_P(refusal_test, freed_memory) {
    std::uintptr_t small = 0, large = 0;
    {
        device_block const one(kib), other(8 * mib);
        small = one.address();
        large = other.address();
    }
    device_block const keeps_the_page(kib);
    expect_kind(large, memory_kind::unknown, "it was freed");
    if (keeps_the_page.address() != small)
        expect_kind(small, memory_kind::unknown, "it was freed");
    virtual_block chunks(0, {2 * mib, 2 * mib});
    chunks.unmap(0);
    expect_kind(chunks.address(), memory_kind::unknown, "it was freed");
}

TEST_P(refusal_test, a_range_that_leaves_its_allocation) {
    for (memory_kind const kind : kinds_of_device_memory) {
        if (!adopts(kind))
            continue;
        SCOPED_TRACE(to_string(kind));
        auto const block = make_memory(kind, 2 * mib);
        expect_refusal(pinning(block->address(), 2 * mib + 1), errc::out_of_range,
                       "the allocation ends at 0x");
        expect_refusal(pinning(block->address() + 2 * mib - 8, 9), errc::out_of_range,
                       "inside one allocation");
        constexpr std::size_t huge = std::numeric_limits<std::size_t>::max() / 2;
        expect_refusal(pinning(block->address(), huge), errc::out_of_range, "ends at");
    }
}

TEST_P(refusal_test, a_range_that_runs_into_a_neighbour) {
    device_block const left(kib), right(kib);
    if (adopts(memory_kind::device))
        expect_refusal(pinning(left.address(), right.address() - left.address() + 1),
                       errc::out_of_range, "the allocation ends at");
}

TEST_P(refusal_test, a_range_with_a_gap_between_chunks) {
    if (!adopts(memory_kind::virtual_exportable))
        GTEST_SKIP() << GetParam().backend << " does not map VMM memory";
    virtual_block chunks(0, {2 * mib, 2 * mib, 2 * mib});
    chunks.unmap(1);
    expect_refusal(pinning(chunks.address() + mib, 2 * mib), errc::out_of_range, "ends at");
    expect_refusal(pinning(chunks.address(), 6 * mib), errc::out_of_range, "VMM chunks");
    device const gpu = device::open(0);
    std::uintptr_t const behind = chunks.address() + 4 * mib + 1;
    expect_same_memory(gpu.pin(behind, 2 * mib - 1).map(), behind, 1);
}

TEST_P(refusal_test, no_bytes_no_address_and_a_range_that_wraps_around) {
    auto const block = some_memory(mib);
    constexpr std::size_t most = std::numeric_limits<std::size_t>::max();
    for (auto const& [address, bytes] :
         std::initializer_list<std::pair<std::uintptr_t, std::size_t>>{
             {block->address(), 0}, {0, 1}, {0, 0}, {block->address(), most}, {most, 2}})
        expect_refusal(pinning(address, bytes), errc::invalid_argument,
                       "a GPU address, and a size greater than 0");
    device const gpu = device::open(0);
    expect_refusal([&] { (void)gpu.pin(nullptr, 8); }, errc::invalid_argument, "pin");
    expect_refusal([&] { (void)gpu.allocate(0); }, errc::invalid_argument, "0 bytes");
}

TEST_P(refusal_test, the_last_byte_of_the_address_space_is_only_unknown) {
    constexpr std::uintptr_t last = std::numeric_limits<std::uintptr_t>::max();
    expect_refusal([&] { (void)device::open(0).pin(last - 8, 8); }, errc::unsupported_memory,
                   "CUDA does not know");
}

BARMAP_OVER_ALL_WAYS(refusal_test);

/// Memory of another process, opened here through CUDA IPC.
class other_process_test : public contract_test {
protected:
    // Forked before this process loads a driver, which does not survive that.
    void prepare() override {
        owner_.emplace([](line const& to_test) {
            set_environment("BARMAP_SIM", "1");
            CUcontext context = nullptr;
            CUdeviceptr address = 0;
            CUipcMemHandle handle{};
            cu().primary_ctx_retain(&context, 0);
            cu().ctx_set_current(context);
            cu().mem_alloc(&address, 4 * mib);
            cu().ipc_get_mem_handle(&handle, address);
            to_test.send(&handle, sizeof handle);
            char end = 0;
            EXPECT_FALSE(to_test.receive(&end, 1));
        });
        ASSERT_TRUE(owner_->receive(&handle_, sizeof handle_));
    }
    void TearDown() override {
        contract_test::TearDown();
        owner_->end();
        expect_exit(0, owner_->wait());
    }

    CUipcMemHandle handle_{};

private:
    std::optional<peer> owner_;
};

TEST_P(other_process_test, its_memory_is_refused) {
    CUdeviceptr address = 0;
    expect_success(cu().ipc_open_mem_handle(&address, handle_, 1));
    device const gpu = device::open(0);
    expect_refusal([&] { (void)gpu.pin(std::uintptr_t{address}, 4096); }, errc::unsupported_memory,
                   to_string(memory_kind::imported), "in the process that allocated it");
    expect_success(cu().ipc_close_mem_handle(address));
}

BARMAP_OVER_NEWEST_WAYS(other_process_test);

using two_gpus_test = two_gpus;

TEST_P(two_gpus_test, memory_of_each_is_reached_through_that_one) {
    struct side {
        std::unique_ptr<memory> block;
        std::unique_ptr<virtual_block> chunks;
        mapping block_map, chunks_map;
    } sides[2];
    for (int i = 0; i < 2; ++i) {
        the_machine().use(i);
        device const gpu = device::open(i);
        sides[i].block = some_memory(3 * mib);
        sides[i].chunks = std::make_unique<virtual_block>(i, std::vector(5, 2 * mib));
        sides[i].block_map = gpu.pin(sides[i].block->address() + 1, 3 * mib - 1).map();
        sides[i].chunks_map = gpu.pin(sides[i].chunks->address(), 10 * mib).map();
        EXPECT_EQ(device::from_pointer(reinterpret_cast<void const*>(sides[i].block->address()))
                      .ordinal(),
                  i);
    }
    // All four at once, so that a mapping of the wrong GPU would overwrite another's bytes.
    unsigned seed = 10;
    for (side const& each : sides) {
        write(each.block_map.window(), pattern(each.block_map.size(), seed++));
        write(each.chunks_map.window(), pattern(each.chunks_map.size(), seed++));
    }
    seed = 10;
    for (side const& each : sides) {
        EXPECT_TRUE(read_by_driver(each.block->address() + 1, 3 * mib - 1) ==
                    pattern(3 * mib - 1, seed++));
        EXPECT_TRUE(read_by_driver(each.chunks->address(), 10 * mib) == pattern(10 * mib, seed++));
    }
}

TEST_P(two_gpus_test, memory_of_the_other_is_refused) {
    auto const block = some_memory(mib);
    for (int const current : {0, 1}) {
        the_machine().use(current);
        device const second = device::open(1);
        expect_refusal([&] { (void)second.pin(block->address(), mib); }, errc::wrong_device,
                       "memory of GPU 0 through GPU 1", "device::from_pointer");
    }
    the_machine().use(0);
    expect_refusal([&] { (void)device::open(2); }, errc::no_device, "0 to 1");
    expect_refusal([&] { (void)device::open(-1); }, errc::no_device, "0 to 1");
}

BARMAP_OVER_ALL_WAYS(two_gpus_test);

class mig_test : public contract_test {
protected:
    void prepare() override { set_environment("BARMAP_SIM_MIG", "1"); }
};

TEST_P(mig_test, memory_of_a_slice_is_refused) {
    auto const block = some_memory(mib);
    device const gpu = device::open(0);
    expect_refusal([&] { (void)gpu.pin(block->address(), mib); }, errc::unsupported_memory, "MIG",
                   "switch MIG off");
}

BARMAP_OVER_NEWEST_WAYS(mig_test);

} // namespace
} // namespace barmap::contract
