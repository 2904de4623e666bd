// SPDX-License-Identifier: MIT
#pragma once

#include "real_gpu.hpp"

#include <algorithm>
#include <array>
#include <cstdio>
#include <cstring>
#include <memory>
#include <numeric>
#include <random>
#include <utility>
#include <vector>

/// Two GPUs that can access each other's memory, and pieces of batches between any two memories.
namespace barmap::gpu_test {

using namespace std::chrono_literals;

/// Disjoint pieces at random places of two memories, of random sizes up to what fits.
inline std::vector<copy_piece> random_pieces(std::uintptr_t to, std::uintptr_t from,
                                             std::size_t size, std::size_t slot,
                                             std::mt19937_64& random) {
    std::vector<std::size_t> targets(size / slot), sources(size / slot);
    std::iota(targets.begin(), targets.end(), std::size_t{0});
    std::iota(sources.begin(), sources.end(), std::size_t{0});
    std::ranges::shuffle(targets, random);
    std::ranges::shuffle(sources, random);
    std::vector<copy_piece> result;
    for (std::size_t i = 0; i < targets.size(); ++i) {
        std::size_t const before = random() % 16, after = random() % 16;
        result.push_back({to + targets[i] * slot + before, from + sources[i] * slot + after,
                          1 + random() % (slot - 16)});
    }
    return result;
}

/// What a memory holds after a batch, of which this image is the source.
inline void copy_images(std::vector<copy_piece> const& list, std::uintptr_t to,
                        std::vector<std::byte>& target, std::uintptr_t from,
                        std::vector<std::byte> const& source) {
    for (copy_piece const& each : list)
        std::memcpy(target.data() + (each.to - to), source.data() + (each.from - from), each.bytes);
}

class peer_gpus : public real_gpu {
protected:
    void SetUp() override {
        real_gpu::SetUp();
        if (IsSkipped() || HasFatalFailure())
            return;
        if (count() < 2)
            GTEST_SKIP() << "one GPU only";
        int can = 0;
        expect_success(cu().device_can_access_peer(&can, 0, 1));
        if (can == 0)
            GTEST_SKIP() << "these two GPUs cannot access each other's memory";
        for (int const ordinal : {1, 0}) {
            use(ordinal);
            expect_success(cu().ctx_get_current(&contexts_[ordinal]));
        }
    }
    void TearDown() override {
        for (int const ordinal : {0, 1})
            if (is_enabled_[ordinal]) {
                on(ordinal);
                cu().ctx_disable_peer_access(contexts_[1 - ordinal]);
            }
        real_gpu::TearDown();
    }

    /// Makes the GPU's context current.
    void on(int ordinal) const { expect_success(cu().ctx_set_current(contexts_[ordinal])); }

    /// Lets a GPU access the other one's memory.
    void enable(int ordinal) {
        on(ordinal);
        expect_success(cu().ctx_enable_peer_access(contexts_[1 - ordinal], 0));
        is_enabled_[ordinal] = true;
        on(0);
    }
    [[nodiscard]] std::unique_ptr<device_block> block_of(int ordinal, std::size_t size) const {
        on(ordinal);
        auto made = std::make_unique<device_block>(size);
        on(0);
        return made;
    }
    [[nodiscard]] batch_queue queue_of(int ordinal) const {
        on(ordinal);
        batch_queue made = device::open(ordinal).batch_queue();
        on(0);
        return made;
    }
    [[nodiscard]] CUstream stream_of(int ordinal) const {
        CUstream made = nullptr;
        on(ordinal);
        expect_success(cu().stream_create(&made, 1));
        on(0);
        return made;
    }

    /// What CUDA says of an address of the other GPU to this one.
    void print_attributes(char const* when, CUdeviceptr address) const {
        CUdeviceptr pointer = 0;
        int flags = -1, ordinal = -1;
        CUresult const of_pointer =
            cu().pointer_get_attribute(&pointer, cuda::pointer_device_pointer, address);
        constexpr int access_flags = 16;
        CUresult const of_flags = cu().pointer_get_attribute(&flags, access_flags, address);
        cu().pointer_get_attribute(&ordinal, cuda::pointer_device_ordinal, address);
        std::printf("%s: DEVICE_POINTER %d (%#llx of %#llx), ACCESS_FLAGS %d (%d), ordinal %d\n",
                    when, of_pointer, pointer, address, of_flags, flags, ordinal);
    }

    /// A batch from GPU 0's memory to this one and back, every byte of both.
    void expect_to_work(batch_queue& queue, std::uintptr_t peer, std::size_t size, unsigned seed) {
        device_block const own(size);
        std::mt19937_64 random(seed);
        auto image = pattern(size, seed), other = pattern(size, seed + 1);
        write_by_driver(own.address(), image);
        write_by_driver(peer, other);
        auto const push = random_pieces(peer, own.address(), size, 1024, random);
        ASSERT_TRUE(queue.wait(queue.submit(push), 10s));
        copy_images(push, peer, other, own.address(), image);
        EXPECT_TRUE(read_by_driver(peer, size) == other);
        auto const pull = random_pieces(own.address(), peer, size, 4096, random);
        ASSERT_TRUE(queue.wait(queue.submit(pull), 10s));
        copy_images(pull, own.address(), image, peer, other);
        EXPECT_TRUE(read_by_driver(own.address(), size) == image);
    }

    std::array<CUcontext, 2> contexts_{};
    std::array<bool, 2> is_enabled_{};
};

} // namespace barmap::gpu_test
