// SPDX-License-Identifier: MIT
#include "cuda/memory.hpp"
#include "driver/rm/client.hpp"
#include "gpu/gpu_identity.hpp"
#include "real_gpu.hpp"

namespace barmap::gpu_test {
namespace {

class two_gpus_test : public real_gpu {
protected:
    void SetUp() override {
        real_gpu::SetUp();
        if (!IsSkipped() && !HasFatalFailure() && count() < 2)
            GTEST_SKIP() << "one GPU only";
    }
};

TEST_F(two_gpus_test, memory_of_each_is_reached_through_that_one) {
    struct side {
        std::unique_ptr<device_block> block;
        std::unique_ptr<virtual_block> chunks;
        mapping block_map, chunks_map;
    } sides[2];
    for (int i = 0; i < 2; ++i) {
        use(i);
        device const gpu = device::open(i);
        sides[i].block = std::make_unique<device_block>(8 * mib);
        sides[i].chunks = std::make_unique<virtual_block>(i, std::vector(5, 2 * mib));
        sides[i].block_map = gpu.pin(sides[i].block->address(), 8 * mib).map();
        sides[i].chunks_map = gpu.pin(sides[i].chunks->address(), sides[i].chunks->size()).map();
    }
    // All four at once, so that a mapping of the wrong GPU would overwrite another's pattern.
    unsigned seed = 10;
    for (side const& each : sides) {
        write(each.block_map.window(), pattern(each.block_map.size(), seed++));
        write(each.chunks_map.window(), pattern(each.chunks_map.size(), seed++));
    }
    seed = 10;
    for (int i = 0; i < 2; ++i) {
        use(i);
        std::vector<std::byte> seen(8 * mib);
        expect_success(cu().memcpy_dtoh(seen.data(), sides[i].block->address(), seen.size()));
        EXPECT_EQ(seen, pattern(seen.size(), seed++)) << "cuMemAlloc on GPU " << i;
        seen.resize(sides[i].chunks->size());
        expect_success(cu().memcpy_dtoh(seen.data(), sides[i].chunks->address(), seen.size()));
        EXPECT_EQ(seen, pattern(seen.size(), seed++)) << "VMM on GPU " << i;
    }
    for (int i = 0; i < 2; ++i) {
        use(i);
        expect_same_memory(sides[i].block_map, sides[i].block->address(), seed++);
        expect_same_memory(sides[i].chunks_map, sides[i].chunks->address(), seed++);
    }
}

TEST_F(two_gpus_test, memory_of_the_other_is_refused) {
    device const second = device::open(1);
    device_block const block(mib);
    virtual_block const chunks(0, {2 * mib});
    EXPECT_EQ(code_of([&] { (void)second.pin(block.address(), mib); }), errc::wrong_device);
    EXPECT_EQ(code_of([&] { (void)second.pin(chunks.address(), mib); }), errc::wrong_device);
    EXPECT_EQ(device::from_pointer(reinterpret_cast<void const*>(block.address())).ordinal(), 0);
}

// RM itself answers success here and would map the wrong memory.
TEST_F(two_gpus_test, rm_refuses_a_descriptor_of_the_other) {
    virtual_block const chunks(0, {2 * mib});
    os::fd const descriptor =
        cuda::export_chunk({chunks.address(), chunks.size(), 0, chunks.size()});
    for (int ordinal = 0; ordinal < 2; ++ordinal) {
        backend::gpu const gpu = identify(ordinal);
        rm::client const client(gpu.pci);
        std::error_code const code = code_of([&] { client.free(client.import(descriptor.get())); });
        EXPECT_EQ(code, ordinal == 0 ? std::error_code{} : make_error_code(errc::wrong_device));
    }
}

} // namespace
} // namespace barmap::gpu_test
