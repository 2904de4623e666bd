// SPDX-License-Identifier: MIT
#include "contract/machine.hpp"
#include "driver/rm/exported_objects.hpp"
#include "fake/rm_driver.hpp"
#include "gpu/gpu_identity.hpp"
#include "map/backend.hpp"

#include <array>
#include <atomic>
#include <cstddef>
#include <cstring>
#include <optional>
#include <thread>
#include <type_traits>
#include <unistd.h>
#include <vector>

/// Memory whose objects only the driver's own export names: any that CUDA has, in the backend that
/// needs no kernel module. And what that export may get wrong.
namespace barmap::contract {
namespace {

constexpr std::size_t pool_object = 32 * mib;

class any_memory_test : public testing::TestWithParam<unsigned> {
protected:
    void SetUp() override {
        set_environment("BARMAP_BACKEND", "rm");
        set_environment("BARMAP_SIM_MEMORY", "8G");
        machine_.emplace(std::to_string(GetParam()).c_str());
        machine_->add<fake::rm_driver>({.series = GetParam()});
        machine_->use();
    }
    void TearDown() override {
        cuda::replace_api(nullptr);
        machine_.reset();
    }

    [[nodiscard]] machine& the_machine() { return *machine_; }

    /// From now on libcuda is asked in another way.
    using ask = CUresult (*)(void*, CUdeviceptr, std::size_t, int, unsigned long long);
    static void change_exports(ask changed) {
        static cuda::driver_api table;
        cuda::replace_api(nullptr);
        real_ = cuda::api().mem_get_handle_for_address_range;
        table = cuda::api();
        table.mem_get_handle_for_address_range = changed;
        cuda::replace_api(&table);
    }
    /// As on a GPU that offers no dma-bufs.
    static void take_exports_away() {
        change_exports([](void*, CUdeviceptr, std::size_t, int, unsigned long long) {
            return cuda::error_not_supported;
        });
    }

    static inline ask real_ = nullptr;

    /// By what the kinds are found; empty: not at all.
    static void expect_kinds(std::vector<std::pair<memory_kind, std::string>> const& expected) {
        for (backend_report const& each : device::open(0).backends()) {
            if (each.name != "rm")
                continue;
            EXPECT_EQ(each.state, backend_state::usable) << each.reason;
            ASSERT_EQ(each.kinds.size(), expected.size());
            for (std::size_t i = 0; i < expected.size(); ++i) {
                SCOPED_TRACE(to_string(expected[i].first));
                EXPECT_EQ(each.kinds[i].kind, expected[i].first);
                EXPECT_EQ(each.kinds[i].usable, !expected[i].second.empty());
                EXPECT_FALSE(each.kinds[i].reason.empty());
                if (each.kinds[i].usable) {
                    EXPECT_EQ(each.kinds[i].reason, expected[i].second);
                }
            }
        }
    }

private:
    std::optional<machine> machine_;
};

TEST_P(any_memory_test, later_pieces_of_a_pool) {
    pool_block const first(700, pool_block::from::the_default_pool),
        second(700, pool_block::from::the_default_pool),
        large(100 * mib, pool_block::from::the_default_pool),
        last(5 * mib, pool_block::from::the_default_pool);
    device const gpu = device::open(0);
    unsigned seed = 1;
    for (memory const* each : {&first, &second}) {
        expect_same_memory(gpu.pin(each->address(), 700).map(), each->address(), seed++);
        expect_same_memory(gpu.pin(each->address() + 3, 690).map(), each->address() + 3, seed++);
    }
    expect_same_memory(gpu.pin(last.address() + mib + 1, 3 * mib).map(), last.address() + mib + 1,
                       seed++);
    // Whole, from its middle, and on both sides of a border between two objects.
    std::uintptr_t const border = (large.address() / pool_object + 1) * pool_object;
    for (auto const& [from, bytes] : std::initializer_list<std::pair<std::uintptr_t, std::size_t>>{
             {large.address(), 100 * mib},
             {large.address() + mib + 1, 99 * mib - 1},
             {border - 4099, 9000},
             {border - 1, 2},
             {border, 1},
             {border - 4096, 8192},
             {border - mib, pool_object + 2 * mib},
             {border + 4096, pool_object - 4096},
             {border + 8192, pool_object}}) {
        SCOPED_TRACE(std::to_string(from - large.address()) + "+" + std::to_string(bytes));
        expect_same_memory(gpu.pin(from, bytes).map(), from, seed++);
    }
}

TEST_P(any_memory_test, chunks_without_a_handle_type) {
    virtual_block const chunks(0, {2 * mib, 4 * mib, 2 * mib}, cuda::handle_type_none);
    device const gpu = device::open(0);
    expect_same_memory(gpu.pin(chunks.address(), 8 * mib).map(), chunks.address(), 1);
    expect_same_memory(gpu.pin(chunks.address() + 2 * mib - 5, 4 * mib + 10).map(),
                       chunks.address() + 2 * mib - 5, 2);
    EXPECT_EQ(gpu.pin(chunks.address(), 1).memory(), memory_kind::virtual_opaque);
}

TEST_P(any_memory_test, memory_of_a_graph) {
    pool_block const block(4 * mib, pool_block::from::the_default_pool);
    pools_of_graphs const driver;
    pin const held = device::open(0).pin(block.address() + 5, mib);
    EXPECT_EQ(held.memory(), memory_kind::graph);
    expect_same_memory(held.map(), block.address() + 5, 1);
}

// libcuda names 128 at a time.
TEST_P(any_memory_test, more_objects_than_one_export_names) {
    pool_block const large(130 * pool_object + 5, pool_block::from::the_default_pool);
    auto const told = rm::exported_objects::of(large.address(), 130 * pool_object);
    ASSERT_TRUE(told.has_value());
    EXPECT_EQ(told->parts.size(), 128u);
    EXPECT_EQ(told->in_all, 130u);
    mapping const map = device::open(0).pin(large.address(), 130 * pool_object).map();
    for (std::size_t const at : {std::size_t{0}, 127 * pool_object, 128 * pool_object - 8,
                                 129 * pool_object, 130 * pool_object - 8}) {
        std::vector<std::byte> const sent = pattern(8, static_cast<unsigned>(at >> 20));
        write(map.window(at, 8), sent);
        EXPECT_TRUE(read_by_driver(large.address() + at, 8) == sent) << at;
    }
}

TEST_P(any_memory_test, a_pin_holds_the_memory) {
    auto block = std::make_unique<pool_block>(3 * mib, pool_block::from::the_default_pool);
    std::uintptr_t const address = block->address();
    pin const held = device::open(0).pin(address, 3 * mib);
    mapping const map = held.map();
    write_by_driver(address, pattern(3 * mib, 1));
    block.reset();
    std::vector<std::byte> seen(3 * mib);
    read(seen, map.window());
    EXPECT_TRUE(seen == pattern(3 * mib, 1));
    mapping const second = held.map();
    write(second.window(), pattern(3 * mib, 2));
    read(seen, map.window());
    EXPECT_TRUE(seen == pattern(3 * mib, 2));
}

TEST_P(any_memory_test, each_kind_is_tried_at_the_start) {
    expect_kinds({{memory_kind::device, "its IPC handle and CUDA's export, which agree"},
                  {memory_kind::virtual_exportable, "CUDA's export"},
                  {memory_kind::virtual_opaque, "CUDA's export"},
                  {memory_kind::pool, "CUDA's export"},
                  {memory_kind::pool_exportable, "CUDA's export"}});
}

TEST_P(any_memory_test, a_kind_that_is_out_of_reach_is_off) {
    take_exports_away();
    expect_kinds({{memory_kind::device, "its IPC handle"},
                  {memory_kind::virtual_exportable, "a file descriptor"},
                  {memory_kind::virtual_opaque, ""},
                  {memory_kind::pool, ""},
                  {memory_kind::pool_exportable, ""}});
}

// Of the second piece it tells where the first one is.
TEST_P(any_memory_test, a_kind_that_is_not_found_where_it_is_is_off) {
    change_exports(
        [](void* to, CUdeviceptr from, std::size_t bytes, int type, unsigned long long flags) {
            CUmemoryPool pool = nullptr;
            cuda::api().pointer_get_attribute(&pool, cuda::pointer_mempool_handle, from - 64 * kib);
            return real_(to, pool ? from - 64 * kib : from, bytes, type, flags);
        });
    expect_kinds({{memory_kind::device, "its IPC handle and CUDA's export, which agree"},
                  {memory_kind::virtual_exportable, "CUDA's export"},
                  {memory_kind::virtual_opaque, "CUDA's export"},
                  {memory_kind::pool, ""},
                  {memory_kind::pool_exportable, ""}});
    pool_block const block(mib, pool_block::from::the_default_pool);
    refusal const seen = refusal_of([&] { (void)device::open(0).pin(block.address(), mib); });
    expect_refusal(seen, errc::unsupported_memory, to_string(memory_kind::pool),
                   "its self-test failed");
    EXPECT_NE(seen.advice.find("random value"), std::string::npos) << seen.advice;
}

TEST_P(any_memory_test, without_exports_only_what_else_names_its_objects) {
    take_exports_away();
    device const gpu = device::open(0);
    unsigned seed = 1;
    for (memory_kind const kind : {memory_kind::device, memory_kind::virtual_exportable}) {
        auto const block = make_memory(kind, 4 * mib);
        expect_same_memory(gpu.pin(block->address() + 5, mib).map(), block->address() + 5, seed++);
    }
    for (memory_kind const kind :
         {memory_kind::virtual_opaque, memory_kind::pool, memory_kind::pool_exportable}) {
        auto const block = make_memory(kind, 4 * mib);
        refusal const seen = refusal_of([&] { (void)gpu.pin(block->address(), mib); });
        expect_refusal(seen, errc::unsupported_memory, to_string(kind), "cudaMalloc");
    }
}

// Each of them is plausible: it names other memory of the same process.
TEST_P(any_memory_test, an_export_of_other_memory_is_refused) {
    device const gpu = device::open(0);
    device_block const block(4 * mib);
    pool_block const first(4 * mib, pool_block::from::the_default_pool),
        second(4 * mib, pool_block::from::the_default_pool);
    fake::left_over const before = the_machine().held();
    change_exports([](void* to, CUdeviceptr from, std::size_t bytes, int type,
                      unsigned long long flags) { // of a page a later place
        return real_(to, from + 64 * kib, bytes, type, flags);
    });
    expect_refusal([&] { (void)gpu.pin(block.address(), mib); }, errc::unknown_layout,
                   "IPC handle and by an export");
    change_exports([](void* to, CUdeviceptr from, std::size_t bytes, int type,
                      unsigned long long flags) { // the last page is elsewhere
        return real_(to, bytes <= 64 * kib ? from - 64 * kib : from, bytes, type, flags);
    });
    expect_refusal([&] { (void)gpu.pin(second.address(), mib); }, errc::unknown_layout,
                   "the end of a memory object");
    static int calls;
    calls = 0;
    change_exports([](void* to, CUdeviceptr from, std::size_t bytes, int type,
                      unsigned long long flags) { // the first export only
        return ++calls == 1 ? real_(to, from, bytes, type, flags) : cuda::error_not_supported;
    });
    expect_refusal([&] { (void)gpu.pin(second.address(), mib); }, errc::unknown_layout,
                   "the end of a memory object");
    cuda::replace_api(nullptr);
    EXPECT_EQ(the_machine().held(), before);
    expect_same_memory(gpu.pin(second.address(), mib).map(), second.address(), 1);
}

TEST_P(any_memory_test, nothing_is_exported) {
    device const gpu = device::open(0);
    pool_block const block(4 * mib, pool_block::from::the_default_pool);
    static int made;
    made = 0;
    change_exports(
        [](void* to, CUdeviceptr from, std::size_t bytes, int type, unsigned long long flags) {
            CUresult const result = real_(to, from, bytes, type, flags);
            made += result == cuda::success;
            return result;
        });
    pin const held = gpu.pin(block.address(), 4 * mib);
    EXPECT_EQ(made, 0);
    cuda::replace_api(nullptr);
    // A program's own exports go to the kernel as ever.
    int descriptor = -1;
    expect_success(cuda::api().mem_get_handle_for_address_range(
        &descriptor, block.address(), 4 * mib, cuda::range_handle_dma_buf_fd, 0));
    EXPECT_GE(descriptor, 0);
    ::close(descriptor);
}

// Pools may be shared in other ways than by a file descriptor.
TEST_P(any_memory_test, a_pool_that_is_shared_in_another_way_has_no_descriptors) {
    pool_block const block(mib, pool_block::from::the_default_pool);
    changed_driver changed;
    for (auto const& [types, kind] : {std::pair{0, memory_kind::pool},
                                      {8, memory_kind::pool},
                                      {1, memory_kind::pool_exportable},
                                      {9, memory_kind::pool_exportable}}) {
        changed.tell(cuda::pointer_allowed_handle_types, types);
        EXPECT_EQ(cuda::describe(block.address(), mib).kind, kind) << types;
    }
}

// Other things of 64 bytes do not convert.
struct unrelated_64_bytes {
    double values[8];
};
struct handle_of_a_runtime { // cudaIpcMemHandle_t, hipIpcMemHandle_t
    char reserved[64];
};
static_assert(std::is_convertible_v<CUipcMemHandle, ipc_handle>);
static_assert(std::is_convertible_v<handle_of_a_runtime, ipc_handle>);
static_assert(!std::is_constructible_v<ipc_handle, unrelated_64_bytes>);
static_assert(!std::is_constructible_v<ipc_handle, std::array<std::byte, 64>>);

// What another process would be told. (That of another one is tried on a GPU.)
TEST_P(any_memory_test, by_an_ipc_handle) {
    device const gpu = device::open(0);
    device_block const neighbour(kib), small(3000), block(4 * mib);
    CUipcMemHandle handle{};
    unsigned seed = 1;
    for (auto const& [address, bytes] :
         std::initializer_list<std::pair<std::uintptr_t, std::size_t>>{{small.address(), 3000},
                                                                       {block.address(), 4 * mib}})
        for (std::size_t const offset : {std::size_t{0}, std::size_t{5}, bytes - 1}) {
            expect_success(cuda::api().ipc_get_mem_handle(&handle, address));
            pin const held = gpu.pin(handle, offset, bytes - offset);
            EXPECT_EQ(held.gpu_address(), 0u);
            EXPECT_EQ(held.size(), bytes - offset);
            EXPECT_EQ(held.memory(), memory_kind::imported);
            mapping const map = held.map();
            expect_same_memory(map, address + offset, seed++);
            std::vector<std::byte> const sent = pattern(bytes - offset, seed);
            map.copy_to_gpu(0, sent);
            EXPECT_TRUE(read_by_driver(address + offset, sent.size()) == sent);
        }
}

TEST_P(any_memory_test, an_ipc_handle_that_names_nothing_here) {
    device const gpu = device::open(0);
    device_block const block(4 * mib);
    CUipcMemHandle handle{};
    expect_success(cuda::api().ipc_get_mem_handle(&handle, block.address()));
    fake::left_over const before = the_machine().held();
    expect_refusal([&] { (void)gpu.pin(handle, 1, 4 * mib); }, errc::out_of_range, "4194304 bytes");
    expect_refusal([&] { (void)gpu.pin(handle, ~std::size_t{0}, 8); }, errc::invalid_argument,
                   "wrap around");
    expect_refusal([&] { (void)gpu.pin(handle, 0, 0); }, errc::invalid_argument, "greater than 0");
    expect_refusal([&] { (void)gpu.pin(handle, 0, 8, {.whole_pages = true}); },
                   errc::unsupported_operation, "whole_pages");
    auto const changed = [&](std::size_t offset, std::uint32_t difference) {
        CUipcMemHandle result = handle;
        std::uint32_t field = 0;
        std::memcpy(&field, result.reserved + offset, sizeof field);
        field += difference;
        std::memcpy(result.reserved + offset, &field, sizeof field);
        return result;
    };
    for (std::size_t const client_or_object : {48u, 52u})
        expect_refusal([&] { (void)gpu.pin(changed(client_or_object, 0x1000), 0, 8); },
                       errc::unsupported_memory, "CUDA IPC handle");
    expect_refusal([&] { (void)gpu.pin(changed(32, 1), 0, 8); }, errc::wrong_device, "IPC handle");
    for (CUipcMemHandle const& each : {changed(16, 4096), changed(24, 4096), changed(28, 8u << 20)})
        expect_refusal([&] { (void)gpu.pin(each, 0, 8); }, errc::unknown_layout,
                       "IPC handle"); // sizes and the place in the object
    std::uint64_t state = 1;
    for (int round = 0; round < 2000; ++round) {
        CUipcMemHandle random = handle;
        for (int k = 0; k < 4; ++k) {
            state = state * 6364136223846793005u + 1442695040888963407u;
            random.reserved[(state >> 33) % 64] = static_cast<char>(state >> 56);
        }
        try {
            (void)gpu.pin(random, 0, 8);
        } catch (error const& failure) {
            EXPECT_FALSE(failure.advice().empty()) << failure.what();
        }
    }
    EXPECT_EQ(the_machine().held(), before);
}

TEST_P(any_memory_test, threads_pin_at_once) {
    device const gpu = device::open(0);
    constexpr int threads = 4;
    std::vector<std::unique_ptr<memory>> blocks;
    for (int i = 0; i < threads; ++i)
        blocks.push_back(
            make_memory(i % 2 ? memory_kind::pool : memory_kind::virtual_opaque, 2 * mib));
    std::atomic<int> wrong{0};
    std::vector<std::thread> running;
    for (int i = 0; i < threads; ++i)
        running.emplace_back([&, i] {
            for (std::uint64_t round = 1; round <= 50; ++round) {
                std::uintptr_t const at = blocks[std::size_t(i)]->address() + round * 4096 - 8;
                mapping const map = gpu.pin(at, 8).map();
                std::array const sent{round * 1000 + std::uint64_t(i)};
                write(map.window(), sent);
                std::array<std::uint64_t, 1> seen{};
                mapping const again = gpu.pin(at, 8).map();
                read(seen, again.window());
                wrong += seen != sent;
            }
        });
    for (std::thread& each : running)
        each.join();
    EXPECT_EQ(wrong, 0);
}

// The last object of this GPU's pool is shorter, so that what libcuda miscounts adds up: 22 - 18
// and 8 + 10 MiB, of 22 MiB that begin 18 MiB behind the start of an object of 32.
TEST(any_memory_small_gpu, sizes_that_add_up_may_be_wrong) {
    set_environment("BARMAP_BACKEND", "rm");
    set_environment("BARMAP_SIM_MEMORY", "40M");
    machine small("580");
    small.add<fake::rm_driver>();
    small.use();
    pool_block const first(18 * mib, pool_block::from::the_default_pool),
        second(22 * mib, pool_block::from::the_default_pool);
    ASSERT_EQ(second.address() - first.address(), 18 * mib);
    auto const told = rm::exported_objects::of(second.address(), 22 * mib);
    ASSERT_TRUE(told.has_value());
    ASSERT_EQ(told->parts.size(), 2u);
    EXPECT_EQ(told->parts[0].bytes + told->parts[1].bytes, 22 * mib);
    EXPECT_EQ(told->parts[0].bytes, 4 * mib) << "14 MiB of it are in this object";
    // Not by a device, whose own memory would find no room.
    auto const backend = backend::make_rm(identify(0));
    backend->start();
    auto const pinned = backend->pin(cuda::describe(second.address(), 22 * mib));
    auto const mapped = pinned->map();
    for (std::size_t const at : {std::size_t{0}, 4 * mib, 14 * mib - 8, 14 * mib, 22 * mib - 8}) {
        std::vector<std::byte> const sent = pattern(8, static_cast<unsigned>(at >> 10));
        write_by_driver(second.address() + at, sent);
        EXPECT_EQ(std::memcmp(mapped->data + at, sent.data(), 8), 0) << at;
    }
}

INSTANTIATE_TEST_SUITE_P(drivers, any_memory_test, testing::Values(535u, 580u),
                         [](auto const& each) { return "rm_" + std::to_string(each.param); });

} // namespace
} // namespace barmap::contract
