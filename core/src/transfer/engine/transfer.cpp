// SPDX-License-Identifier: MIT
#include "transfer/engine/transfer.hpp"

#include "base/config.hpp"
#include "base/leave_to_exit.hpp"
#include "system/thread.hpp"
#include "transfer/cpu/fence.hpp"
#include "transfer/cpu/routines.hpp"

#include <barmap/error.hpp>

#include <algorithm>
#include <cstring>
#include <vector>

namespace barmap::engine {
namespace {

/// Calls action(address for the engine, offset in the range, size) for each contiguous part of
/// [offset, offset + bytes).
template <class Action>
void for_each_run(reachable const& memory, std::size_t offset, std::size_t bytes, Action action) {
    for (reachable::run const& run : memory.runs) {
        std::size_t const from = std::max(offset, run.at);
        std::size_t const to = std::min(offset + bytes, run.at + run.bytes);
        if (from < to)
            action(run.address + (from - run.at), from - offset, to - from);
    }
}

/// The pieces of one submission. A few need no allocation.
class piece_list {
public:
    explicit piece_list(direction which) : which_(which) {}
    void add(reachable const& gpu, std::size_t offset, std::uint64_t host, std::size_t bytes) {
        for_each_run(gpu, offset, bytes,
                     [&](std::uint64_t address, std::size_t at, std::size_t some) {
                         add(which_ == direction::to_gpu ? copy_piece{address, host + at, some}
                                                         : copy_piece{host + at, address, some});
                     });
        bytes_ += bytes;
    }
    [[nodiscard]] direction way() const noexcept { return which_; }
    [[nodiscard]] std::size_t bytes() const noexcept { return bytes_; }
    [[nodiscard]] std::span<copy_piece const> all() const noexcept {
        return more_.empty() ? std::span(few_).first(count_) : std::span(more_);
    }

private:
    void add(copy_piece const& next) {
        if (more_.empty() && count_ < few_.size()) {
            few_[count_++] = next;
            return;
        }
        if (more_.empty())
            more_.assign(few_.begin(), few_.end());
        more_.push_back(next);
    }
    direction which_;
    std::array<copy_piece, 4> few_;
    std::size_t count_ = 0;
    std::vector<copy_piece> more_;
    std::size_t bytes_ = 0;
};

ticket submit(copy_engine& to, piece_list const& pieces) {
    return to.submit(pieces.way(), pieces.all(), pieces.bytes(), {});
}

/// The size of the parts of a staged copy: the larger the copy, the less the cost of a part matters
/// compared with the overlap of engine and CPU.
std::size_t staged_part(direction which, std::size_t bytes, policy::values const& policy) noexcept {
    if (which == direction::to_cpu)
        return bytes <= policy.whole_to_cpu    ? bytes
               : bytes <= policy.medium_to_cpu ? policy.part_to_cpu
               : bytes <= policy.large_to_cpu  ? policy.medium_part_to_cpu
                                               : policy.large_part_to_cpu;
    return bytes <= policy.whole_to_gpu   ? bytes
           : bytes <= policy.large_to_gpu ? policy.part_to_gpu
                                          : policy.large_part_to_gpu;
}

/// How the CPU copies. Copies too large for its caches use streaming stores, which do not read the
/// destination first.
using cpu_copy = void (*)(void* to, void const* from, std::size_t bytes) noexcept;

cpu_copy cpu_copy_for(direction which, std::size_t bytes, policy::values const& policy) noexcept {
    static cpu_copy const streaming = copy::streaming_store();
    bool const is_to_cpu = which == direction::to_cpu;
    if (streaming && bytes >= (is_to_cpu ? policy.streamed_to_cpu : policy.streamed_to_gpu))
        return streaming;
    return
        [](void* to, void const* from, std::size_t some) noexcept { std::memcpy(to, from, some); };
}

} // namespace

bool covers(reachable const& memory, std::size_t offset, std::size_t bytes) noexcept {
    std::size_t covered = 0;
    for (reachable::run const& run : memory.runs) {
        std::size_t const from = std::max(offset, run.at);
        std::size_t const to = std::min(offset + bytes, run.at + run.bytes);
        covered += from < to ? to - from : 0;
    }
    return covered == bytes;
}

worker::worker(std::unique_ptr<copy_engine> engine, std::chrono::milliseconds patience,
               std::size_t staging_bytes)
    : patience_(patience), staging_(os::region::shared_memory(staging_bytes)),
      engine_(std::move(engine)), ring_bytes_(staging_bytes / buffers) {
    engine_->start();
    reached_ = engine_->reach(std::span(staging_.data(), staging_.size()));
    for (std::size_t i = 0; i < buffers; ++i) {
        buffers_[i].data = staging_.data() + i * ring_bytes_;
        buffers_[i].address = reached_->runs.front().address + i * ring_bytes_;
    }
}

/// Reserves a buffer for the calling thread until the destructor.
class worker::free_buffer {
public:
    explicit free_buffer(worker& all) {
        for (buffer& each : all.buffers_)
            if ((hold_ = std::unique_lock(each.busy, std::try_to_lock))) {
                buffer_ = &each;
                return;
            }
        buffer_ = &all.buffers_[all.next_buffer_.fetch_add(1, std::memory_order_relaxed) % buffers];
        hold_ = std::unique_lock(buffer_->busy);
    }
    [[nodiscard]] buffer const& operator*() const noexcept { return *buffer_; }

private:
    std::unique_lock<std::mutex> hold_;
    buffer* buffer_ = nullptr;
};

bool worker::retire(std::shared_ptr<worker> const& failed,
                    std::chrono::milliseconds most) noexcept {
    failed->is_retired_.store(true, std::memory_order_release);
    try {
        // Several threads may retire the worker: one stops it, and all wait for that.
        std::call_once(failed->stopping_, [&] {
            auto stopped = std::make_shared<std::promise<bool>>();
            std::shared_future<bool> const end = stopped->get_future().share();
            os::thread("barmap-retire", [failed, stopped] {
                bool const is_over = failed->engine_->close();
                if (!is_over)
                    leave_to_exit(failed); // copies may still write to it
                stopped->set_value(is_over);
            }).detach();
            failed->stopped_ = end;
        });
        return failed->stopped_.wait_for(most) == std::future_status::ready &&
               failed->stopped_.get();
    } catch (std::exception const&) {
        return false; // without the thread, the state of the copies is unknown
    }
}

class worker::under_way {
public:
    under_way(worker& where, std::size_t bytes) noexcept : where_(where), bytes_(bytes) {
        where_.bytes_under_way_ += bytes_;
    }
    under_way(under_way const&) = delete;
    under_way& operator=(under_way const&) = delete;
    ~under_way() { where_.bytes_under_way_ -= bytes_; }

private:
    worker& where_;
    std::size_t bytes_;
};

std::chrono::nanoseconds worker::patience(std::size_t bytes) const noexcept {
    return patience_ + longest_time_of(bytes);
}

copy_outcome worker::wait(ticket number) noexcept {
    return engine::wait(*engine_, number, device_clock::now() + patience(bytes_under_way_.load()));
}

copy_outcome worker::copy_staged(direction which, reachable const& gpu, std::size_t offset,
                                 std::byte* host, std::size_t bytes) noexcept {
    try {
        free_buffer const through(*this);
        if (is_retired())
            return copy_outcome::failed; // copies to or from this buffer may still be in flight
        under_way const counted(*this, bytes);
        copy_outcome result = copy_outcome::failed;
        try {
            result = which == direction::to_cpu ? staged_to_cpu(*through, gpu, offset, host, bytes)
                                                : staged_to_gpu(*through, gpu, offset, host, bytes);
        } catch (std::exception const&) {
            // The copy has failed.
        }
        if (result != copy_outcome::done)
            // Before another copy gets the buffer.
            is_retired_.store(true, std::memory_order_release);
        return result;
    } catch (std::exception const&) {
        return copy_outcome::failed;
    }
}

copy_outcome worker::copy_pinned(direction which, reachable const& gpu,
                                 std::size_t bytes) noexcept {
    try {
        buffer& through = buffers_.back();
        std::lock_guard const hold(through.busy);
        reachable::run const run{0, bytes, through.address};
        copy_outcome const result =
            is_retired() ? copy_outcome::failed : copy_direct(which, gpu, 0, {&run, 1});
        if (result != copy_outcome::done)
            is_retired_.store(true, std::memory_order_release);
        return result;
    } catch (std::exception const&) {
        return copy_outcome::failed;
    }
}

// A buffer is a ring of chunks.
copy_outcome worker::staged_to_cpu(buffer const& through, reachable const& gpu, std::size_t offset,
                                   std::byte* host, std::size_t bytes) {
    policy::values const& policy = config::current().policy;
    std::size_t const chunk = std::min(staged_part(direction::to_cpu, bytes, policy), ring_bytes_);
    cpu_copy const copy_bytes = cpu_copy_for(direction::to_cpu, bytes, policy);
    std::size_t const slots = ring_bytes_ / chunk;
    // A smaller chunk is the only one.
    std::array<ticket, buffer_bytes / policy::least_part> tickets;
    std::size_t submitted = 0, taken = 0;
    for (std::size_t i = 0; taken < bytes; ++i) {
        for (; submitted < bytes && submitted < taken + slots * chunk; submitted += chunk) {
            std::size_t const slot = submitted / chunk % slots;
            std::size_t const some = std::min(chunk, bytes - submitted);
            piece_list pieces(direction::to_cpu);
            pieces.add(gpu, offset + submitted, through.address + slot * chunk, some);
            tickets[slot] = submit(*engine_, pieces);
        }
        std::size_t const slot = i % slots;
        if (copy_outcome const result = wait(tickets[slot]); result != copy_outcome::done)
            return result;
        std::size_t const some = std::min(chunk, bytes - taken);
        copy_bytes(host + taken, through.data + slot * chunk, some);
        taken += some;
    }
    copy::flush_wc_stores(); // for other threads
    return copy_outcome::done;
}

copy_outcome worker::staged_to_gpu(buffer const& through, reachable const& gpu, std::size_t offset,
                                   std::byte const* host, std::size_t bytes) {
    policy::values const& policy = config::current().policy;
    std::size_t const chunk = std::min(staged_part(direction::to_gpu, bytes, policy), ring_bytes_);
    cpu_copy const copy_bytes = cpu_copy_for(direction::to_gpu, bytes, policy);
    std::size_t const slots = ring_bytes_ / chunk;
    std::array<ticket, buffer_bytes / policy::least_part> tickets;
    ticket last = 0;
    for (std::size_t at = 0, i = 0; at < bytes; at += chunk, ++i) {
        std::size_t const slot = i % slots;
        if (i >= slots) {
            if (copy_outcome const result = wait(tickets[slot]); result != copy_outcome::done)
                return result;
        }
        std::size_t const some = std::min(chunk, bytes - at);
        copy_bytes(through.data + slot * chunk, host + at, some);
        copy::flush_wc_stores(); // for the engine
        piece_list pieces(direction::to_gpu);
        pieces.add(gpu, offset + at, through.address + slot * chunk, some);
        last = tickets[slot] = submit(*engine_, pieces);
    }
    return wait(last);
}

copy_outcome worker::copy_direct(direction which, reachable const& gpu, std::size_t offset,
                                 std::span<reachable::run const> host,
                                 std::function<void()> const& meanwhile) noexcept {
    try {
        piece_list pieces(which); // all in one submission, since each adds its latency
        for (reachable::run const& run : host)
            pieces.add(gpu, offset + run.at, run.address, run.bytes);
        under_way const counted(*this, pieces.bytes());
        ticket const number = submit(*engine_, pieces);
        if (meanwhile)
            meanwhile();
        return wait(number);
    } catch (std::exception const&) {
        return copy_outcome::failed;
    }
}

} // namespace barmap::engine
