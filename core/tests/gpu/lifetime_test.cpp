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

TEST_F(lifetime_test, a_pin_stays_with_what_a_pool_has_given_back) {
    constexpr std::size_t bytes = 64 * mib; // whole objects
    device const gpu = device::open(0);
    auto block = std::make_unique<pool_block>(bytes, pool_block::from::the_default_pool);
    std::uintptr_t const address = block->address();
    mapping const map = gpu.pin(address, bytes, {.backend = "rm"}).map();
    write_by_driver(address, pattern(bytes, 1));
    block.reset();
    CUmemoryPool pool = nullptr;
    expect_success(cu().device_get_default_mem_pool(&pool, 0));
    expect_success(cu().mem_pool_trim_to(pool, 0));
    pool_block const next(bytes, pool_block::from::the_default_pool);
    if (next.address() != address)
        GTEST_SKIP() << "the driver gave other addresses";
    expect_other_memory(map, pattern(bytes, 1), address);
    expect_same_memory(gpu.pin(address, bytes, {.backend = "rm"}).map(), address, 3);
}

/// A graph whose one node allocates memory, which is freed outside of the graph.
class graph_memory {
public:
    explicit graph_memory(std::size_t bytes) {
        CUmemAccessDesc const access{{cuda::location_type_device, 0}, cuda::access_read_write};
        CUDA_MEM_ALLOC_NODE_PARAMS node{};
        node.poolProps.allocType = cuda::allocation_type_pinned;
        node.poolProps.location = access.location;
        node.accessDescs = &access;
        node.accessDescCount = 1;
        node.bytesize = bytes;
        CUgraphNode added = nullptr;
        expect_success(cuda::api().stream_create(&stream_, 0));
        expect_success(cuda::api().graph_create(&graph_, 0));
        expect_success(cuda::api().graph_add_mem_alloc_node(&added, graph_, nullptr, 0, &node));
        expect_success(cuda::api().graph_instantiate(&ready_, graph_, 0));
        address_ = node.dptr;
    }
    graph_memory(graph_memory const&) = delete;
    graph_memory& operator=(graph_memory const&) = delete;
    ~graph_memory() {
        cuda::api().graph_exec_destroy(ready_);
        cuda::api().graph_destroy(graph_);
        cuda::api().stream_destroy(stream_);
    }
    [[nodiscard]] std::uintptr_t address() const { return address_; }
    void launch() {
        expect_success(cuda::api().graph_launch(ready_, stream_));
        expect_success(cuda::api().stream_synchronize(stream_));
    }
    void free() {
        expect_success(cuda::api().mem_free_async(address_, stream_));
        expect_success(cuda::api().stream_synchronize(stream_));
    }
    /// Of all graphs, what is not in use goes back to the GPU; the next launch takes other memory.
    static void trim() { expect_success(cuda::api().device_graph_mem_trim(0)); }

private:
    CUstream stream_ = nullptr;
    CUgraph graph_ = nullptr;
    CUgraphExec ready_ = nullptr;
    CUdeviceptr address_ = 0;
};

TEST_F(lifetime_test, memory_of_a_graph_is_pinned_from_a_launch_to_the_next) {
    constexpr std::size_t bytes = 40 * mib;
    device const gpu = device::open(0);
    graph_memory graph(bytes);
    for (unsigned i = 0; i < 6; ++i) {
        graph.launch();
        {
            pin const held = gpu.pin(graph.address(), bytes, {.backend = "rm"});
            EXPECT_EQ(held.memory(), memory_kind::graph);
            expect_same_memory(held.map(), graph.address(), 2 * i);
        }
        graph.free();
        if (i % 2 != 0)
            graph.trim();
    }
}

TEST_F(lifetime_test, a_pin_stays_with_what_a_graphs_node_has_given_back) {
    constexpr std::size_t bytes = 40 * mib;
    device const gpu = device::open(0);
    graph_memory graph(bytes);
    graph.launch();
    mapping const map = gpu.pin(graph.address(), bytes, {.backend = "rm"}).map();
    write_by_driver(graph.address(), pattern(bytes, 1));
    graph.free();
    graph.trim();
    graph.launch();
    expect_other_memory(map, pattern(bytes, 1), graph.address());
    expect_same_memory(gpu.pin(graph.address(), bytes, {.backend = "rm"}).map(), graph.address(),
                       3);
    graph.free();
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
