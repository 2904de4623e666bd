// SPDX-License-Identifier: MIT
#pragma once

#include "backend/backend.hpp"
#include "backend/scratch.hpp"
#include "copy/plan.hpp"
#include "cuda/context_scope.hpp"
#include "cuda/virtual_block.hpp"

#include <barmap/device.hpp>

#include <atomic>
#include <memory>
#include <mutex>
#include <optional>
#include <string_view>
#include <vector>

namespace barmap {

/// What BARMAP_BACKEND asks for; empty: nothing. @throws error errc::invalid_argument
[[nodiscard]] std::string_view forced_backend();

/// One backend on one GPU: started, proved and measured at most once, each when first needed.
/// Thread rule: every member may be called at once.
class backend_slot {
public:
    backend_slot(backend::registration const& entry, backend::gpu const& gpu);

    [[nodiscard]] std::string_view name() const noexcept { return entry_.name; }
    [[nodiscard]] backend::capabilities can() const noexcept { return instance_->can(); }

    /// Starts and proves the backend, the first time. Never throws for what it finds.
    backend_report const& report();
    [[nodiscard]] bool is_started() const noexcept { return is_started_.load(); }
    [[nodiscard]] bool usable() { return report().state == backend_state::usable; }

    /// What the backend says before it is proved: a fresh instance is started, and given up.
    [[nodiscard]] static backend_report probe(backend::registration const& entry,
                                              backend::gpu const& gpu);

    /// @pre usable()
    [[nodiscard]] backend::backend& get() noexcept { return *instance_; }

    /// How to copy through this backend's mappings: measured in the scratch memory the first time.
    [[nodiscard]] copy_plan plan(cache_kind kind);

private:
    backend::registration const& entry_;
    backend::gpu const& gpu_;
    std::unique_ptr<backend::backend> instance_;
    std::once_flag started_;
    std::atomic<bool> is_started_{false}; ///< report_ is complete
    std::mutex measuring_;
    bool measured_ = false; // under measuring_, like plan_
    backend_report report_;
    std::unique_ptr<backend::scratch> scratch_; // destroyed before instance_
    copy_plan plan_{};
};

/// What all handles of one GPU share.
struct device_state {
    explicit device_state(backend::gpu gpu);

    /// Backends that may be used, in order: all of them, or the one that is asked for.
    /// @throws error errc::invalid_argument for an unknown name, errc::backend_absent or
    /// errc::backend_broken if the one asked for is not usable
    [[nodiscard]] std::vector<backend_slot*> candidates(std::string_view wanted);

    /// Makes sure that a backend is usable. @throws error as candidates()
    void require(std::string_view name);

    /// @throws error errc::forked_child in a child of the process that opened the device
    void expect_own_process(std::string_view operation) const;

    backend::gpu const gpu;
    os::process_id const owner = os::this_process();
    cuda::primary_context keep_alive; ///< where the opening thread had no context on the GPU
    std::vector<std::unique_ptr<backend_slot>> slots;

    /// Memory that a backend allocated, so that other backends can adopt it.
    struct allocation {
        CUdeviceptr address;
        std::size_t size;
        unsigned long long id; ///< CUDA's, which tells it from later memory at the same address
        std::weak_ptr<os::fd const> exported;
    };
    std::mutex allocations_lock;
    std::vector<allocation> allocations; ///< under the lock
};

struct pin_state {
    std::shared_ptr<device_state> device;
    backend_slot* slot = nullptr;
    CUdeviceptr address = 0;
    std::size_t size = 0;
    memory_kind memory = memory_kind::unknown;
    std::unique_ptr<cuda::virtual_block> block; ///< what device::allocate made for the backend
    std::unique_ptr<backend::pinned> pinned;    ///< goes before it
};

struct mapping_state {
    std::shared_ptr<pin_state const> pin;
    std::unique_ptr<backend::mapped> mapped;
    copy_plan plan{};
};

} // namespace barmap
