// SPDX-License-Identifier: MIT
#pragma once

#include "pygpu/runtime/runtime.hpp"

#include "nvidia/cuda.hpp"

namespace barmap::runtime {

/// The current device of a thread as the CUDA runtime has it, over the driver's contexts.
///
/// A device is used through its primary context, as the runtime and the frameworks on it do. It is
/// retained at the first use and never released. Where another library (or the program) has made a
/// context current in a thread, that one is used, and its device is the thread's.

/// The device of the thread's context, else the one it has chosen, else 0.
[[nodiscard]] status device_of_thread(int& device);

/// Makes a device's primary context current. @return invalid_device for one that is not there
[[nodiscard]] status use_device(int device);

/// Makes the thread's device and context what they were; the context may be null.
void use_context(int device, void* context);

/// Gives the thread a context, which every call about memory or streams needs.
[[nodiscard]] status enter();

/// Ends the primary context of the thread's device, with all that was made in it.
[[nodiscard]] status end_device();

/// The code of the CUDA runtime that a driver's answer becomes.
[[nodiscard]] status from_driver(CUresult answer) noexcept;

/// The last error of this thread.
status remember(status answer) noexcept;
[[nodiscard]] status last_error() noexcept;
void forget_last_error() noexcept;

} // namespace barmap::runtime
