// SPDX-License-Identifier: MIT
#pragma once

#include "nvidia/cuda.hpp"
#include "system/process.hpp"

#include <utility>

namespace barmap::cuda {

/// Makes a context current on this thread and puts back what was there: the only code in the
/// library that changes contexts.
class context_scope {
public:
    /// The context of an allocation. @throws error if it cannot be made current
    explicit context_scope(CUcontext context);

    /// Any context on this GPU: the thread's own if it is on it, else the primary context, which
    /// is retained for the scope. @throws error
    static context_scope on_device(CUdevice device);

    /// Any context at all, for calls that only need one to be there: the thread's own if it has
    /// one, else the primary context of this GPU. @throws error
    static context_scope any(CUdevice device);

    context_scope(context_scope&& other) noexcept
        : pushed_(std::exchange(other.pushed_, false)),
          retained_(std::exchange(other.retained_, false)), device_(other.device_) {}
    context_scope& operator=(context_scope&&) = delete;
    ~context_scope();

private:
    context_scope() = default;
    void enter_primary(CUdevice device);
    bool pushed_ = false;
    bool retained_ = false;
    CUdevice device_ = 0;
};

/// While it lives, this thread's calls end no capture of a CUDA graph by another thread, as
/// allocating memory would.
class relaxed_capture {
public:
    relaxed_capture() noexcept;
    relaxed_capture(relaxed_capture const&) = delete;
    relaxed_capture& operator=(relaxed_capture const&) = delete;
    ~relaxed_capture();

private:
    int mode_ = 2; ///< CU_STREAM_CAPTURE_MODE_RELAXED; once exchanged, the thread's own
    bool exchanged_ = false;
};

/// A primary context held for as long as this lives; abandoned in a forked child and at process
/// exit. Empty by default.
class primary_context {
public:
    primary_context() noexcept = default;
    /// @throws error
    static primary_context retain(CUdevice device);
    primary_context(primary_context&& other) noexcept;
    primary_context& operator=(primary_context&& other) noexcept;
    ~primary_context();
    [[nodiscard]] CUcontext get() const noexcept { return context_; }

private:
    CUcontext context_ = nullptr;
    CUdevice device_ = 0;
    os::process_id owner_;
};

} // namespace barmap::cuda
