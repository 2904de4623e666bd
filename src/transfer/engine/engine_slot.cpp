// SPDX-License-Identifier: MIT
#include "transfer/engine/engine_slot.hpp"

#include "base/failure_report.hpp"
#include "base/log.hpp"
#include "base/process.hpp"
#include "driver/cuda/context_scope.hpp"
#include "driver/cuda/driver_api.hpp"

#include <barmap/error.hpp>

#include <chrono>

namespace barmap {

// With the lock held.
void engine_slot::start() {
    if (is_started_)
        return;
    using clock = std::chrono::steady_clock;
    clock::time_point const begin = clock::now();
    report_.name = name();
    std::shared_ptr<engine::worker> worker;
    cuda::relaxed_capture const relaxed; // of another thread, which this is not to end
    try {
        worker = std::make_shared<engine::worker>(entry_.make(gpu_), engine::patience_with(gpu_));
        if (!test_memory_ || !test_memory_->is_still_there())
            test_memory_ = std::make_unique<engine::test_memory>(gpu_);
        engine::self_test(*worker, gpu_, *test_memory_);
        worker_ = worker;
        report_.state = backend_state::usable;
        report_.reason = "its self-test moved random bytes both ways";
        report_.advice.clear();
        is_started_ = true;
    } catch (...) {
        if (worker)
            engine::worker::retire(worker, std::chrono::milliseconds(0)); // without this lock
        record_failure(report_);
        // In the place of one that has failed, it may be tried again.
        is_started_ = failures_ == 0 || ++failures_ >= most_failures;
        if (failures_ >= most_failures)
            give_up();
    }
    report_.start_us = std::chrono::duration<double, std::micro>(clock::now() - begin).count();
    log::info("GPU " + gpu_.pci_address + ": copy engine " + report_.name + " is " +
              std::string(to_string(report_.state)) + " (" + report_.reason + ")");
}

// With the lock held.
void engine_slot::give_up() {
    report_.state = backend_state::broken;
    report_.reason = std::to_string(failures_) + " copies did not end in time";
    report_.advice = "it is not used again by this process: please report this with the driver's "
                     "version and what dmesg says";
}

engine_report engine_slot::report() {
    std::lock_guard const hold(lock_);
    start();
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

bool engine_slot::retire(std::shared_ptr<engine::worker> const& failed) {
    {
        std::lock_guard const hold(lock_);
        if (worker_ == failed) {
            worker_.reset();
            ++failures_;
            if (failures_ < most_failures)
                is_started_ = false; // the next one that wants it starts another
            else
                give_up();
            log::info("GPU " + gpu_.pci_address + ": copy engine " + std::string(name()) +
                      " did not end a copy in time, failure " + std::to_string(failures_));
        }
    }
    constexpr std::chrono::milliseconds most{100};
    return engine::worker::retire(failed, most);
}

} // namespace barmap
