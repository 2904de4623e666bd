// SPDX-License-Identifier: MIT
#include "device_state.hpp"

#include "config/config.hpp"
#include "cuda/driver_api.hpp"
#include "log.hpp"
#include "os/region.hpp"

#include <algorithm>
#include <chrono>

namespace barmap {
namespace {

std::string list_of_backends() {
    std::string names;
    for (std::string const& name : backend_names())
        names += (names.empty() ? "" : ", ") + name;
    return names;
}

[[noreturn]] void refuse_name(std::string_view unknown) {
    throw error(errc::invalid_argument, "use backend " + std::string(unknown), "",
                "the backends are " + list_of_backends());
}

/// The state and the sentence that a failed start makes of it.
void record_failure(backend_report& report) {
    try {
        throw;
    } catch (error const& failure) {
        report.state =
            failure.code() == errc::backend_absent ? backend_state::absent : backend_state::broken;
        report.reason = "cannot " + failure.operation() + ": " + failure.code().message();
        report.advice = failure.advice();
    } catch (std::exception const& failure) {
        report.state = backend_state::broken;
        report.reason = failure.what();
    }
}

void start(backend::backend& instance, backend::gpu const& gpu, backend_report& report) {
    if (gpu.simulated && instance.can().needs_kernel_driver &&
        !cuda::simulation_has_kernel_driver())
        throw error(errc::backend_absent, "reach a simulated GPU through a kernel driver",
                    report.name, "nothing needs to be done: dmabuf reaches it");
    instance.start();
    backend::traits const about = instance.about();
    report.module = about.module;
    report.persistent = about.persistent;
    report.forces_pcie = about.forces_pcie;
    report.events = about.events;
}

[[noreturn]] void refuse(backend_report const& report) {
    throw error(report.state == backend_state::broken ? errc::backend_broken : errc::backend_absent,
                "use backend " + report.name, report.name, report.reason + "; " + report.advice);
}

} // namespace

std::string_view forced_backend() {
    std::string const& wanted = config::current().backend;
    if (wanted.empty())
        return {};
    for (backend::registration const& entry : backend::registry())
        if (entry.name == wanted)
            return wanted;
    refuse_name(wanted);
}

backend_slot::backend_slot(backend::registration const& entry, backend::gpu const& gpu)
    : entry_(entry), gpu_(gpu), instance_(entry.make(gpu)) {
    report_.name = entry.name;
    report_.allocates = can().can_allocate();
}

backend_report const& backend_slot::report() {
    std::call_once(started_, [this] {
        using clock = std::chrono::steady_clock;
        clock::time_point const begin = clock::now();
        try {
            start(*instance_, gpu_, report_);
            scratch_ = std::make_unique<backend::scratch>(*instance_, gpu_);
            scratch_->prove();
            report_.state = backend_state::usable;
            report_.reason = "its self-test moved random bytes both ways";
        } catch (...) {
            record_failure(report_);
            scratch_.reset();
        }
        report_.start_us = std::chrono::duration<double, std::micro>(clock::now() - begin).count();
        log::info("GPU " + gpu_.pci_address + ": backend " + report_.name + " is " +
                  std::string(to_string(report_.state)) + " (" + report_.reason + ")");
        is_started_ = true;
    });
    return report_;
}

backend_report backend_slot::probe(backend::registration const& entry, backend::gpu const& gpu) {
    backend_report report;
    report.name = entry.name;
    try {
        std::unique_ptr<backend::backend> const instance = entry.make(gpu);
        report.allocates = instance->can().can_allocate();
        start(*instance, gpu, report);
        report.state = backend_state::usable;
        report.reason = "it can be tried; its self-test comes with its first use";
    } catch (...) {
        record_failure(report);
    }
    return report;
}

copy_plan backend_slot::plan(cache_kind kind) {
    // Not std::call_once: a forced kernel that is unknown throws, and is asked for again.
    std::lock_guard const guard(measuring_);
    if (measured_)
        return copy::plan_for_kind(plan_, kind);
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
    return copy::plan_for_kind(plan_, kind);
}

device_state::device_state(backend::gpu which) : gpu(std::move(which)) {
    config::expect_allowed();
    (void)copy::routine_forced_by_environment(); // which may be a name that there is not
    for (backend::registration const& entry : backend::registry())
        slots.push_back(std::make_unique<backend_slot>(entry, gpu));
    CUcontext current = nullptr;
    CUdevice current_device = -1;
    cuda::driver_api const& cu = cuda::api();
    bool const has_context = cu.ctx_get_current(&current) == cuda::success && current &&
                             cu.ctx_get_device(&current_device) == cuda::success &&
                             current_device == gpu.handle;
    if (!has_context)
        keep_alive = cuda::primary_context::retain(gpu.handle);

    // Nothing that takes long is started before it is needed, unless it is asked for by name.
    std::string_view const forced = forced_backend();
    if (!forced.empty())
        (void)candidates(forced);
    for (std::unique_ptr<backend_slot> const& slot : slots)
        if (forced.empty() && slot->can().quick_start)
            slot->report();
    for (std::string const& name : config::current().require)
        require(name);
}

void device_state::expect_own_process(std::string_view operation) const {
    if (!os::is_this_process(owner))
        throw error(errc::forked_child, std::string(operation), "",
                    "use barmap in the process that opened the device; a forked child may only "
                    "destroy its objects, or exec");
}

void device_state::require(std::string_view name) {
    for (std::unique_ptr<backend_slot> const& slot : slots)
        if (slot->name() == name) {
            if (!slot->usable())
                refuse(slot->report());
            return;
        }
    refuse_name(name);
}

std::vector<backend_slot*> device_state::candidates(std::string_view wanted) {
    std::string_view const forced = forced_backend();
    if (wanted.empty())
        wanted = forced;
    else if (!forced.empty() && forced != wanted)
        throw error(errc::backend_absent, "use backend " + std::string(wanted), std::string(wanted),
                    "BARMAP_BACKEND allows only " + std::string(forced));
    std::vector<backend_slot*> result;
    for (std::unique_ptr<backend_slot> const& slot : slots)
        if (wanted.empty() || slot->name() == wanted)
            result.push_back(slot.get());
    if (result.empty())
        refuse_name(wanted);
    if (!wanted.empty() && !result.front()->usable())
        refuse(result.front()->report());
    return result;
}

} // namespace barmap
