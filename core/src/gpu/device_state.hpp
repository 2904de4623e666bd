// SPDX-License-Identifier: MIT
#pragma once

#include "base/checkpoint.hpp"
#include "cuda/context_scope.hpp"
#include "driver/memory_names.hpp"
#include "map/backend_slot.hpp"
#include "map/own_allocations.hpp"
#include "system/process.hpp"
#include "system/seldom.hpp"
#include "transfer/engine/engine_slot.hpp"
#include "transfer/host_reach.hpp"

#include <memory>
#include <mutex>
#include <optional>
#include <string_view>
#include <vector>

namespace barmap {

struct batch_queue_state;

/// The backend that BARMAP_BACKEND names; empty: none. @throws error errc::invalid_argument
[[nodiscard]] std::string_view forced_backend();

/// The value of BARMAP_ENGINE, "none" included; empty: unset. @throws error errc::invalid_argument
[[nodiscard]] std::string_view forced_engine();

/// The state that all handles of one GPU share; for a GPU without CUDA, all opened memory of it.
struct device_state final : checkpoint::survivor {
    explicit device_state(backend::gpu gpu);

    /// Backends that may be used, in order: all of them, or the one that is asked for.
    /// @throws error errc::invalid_argument for an unknown name, errc::backend_absent or
    /// errc::backend_broken if the one asked for is not usable
    [[nodiscard]] std::vector<backend_slot*> candidates(std::string_view wanted);

    /// The backend of this name. @throws error errc::invalid_argument if there is none
    [[nodiscard]] backend_slot& slot(std::string_view name);

    /// All copy engines that may be used, in order; starts them. @throws error errc::backend_absent
    /// or errc::backend_broken if the one asked for is not usable
    [[nodiscard]] std::vector<engine_slot*> usable_engines();

    /// Copy engines to measure: the first that works, since each beats the next at every size, and
    /// no more is started than is needed. @throws error errc::backend_absent or
    /// errc::backend_broken if the one asked for is not usable
    [[nodiscard]] std::vector<engine_slot*> engines_to_measure();

    /// @throws error errc::forked_child in a child of the process that opened the device
    void expect_own_process(std::string_view operation) const;

    /// How often to check whether CUDA was checkpointed and restored unprepared. Each check costs a
    /// call of CUDA; they are closer together than the shortest checkpoint.
    enum class look { always, seldom, never };

    /// Begins every call that needs the GPU. @throws error errc::forked_child, errc::checkpointed
    [[nodiscard]] checkpoint::pass enter(std::string_view operation, look when);

    [[nodiscard]] bool is_overtaken() override;
    void release() override;
    void restore() override;

    backend::gpu const gpu;
    os::process_id const owner = os::this_process();
    cuda::primary_context keep_alive; ///< where the opening thread had no context on the GPU
    std::vector<std::unique_ptr<backend_slot>> slots;
    std::vector<std::unique_ptr<engine_slot>> engines;
    bool const engine_is_forced = !forced_engine().empty();
    host_reach pinned; ///< goes before the engines
    std::mutex batches_lock;
    std::weak_ptr<batch_queue_state> batches; ///< under its lock; while a handle of it lives

    own_allocations allocations;

private:
    [[nodiscard]] std::optional<cuda::memory_names> names_now() const;
    [[nodiscard]] backend_slot const* slot_of_cuda_memory() const;

    os::seldom looks_{checkpoint::shortest};
    std::mutex names_lock_;
    std::optional<cuda::memory_names> names_; ///< of CUDA's memory; under its lock
    checkpoint::membership survives_{*this};
};

} // namespace barmap
