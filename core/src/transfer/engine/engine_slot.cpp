// SPDX-License-Identifier: MIT
#include "transfer/engine/engine_slot.hpp"

#include "base/failure_report.hpp"
#include "base/log_lines.hpp"
#include "cuda/context_scope.hpp"
#include "cuda/driver_api.hpp"
#include "system/process.hpp"
#include "system/region.hpp"

#include <barmap/error.hpp>

#include <chrono>

namespace barmap {

// The caller holds lock_.
void engine_slot::start() {
    if (is_started_)
        return;
    using clock = std::chrono::steady_clock;
    clock::time_point const begin = clock::now();
    report_.name = name();
    std::shared_ptr<engine::worker> worker;
    std::optional<cuda::relaxed_capture> relaxed; // keeps a capture of another thread valid
    if (!gpu_.without_cuda)
        relaxed.emplace();
    try {
        // In lane cuda only the self-test uses staging memory. It may wait for CUDA's own copies.
        bool const is_for_batches = lane_ == engine::lane::cuda;
        worker = std::make_shared<engine::worker>(
            entry_.make(gpu_, lane_),
            is_for_batches ? std::chrono::seconds(2) : engine::patience_with(gpu_),
            is_for_batches ? os::page_size() : engine::worker::most_staging);
        if (!test_memory_ || !test_memory_->is_still_there())
            test_memory_ = engine::test_memory::make(gpu_);
        engine::self_test(*worker, test_memory_);
        worker_ = worker;
        report_.state = backend_state::usable;
        report_.reason =
            "its self-test moved random bytes both ways " + std::string(worker->engine().form());
        report_.advice.clear();
        is_started_ = true;
    } catch (...) {
        if (worker)
            engine::worker::retire(worker, std::chrono::milliseconds(0)); // on its own thread
        record_failure(report_);
        // A failed start is final, unless it replaces an engine that has failed: these are counted.
        is_started_ = failures_ == 0 || ++failures_ >= most_failures;
    }
    report_.start_us = std::chrono::duration<double, std::micro>(clock::now() - begin).count();
    was_tried_.store(true, std::memory_order_release);
    note("is " + std::string(to_string(report_.state)) + " (" + report_.reason + ")");
}

void engine_slot::note(std::string const& what) const {
    log::info("GPU " + gpu_.pci_address + ": copy engine " + std::string(name()) +
              (lane_ == engine::lane::cuda ? " for batches " : " ") + what);
}

engine_report engine_slot::report() {
    std::lock_guard const hold(lock_);
    start();
    return report_now();
}

std::optional<engine_report> engine_slot::known_report() {
    if (!was_tried_.load(std::memory_order_acquire)) // a start may hold the lock
        return std::nullopt;
    std::lock_guard const hold(lock_);
    return report_now();
}

// The caller holds lock_.
engine_report engine_slot::report_now() const {
    engine_report result = report_;
    result.copies = copies_.load(std::memory_order_relaxed);
    result.bytes = bytes_.load(std::memory_order_relaxed);
    result.failures = failures_;
    return result;
}

std::shared_ptr<engine::worker> engine_slot::get() {
    std::lock_guard const hold(lock_);
    start();
    return worker_;
}

void engine_slot::require() {
    engine_report const now = report();
    if (now.state != backend_state::usable)
        throw error(now.state == backend_state::broken ? errc::backend_broken
                                                       : errc::backend_absent,
                    "use copy engine " + now.name, now.name, now.reason + "; " + now.advice);
}

void engine_slot::give_up(std::shared_ptr<engine::worker> const& failed, std::string const& why) {
    std::lock_guard const hold(lock_);
    if (worker_ != failed)
        return; // another thread was faster
    worker_.reset();
    is_started_ = ++failures_ >= most_failures; // if not, the next caller starts another
    note("has failed " + std::to_string(failures_) + " times, the last because " + why);
    if (!is_started_)
        return;
    report_.state = backend_state::broken;
    bool const takes_batches = lane_ == engine::lane::cuda;
    report_.reason = std::to_string(failures_) + (takes_batches ? " batches" : " copies") +
                     " failed, the last because " + why;
    report_.advice = takes_batches
                         ? "this process gives it no more batches: keep each piece allocated, and "
                           "pinned on the host's side, until it is copied"
                         : "this process does not use it again: please report this with the "
                           "driver's version and the output of dmesg";
}

void engine_slot::release() {
    std::lock_guard const hold(lock_);
    if (worker_ && !worker_->engine().close())
        throw error(errc::backend_broken, "stop a copy engine", std::string(name()),
                    "its copies may still be in flight");
    is_started_ = is_started_ && !worker_; // a failed start is not repeated
    worker_.reset();
    test_memory_.reset();
}

bool engine_slot::retire(std::shared_ptr<engine::worker> const& failed) {
    give_up(failed, failed->engine().has_stopped() ? failed->engine().why_it_stopped()
                                                   : "a copy did not end in time");
    constexpr std::chrono::milliseconds most{100};
    return engine::worker::retire(failed, most);
}

std::vector<std::unique_ptr<engine_slot>> engine_slots(engine::gpu const& gpu, engine::lane lane) {
    std::vector<std::unique_ptr<engine_slot>> result;
    for (engine::copy_registration const& entry : engine::registry())
        result.push_back(std::make_unique<engine_slot>(entry, gpu, lane));
    return result;
}

std::vector<engine_report> known_reports(std::vector<std::unique_ptr<engine_slot>> const& slots) {
    std::vector<engine_report> result;
    for (std::unique_ptr<engine_slot> const& slot : slots)
        if (std::optional<engine_report> const known = slot->known_report())
            result.push_back(*known);
    return result;
}

} // namespace barmap
