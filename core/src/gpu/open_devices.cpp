// SPDX-License-Identifier: MIT
#include "gpu/open_devices.hpp"

#include "base/forked_child.hpp"
#include "gpu/gpu_identity.hpp"
#include "system/process.hpp"

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

void expect_first_process(std::string operation) {
    // Set and asked before any lock, which another thread may hold when the process forks.
    os::process_id owner{};
    if (!registry().owner.compare_exchange_strong(owner, os::this_process()) &&
        !os::is_this_process(owner))
        throw error(errc::forked_child, std::move(operation), "",
                    std::string("use barmap in the process that opened a device first; ") +
                        left_to_forked_children);
}

std::shared_ptr<device_state> open_device(int ordinal) {
    open_devices& open = registry();
    expect_first_process("open GPU " + std::to_string(ordinal));
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

namespace {

/// Those without CUDA, by their place on the PCI bus. Never destroyed, as above.
struct shared_gpus {
    os::process_id const owner = os::this_process();
    std::mutex lock;
    std::map<std::string, std::weak_ptr<device_state>> by_place;
};

shared_gpus& gpus_of_this_process() {
    static std::atomic<shared_gpus*> current{nullptr};
    shared_gpus* known = current.load();
    while (!known || !os::is_this_process(known->owner)) { // a parent's lock may be held forever
        auto made = std::make_unique<shared_gpus>();
        if (current.compare_exchange_strong(known, made.get()))
            known = made.release();
    }
    return *known;
}

} // namespace

std::shared_ptr<device_state> open_without_cuda(backend::gpu const& which) {
    shared_gpus& gpus = gpus_of_this_process();
    std::lock_guard const guard(gpus.lock);
    std::weak_ptr<device_state>& entry =
        gpus.by_place[which.pci_address + (which.simulated ? " simulated" : "")];
    if (std::shared_ptr<device_state> state = entry.lock())
        return state;
    auto state = std::make_shared<device_state>(which);
    entry = state;
    return state;
}

} // namespace barmap
