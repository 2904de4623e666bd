// SPDX-License-Identifier: MIT
#pragma once

#include "command/options.hpp"
#include "measure/gpu_kernels.hpp"
#include "measure/opened_gpu.hpp"
#include "measure/reached_memory.hpp"
#include "measure/usable_engines.hpp"
#include "output/results.hpp"

#include <barmap/copy.hpp>

#include <cstddef>
#include <deque>
#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace barmap::tool {

/// The part that moves the bytes.
enum class mover {
    chosen,   ///< stores and loads through the mapping, by the routine that was chosen
    routine,  ///< by one routine
    adaptive, ///< mapping::copy_to_gpu() and copy_to_cpu()
    engine,   ///< one copy engine
    driver    ///< cuMemcpy
};

/// One method of copying between host memory and GPU memory.
struct copy_method {
    std::string name; ///< "auto", a copy routine's, "adaptive pinned", "cuMemcpy pageable", ...
    mover by = mover::chosen;
    host_memory_kind host = host_memory_kind::pageable;
    std::size_t most_read = SIZE_MAX; ///< larger copies from the GPU are not measured
    /// Copies that many bytes that many times, at the same place.
    std::function<void(copy_direction, std::size_t, unsigned)> repeat{};
    /// The copy routine that it uses; empty where it is none's.
    std::function<std::string(copy_direction, std::size_t)> routine =
        [](copy_direction, std::size_t) { return std::string(); };
};

struct measured_method {
    std::string name;
    std::string routine;
    mover by = mover::chosen;
    host_memory_kind host = host_memory_kind::pageable;
    summary times;
};

/// Mapped GPU memory, and the methods of copying to and from it. Each has host memory of its own:
/// what one copies would else lie in the caches for the next.
/// Needs the GPU's context for as long as it lives. Thread rule: one thread.
class compared_copies {
public:
    /// @throws error
    compared_copies(opened_gpu const& gpu, options const& values, std::size_t max);

    /// The method of write() and read().
    [[nodiscard]] copy_method chosen(host_memory_kind host = host_memory_kind::pageable);
    [[nodiscard]] std::vector<copy_method> every_routine(); ///< each that this CPU supports
    [[nodiscard]] copy_method adaptive(host_memory_kind host);
    /// Each engine that is usable, with memory that it can hold.
    [[nodiscard]] std::vector<copy_method> engines(host_memory_kind host);
    /// cuMemcpy, pageable and pinned.
    /// @param to_the_end wait for copies that cuMemcpy may leave in flight: copies of pageable
    ///                   memory to the GPU
    [[nodiscard]] std::vector<copy_method> driver(bool to_the_end = false);

    [[nodiscard]] barmap::mapping const& mapping() const { return target_.mapping; }
    [[nodiscard]] CUdeviceptr address() const { return target_.memory.address(); }

private:
    std::span<std::byte> new_host(host_memory_kind kind) {
        return host_.emplace_back(kind, max_).bytes();
    }
    /// @param whole the mapped memory
    copy_method through(std::string name, mover by, window whole, host_memory_kind host);

    struct engine_memory {
        std::string engine;
        reached_memory reached;
        unsigned late = 0; ///< copies
    };

    opened_gpu const& gpu_;
    options const& values_;
    std::size_t max_;
    reached_memory target_;
    std::deque<engine_memory> of_engines_;
    std::deque<touched_host> host_; ///< one for each method
};

/// Measures all methods at once, one sample of each in turn, so that drift of the machine hits all
/// alike, for as long as the options say. A method 8 times slower than the best one that would take
/// long gets one sample only.
[[nodiscard]] std::vector<measured_method> measure_in_turn(std::span<copy_method const> methods,
                                                           copy_direction way, std::size_t bytes,
                                                           options const& values);

/// A measured method, of a measurement "copy".
[[nodiscard]] result_row result_of(measured_method const& found, copy_direction way,
                                   std::size_t bytes);

} // namespace barmap::tool
