// SPDX-License-Identifier: MIT
#include "api/handles.hpp"
#include "base/c_options.hpp"
#include "base/config.hpp"
#include "base/lists.hpp"
#include "cuda/stream_gpu.hpp"
#include "system/of_thread.hpp"
#include "system/process_exit.hpp"
#include "transfer/batch_pieces.hpp"
#include "transfer/engine/spin.hpp"

#include <barmap/error.hpp>
#include <barmap/waits.hpp>

#include <algorithm>
#include <map>
#include <string>
#include <utility>

namespace barmap {

namespace {

// A ticket holds the batch's number in the lower bits and the engine's identity above them.
constexpr unsigned number_bits = engine::number_bits;
constexpr std::uint64_t number_mask = (std::uint64_t{1} << number_bits) - 1;

/// The batch that a ticket names: an engine, or graphs, and the batch's number there.
struct batch {
    engine::copy_engine* engine = nullptr; ///< null: the ticket names none, or a released one
    std::uint64_t number = 0;
    engine::state end = engine::state::done; ///< valid without an engine
    graph_batches* graphs = nullptr;

    [[nodiscard]] engine::state poll() const {
        return engine ? engine->poll(number) : graphs ? graphs->poll(number) : end;
    }
};

[[noreturn]] void refuse_ticket() {
    throw error(errc::invalid_argument, "find a batch by its ticket", "",
                "give a ticket of this GPU's batch queue, while a handle of it exists");
}

batch find_batch(batch_queue_state& of, batch_ticket ticket) {
    auto const value = static_cast<std::uint64_t>(ticket);
    if (value == 0)
        return {};
    if (value >> number_bits == batch_queue_state::of_graphs)
        return {.number = value, .graphs = &of.graphs};
    batch result{of.find(value >> number_bits), value & number_mask};
    if (result.engine)
        return result;
    result.end = of.find_end(value >> number_bits, result.number);
    return result;
}

/// Whether the batch is done. @throws error if it failed or was never submitted
bool is_done(engine::state now) {
    switch (now) {
    case engine::state::done:
        return true;
    case engine::state::in_flight:
        return false;
    case engine::state::never_given:
        refuse_ticket();
    case engine::state::failed:
        break;
    }
    throw error(errc::copy_unfinished, "copy a batch", "",
                "the engine stopped before the batch's end, and which bytes it copied is unknown: "
                "keep each piece allocated, and pinned on the host's side, until it is copied; see "
                "dmesg for an Xid, and `barmap info`");
}

/// Whether CUDA's own copies delay the stream less than a channel does. A channel waits for a word
/// that the stream writes, and the stream for one that the channel writes: at least 10 us. With
/// more pieces, CUDA's call would occupy the CPU too long.
bool is_short(std::span<copy_piece const> pieces, std::size_t bytes,
              engine::stream_order const& order, CUcontext context, cuda::address_ranges& asked,
              policy::values const& policy) {
    constexpr std::uintptr_t last_default = 2;
    bool const is_large = bytes / policy.large_piece >= pieces.size();
    std::size_t const most = is_large ? policy.short_large_pieces : policy.short_pieces;
    return pieces.size() <= most && order.after && order.then == order.after && !order.at_most &&
           reinterpret_cast<std::uintptr_t>(*order.after) > last_default &&
           cuda::context_of(*order.after) == context && suit_cuda(pieces, asked);
}

struct memory_known_to_a_thread {
    std::map<CUdevice, cuda::address_ranges> of;
};

/// Null once the thread has destroyed what it knew: then each batch asks CUDA again.
cuda::address_ranges* memory_known_to_this_thread(CUdevice gpu) {
    auto* const known = os::of_thread<memory_known_to_a_thread>::get();
    return known ? &known->of.try_emplace(gpu, gpu).first->second : nullptr;
}

} // namespace

std::optional<batch_ticket> batch_queue_state::submit(std::span<copy_piece const> pieces,
                                                      std::optional<detail::batch_after> begin,
                                                      std::optional<detail::batch_then> end,
                                                      missing if_none) {
    checkpoint::pass const here = device->enter("copy a batch", device_state::look::never);
    if (!notices_exit_.test(std::memory_order_relaxed) && !notices_exit_.test_and_set())
        os::notice_exit(); // later than any static object that holds a handle
    piece_totals const totals = check(pieces);
    if (pieces.empty() && !begin && !end)
        return batch_ticket{};
    engine::stream_order order;
    if (begin) {
        order.after = static_cast<CUstream>(begin->stream);
        if (begin->at_most)
            order.at_most =
                std::clamp(*begin->at_most, std::chrono::nanoseconds(0), detail::longest_wait);
    }
    if (end)
        order.then = static_cast<CUstream>(end->stream);
    if ((begin || end) && engine::is_captured(order, device->gpu.handle))
        return capture(pieces, order);
    policy::values const& policy = config::current().policy;
    for (;;) {
        CUdevice const gpu = device->gpu.handle;
        cuda::address_ranges of_this_batch(gpu);
        std::optional<at_work> const by_cuda =
            is_short(pieces, totals.bytes, order, context.get(), of_this_batch, policy)
                ? get_short()
                : std::nullopt;
        std::optional<at_work> const found = by_cuda                          ? by_cuda
                                             : if_none == missing::is_started ? get()
                                                                              : get_started();
        if (!found)
            return std::nullopt;
        at_work const& at = *found;
        bool const is_checked = at.engine->needs_known_memory();
        // CUDA's own copies always belong to the present CUDA.
        if (!is_checked && looks.is_due() && at.engine->is_of_former_cuda())
            checkpoint::refuse_overtaken("copy a batch");
        cuda::address_ranges* const remembered =
            is_checked ? nullptr : memory_known_to_this_thread(gpu);
        cuda::address_ranges& known = remembered ? *remembered : of_this_batch;
        if (is_checked)
            expect_known(pieces, known);
        else
            expect_reachable(pieces, known);
        engine::direction const way = way_of(pieces, known);
        // One range is one piece, except for CUDA's copies, which take none across two allocations.
        // Joining parts of other lists takes longer than it saves (docs/results, batch-joined.csv).
        copy_piece const first = pieces.empty() ? copy_piece{} : pieces.front();
        copy_piece const range{first.to, first.from, totals.bytes};
        bool const is_one = totals.is_one_range && !is_checked;
        std::span<copy_piece const> const given = is_one ? std::span(&range, 1) : pieces;
        bool const as_they_are =
            is_one ? range.bytes - 1 < engine::most_piece_bytes : totals.are_plain;
        std::vector<copy_piece> const list =
            as_they_are ? std::vector<copy_piece>() : plain(given);
        try {
            std::uint64_t const number =
                at.engine->submit(way, as_they_are ? given : list, totals.bytes, order);
            at.slot->count(totals.bytes);
            return batch_ticket{at.identity << number_bits | number};
        } catch (engine::has_stopped const&) {
            // Another batch stopped it: the next engine takes this one.
            if (if_none == missing::is_refused)
                throw;
        }
    }
}

batch_ticket batch_queue_state::capture(std::span<copy_piece const> pieces,
                                        engine::stream_order const& order) {
    cuda::relaxed_capture const relaxed; // nothing here ends the capture
    cuda::context_scope const scope(context.get());
    expect_usable(order, device->gpu.handle);
    cuda::address_ranges known(device->gpu.handle);
    expect_reachable(pieces, known);
    return batch_ticket{of_graphs << number_bits | graphs.capture(plain(pieces), order)};
}

} // namespace barmap

using namespace barmap;
using c::attempt;
using c::expect;

namespace {

// The core takes the caller's list as it is.
static_assert(sizeof(barmap_copy_piece) == sizeof(copy_piece) &&
              offsetof(barmap_copy_piece, to) == offsetof(copy_piece, to) &&
              offsetof(barmap_copy_piece, from) == offsetof(copy_piece, from) &&
              offsetof(barmap_copy_piece, bytes) == offsetof(copy_piece, bytes) &&
              sizeof(std::uintptr_t) == 8 && sizeof(std::size_t) == 8);

constexpr char copy_it[] = "copy a batch", ask[] = "ask whether a batch is done";

} // namespace

int barmap_batch_queue_open(barmap_batch_queue* queue) {
    static constexpr char operation[] = "open the queues of batches";
    return attempt([&] {
        batch_queue_state& state = state_of(queue, operation);
        checkpoint::pass const here = state.device->enter(operation, device_state::look::never);
        (void)state.open_queues();
    });
}

char const* barmap_batch_queue_engine(barmap_batch_queue const* queue) {
    static constexpr char operation[] = "ask which engine copies batches";
    char const* name = "";
    (void)attempt([&] {
        batch_queue_state& state = state_of(queue, operation);
        checkpoint::pass const here = state.device->enter(operation, device_state::look::never);
        name = state.get().slot->name().data(); // a literal
    });
    return name;
}

int barmap_batch_queue_submit(barmap_batch_queue* queue, barmap_copy_piece const* pieces,
                              std::size_t count, barmap_batch_options const* or_null,
                              std::uint64_t* ticket) {
    bool is_started = true;
    int const status = attempt([&] {
        if (ticket)
            *ticket = 0;
        batch_queue_state& through = state_of(queue, copy_it);
        if (!pieces && count > 0)
            throw error(errc::invalid_argument, copy_it, "", "pass the pieces, not NULL");
        barmap_batch_options const options =
            c::known(or_null, BARMAP_BATCH_AFTER | BARMAP_BATCH_THEN | BARMAP_BATCH_STARTED,
                     "use the options of a batch", "set their size to sizeof(barmap_batch_options)");
        std::optional<detail::batch_after> begin;
        if (options.flags & BARMAP_BATCH_AFTER) {
            begin.emplace().stream = options.after;
            if (options.at_most_ns != 0)
                begin->at_most = detail::wait_of_ns(options.at_most_ns);
        }
        std::optional<detail::batch_then> end;
        if (options.flags & BARMAP_BATCH_THEN)
            end.emplace().stream = options.then;
        using missing = batch_queue_state::missing;
        std::optional<batch_ticket> const given = through.submit(
            std::span(reinterpret_cast<copy_piece const*>(pieces), count), begin, end,
            options.flags & BARMAP_BATCH_STARTED ? missing::is_refused : missing::is_started);
        is_started = given.has_value();
        if (ticket && given)
            *ticket = static_cast<std::uint64_t>(*given);
    });
    if (status == BARMAP_OK && !is_started)
        return c::refuse(BARMAP_ERROR_NOT_STARTED, copy_it, "no copy engine is at work",
                         "call barmap_batch_queue_open() in a thread that may wait");
    return status;
}

std::uint64_t barmap_batch_queue_of(std::uint64_t ticket) {
    return ticket >> engine::ticket_bits;
}

int barmap_batch_queue_done(barmap_batch_queue const* queue, std::uint64_t ticket, int* done) {
    return c::attempt_at_once([&] {
        expect(done, ask, "pass a pointer for the answer, not NULL") = 0;
        batch_queue_state& state = state_of(queue, ask);
        checkpoint::pass const here = state.device->enter(ask, device_state::look::never);
        *done = is_done(find_batch(state, batch_ticket{ticket}).poll()) ? 1 : 0;
    });
}

int barmap_batch_queue_wait(barmap_batch_queue const* queue, std::uint64_t ticket,
                            std::uint64_t nanoseconds, int* done) {
    return attempt([&] {
        expect(done, ask, "pass a pointer for the answer, not NULL") = 0;
        batch_queue_state& state = state_of(queue, ask);
        checkpoint::pass const here = state.device->enter(ask, device_state::look::never);
        batch const which = find_batch(state, batch_ticket{ticket});
        auto now = which.poll();
        if (now == engine::state::in_flight)
            (void)engine::spin(
                [&] {
                    now = which.poll();
                    return now != engine::state::in_flight;
                },
                [] { return false; }, detail::end_of_wait(detail::wait_of_ns(nanoseconds)));
        *done = is_done(now) ? 1 : 0;
    });
}

int barmap_batch_queue_list_engines(barmap_batch_queue const* queue, barmap_list** out) {
    static constexpr char operation[] = "report the batch engines";
    return c::make_list(out, operation, [&] {
        batch_queue_state& state = state_of(queue, operation);
        checkpoint::pass const here = state.device->enter(operation, device_state::look::never);
        return known_reports(state.slots);
    });
}

barmap_batch_queue* barmap_batch_queue_retain(barmap_batch_queue* queue) {
    return c::retain(queue);
}

void barmap_batch_queue_destroy(barmap_batch_queue* queue) {
    c::release(queue);
}
