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

/// Identifies an engine in tickets: above 0, and not that of any of the 65,534 engines before.
std::uint64_t next_identity() noexcept {
    static std::atomic<std::uint64_t> latest{0};
    constexpr std::uint64_t most = 0xffff;
    return latest.fetch_add(1, std::memory_order_relaxed) % most + 1;
}

} // namespace

batch_queue_state::~batch_queue_state() {
    survives_.leave();
    for (started& each : all_)
        if (each.worker && !each.engine->close())
            (void)new std::shared_ptr(each.worker); // leaked: copies may still write to its memory
}

void batch_queue_state::give_up_stopped(at_work& which) {
    if (!which.engine || !which.engine->has_stopped())
        return;
    auto const its = std::ranges::find(all_, which.identity, &started::identity);
    which.slot->give_up(its->worker, which.engine->why_it_stopped());
    which = {};
}

batch_queue_state::at_work batch_queue_state::get() {
    std::lock_guard const hold(lock_);
    give_up_stopped(current_);
    if (!current_.engine)
        current_ = start(allowed());
    return current_;
}

std::optional<batch_queue_state::at_work> batch_queue_state::get_started() {
    std::lock_guard const hold(lock_);
    if (current_.engine && current_.engine->has_stopped())
        throw engine::has_stopped(current_.engine->why_it_stopped());
    return current_.engine ? std::optional(current_) : std::nullopt;
}

std::string_view batch_queue_state::open_queues() {
    at_work const at = get();
    at.engine->open_queues();
    return at.slot->name();
}

std::optional<batch_queue_state::at_work> batch_queue_state::get_short() {
    std::lock_guard const hold(lock_);
    give_up_stopped(short_);
    return short_.engine ? std::optional(short_) : std::nullopt;
}

void batch_queue_state::start_short() noexcept {
    std::lock_guard const hold(lock_);
    try {
        if (std::vector<engine_slot*> const order = allowed(); !short_.engine && order.size() > 1)
            short_ = start(std::span(order).last(1)); // CUDA's own copies are the last
    } catch (std::exception const&) {
        // Then short batches use the same engine as the others.
    }
}

std::vector<engine_slot*> batch_queue_state::allowed() const {
    std::string_view const wanted = forced_engine();
    std::vector<engine_slot*> result;
    for (std::unique_ptr<engine_slot> const& slot : slots)
        if (wanted.empty() || wanted == slot->name())
            result.push_back(slot.get());
    return result;
}

// The caller holds lock_.
batch_queue_state::at_work batch_queue_state::start(std::span<engine_slot* const> order) {
    std::string why;
    bool have_failed = false;
    for (engine_slot* const slot : order) {
        if (std::shared_ptr<engine::worker> worker = slot->get()) {
            std::size_t const count = count_.load(std::memory_order_relaxed);
            auto const known = std::ranges::find(all_, worker, &started::worker);
            if (known != all_.end())
                return {known->engine, known->identity, slot};
            all_[count] = {next_identity(), &worker->engine(), std::move(worker)};
            count_.store(count + 1, std::memory_order_release);
            return {all_[count].engine, all_[count].identity, slot};
        }
        engine_report const report = slot->report();
        have_failed |= report.failures != 0;
        why +=
            (why.empty() ? "" : "; ") + report.name + ": " + report.reason + "; " + report.advice;
    }
    throw error(have_failed ? errc::backend_broken : errc::backend_absent, "copy a batch", "",
                why.empty() ? "BARMAP_ENGINE=none allows no copy engine: unset it" : why);
}

engine::copy_engine* batch_queue_state::find(std::uint64_t identity) noexcept {
    std::size_t const count = count_.load(std::memory_order_acquire);
    for (std::size_t i = 0; i < count; ++i)
        if (all_[i].identity == identity)
            return all_[i].engine;
    return nullptr;
}

engine::state batch_queue_state::find_end(std::uint64_t identity,
                                          engine::ticket number) const noexcept {
    // The latest one: identities are reused.
    auto const found = std::find_if(ended_.rbegin(), ended_.rend(),
                                    [=](ended const& each) { return each.identity == identity; });
    engine::ticket const in_queue = number & ((engine::ticket{1} << engine::ticket_bits) - 1);
    if (found == ended_.rend() || in_queue == 0)
        return engine::state::never_given;
    if (in_queue <= found->done[number >> engine::ticket_bits])
        return engine::state::done;
    return found->has_failed ? engine::state::failed : engine::state::never_given;
}

namespace {

/// The last ticket of a queue that is done. Tickets finish in order. @pre none is in flight
engine::ticket last_done(engine::copy_engine& of, std::size_t queue) {
    engine::ticket const first = static_cast<engine::ticket>(queue) << engine::ticket_bits;
    engine::ticket last = 0;
    for (unsigned bit = engine::ticket_bits; bit-- > 0;)
        if (engine::ticket const next = last | engine::ticket{1} << bit;
            of.poll(first | next) == engine::state::done)
            last = next;
    return last;
}

} // namespace

bool batch_queue_state::is_busy() {
    std::lock_guard const hold(lock_);
    for (started const& each : all_)
        if (each.worker && !each.engine->is_idle())
            return true;
    return false;
}

void batch_queue_state::release() {
    std::lock_guard const hold(lock_);
    for (started& each : all_) {
        if (!each.worker)
            continue;
        ended& end = ended_.emplace_back(ended{each.identity});
        for (std::size_t queue = 0; queue < end.done.size(); ++queue)
            end.done[queue] = last_done(*each.engine, queue);
        end.has_failed = each.engine->has_stopped(); // after the polls, which may discover it
        if (!each.engine->close())
            (void)new std::shared_ptr(each.worker); // leaked: copies may still write to its memory
        each = {};
    }
    current_ = short_ = {};
    count_.store(0, std::memory_order_release);
    for (std::unique_ptr<engine_slot> const& slot : slots)
        slot->release();
}

namespace {

// A ticket holds the batch's number in the lower bits and the engine's identity above them.
constexpr unsigned number_bits = engine::number_bits;
constexpr std::uint64_t number_mask = (std::uint64_t{1} << number_bits) - 1;

/// The batch that a ticket names: an engine, and the batch's number there.
struct batch {
    engine::copy_engine* engine = nullptr; ///< null: the ticket names none, or a released one
    std::uint64_t number = 0;
    engine::state end = engine::state::done; ///< valid without an engine

    [[nodiscard]] engine::state poll() const noexcept {
        return engine ? engine->poll(number) : end;
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
                "the engine stopped before its end, and which bytes were copied is unknown: is "
                "each piece in memory that is allocated, and pinned on the host's side, until it "
                "is copied? See dmesg for an Xid, and `barmap info`");
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
        // One range is one piece, but for CUDA's copies, which take none across two allocations.
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
