// SPDX-License-Identifier: MIT
#include "api/batch_queue_state.hpp"

#include "base/leave_to_exit.hpp"

#include <barmap/error.hpp>

#include <algorithm>
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
            leave_to_exit(each.worker); // copies may still write to its memory
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
            leave_to_exit(each.worker); // copies may still write to its memory
        each = {};
    }
    current_ = short_ = {};
    count_.store(0, std::memory_order_release);
    for (std::unique_ptr<engine_slot> const& slot : slots)
        slot->release();
}

} // namespace barmap
