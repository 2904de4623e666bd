// SPDX-License-Identifier: MIT
#include "gpu/open_devices.hpp"

#include "base/process.hpp"
#include "gpu/gpu_identity.hpp"

#include <atomic>
#include <map>
#include <mutex>
#include <string>

namespace barmap {
namespace {

/// Live devices by ordinal. Never destroyed: at process exit a device may outlive any order of
/// static destruction.
struct open_devices {
    struct entry {
        std::mutex lock; ///< held while the GPU is opened
        std::weak_ptr<device_state> state;
    };
    std::mutex lock; ///< for the map only
    std::map<int, entry> by_ordinal;
    /// The process that first tried to open a GPU. It has used CUDA, so that its forked children
    /// cannot.
    std::atomic<os::process_id> owner{};
};

open_devices& registry() {
    static auto* const instance = new open_devices;
    return *instance;
}

} // namespace

std::shared_ptr<device_state> open_device(int ordinal) {
    open_devices& open = registry();
    // Set and asked before any lock, which another thread may hold when the process forks.
    os::process_id owner{};
    if (!open.owner.compare_exchange_strong(owner, os::this_process()) &&
        !os::is_this_process(owner))
        throw error(errc::forked_child, "open GPU " + std::to_string(ordinal), "",
                    "use barmap in the process that opened a device first; a forked child may only "
                    "destroy its objects, or exec");
    open_devices::entry& entry = [&]() -> open_devices::entry& {
        std::lock_guard const guard(open.lock);
        return open.by_ordinal[ordinal];
    }();
    std::lock_guard const guard(entry.lock);
    if (std::shared_ptr<device_state> state = entry.state.lock())
        return state;
    auto state = std::make_shared<device_state>(identify(ordinal));
    entry.state = state;
    return state;
}

} // namespace barmap
