// SPDX-License-Identifier: MIT
#include "take.hpp"

#include "account.hpp"
#include "first_user.hpp"
#include "gpu_batches.hpp"
#include "judgement.hpp"
#include "own_calls.hpp"

#include "cuda/context_scope.hpp"
#include "cuda/current_gpu.hpp"
#include "cuda/driver_api.hpp"
#include "cuda/stream_gpu.hpp"
#include "system/no_cancellation.hpp"

#include <barmap/report.hpp>

#include <atomic>
#include <cstddef>
#include <exception>
#include <numeric>
#include <optional>
#include <span>
#include <type_traits>

namespace barmap::memcpy_dropin {
namespace {

/// Constructed at the first batch, so destroyed before CUDA's static objects.
class exit_watch {
public:
    exit_watch() = default;
    exit_watch(exit_watch const&) = delete;
    exit_watch& operator=(exit_watch const&) = delete;
    ~exit_watch() {
        exits.store(true);
        if (!is_first_user())
            return;
        gpu_batches::wait_for_starts();
        try {
            if (log_threshold() >= log_level::info)
                log_line(log_level::info, account());
        } catch (std::exception const&) {
            // Without a line.
        }
    }
    static inline constinit std::atomic<bool> exits{false};
};

/// The stream's context, which may be of another GPU than the current one. Null where there is
/// none, or no current one, which CUDA refuses. @throws error
CUcontext context_for(CUstream stream) {
    CUcontext current = nullptr;
    bool const has_one = cuda::api().ctx_get_current(&current) == cuda::success && current;
    return has_one ? cuda::context_of(stream) : nullptr;
}

/// The GPU of the current context, or nothing where CUDA does not say. @throws error
std::optional<CUdevice> current_gpu() {
    CUdevice device = -1;
    if (cuda::api().ctx_get_device(&device) != cuda::success)
        return std::nullopt;
    return device;
}

/// Whether there is a primary context, which barmap is not to be the first to make.
bool has_primary_context(CUdevice device) {
    unsigned flags = 0;
    int is_active = 0;
    return cuda::api().primary_ctx_get_state(device, &flags, &is_active) == cuda::success &&
           is_active != 0;
}

/// The result of this thread's batches, by which the next ones like them are left at once,
/// without a call of CUDA. It is a guess: other memory may have an address by now, and a stream may
/// have become idle. So it serves a limited number of batches.
class guess {
public:
    /// The reason against a batch, if the guess is of its memory.
    [[nodiscard]] std::optional<reason> judge(batch_call const& call) {
        if (batches_ == 0 || !call.to || !call.from || !call.bytes ||
            !first_.to.holds(call.to[0]) || !first_.from.holds(call.from[0]))
            return std::nullopt;
        --batches_;
        if (call.count < limits::in_force().least_pieces_of(way_))
            return reason::few_pieces;
        std::span const sizes(call.bytes, call.count);
        std::size_t const bytes = std::accumulate(sizes.begin(), sizes.end(), std::size_t{0});
        if (auto const why = judge_size(call.count, bytes, way_, false))
            return why;
        bool const is_behind = batches_behind_ > 0 && call.stream == busy_ &&
                               needs_idle_stream(call.count, bytes, way_);
        if (!is_behind)
            return std::nullopt;
        --batches_behind_;
        return reason::behind_work;
    }
    void learn(judged_batch const& batch) noexcept {
        first_ = batch.first;
        way_ = batch.way;
        batches_ = most_batches;
    }
    void learn_busy(CUstream stream) noexcept {
        busy_ = stream;
        batches_behind_ = most_behind;
    }

private:
    static constexpr int most_batches = 1000;
    static constexpr int most_behind = 7; ///< of 14 us each; the question takes 1.2 us (H200)

    sides first_; ///< of the latest batch's first piece
    memory_pair way_ = memory_pair::inside_gpu;
    int batches_ = 0;         ///< that may be judged by these
    CUstream busy_ = nullptr; ///< had unfinished work
    int batches_behind_ = 0;  ///< that may be judged by that
};
constinit thread_local guess latest{};
static_assert(std::is_trivially_destructible_v<guess>);

/// @throws error, std::bad_alloc
std::optional<reason> try_to_take(batch_call const& call, CUresult& result) {
    judged_batch batch;
    if (auto const why = judge_lists(call, batch.bytes))
        return why;
    if (auto const why = judge_capture(call.stream))
        return why;
    CUcontext const context = context_for(call.stream);
    if (!context)
        return reason::other_context;
    cuda::context_scope const scope(context);
    std::optional<CUdevice> const device = current_gpu();
    gpu_batches* const gpu =
        device ? gpu_batches::of(cuda::ordinal_with(*device).value_or(-1)) : nullptr;
    if (!gpu || !has_primary_context(*device))
        return reason::other_context;
    switch (gpu->now()) {
    case gpu_batches::state::idle:
    case gpu_batches::state::starting:
        return reason::starting;
    case gpu_batches::state::off:
        return reason::off;
    case gpu_batches::state::ready:
        break;
    }
    if (gpu->has_a_batch_failed()) {
        result = gpu_batches::illegal_address;
        return std::nullopt;
    }
    if (context != gpu->context())
        return reason::other_context;
    // Asked again for each batch: memory that was pinned yesterday may be pageable today.
    cuda::address_ranges asked(*device);
    if (auto const why = judge_first(call, asked, batch))
        return why;
    latest.learn(batch);
    auto const judge = [&] {
        if (auto const why = judge_size(call.count, batch.bytes, batch.way, gpu->stores()))
            return why;
        auto const why = judge_place(call, batch);
        if (why)
            latest.learn_busy(call.stream);
        return why;
    };
    if (auto const why = judge())
        return why;
    memory_pair const way_of_first = batch.way;
    if (auto const why = judge_memory(call, asked, batch))
        return why;
    // The first piece may not say where others go.
    if (batch.way != way_of_first)
        if (auto const why = judge())
            return why;
    if (auto const why = gpu->submit(batch.pieces, batch.way, call.stream, result))
        return why;
    if (result == cuda::success)
        count_taken(batch.pieces.size(), batch.bytes);
    return std::nullopt;
}

/// The reasons that need no call of CUDA: most programs' batches have one piece, or are like the
/// one before.
std::optional<reason> leave_at_once(batch_call const& call) {
    if (is_turned_off())
        return reason::off;
    if (has_too_few(call))
        return reason::few_pieces;
    return latest.judge(call);
}

} // namespace

std::optional<CUresult> take(batch_call const& call) noexcept {
    if (own_calls::are_here)
        return std::nullopt;
    std::optional<reason> why = reason::exiting;
    CUresult result = cuda::success;
    try {
        static exit_watch const until_exit;
        if (auto const known = leave_at_once(call)) {
            count_passed(*known);
            return std::nullopt;
        }
        own_calls const ours;
        os::no_cancellation const uncancelled;
        if (!is_first_user()) { // in which locks may also be held forever
            why = reason::forked;
        } else if (!exit_watch::exits.load()) {
            why = try_to_take(call, result);
        }
    } catch (std::exception const&) {
        why = reason::refused_here;
    }
    if (!why)
        return result;
    count_passed(*why);
    return std::nullopt;
}

} // namespace barmap::memcpy_dropin
