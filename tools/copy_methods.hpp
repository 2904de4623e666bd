// SPDX-License-Identifier: MIT
#pragma once

#include "gpu_kernels.hpp"
#include "opened_gpu.hpp"
#include "options.hpp"
#include "reached_memory.hpp"
#include "timing.hpp"

#include "copy/plan.hpp"

#include <barmap/copy.hpp>

#include <cstddef>
#include <deque>
#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace barmap::tool {

enum class direction { to_gpu, from_gpu };
[[nodiscard]] std::string_view name_of(direction way); ///< "h2d", "d2h"
inline constexpr direction both_directions[] = {direction::to_gpu, direction::from_gpu};

/// One method of copying between ordinary host memory and GPU memory.
struct copy_method {
    std::string name;   ///< "auto", a copy routine's, "cuMemcpy pageable" or "cuMemcpy pinned"
    bool mapped = true; ///< through the mapping, not by the driver
    /// Copies that many bytes that many times, at the same place.
    std::function<void(direction, std::size_t, unsigned)> repeat;
    /// The copy routine that it uses; empty for the driver.
    std::function<std::string(direction, std::size_t)> routine;
};

struct measured_method {
    std::string name;
    std::string routine;
    bool mapped = true;
    summary times;
};

/// Mapped GPU memory, host memory that has been touched, and the methods of copying between them.
/// Needs the GPU's context for as long as it lives. Thread rule: one thread.
class copy_methods {
public:
    /// @throws error
    copy_methods(opened_gpu const& gpu, options const& values, std::size_t max);

    [[nodiscard]] copy_method chosen();                     ///< what a user of barmap gets
    [[nodiscard]] std::vector<copy_method> every_routine(); ///< each that this CPU supports
    [[nodiscard]] std::vector<copy_method> driver();        ///< cuMemcpy, pageable and pinned

    [[nodiscard]] barmap::mapping const& mapping() const { return target_.mapping; }
    [[nodiscard]] CUdeviceptr address() const { return target_.memory.address(); }
    [[nodiscard]] std::span<std::byte> host() { return host_; }

private:
    options const& values_;
    reached_memory target_;
    std::vector<std::byte> host_;
    pinned_host pinned_;
    std::deque<copy_plan> plans_; ///< of the routines; windows point at them
};

/// Measures all methods at once, one sample of each in turn, so that drift of the machine hits all
/// alike. Stops after that many seconds (but not before 5 samples of each), or after `iterations`
/// samples of each, if that is not 0. A method 8 times slower than the best one that would take
/// long gets one sample only.
[[nodiscard]] std::vector<measured_method> measure_in_turn(std::span<copy_method const> methods,
                                                           direction way, std::size_t bytes,
                                                           double budget_s, std::size_t iterations);

/// One JSON row of a measured method.
[[nodiscard]] json row_of(measured_method const& found, direction way, std::size_t bytes);

} // namespace barmap::tool
