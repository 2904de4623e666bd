// SPDX-License-Identifier: MIT
#include <barmap/batch_queue.hpp>

#include "api/batch_queue_state.hpp"
#include "base/failure_report.hpp"
#include "base/log.hpp"
#include "transfer/batch_pieces.hpp"
#include "transfer/engine/spin.hpp"

#include <barmap/error.hpp>

#include <algorithm>
#include <string>
#include <utility>

namespace barmap {

namespace {

/// Identifies an engine in tickets: above 0, and different from those of the 65,534 engines before.
std::uint64_t next_identity() noexcept {
    static std::atomic<std::uint64_t> latest{0};
    constexpr std::uint64_t most = 0xffff;
    return latest.fetch_add(1, std::memory_order_relaxed) % most + 1;
}

} // namespace

batch_queue_state::~batch_queue_state() {
    for (started& each : all_)
        if (each.engine && !each.engine->close())
            (void)each.engine.release(); // what may still be written to stays
}

// With the lock held.
bool batch_queue_state::start(engine::batch_registration const& entry, engine_report& report) {
    report.name = entry.name;
    using clock = std::chrono::steady_clock;
    clock::time_point const begin = clock::now();
    cuda::relaxed_capture const relaxed; // of another thread, which this is not to end
    auto made = entry.make(device->gpu);
    try {
        if (!test_memory_)
            test_memory_ = std::make_unique<engine::batch_test_memory>(device->gpu);
        made->start(*test_memory_);
        engine::self_test(*made, device->gpu, *test_memory_);
        report.state = backend_state::usable;
        report.reason = "its self-test moved random bytes both ways " + std::string(made->form());
        report.advice.clear();
        std::size_t const at = count_.load(std::memory_order_relaxed);
        all_[at] = {next_identity(), std::move(made)};
        count_.store(at + 1, std::memory_order_release);
        current_ = {all_[at].engine.get(), all_[at].identity,
                    static_cast<std::size_t>(&entry - engine::batch_registry().data())};
    } catch (...) {
        if (!made->close()) { // it may still write to both
            (void)made.release();
            (void)test_memory_.release();
        }
        record_failure(report);
    }
    report.start_us = std::chrono::duration<double, std::micro>(clock::now() - begin).count();
    log::info("GPU " + device->gpu.pci_address + ": copy engine " + report.name +
              " for batches is " + std::string(to_string(report.state)) + " (" + report.reason +
              ")");
    return report.state == backend_state::usable;
}

batch_queue_state::at_work batch_queue_state::get() {
    std::lock_guard const hold(lock_);
    if (current_.engine) {
        if (!current_.engine->has_stopped())
            return current_;
        engine::batch_engine& stopped = *std::exchange(current_.engine, nullptr);
        kind& failed = kinds_[current_.kind];
        engine_report& report = failed.report;
        report.failures = ++failed.failures;
        std::string const why = stopped.why_it_stopped();
        log::info("GPU " + device->gpu.pci_address + ": copy engine " + report.name +
                  " for batches has stopped: " + why);
        if (failed.failures == most_failures) {
            report.state = backend_state::broken;
            report.reason =
                std::to_string(most_failures) + " batches failed, the last since " + why;
            report.advice = "it takes no more batches in this process: is each piece in memory "
                            "that is allocated, and pinned on the host's side, until it is copied?";
        }
    }
    std::string_view const wanted = forced_engine();
    std::string why;
    bool have_failed = false;
    for (std::size_t i = 0; i < kinds_.size(); ++i) {
        engine::batch_registration const& entry = engine::batch_registry()[i];
        if (!wanted.empty() && wanted != entry.name)
            continue;
        kind& each = kinds_[i];
        // One that could not be started is not tried again.
        bool const is_new = each.report.name.empty();
        if ((is_new || each.report.state == backend_state::usable) && start(entry, each.report))
            return current_;
        have_failed |= each.failures != 0;
        why += (why.empty() ? "" : "; ") + each.report.name + ": " + each.report.reason + "; " +
               each.report.advice;
    }
    throw error(have_failed ? errc::backend_broken : errc::backend_absent, "copy a batch", "",
                why.empty() ? "BARMAP_ENGINE=none allows no copy engine: unset it" : why);
}

engine::batch_engine* batch_queue_state::find(std::uint64_t identity) noexcept {
    std::size_t const count = count_.load(std::memory_order_acquire);
    for (std::size_t i = 0; i < count; ++i)
        if (all_[i].identity == identity)
            return all_[i].engine.get();
    return nullptr;
}

std::vector<engine_report> batch_queue_state::reports() {
    std::lock_guard const hold(lock_);
    std::vector<engine_report> result;
    for (std::size_t i = 0; i < kinds_.size(); ++i) {
        if (kinds_[i].report.name.empty())
            continue;
        result.push_back(kinds_[i].report);
        result.back().copies = kinds_[i].batches.load(std::memory_order_relaxed);
        result.back().bytes = kinds_[i].bytes.load(std::memory_order_relaxed);
    }
    return result;
}

namespace {

// A ticket is the batch's number and above it the identity of the engine that gave it.
constexpr unsigned number_bits = engine::batch_engine::number_bits;
constexpr std::uint64_t number_mask = (std::uint64_t{1} << number_bits) - 1;

/// The batch that a ticket names: an engine, and what that knows it by.
struct batch {
    engine::batch_engine* engine = nullptr; ///< null: the ticket names none
    std::uint64_t number = 0;

    [[nodiscard]] engine::batch_engine::state poll() const noexcept {
        return engine ? engine->poll(number) : engine::batch_engine::state::done;
    }
};

[[noreturn]] void refuse_ticket() {
    throw error(errc::invalid_argument, "find a batch by its ticket", "",
                "give a ticket of this GPU's batch queue, while a handle of it exists");
}

batch find_batch(batch_queue_state& of, batch_ticket ticket) {
    of.device->expect_own_process("ask whether a batch is done");
    auto const value = static_cast<std::uint64_t>(ticket);
    if (value == 0)
        return {};
    batch const result{of.find(value >> number_bits), value & number_mask};
    if (!result.engine)
        refuse_ticket();
    return result;
}

/// Whether it is done. @throws error if it has failed, or nobody has submitted it
bool is_done(engine::batch_engine::state now) {
    switch (now) {
    case engine::batch_engine::state::done:
        return true;
    case engine::batch_engine::state::in_flight:
        return false;
    case engine::batch_engine::state::never_given:
        refuse_ticket();
    case engine::batch_engine::state::failed:
        break;
    }
    throw error(errc::copy_unfinished, "copy a batch", "",
                "the engine stopped before its end, and which bytes were copied is unknown: is "
                "each piece in memory that is allocated, and pinned on the host's side, until it "
                "is copied? See dmesg for an Xid, and `barmap info`");
}

cuda::address_ranges& memory_known_to_this_thread() {
    static thread_local cuda::address_ranges known;
    return known;
}

} // namespace

batch_queue::batch_queue(std::shared_ptr<batch_queue_state> state) noexcept
    : state_(std::move(state)) {}
batch_queue::batch_queue(batch_queue const&) noexcept = default;
batch_queue& batch_queue::operator=(batch_queue const&) noexcept = default;
batch_queue::~batch_queue() = default;

batch_ticket batch_queue::submit(std::span<copy_piece const> pieces, std::optional<after> begin,
                                 std::optional<then> end) {
    state_->device->expect_own_process("copy a batch");
    checked_pieces const checked = check(pieces);
    if (pieces.empty() && !begin && !end)
        return batch_ticket{};
    engine::stream_order order;
    if (begin) {
        order.after = static_cast<CUstream>(begin->stream);
        constexpr std::chrono::nanoseconds least{0}, longest = std::chrono::hours(24 * 365);
        if (begin->at_most)
            order.at_most = std::clamp(*begin->at_most, least, longest);
    }
    if (end)
        order.then = static_cast<CUstream>(end->stream);
    std::vector<copy_piece> cut;
    if (!checked.are_plain)
        cut = plain(pieces);
    for (;;) {
        batch_queue_state::at_work const at = state_->get();
        bool const is_checked = at.engine->needs_known_memory();
        cuda::address_ranges of_this_batch;
        if (is_checked)
            expect_known(pieces, of_this_batch);
        engine::direction const way =
            way_of(pieces, is_checked ? of_this_batch : memory_known_to_this_thread());
        try {
            std::uint64_t const number = at.engine->submit(
                way, checked.are_plain ? pieces : std::span<copy_piece const>(cut), checked.bytes,
                order);
            state_->count(at.kind, checked.bytes);
            return batch_ticket{at.identity << number_bits | number};
        } catch (engine::has_stopped const&) {
            // By another batch: the next engine takes this one.
        }
    }
}

bool batch_queue::done(batch_ticket ticket) const {
    return is_done(find_batch(*state_, ticket).poll());
}

bool batch_queue::wait(batch_ticket ticket, std::chrono::nanoseconds at_most) const {
    using clock = std::chrono::steady_clock;
    // A time that no clock reaches is as good as none.
    constexpr std::chrono::nanoseconds longest = std::chrono::hours(24 * 365);
    batch const which = find_batch(*state_, ticket);
    auto now = which.poll();
    if (now == engine::batch_engine::state::in_flight)
        (void)engine::spin(
            [&] {
                now = which.poll();
                return now != engine::batch_engine::state::in_flight;
            },
            [] { return false; }, clock::now() + std::min(at_most, longest));
    return is_done(now);
}

std::string_view batch_queue::name() const {
    state_->device->expect_own_process("ask which engine copies batches");
    return engine::batch_registry()[state_->get().kind].name;
}

std::vector<engine_report> batch_queue::reports() const {
    state_->device->expect_own_process("ask what copies batches");
    return state_->reports();
}

} // namespace barmap
