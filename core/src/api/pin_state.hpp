// SPDX-License-Identifier: MIT
#pragma once

#include "base/checkpoint.hpp"
#include "cuda/virtual_block.hpp"
#include "gpu/device_state.hpp"
#include "transfer/engine/engine_reach.hpp"
#include "transfer/measured_plan.hpp"

#include <memory>

namespace barmap {

struct pin_state final : checkpoint::survivor {
    std::shared_ptr<device_state> device;
    backend_slot* slot = nullptr;
    CUdeviceptr address = 0;
    std::size_t size = 0;
    memory_kind memory = memory_kind::unknown;
    pin_options how;                            ///< it was pinned
    std::unique_ptr<cuda::virtual_block> block; ///< what device::allocate made for the backend
    std::unique_ptr<backend::pinned> pinned;    ///< goes before it
    engine_reach engines;                       ///< the copy engines that reach the memory

    void expect_restorable(bool is_overtaken) const override;
    void release() override;
    void restore() override;

    /// How to copy through mappings with this kind of caching. @throws error
    [[nodiscard]] copy_plan plan(cache_kind kind) const;

    checkpoint::membership survives{*this};

private:
    friend struct mapping_state;
    struct obstacle {
        char const* what; ///< null: there is none
        char const* advice;
    };
    /// Why a restore could not bring it back. Such a pin is not released for a checkpoint.
    [[nodiscard]] obstacle obstacle_to_return() const;
};

struct mapping_state final : checkpoint::survivor {
    void expect_restorable(bool is_overtaken) const override;
    void release() override;
    void restore() override;

    std::shared_ptr<pin_state const> pin;
    std::unique_ptr<backend::mapped> mapped;
    std::byte* data = nullptr;
    cache_kind kind = cache_kind::write_combining;
    copy_plan plan{};
    engine_slot* by_engine = nullptr; ///< the only one that copies, if one was chosen
    bool by_mapping = false;          ///< only loads and stores copy
    std::shared_ptr<os::region> addresses; ///< while the mapping is not complete
    checkpoint::membership survives{*this};

private:
    void expect_addresses() const;
};

} // namespace barmap
