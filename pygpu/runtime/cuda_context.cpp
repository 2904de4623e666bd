// SPDX-License-Identifier: MIT
#include "pygpu/runtime/cuda_context.hpp"

#include "cuda/current_gpu.hpp"
#include "cuda/driver_api.hpp"

#include <atomic>
#include <mutex>
#include <optional>
#include <set>
#include <type_traits>

namespace barmap::runtime {
namespace {

struct thread_state {
    int device = 0;        ///< that it has chosen
    unsigned resets = 0;   ///< of any device, seen by this thread
    status last = success; ///< error
};
static_assert(std::is_trivially_destructible_v<thread_state>);
constinit thread_local thread_state here;

std::atomic<unsigned> all_resets{0};

/// Devices whose primary context is retained here. Never destroyed.
struct retained_devices {
    std::mutex lock;
    std::set<CUdevice> devices;
};
retained_devices& retained() {
    static auto* const instance = new retained_devices;
    return *instance;
}

/// Makes the primary context live; retains it unless that was done before.
CUresult revive(CUdevice device, CUcontext& primary) {
    cuda::driver_api const& cu = cuda::api();
    std::lock_guard const guard(retained().lock);
    if (CUresult const failed = cu.primary_ctx_retain(&primary, device))
        return failed;
    if (!retained().devices.insert(device).second)
        cu.primary_ctx_release(device); // one is enough
    return cuda::success;
}

} // namespace

status device_of_thread(int& device) {
    cuda::driver_api const& cu = cuda::api();
    CUcontext now = nullptr;
    if (CUresult const failed = cu.ctx_get_current(&now))
        return from_driver(failed);
    CUdevice handle = -1;
    std::optional<int> found;
    if (now && cu.ctx_get_device(&handle) == cuda::success)
        found = cuda::ordinal_with(handle);
    device = found.value_or(here.device);
    return success;
}

status use_device(int device) {
    int count = 0;
    if (CUresult const failed = cuda::api().device_get_count(&count))
        return from_driver(failed);
    if (device < 0 || device >= count)
        return invalid_device;
    CUdevice handle = -1;
    CUcontext primary = nullptr;
    CUresult answer = cuda::api().device_get(&handle, device);
    if (answer == cuda::success)
        answer = revive(handle, primary);
    if (answer == cuda::success)
        answer = cuda::api().ctx_set_current(primary);
    if (answer == cuda::success)
        here = {device, all_resets.load(std::memory_order_relaxed), here.last};
    return from_driver(answer);
}

void use_context(int device, void* context) {
    here.device = device;
    cuda::api().ctx_set_current(static_cast<CUcontext>(context));
}

status enter() {
    cuda::driver_api const& cu = cuda::api();
    CUcontext now = nullptr;
    if (CUresult const failed = cu.ctx_get_current(&now))
        return from_driver(failed);
    unsigned const resets = all_resets.load(std::memory_order_relaxed);
    if (now && here.resets == resets)
        return success;
    CUdevice device = -1;
    if (!now || cu.ctx_get_device(&device) != cuda::success)
        return use_device(here.device);
    // The current context may be the primary one that was reset: the next retain revives it.
    CUcontext primary = nullptr;
    CUresult const answer = revive(device, primary);
    if (answer == cuda::success)
        here.resets = resets;
    return from_driver(answer);
}

status end_device() {
    int device = 0;
    if (status const failed = device_of_thread(device))
        return failed;
    cuda::driver_api const& cu = cuda::api();
    CUdevice handle = -1;
    CUresult answer = cu.device_get(&handle, device);
    if (answer != cuda::success)
        return from_driver(answer);
    {
        std::lock_guard const guard(retained().lock);
        if (retained().devices.erase(handle) != 0)
            cu.primary_ctx_release(handle);
        unsigned flags = 0;
        int others_use_it = 1;
        cu.primary_ctx_get_state(handle, &flags, &others_use_it);
        if (others_use_it)
            answer = cu.primary_ctx_reset(handle);
        all_resets.fetch_add(1, std::memory_order_relaxed);
    }
    here.device = device;
    cu.ctx_set_current(nullptr);
    return from_driver(answer);
}

status from_driver(CUresult answer) noexcept {
    // Since CUDA 10.1 the runtime's codes are the driver's, as far as it has them.
    return is_cuda_error(answer) ? answer : unknown;
}

status remember(status answer) noexcept {
    if (answer != success)
        here.last = answer;
    return answer;
}

status last_error() noexcept {
    return here.last;
}

void forget_last_error() noexcept {
    here.last = success;
}

} // namespace barmap::runtime
