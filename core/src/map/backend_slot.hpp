// SPDX-License-Identifier: MIT
#pragma once

#include "map/backend.hpp"
#include "map/scratch.hpp"
#include "transfer/copy_methods.hpp"
#include "transfer/cpu/plan.hpp"

#include <atomic>
#include <memory>
#include <mutex>
#include <string_view>
#include <utility>

namespace barmap {

/// One backend on one GPU: started, self-tested and measured at most once, each when first needed.
/// Thread rule: every member may be called at once.
class backend_slot {
public:
    backend_slot(backend::registration const& entry, backend::gpu const& gpu);

    [[nodiscard]] std::string_view name() const noexcept { return entry_.name; }
    [[nodiscard]] backend::capability_set capabilities() const noexcept {
        return instance_->capabilities();
    }

    /// Starts and self-tests the backend, the first time. Reports every failure in the result,
    /// except std::bad_alloc, after which the next call starts it.
    backend_report const& report();
    [[nodiscard]] bool is_started() const noexcept { return is_started_.load(); }
    [[nodiscard]] bool usable() { return report().state == backend_state::usable; }

    /// The backend's report before its self-test: starts a new instance, and destroys it.
    [[nodiscard]] static backend_report probe(backend::registration const& entry,
                                              backend::gpu const& gpu);

    /// Checks that it is usable. @throws error errc::backend_absent or errc::backend_broken
    void require();

    /// Checks that the self-test has not found memory of this kind out of reach.
    /// @throws error errc::unsupported_memory
    void expect_usable(memory_kind kind);

    /// Ends the backend, and keeps its report and measurements. @pre it has no pins
    void release();
    /// Starts and tests it again, if it was usable. @throws error
    void restore();

    /// @pre usable()
    [[nodiscard]] backend::backend& get() noexcept { return *instance_; }

    /// Whether the scratch memory's mapping still reaches it, by the self-test; also where that
    /// cannot be told. @pre usable()
    [[nodiscard]] bool still_reaches_memory() const;

    /// CUDA memory that lives as long as the backend is started, or 0.
    [[nodiscard]] CUdeviceptr cuda_memory() const noexcept {
        return is_started() && scratch_ && scratch_->is_of_cuda() ? scratch_->address() : 0;
    }

    /// Does something with the backend, whose errors then name it.
    template <class Action>
    decltype(auto) named(Action&& action) const {
        return backend::named(name(), std::forward<Action>(action));
    }

    /// How to copy through this backend's mappings: measured in the scratch memory the first time.
    [[nodiscard]] copy_plan plan(cache_kind kind);

    /// The methods for copies to and from this backend's mappings: measured the first time, in 30
    /// ms. Only threads that ask for the same wait.
    /// @param engines that are usable
    [[nodiscard]] copy_methods const& methods(std::span<engine_slot* const> engines);
    /// The same, or null if it has not been measured. Thread rule: free.
    [[nodiscard]] copy_methods const* known_methods() const noexcept {
        return methods_.load(std::memory_order_acquire);
    }

private:
    void start();
    void measure();

    backend::registration const& entry_;
    backend::gpu const& gpu_;
    std::unique_ptr<backend::backend> instance_;
    std::mutex starting_;
    std::atomic<bool> is_started_{false}; ///< report_ is complete
    std::mutex choosing_;                 ///< before measuring_
    std::mutex measuring_;
    bool measured_ = false; // under measuring_, like plan_
    backend_report report_;
    std::unique_ptr<backend::scratch> scratch_; // destroyed before instance_
    copy_plan plan_{};
    std::unique_ptr<copy_methods const> measured_methods_; // under choosing_
    std::atomic<copy_methods const*> methods_{nullptr};
};

} // namespace barmap
