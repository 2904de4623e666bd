// SPDX-License-Identifier: MIT
#include "cuda/context_scope.hpp"

#include "cuda/driver_api.hpp"
#include "cuda/driver_lifetime.hpp"

#include <barmap/report.hpp>

#include <new>
#include <string>
#include <utility>

namespace barmap::cuda {

namespace {

/// Destructors cannot throw: they log the failure.
void report(CUresult result, char const* operation) noexcept {
    if (result == success)
        return;
    try {
        log_line(log_level::info, std::string("cannot ") + operation + ": " + cuda_category().message(result));
    } catch (std::bad_alloc const&) {
        // Then without a line.
    }
}

} // namespace

context_scope::context_scope(CUcontext context) {
    driver_api const& cu = api();
    CUcontext now = nullptr;
    check(cu.ctx_get_current(&now), "read the thread's CUDA context");
    if (now == context)
        return;
    check(cu.ctx_push_current(context), "make the memory's CUDA context current",
          "the context may have been destroyed: pin memory only while its context lives");
    pushed_ = true;
}

context_scope context_scope::on_device(CUdevice device) {
    context_scope scope;
    CUdevice current_device = -1;
    if (api().ctx_get_device(&current_device) != success || current_device != device)
        scope.enter_primary(device);
    return scope;
}

context_scope context_scope::any(CUdevice device) {
    context_scope scope;
    CUcontext now = nullptr;
    if (api().ctx_get_current(&now) != success || !now)
        scope.enter_primary(device);
    return scope;
}

void context_scope::enter_primary(CUdevice device) {
    driver_api const& cu = api();
    CUcontext primary = nullptr;
    check(cu.primary_ctx_retain(&primary, device), "retain the primary CUDA context");
    retained_ = true;
    device_ = device;
    check(cu.ctx_push_current(primary), "make the primary CUDA context current");
    pushed_ = true;
}

context_scope::~context_scope() {
    if (!pushed_ && !retained_)
        return;
    driver_api const& cu = api(); // it was there when the scope was entered
    CUcontext ignored = nullptr;
    if (pushed_)
        report(cu.ctx_pop_current(&ignored), "restore the thread's CUDA context");
    if (retained_)
        report(cu.primary_ctx_release(device_), "release the primary CUDA context");
}

primary_context primary_context::retain(CUdevice device) {
    primary_context result;
    check(api().primary_ctx_retain(&result.context_, device), "retain the primary CUDA context");
    result.device_ = device;
    result.owner_ = os::this_process();
    watch_exit();
    return result;
}

primary_context::primary_context(primary_context&& other) noexcept
    : context_(std::exchange(other.context_, nullptr)), device_(other.device_),
      owner_(other.owner_) {}

primary_context& primary_context::operator=(primary_context&& other) noexcept {
    primary_context taken(std::move(other));
    std::swap(context_, taken.context_);
    std::swap(device_, taken.device_);
    std::swap(owner_, taken.owner_);
    return *this;
}

primary_context::~primary_context() {
    if (context_ && drivers_are_up(owner_))
        api().primary_ctx_release(device_);
}

relaxed_capture::relaxed_capture() noexcept {
    std::string why;
    driver_api const* const cu = try_api(why);
    exchanged_ = cu && cu->thread_exchange_stream_capture_mode(&mode_) == success;
}

relaxed_capture::~relaxed_capture() {
    if (exchanged_)
        api().thread_exchange_stream_capture_mode(&mode_);
}

} // namespace barmap::cuda
