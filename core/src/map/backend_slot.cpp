// SPDX-License-Identifier: MIT
#include "map/backend_slot.hpp"

#include "base/failure_report.hpp"
#include "base/log_lines.hpp"
#include "cuda/driver_api.hpp"
#include "map/kind_test.hpp"
#include "map/self_test.hpp"
#include "transfer/measured_plan.hpp"

#include <chrono>

namespace barmap {
namespace {

void start_instance(backend::backend& instance, backend::gpu const& gpu, backend_report& report) {
    if (gpu.simulated && instance.capabilities().needs_kernel_driver &&
        !cuda::simulation_has_kernel_driver())
        throw error(errc::backend_absent, "reach a simulated GPU through a kernel driver", "",
                    "use backend dmabuf, which needs BARMAP_SIM_DRIVER=610, the default");
    instance.start();
    bool const allocates = report.allocates;
    static_cast<backend_properties&>(report) = instance.properties();
    report.allocates = allocates;
}

} // namespace

backend_slot::backend_slot(backend::registration const& entry, backend::gpu const& gpu)
    : entry_(entry), gpu_(gpu), instance_(entry.make(gpu)) {
    report_.name = entry.name;
    report_.allocates = capabilities().can_allocate();
    report_.pins = capabilities().registered();
}

void backend_slot::start() {
    start_instance(*instance_, gpu_, report_);
    scratch_ = std::make_unique<backend::scratch>(*instance_, gpu_);
    if (gpu_.without_cuda) // an engine's self-test, by the scratch memory's mapping, tests both
        return;
    backend::self_test(scratch_->device(), scratch_->address(), scratch_->bytes());
    report_.kinds = backend::test_kinds(*instance_, gpu_);
    report_.kinds.insert(report_.kinds.begin(),
                         {scratch_->memory(), true, std::string(scratch_->way())});
    for (memory_kind_report const& each : report_.kinds)
        if (each.kind == memory_kind::virtual_exportable && !capabilities().allocates)
            report_.allocates = each.usable;
    // Where the driver may revoke memory, it revokes this when its context ends: nothing must touch
    // it later.
    if (!report_.persistent) {
        std::lock_guard const guard(measuring_);
        measure();
    }
}

backend_report const& backend_slot::report() {
    if (is_started_)
        return report_;
    std::lock_guard const guard(starting_);
    if (is_started_)
        return report_;
    using clock = std::chrono::steady_clock;
    clock::time_point const begin = clock::now();
    try {
        start();
        report_.state = backend_state::usable;
        report_.reason = "its self-test moved random bytes both ways";
    } catch (...) {
        scratch_.reset();
        record_failure(report_);
    }
    report_.start_us = std::chrono::duration<double, std::micro>(clock::now() - begin).count();
    log::info("GPU " + gpu_.pci_address + ": backend " + report_.name + " is " +
              std::string(to_string(report_.state)) + " (" + report_.reason + ")");
    is_started_ = true;
    return report_;
}

void backend_slot::require() {
    if (!usable())
        throw error(
            report_.state == backend_state::broken ? errc::backend_broken : errc::backend_absent,
            "use backend " + report_.name, report_.name, report_.reason + "; " + report_.advice);
}

backend_report backend_slot::probe(backend::registration const& entry, backend::gpu const& gpu) {
    backend_report report;
    report.name = entry.name;
    try {
        std::unique_ptr<backend::backend> const instance = entry.make(gpu);
        report.allocates = instance->capabilities().can_allocate();
        report.pins = instance->capabilities().registered();
        start_instance(*instance, gpu, report);
        report.state = backend_state::usable;
        report.reason = "it can be tried; its self-test runs at the first use";
    } catch (...) {
        record_failure(report);
    }
    return report;
}

void backend_slot::expect_usable(memory_kind kind) {
    for (memory_kind_report const& each : report().kinds)
        if (each.kind == kind && !each.usable)
            throw error(errc::unsupported_memory, "map " + std::string(to_string(kind)), "",
                        "its self-test failed when the device was opened (to repeat it, destroy "
                        "all handles of the device and open it again): " +
                            each.reason);
}

void backend_slot::release() {
    scratch_.reset();
    instance_ = entry_.make(gpu_);
}

void backend_slot::restore() {
    if (!is_started_ || report_.state != backend_state::usable || scratch_)
        return;
    named([&] {
        release();
        instance_->start();
        auto scratch = std::make_unique<backend::scratch>(*instance_, gpu_);
        backend::self_test(scratch->device(), scratch->address(), scratch->bytes());
        scratch_ = std::move(scratch);
    });
}

bool backend_slot::still_reaches_memory() const {
    try {
        cuda::relaxed_capture const relaxed; // of another thread, which this is not to end
        backend::self_test(scratch_->device(), scratch_->address(), scratch_->bytes());
    } catch (error const& failure) {
        return failure.code() != errc::backend_broken;
    }
    return true;
}

copy_plan backend_slot::plan(cache_kind kind) {
    // Not std::call_once: a forced routine that is unknown throws, and is asked for again.
    std::lock_guard const guard(measuring_);
    measure();
    return copy::plan_for_kind(plan_, kind);
}

copy_methods const& backend_slot::methods(std::span<engine_slot* const> engines) {
    std::lock_guard const guard(choosing_);
    if (measured_methods_)
        return *measured_methods_;
    // Nothing is allocated here, and nothing freed: CUDA would wait for running kernels, one of
    // which may wait for this very copy. Memory that may by now be revoked is not touched.
    if (engines.empty() || !usable() || !report_.persistent || !scratch_->is_still_there()) {
        measured_methods_ = std::make_unique<copy_methods>();
    } else {
        // From here on nothing else uses the scratch memory.
        copy_plan const plan = this->plan(scratch_->kind());
        engine_reach reach;
        scratch_->describe(reach);
        measured_methods_ = std::make_unique<copy_methods>(measure_methods(
            engines, {scratch_->bytes().data(), scratch_->bytes().size(), &plan}, reach));
    }
    methods_.store(measured_methods_.get(), std::memory_order_release);
    return *measured_methods_;
}

void backend_slot::measure() {
    if (measured_)
        return;
    if (copy::copy_routine const* forced = copy::routine_forced_by_environment()) {
        plan_ = copy::plan_of_one(*forced, scratch_->kind());
    } else {
        plan_ = copy::measure_plan(scratch_->bytes(), scratch_->kind());
        log::info("backend " + report_.name + ": 64 B go by " +
                  std::string(plan_.store[copy::size_class(64)]->name) + ", 64 KiB by " +
                  std::string(plan_.store[copy::size_class(65536)]->name) + "; back by " +
                  std::string(plan_.load[copy::size_class(64)]->name) + " and " +
                  std::string(plan_.load[copy::size_class(65536)]->name));
    }
    measured_ = true;
}

} // namespace barmap
