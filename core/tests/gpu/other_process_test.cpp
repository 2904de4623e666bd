// SPDX-License-Identifier: MIT
#include "cuda/memory.hpp"
#include "other_run.hpp"
#include "real_gpu.hpp"

/// Memory of another process.
namespace barmap::gpu_test {
namespace {

constexpr std::size_t size = 5 * mib + 12;

using other_process = real_gpu;

/// Not a test: what the owner does, a process of its own.
TEST_F(other_process, DISABLED_owner) {
    line const to_test(line_of_this_run);
    device_block const neighbour(kib), block(size);
    write_by_driver(block.address(), pattern(size, 1));
    CUipcMemHandle handle{};
    expect_success(cu().ipc_get_mem_handle(&handle, block.address()));
    to_test.send(&handle, sizeof handle);
    char word = 0;
    ASSERT_TRUE(to_test.receive(&word, 1));
    EXPECT_TRUE(read_by_driver(block.address(), size) == pattern(size, 2));
    ::_exit(HasFailure());
}

TEST_F(other_process, its_memory_is_mapped_by_its_handle) {
    device const gpu = device::open(0);
    other_run owner("other_process.DISABLED_owner");
    CUipcMemHandle handle{};
    ASSERT_TRUE(owner.receive(&handle, sizeof handle));
    pin const held = gpu.pin(handle, 0, size);
    EXPECT_EQ(held.gpu_address(), 0u);
    mapping const map = held.map();
    std::vector<std::byte> seen(size);
    map.copy_to_cpu(seen, 0);
    EXPECT_TRUE(seen == pattern(size, 1));
    mapping const part = gpu.pin(handle, mib + 5, 1000).map();
    seen.resize(1000);
    read(seen, part.window());
    auto const whole = pattern(size, 1);
    EXPECT_TRUE(std::equal(seen.begin(), seen.end(), whole.begin() + mib + 5));
    map.copy_to_gpu(0, pattern(size, 2));
    flush_stores();
    owner.send("x", 1); // lets it look
    EXPECT_EQ(owner.wait(), 0);
    // The memory outlives its owner.
    seen.resize(size);
    map.copy_to_cpu(seen, 0);
    EXPECT_TRUE(seen == pattern(size, 2));
    EXPECT_EQ(code_of([&] { (void)gpu.pin(handle, 0, 8); }), errc::unsupported_memory);
}

constexpr std::size_t chunk_size = 6 * mib;

/// Not a test either.
TEST_F(other_process, DISABLED_owner_of_a_chunk) {
    line const to_test(line_of_this_run);
    virtual_block const block(0, {chunk_size});
    write_by_driver(block.address(), pattern(chunk_size, 1));
    to_test.send_descriptor(cuda::export_chunk({.base = block.address()}).get());
    char word = 0;
    ASSERT_TRUE(to_test.receive(&word, 1));
    EXPECT_TRUE(read_by_driver(block.address(), chunk_size) == pattern(chunk_size, 2));
    ::_exit(HasFailure());
}

TEST_F(other_process, its_chunk_that_was_imported_stays_with_its_pin) {
    device const gpu = device::open(0);
    other_run owner("other_process.DISABLED_owner_of_a_chunk");
    os::fd descriptor(owner.receive_descriptor());
    auto chunk = std::make_unique<imported_chunk>(descriptor.get(), chunk_size);
    descriptor = {};
    pin const held = gpu.pin(chunk->address(), chunk_size, {.backend = "rm"});
    RecordProperty("kind", std::string(to_string(held.memory())));
    mapping const map = held.map();
    std::vector<std::byte> seen(chunk_size);
    read(seen, map.window());
    EXPECT_TRUE(seen == pattern(chunk_size, 1));
    expect_same_memory(map, chunk->address(), 3);
    chunk.reset();
    write(map.window(), pattern(chunk_size, 2));
    flush_stores();
    owner.send("x", 1); // lets it look
    EXPECT_EQ(owner.wait(), 0);
    mapping const again = held.map();
    read(seen, again.window());
    EXPECT_TRUE(seen == pattern(chunk_size, 2)) << "the memory outlives its owner";
}

} // namespace
} // namespace barmap::gpu_test
