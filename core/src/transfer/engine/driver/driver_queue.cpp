// SPDX-License-Identifier: MIT
#include "transfer/engine/driver/driver_queue.hpp"

#include "cuda/context_scope.hpp"
#include "cuda/driver_api.hpp"
#include "system/process_exit.hpp"

#include <barmap/error.hpp>

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <thread>

namespace barmap::engine {
namespace {

void check_copy(CUresult result) {
    if (result == cuda::error_invalid_value) // the memory existed when barmap checked it
        throw error(errc::unsupported_memory, "copy a batch", "",
                    "CUDA refuses a piece: keep both sides allocated until the batch is done");
    cuda::check(result, "copy a batch");
}

void copy_one_by_one(std::span<copy_piece const> pieces, CUstream stream,
                     std::optional<CUstream>& begun_on) {
    for (copy_piece const& each : pieces) {
        check_copy(cuda::api().memcpy_async(each.to, each.from, each.bytes, stream));
        begun_on = stream;
    }
}

} // namespace

stream_event::~stream_event() {
    if (handle_)
        cuda::api().event_destroy(handle_);
}

void stream_event::make() {
    constexpr unsigned disable_timing = 2;
    if (!handle_)
        cuda::check(cuda::api().event_create(&handle_, disable_timing), "make a CUDA event");
}

own_stream::own_stream() {
    constexpr unsigned non_blocking = 1;
    cuda::check(cuda::api().stream_create(&handle_, non_blocking), "make a CUDA stream");
}

own_stream::~own_stream() {
    if (handle_)
        cuda::api().stream_destroy(handle_);
}

stream_word::stream_word(CUdevice device)
    : registration_(device, std::span(page_.data(), os::page_size()), without_registration),
      on_gpu_(registration_.gpu_address()) {}

std::unique_ptr<stream_word> stream_word::make(CUdevice device, CUstream stream) {
    std::unique_ptr<stream_word> result(new stream_word(device));
    if (cuda::api().stream_write_value32(stream, result->on_gpu_, 0, 0) != cuda::success)
        result.reset();
    return result;
}

void stream_word::write_in(CUstream stream, ticket number) {
    cuda::check(
        cuda::api().stream_write_value32(stream, on_gpu_, static_cast<std::uint32_t>(number), 0),
        "copy a batch");
}

bool stream_word::says(ticket number, ticket last) const noexcept {
    std::uint32_t const done = std::atomic_ref(*reinterpret_cast<std::uint32_t*>(page_.data()))
                                   .load(std::memory_order_acquire);
    auto const ahead = static_cast<std::int32_t>(done - static_cast<std::uint32_t>(last));
    return last + static_cast<std::uint64_t>(static_cast<std::int64_t>(ahead)) >= number;
}

driver_queue::driver_queue(CUdevice device, CUcontext context, lane which) : context_(context) {
    if (which == lane::held)
        word_ = stream_word::make(device, stream());
}

ticket driver_queue::submit(std::span<copy_piece const> pieces, stream_order const& order,
                            bool by_batch_call, std::optional<CUstream>& left_on) {
    ticket const number = last_.load(std::memory_order_relaxed) + 1;
    std::optional<cuda::relaxed_capture> relaxed; // keeps a capture of another thread valid
    if (!word_) {
        relaxed.emplace();
        stream_event& end = ends_[number % most_in_flight];
        if (number > most_in_flight) // wait for the earlier batch that uses this event
            cuda::check(cuda::api().event_synchronize(end.get()), "wait for an earlier batch");
        cuda::context_scope const scope(context_); // of stream(), not the caller's
        end.make();
        placed_.make();
    }
    CUstream const stream = begin(order);
    copy(pieces, by_batch_call, stream, left_on);
    left_on = stream;
    mark_end(number, stream, order);
    left_on.reset();
    return number;
}

void driver_queue::mark_end(ticket number, CUstream stream, stream_order const& order) {
    if (word_) {
        word_->write_in(stream, number);
        last_.store(number, std::memory_order_release);
        return;
    }
    CUevent const end = ends_[number % most_in_flight].get();
    // Store this before the event marks another batch.
    ended_.store(std::max(number, most_in_flight) - most_in_flight, std::memory_order_release);
    check_stream(cuda::api().event_record(end, stream));
    last_.store(number, std::memory_order_release);
    if (order.then && *order.then != stream)
        check_stream(cuda::api().stream_wait_event(*order.then, end, 0));
}

void driver_queue::copy(std::span<copy_piece const> pieces, bool by_batch_call, CUstream stream,
                        std::optional<CUstream>& begun_on) {
    if (by_batch_call && pieces.size() > 1)
        copy_by_batch_call(pieces, stream);
    else
        copy_one_by_one(pieces, stream, begun_on);
}

state driver_queue::poll(ticket number, CUresult& result) const {
    ticket const last = last_.load(std::memory_order_acquire);
    if (number == 0 || number > last)
        return state::never_given;
    if (word_)
        return word_->says(number, last) ? state::done : state::in_flight;
    auto const has_ended = [&] { return number <= ended_.load(std::memory_order_acquire); };
    if (has_ended())
        return state::done;
    cuda::context_scope const scope(context_);
    cuda::relaxed_capture const relaxed; // keeps a capture of another thread valid
    result = cuda::api().event_query(ends_[number % most_in_flight].get());
    if (has_ended())
        return state::done; // the event marks a later batch now
    return result == cuda::success           ? state::done
           : result == cuda::error_not_ready ? state::in_flight
                                             : state::failed;
}

bool driver_queue::is_idle() {
    CUresult result = cuda::success;
    known_to_be_done_ = std::max(known_to_be_done_, ended_.load(std::memory_order_acquire));
    ticket const last = last_.load(std::memory_order_acquire);
    while (known_to_be_done_ < last && poll(known_to_be_done_ + 1, result) == state::done)
        ++known_to_be_done_;
    return known_to_be_done_ == last;
}

bool driver_queue::has_work() const noexcept {
    cuda::relaxed_capture const relaxed; // keeps a capture of another thread valid
    return cuda::api().stream_query(stream()) == cuda::error_not_ready ||
           std::ranges::any_of(ends_, [](stream_event const& each) {
               return each.get() && cuda::api().event_query(each.get()) == cuda::error_not_ready;
           });
}

namespace {

/// Waits by CUDA's call; when the process exits, by asking, and no longer than that may take.
bool has_come(auto wait, auto ask) noexcept {
    constexpr std::chrono::microseconds pause{100};
    if (!os::exit_has_begun())
        return wait() == cuda::success;
    for (;;) {
        CUresult const state = ask();
        if (state != cuda::error_not_ready || os::exit_is_overdue())
            return state == cuda::success;
        std::this_thread::sleep_for(pause);
    }
}

} // namespace

bool driver_queue::wait_for_all() const noexcept {
    cuda::driver_api const& cu = cuda::api();
    bool is_idle = has_come([&] { return cu.stream_synchronize(stream()); },
                            [&] { return cu.stream_query(stream()); });
    for (stream_event const& each : ends_) // also those on the program's streams
        is_idle &= !each.get() || has_come([&] { return cu.event_synchronize(each.get()); },
                                           [&] { return cu.event_query(each.get()); });
    return is_idle;
}

/// The stream to copy on, ordered after the work in order.after.
CUstream driver_queue::begin(stream_order const& order) {
    // The batch call does not accept the default streams.
    constexpr std::uintptr_t per_thread_default = 2;
    if (order.after && order.then && *order.after == *order.then &&
        reinterpret_cast<std::uintptr_t>(*order.after) > per_thread_default)
        return *order.after;
    if (order.after) {
        check_stream(cuda::api().event_record(placed_.get(), *order.after));
        check_stream(cuda::api().stream_wait_event(stream(), placed_.get(), 0));
    }
    return stream();
}

void driver_queue::copy_by_batch_call(std::span<copy_piece const> pieces, CUstream stream) {
    to_.clear();
    from_.clear();
    bytes_.clear();
    for (copy_piece const& each : pieces) {
        to_.push_back(each.to);
        from_.push_back(each.from);
        bytes_.push_back(each.bytes);
    }
    CUmemcpyAttributes how{};
    how.srcAccessOrder = cuda::source_order_stream;
    std::size_t first = 0, failed = 0;
    check_copy(cuda::api().memcpy_batch_async(to_.data(), from_.data(), bytes_.data(),
                                              pieces.size(), &how, &first, 1, &failed, stream));
}

} // namespace barmap::engine
