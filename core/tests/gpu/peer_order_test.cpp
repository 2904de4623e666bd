// SPDX-License-Identifier: MIT
#include "kernels/batch_kernels.ptx.hpp"
#include "peer_gpus.hpp"

#include <optional>

/// Batches between the work of two GPUs (docs/ordering.md, O52).
namespace barmap::gpu_test {
namespace {

using peer_order_test = peer_gpus;

/// The kernels of `barmap batch` in one GPU's context.
class word_kernels {
public:
    word_kernels(cuda::driver_api const& cu, CUstream stream) : cu_(cu), stream_(stream) {
        expect_success(cu_.module_load_data(&module_, ptx::batch_kernels));
    }
    word_kernels(word_kernels const&) = delete;
    word_kernels& operator=(word_kernels const&) = delete;
    ~word_kernels() { cu_.module_unload(module_); }

    /// Clears both, sets the source to ~value, and to value so much later.
    void write(CUdeviceptr source, CUdeviceptr one, CUdeviceptr other, std::uint32_t words,
               std::uint32_t value, std::uint64_t wait_ns) {
        launch("barmap_write_words", source, one, other, words, value, wait_ns);
    }
    /// Counts words that are ~value, and behind it others that are not value.
    void check(CUdeviceptr at, std::uint32_t words, std::uint32_t value, CUdeviceptr counts) {
        launch("barmap_check_words", at, words, value, counts);
    }

private:
    template <class... Arguments>
    void launch(char const* name, Arguments... arguments) {
        CUfunction function = nullptr;
        expect_success(cu_.module_get_function(&function, module_, name));
        void* pointers[] = {&arguments...};
        expect_success(
            cu_.launch_kernel(function, 1, 1, 1, 256, 1, 1, 0, stream_, pointers, nullptr));
    }
    cuda::driver_api const& cu_;
    CUstream stream_;
    CUmodule module_ = nullptr;
};

// A kernel of GPU 0 writes, its queue pushes, a kernel of GPU 1 checks and writes, a queue brings
// that back, a kernel of GPU 0 checks: all of it by streams and events, and the CPU waits for
// nothing.
TEST_F(peer_order_test, round_trips_between_kernels_are_in_order) {
    constexpr std::uint32_t pieces = 64, words = 64 * 64;
    constexpr std::size_t bytes = words * sizeof(std::uint32_t), piece = bytes / pieces;
    enable(0);
    enable(1);
    std::array<batch_queue, 2> queues{queue_of(0), queue_of(1)};
    std::array<CUstream, 2> const streams{stream_of(0), stream_of(1)};
    std::array<std::unique_ptr<device_block>, 2> written, received, scratch;
    std::array<std::optional<word_kernels>, 2> kernels;
    std::array<CUevent, 2> events{};
    for (int const i : {0, 1}) {
        written[i] = block_of(i, bytes);
        received[i] = block_of(i, bytes);
        scratch[i] = block_of(i, bytes);
        on(i);
        kernels[i].emplace(cu(), streams[i]);
        expect_success(cu().event_create(&events[i], 2));
    }
    on(0);
    pinned_block const counts(4096);
    std::ranges::fill(counts.bytes(), std::byte{});
    std::mt19937_64 random(5);
    auto const shuffled = [&](std::uintptr_t to, std::uintptr_t from) {
        std::array<std::uint32_t, pieces> slots{};
        std::iota(slots.begin(), slots.end(), 0u);
        std::ranges::shuffle(slots, random);
        std::vector<copy_piece> list;
        for (std::uint32_t i = 0; i < pieces; ++i)
            list.push_back({to + slots[i] * piece, from + i * piece, piece});
        return list;
    };
    auto const hand_over = [&](int from) { // to the other GPU's stream
        on(from);
        expect_success(cu().event_record(events[from], streams[from]));
        on(1 - from);
        expect_success(cu().stream_wait_event(streams[1 - from], events[from], 0));
    };
    std::size_t const trips = rounds(1000);
    for (std::size_t i = 0; i < trips; ++i) {
        auto const value = static_cast<std::uint32_t>(2 * i & 0x7fffffff) + 1;
        on(0);
        kernels[0]->write(written[0]->address(), received[1]->address(), received[0]->address(),
                          words, value, random() % 4 * 1000);
        // Either GPU's queue takes each way in turn.
        int const first = i % 2 == 0 ? 0 : 1, second = i / 2 % 2 == 0 ? 1 : 0;
        if (first == 1)
            hand_over(0);
        auto const there = shuffled(received[1]->address(), written[0]->address());
        (void)queues[first].submit(there, after{streams[first]}, then{streams[first]});
        if (first == 0)
            hand_over(0);
        on(1);
        kernels[1]->check(received[1]->address(), words, value, counts.address());
        kernels[1]->write(written[1]->address(), scratch[1]->address(), scratch[1]->address(),
                          words, value + 1, random() % 4 * 1000);
        if (second == 0)
            hand_over(1);
        auto const back = shuffled(received[0]->address(), written[1]->address());
        (void)queues[second].submit(back, after{streams[second]}, then{streams[second]});
        if (second == 1)
            hand_over(1);
        on(0);
        kernels[0]->check(received[0]->address(), words, value + 1, counts.address() + 16);
        if (i % 64 == 63)
            expect_success(cu().stream_synchronize(streams[0]));
    }
    for (int const i : {0, 1}) {
        on(i);
        expect_success(cu().stream_synchronize(streams[i]));
    }
    std::array<std::uint64_t, 4> found{};
    std::memcpy(found.data(), counts.bytes().data(), sizeof found);
    std::printf(
        "%zu trips by %s: there %llu early, %llu stale; back %llu early, %llu stale\n", trips,
        std::string(queues[0].engine()).c_str(), static_cast<unsigned long long>(found[0]),
        static_cast<unsigned long long>(found[1]), static_cast<unsigned long long>(found[2]),
        static_cast<unsigned long long>(found[3]));
    for (std::uint64_t const each : found)
        EXPECT_EQ(each, 0u);
    for (int const i : {0, 1}) {
        on(i);
        kernels[i].reset();
        expect_success(cu().event_destroy(events[i]));
        expect_success(cu().stream_destroy(streams[i]));
        EXPECT_EQ(queues[i].reports().back().failures, 0u);
    }
    on(0);
}

} // namespace
} // namespace barmap::gpu_test
