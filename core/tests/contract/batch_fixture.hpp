// SPDX-License-Identifier: MIT
#pragma once

#include "contract/engine_machine.hpp"
#include "nvidia/channel.hpp"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstring>
#include <future>
#include <thread>
#include <utility>
#include <vector>

namespace barmap::contract {

using namespace std::chrono_literals;
using after = batch_queue::after;
using then = batch_queue::then;

/// Of the fake's engines, as of an H200's, the first two serve graphics, CUDA shares two with
/// barmap, and this one has nobody else.
inline constexpr std::uint32_t own_engine = rm::abi::engine_type_copy0 + 4;

/// A stream that comes no further than here, until it is opened.
class gated_stream {
public:
    gated_stream() {
        expect_success(cuda::api().stream_create(&stream_, 1));
        close();
    }
    gated_stream(gated_stream const&) = delete;
    gated_stream& operator=(gated_stream const&) = delete;
    ~gated_stream() {
        open();
        cuda::api().stream_synchronize(stream_);
        cuda::api().stream_destroy(stream_);
    }
    [[nodiscard]] CUstream get() const { return stream_; }
    void close() {
        ++closed_;
        expect_success(cuda::api().stream_wait_value32(stream_, gate_.address(), closed_,
                                                       cuda::wait_value_geq));
    }
    void open() { word().store(closed_, std::memory_order_release); }
    /// Work of the stream.
    void copy(std::uintptr_t to, std::uintptr_t from, std::size_t bytes) const {
        expect_success(cuda::api().memcpy_async(to, from, bytes, stream_));
    }
    [[nodiscard]] bool is_idle() const {
        return cuda::api().stream_query(stream_) == cuda::success;
    }
    void synchronize() const { expect_success(cuda::api().stream_synchronize(stream_)); }

private:
    [[nodiscard]] std::atomic_ref<std::uint32_t> word() const {
        return std::atomic_ref(*reinterpret_cast<std::uint32_t*>(gate_.bytes().data()));
    }
    pinned_block gate_{4096};
    CUstream stream_ = nullptr;
    std::uint32_t closed_ = 0;
};

/// One that nothing holds up, until it is closed.
class open_stream : public gated_stream {
public:
    open_stream() {
        open();
        synchronize();
    }
};

/// The same pieces, from where they went to.
[[nodiscard]] inline std::vector<copy_piece> turned(std::span<copy_piece const> pieces) {
    std::vector<copy_piece> result(pieces.begin(), pieces.end());
    for (copy_piece& each : result)
        std::swap(each.to, each.from);
    return result;
}

/// Pieces that go this way, of some that go to the CPU.
[[nodiscard]] inline std::vector<copy_piece> going(copy_direction way,
                                                   std::span<copy_piece const> to_cpu) {
    return way == copy_direction::to_gpu ? turned(to_cpu)
                                         : std::vector<copy_piece>(to_cpu.begin(), to_cpu.end());
}

/// Whether the action returns, by a value or an exception.
[[nodiscard]] inline bool returns(auto action) {
    std::promise<void> done;
    std::thread runner([&] {
        try {
            action();
        } catch (error const&) {
            // It has returned.
        }
        done.set_value();
    });
    bool const has = done.get_future().wait_for(20s) == std::future_status::ready;
    if (!has)
        runner.detach();
    else
        runner.join();
    return has;
}

/// A program that copies batches.
struct batch_program {
    static constexpr std::size_t size = mib;
    device gpu = device::open(0);
    device_block block{size};
    pinned_block host{size};
    batch_queue queue = gpu.batch_queue();

    /// Pieces of odd sizes at odd places, in no order, with a gap behind each, that go to the CPU.
    [[nodiscard]] std::vector<copy_piece> pieces(std::size_t count, std::size_t stride) const {
        std::vector<copy_piece> result;
        for (std::size_t i = 0; i < count; ++i) {
            std::size_t const to = (i * 7 + 3) % count; // 7 divides no count that is used
            result.push_back({host.address() + to * stride + i % 5,
                              block.address() + i * stride + i % 3, 1 + i * 13 % (stride - 8)});
        }
        return result;
    }
    /// What each side holds after a batch to it, by the pieces that go to the CPU.
    [[nodiscard]] std::vector<std::byte> host_after(std::vector<copy_piece> const& list,
                                                    std::vector<std::byte> before,
                                                    std::vector<std::byte> const& gpu_side) const {
        for (copy_piece const& each : list)
            std::memcpy(before.data() + (each.to - host.address()),
                        gpu_side.data() + (each.from - block.address()), each.bytes);
        return before;
    }
    [[nodiscard]] std::vector<std::byte> gpu_after(std::vector<copy_piece> const& list,
                                                   std::vector<std::byte> before,
                                                   std::vector<std::byte> const& host_side) const {
        for (copy_piece const& each : list)
            std::memcpy(before.data() + (each.from - block.address()),
                        host_side.data() + (each.to - host.address()), each.bytes);
        return before;
    }
    /// One from where CUDA has mapped nothing.
    [[nodiscard]] std::vector<copy_piece> unmapped() const { return {{host.address(), 16, 64}}; }
    void expect_done(batch_ticket ticket) { EXPECT_TRUE(queue.wait(ticket, 100s)); }

    /// Copies a batch both ways, and looks at every byte.
    void expect_to_work(unsigned seed, std::size_t count = 100, std::size_t stride = 200) {
        auto const list = pieces(count, stride);
        auto const there = pattern(size, seed), here = pattern(size, seed + 1);
        write_by_driver(block.address(), there);
        host.fill(here);
        expect_done(queue.submit(list));
        EXPECT_TRUE(same_bytes(host.bytes(), host_after(list, here, there)));
        host.fill(here);
        expect_done(queue.submit(turned(list)));
        EXPECT_TRUE(read_by_driver(block.address(), size) == gpu_after(list, there, here));
    }
    [[nodiscard]] engine_report report(std::string_view name) const {
        for (engine_report const& each : queue.reports())
            if (each.name == name)
                return each;
        return {};
    }
};

} // namespace barmap::contract
