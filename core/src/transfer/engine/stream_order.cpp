// SPDX-License-Identifier: MIT
#include "transfer/engine/stream_order.hpp"

#include "cuda/address_ranges.hpp"
#include "cuda/context_scope.hpp"
#include "cuda/current_gpu.hpp"
#include "cuda/driver_api.hpp"
#include "cuda/stream_gpu.hpp"

#include <barmap/error.hpp>

#include <string>

namespace barmap::engine {
namespace {

/// As CUDA counts GPUs.
std::string number_of(CUdevice gpu) {
    return std::to_string(cuda::ordinal_with(gpu).value_or(-1));
}

} // namespace

void check_stream(CUresult result) {
    cuda::check(result, "order a batch with a stream",
                "give a stream of this GPU that still exists");
}

bool is_captured(stream_order const& order, CUdevice gpu) {
    cuda::context_scope const scope = cuda::context_scope::on_device(gpu);
    bool result = false;
    for (std::optional<CUstream> const& each : {order.after, order.then}) {
        int status = cuda::capture_status_none;
        if (each)
            check_stream(cuda::api().stream_is_capturing(*each, &status));
        result |= status != cuda::capture_status_none;
    }
    if (result && order.after && order.then && *order.after != *order.then)
        throw error(errc::unsupported_operation, "order a batch with two streams", "",
                    "one of them is being captured into a graph: give one stream, and join it with "
                    "the other one by events (cudaStreamWaitEvent)");
    return result;
}

void expect_usable(stream_order const& order, CUdevice gpu) {
    for (std::optional<CUstream> const& each : {order.after, order.then}) {
        if (!each)
            continue;
        if (!cuda::has_several_gpus())
            continue;
        if (CUdevice const its = cuda::gpu_of(*each).value_or(gpu); its != gpu)
            throw error(
                errc::wrong_device, "order a batch with a stream", "",
                "the stream belongs to GPU " + number_of(its) + ", the batch queue to GPU " +
                    number_of(gpu) +
                    ": submit to the queue of the stream's GPU, or give a stream of the queue's "
                    "GPU that waits for an event of that stream (cudaStreamWaitEvent)");
    }
}

} // namespace barmap::engine
