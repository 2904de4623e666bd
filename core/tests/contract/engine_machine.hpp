// SPDX-License-Identifier: MIT
#pragma once

#include "contract/machine.hpp"
#include "fake/rm_driver.hpp"
#include "gpu/gpu_identity.hpp"
#include "transfer/engine/engine.hpp"

#include <memory>
#include <optional>
#include <ostream>
#include <vector>

namespace barmap::contract {

/// A machine on which copies take this engine, unless it is null, for all but small ones.
class engine_machine {
public:
    explicit engine_machine(char const* engine, fake::rm_driver::behaviour how = {}) {
        set_environment("BARMAP_BACKEND", "rm");
        // Before Hopper a channel's words lie below 2^40, where so much fits even under ASan.
        if (auto const chip = how.chip;
            chip.starts_with("TU") || chip.starts_with("GA") || chip.starts_with("AD"))
            set_environment("BARMAP_SIM_MEMORY", "128M");
        if (engine)
            set_environment("BARMAP_ENGINE", engine);
        machine_.emplace("580");
        driver_ = machine_->add<fake::rm_driver>(how);
        machine_->use();
    }
    ~engine_machine() {
        machine_.reset();
        clear_environment("BARMAP_ENGINE");
    }
    [[nodiscard]] machine* operator->() { return &*machine_; }
    [[nodiscard]] fake::rm_driver& driver() { return *driver_; }
    [[nodiscard]] fake::gpu::copy_engine& gpu() { return driver_->copy_engine(); }

private:
    std::shared_ptr<fake::rm_driver> driver_;
    std::optional<machine> machine_;
};

/// An engine, and the machine that a suite runs it on.
struct engine_way {
    char const* name;
    char const* engine;
    fake::rm_driver::behaviour how;
    engine::lane lane = engine::lane::held;
};

inline void PrintTo(engine_way const& which, std::ostream* out) {
    *out << which.name;
}

inline constexpr auto name_of_way = [](auto const& info) { return std::string(info.param.name); };

/// For suites that no generation changes: those that choose between engines and loads and stores.
inline std::vector<engine_way> newest_held_ways() {
    return {{"driver", "driver", {}},
            {"channel_hopper_580", "channel", {.series = 580, .chip = "GH100"}}};
}

// Every generation, and every structure that differs between series of the driver.
inline std::vector<engine_way> held_ways() {
    return {{"driver", "driver", {}},
            {"channel_hopper_580", "channel", {.series = 580, .chip = "GH100"}},
            {"channel_turing_550", "channel", {.series = 550, .chip = "TU102"}},
            {"channel_ampere_570", "channel", {.series = 570, .chip = "GA100"}},
            {"channel_ada_535", "channel", {.series = 535, .chip = "AD102"}},
            {"channel_blackwell_610", "channel", {.series = 610, .chip = "GB100"}}};
}

} // namespace barmap::contract
