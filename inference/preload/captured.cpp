// SPDX-License-Identifier: MIT
#include "captured.hpp"

#include "account.hpp"
#include "first_user.hpp"
#include "gpu_batches.hpp"
#include "judgement.hpp"
#include "own_calls.hpp"

#include "cuda/context_scope.hpp"
#include "cuda/current_gpu.hpp"
#include "cuda/driver_api.hpp"
#include "cuda/stream_gpu.hpp"
#include "system/no_cancellation.hpp"

#include <exception>

namespace barmap::memcpy_dropin {
namespace {

/// The GPU's batches if one may be a kernel of theirs. Their engine is not started here, but the
/// first such kernel opens a kernel queue.
gpu_batches* ready_for(batch_call const& call, judged_batch const& batch, CUdevice device,
                       CUcontext context) {
    if (judge_size(call.count, batch.bytes, batch.way, false))
        return nullptr;
    gpu_batches* const gpu = gpu_batches::of(cuda::ordinal_with(device).value_or(-1));
    return gpu && gpu->is_ready() && gpu->context() == context ? gpu : nullptr;
}

CUresult copy_one_by_one(batch_call const& call, std::size_t& failed) noexcept {
    for (std::size_t i = 0; i < call.count; ++i)
        if (CUresult const result =
                cuda::api().memcpy_async(call.to[i], call.from[i], call.bytes[i], call.stream);
            result != cuda::success) {
            failed = i;
            return result;
        }
    return cuda::success;
}

} // namespace

std::optional<CUresult> capture(batch_call const& call, std::size_t& failed) noexcept {
    if (own_calls::are_here)
        return std::nullopt;
    own_calls const ours;
    os::no_cancellation const uncancelled;
    try {
        int status = cuda::capture_status_none;
        judged_batch batch;
        if (is_turned_off() || !is_first_user() || judge_arguments(call, batch.bytes) ||
            cuda::api().stream_is_capturing(call.stream, &status) != cuda::success ||
            status != cuda::capture_status_active)
            return std::nullopt;
        cuda::relaxed_capture const relaxed; // nothing here ends the capture
        CUcontext const context = cuda::context_of(call.stream);
        if (!context)
            return std::nullopt;
        cuda::context_scope const scope(context);
        CUdevice device = -1;
        cuda::check(cuda::api().ctx_get_device(&device), "find the GPU of a stream");
        cuda::address_ranges asked(device);
        // A copy from pageable memory could end the capture.
        if (judge_first(call, asked, batch) || judge_memory(call, asked, batch))
            return std::nullopt;
        gpu_batches* const gpu = ready_for(call, batch, device, context);
        if (gpu && gpu->has_a_batch_failed(true)) {
            failed = 0; // which no program takes for success
            return gpu_batches::illegal_address;
        }
        bool const is_a_kernel = gpu && gpu->capture(batch.pieces, call.stream);
        CUresult const result = is_a_kernel ? cuda::success : copy_one_by_one(call, failed);
        if (result == cuda::success)
            count_captured();
        return result;
    } catch (std::exception const&) {
        return std::nullopt;
    }
}

} // namespace barmap::memcpy_dropin
