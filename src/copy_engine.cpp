// SPDX-License-Identifier: MIT
#include <barmap/copy_engine.hpp>

#include "copy_engine_state.hpp"
#include "engine/spin.hpp"
#include "failure_report.hpp"
#include "log.hpp"

#include <barmap/error.hpp>

#include <algorithm>
#include <bit>
#include <string>

namespace barmap {

copy_engine_state::~copy_engine_state() {
    for (std::unique_ptr<engine::batch_engine>& each : all_)
        if (!each->close())
            (void)each.release(); // what may still be written to stays
}

// With the lock held.
bool copy_engine_state::start(engine::batch_registration const& entry, engine_report& report) {
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
        {
            std::lock_guard const hold(all_lock_);
            all_.push_back(std::move(made));
        }
        current_ = {all_.back().get(), all_.size() - 1,
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

copy_engine_state::at_work copy_engine_state::get() {
    std::lock_guard const hold(lock_);
    if (current_.engine) {
        if (!current_.engine->has_stopped())
            return current_;
        std::uint64_t const current_index = current_.index;
        current_.engine = nullptr;
        kind& failed = kinds_[current_.kind];
        engine_report& report = failed.report;
        report.failures = ++failed.failures;
        std::string const why = all_[current_index]->why_it_stopped();
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

engine::batch_engine& copy_engine_state::of(std::uint64_t index) {
    std::lock_guard const hold(all_lock_);
    if (index >= all_.size())
        throw error(errc::invalid_argument, "find a batch by its ticket", "",
                    "give a ticket that this copy engine's submit() returned");
    return *all_[index];
}

std::vector<engine_report> copy_engine_state::reports() {
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

// A ticket is the batch's number, below 2^56, and above it which engine gave it, from 1 on.
constexpr unsigned number_bits = 56;

constexpr std::uint64_t end_of_addresses = std::uint64_t{1} << 57;

bool is_good(copy_piece const& each) noexcept {
    auto const is_inside = [&](std::uint64_t begin) {
        return begin != 0 && begin < end_of_addresses && each.bytes <= end_of_addresses - begin;
    };
    return each.bytes == 0 || (is_inside(each.gpu) && is_inside(each.host));
}

[[noreturn]] void refuse(std::span<copy_piece const> pieces) {
    std::size_t at = 0;
    while (is_good(pieces[at]))
        ++at;
    throw error(errc::invalid_argument, "copy piece " + std::to_string(at) + " of a batch", "",
                pieces[at].gpu == 0 || pieces[at].host == 0
                    ? "one of its addresses is null: give both, as CUDA knows them"
                    : "it does not lie in the 57 bits of a GPU address: see its address and size");
}

/// The bytes of a batch, and whether all its pieces can go to an engine as they are.
struct pieces_checked {
    std::size_t bytes = 0;
    bool are_plain = true;
};

/// @throws error errc::invalid_argument
pieces_checked check(std::span<copy_piece const> pieces) {
    // A list of thousands is looked at before its first piece is copied. Both words stay small
    // where every piece is good and plain: 0 less 1, and what wraps around, has high bits.
    pieces_checked result;
    std::uint64_t addresses = 0, sizes = 0;
    for (copy_piece const& each : pieces) {
        std::uint64_t const more = each.bytes - 1;
        addresses |= (each.gpu - 1) | (each.host - 1) | (each.gpu + more) | (each.host + more);
        sizes |= more;
        result.bytes += each.bytes;
    }
    static_assert(std::has_single_bit(engine::most_piece_bytes));
    result.are_plain = sizes < engine::most_piece_bytes;
    if ((addresses >= end_of_addresses || !result.are_plain) &&
        !std::ranges::all_of(pieces, is_good))
        refuse(pieces);
    return result;
}

/// Without empty pieces, and with large ones cut.
std::vector<copy_piece> plain(std::span<copy_piece const> pieces) {
    std::vector<copy_piece> result;
    for (copy_piece each : pieces)
        while (each.bytes != 0) {
            std::size_t const some = std::min(each.bytes, engine::most_piece_bytes);
            result.push_back({each.gpu, each.host, some});
            each = {each.gpu + some, each.host + some, each.bytes - some};
        }
    return result;
}

engine::batch_engine::state look(copy_engine_state& of, copy_ticket ticket,
                                 engine::batch_engine** found = nullptr) {
    of.device->expect_own_process("look for a batch's end");
    auto const value = static_cast<std::uint64_t>(ticket);
    if (value == 0)
        return engine::batch_engine::state::done;
    engine::batch_engine& engine = of.of((value >> number_bits) - 1);
    if (found)
        *found = &engine;
    return engine.look(value & ((std::uint64_t{1} << number_bits) - 1));
}

[[noreturn]] void fail() {
    throw error(errc::copy_unfinished, "copy a batch", "",
                "the engine stopped before its end, and which bytes were copied is unknown: is "
                "each piece in memory that is allocated, and pinned on the host's side, until it "
                "is copied? See dmesg for an Xid, and `barmap info`");
}

} // namespace

copy_engine::copy_engine(std::shared_ptr<copy_engine_state> state) noexcept
    : state_(std::move(state)) {}
copy_engine::copy_engine(copy_engine const&) noexcept = default;
copy_engine& copy_engine::operator=(copy_engine const&) noexcept = default;
copy_engine::~copy_engine() = default;

copy_ticket copy_engine::submit(copy_direction direction, std::span<copy_piece const> pieces,
                                std::optional<after> begin, std::optional<then> end) {
    state_->device->expect_own_process("copy a batch");
    pieces_checked const checked = check(pieces);
    if (pieces.empty() && !begin && !end)
        return copy_ticket{};
    engine::stream_order order;
    if (begin) {
        order.after = static_cast<CUstream>(begin->stream);
        constexpr std::chrono::milliseconds least{0}, longest = std::chrono::hours(24 * 365);
        order.at_most = std::clamp(begin->at_most, least, longest);
    }
    if (end)
        order.then = static_cast<CUstream>(end->stream);
    auto const way =
        direction == copy_direction::to_gpu ? engine::direction::to_gpu : engine::direction::to_cpu;
    std::vector<copy_piece> cut;
    if (!checked.are_plain)
        pieces = cut = plain(pieces);
    for (;;) {
        copy_engine_state::at_work const at = state_->get();
        try {
            std::uint64_t const number = at.engine->submit(way, pieces, checked.bytes, order);
            state_->count(at.kind, checked.bytes);
            return copy_ticket{(at.index + 1) << number_bits | number};
        } catch (engine::has_stopped const&) {
            // By another thread's batch: the next one takes this.
        }
    }
}

bool copy_engine::done(copy_ticket ticket) const {
    engine::batch_engine::state const now = look(*state_, ticket);
    if (now == engine::batch_engine::state::failed)
        fail();
    return now == engine::batch_engine::state::done;
}

bool copy_engine::wait(copy_ticket ticket, std::chrono::nanoseconds at_most) const {
    using clock = std::chrono::steady_clock;
    // A time that no clock reaches is as good as none.
    constexpr std::chrono::nanoseconds longest = std::chrono::hours(24 * 365);
    engine::batch_engine* engine = nullptr;
    engine::batch_engine::state now = look(*state_, ticket, &engine);
    if (now == engine::batch_engine::state::under_way) {
        auto const number =
            static_cast<std::uint64_t>(ticket) & ((std::uint64_t{1} << number_bits) - 1);
        (void)engine::spin(
            [&] {
                now = engine->look(number);
                return now != engine::batch_engine::state::under_way;
            },
            [] { return false; }, clock::now() + std::min(at_most, longest));
    }
    if (now == engine::batch_engine::state::failed)
        fail();
    return now == engine::batch_engine::state::done;
}

std::string_view copy_engine::name() const {
    state_->device->expect_own_process("ask which engine copies batches");
    return engine::batch_registry()[state_->get().kind].name;
}

std::vector<engine_report> copy_engine::reports() const {
    state_->device->expect_own_process("ask what copies batches");
    return state_->reports();
}

} // namespace barmap
