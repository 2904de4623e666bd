// SPDX-License-Identifier: MIT
#pragma once

#include "command/options.hpp"
#include "kernels/ring_kernels.cuh"
#include "measure/gpu_kernels.hpp"
#include "measure/link_load.hpp"
#include "measure/opened_gpu.hpp"
#include "output/results.hpp"
#include "output/timing.hpp"

#include <barmap/arena.hpp>

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

/// barmap ring: rings between the CPU and kernels that run (docs/rings.md).
namespace barmap::tool {

struct ring_options : options {
    std::vector<std::string> only{"rates", "trip", "fifo", "calls", "steps", "soak"};
    std::size_t slots = 4096;
    std::uint64_t messages = 0; ///< 0: each measurement's own number
    std::size_t slices = 50;
    bool load = false;
};

/// The common objects of every part of the subcommand. The GPU's context is current.
struct ring_bench {
    report& out;
    opened_gpu const& gpu;
    gpu_kernels const& kernels; ///< of ring_kernels.ptx
    arena const& memory;        ///< has room for the rings of a run
    ring_options const& values;

    [[nodiscard]] bool simulated() const { return gpu.device().simulated(); }
    /// Without load, and under --load with it too.
    [[nodiscard]] std::vector<bool> loads() const;
    /// Measures each of the cases with each of the loads: work(results&, bool under_load, the parts
    /// of a case...). @return whether every result is right
    template <class Cases, class Work>
    [[nodiscard]] bool measure(measurement const& what, Cases const& cases,
                               Work const& work) const {
        progress bar(cases.size() * loads().size());
        results found(out, what, &bar);
        for (bool const under_load : loads()) {
            auto const load = load_if(under_load, gpu);
            found.each(cases, [&](results& into, auto const&... parts) {
                work(into, under_load, parts...);
            });
        }
        return found.tell();
    }
    /// --messages, or else one of these.
    [[nodiscard]] std::uint64_t messages(std::uint64_t usual, std::uint64_t if_simulated) const;
    /// --iterations, or else one of these.
    [[nodiscard]] std::size_t iterations(std::size_t usual, std::size_t if_simulated) const;
};

/// "idle" or "loaded", of the member "load".
[[nodiscard]] column link_column();

/// The threads that read or write on the GPU.
enum class ring_threads { one, warp, many };
[[nodiscard]] std::string_view name_of(ring_threads who); ///< as in the names of kernels

/// Messages in one direction.
struct ring_run {
    copy_direction way;
    unsigned message; ///< bytes, one of those below
    ring_threads who = ring_threads::one;
    std::size_t slots = 1;
    std::uint64_t first = 0, messages = 0;
    unsigned batch = 1; ///< of push_many, up to 16
};

/// Bytes of messages that fill a slot of 64, 64, 128 and 256 bytes to the GPU, and of 16, 64 and
/// 128 bytes to the CPU.
inline constexpr unsigned messages_to_gpu[] = {32, 56, 112, 224}, messages_to_cpu[] = {8, 56, 120};
[[nodiscard]] std::size_t slot_bytes(copy_direction way, unsigned message);

[[nodiscard]] ring_findings sum_of(std::vector<ring_findings> const& all);
/// Messages that were not as they must be.
[[nodiscard]] inline std::uint64_t faults_of(ring_findings const& found) {
    return found.torn + found.doubled + found.out_of_order;
}

struct ring_result {
    std::uint64_t pushed = 0;
    ring_findings read{};
    bool checksum = false; ///< whether all words that were read add up to those that were pushed
    std::uint64_t timed_messages = 0;
    double seconds = 0;  ///< for the timed ones
    std::string problem; ///< how the kernel ended, if not as it should

    [[nodiscard]] std::uint64_t lost() const {
        return pushed > read.count ? pushed - read.count : 0;
    }
    [[nodiscard]] bool good() const;
    [[nodiscard]] double per_second() const {
        return seconds > 0 ? static_cast<double>(timed_messages) / seconds : 0;
    }
};
/// Adds the counts of what was wrong, and "passed".
void put(json& row, ring_result const& found);
/// "passed", or what was wrong.
[[nodiscard]] std::string verdict(ring_result const& found);

/// Makes a kernel read or write that many messages, each of which is verified on the other side.
/// @param tell called now and then with what is done, where time does not matter; may be empty
/// @throws error, gpu_timeout
[[nodiscard]] ring_result run_ring(ring_bench const& bench, ring_run const& what,
                                   std::function<void(std::uint64_t)> const& tell = {});

/// A kernel of ring_kernels.cu while it runs, and what it finds.
class ring_kernel {
public:
    /// How long GPU code waits for a message before it gives up.
    static constexpr std::uint64_t nanoseconds = 20'000'000'000;
    static constexpr unsigned lanes = 32;

    /// Makes what launch() needs, so that nothing has to be loaded while a kernel runs.
    ring_kernel(ring_bench const& bench, std::string const& name, unsigned blocks = 1,
                unsigned threads = 1);
    /// @param close   ends the kernel early, by closing the ring
    /// @param handles the ring's, or two
    /// @param more    an address, the last parameter
    void launch(ring_task task, std::function<void()> const& close, kernel_parameters handles,
                CUdeviceptr more = 0);
    /// Its findings, when it has ended. @throws gpu_timeout
    [[nodiscard]] std::vector<ring_findings> wait() const;

private:
    unsigned blocks_, threads_;
    CUfunction function_;
    pinned_host findings_;
    std::optional<running_kernel> running_;
};

/// @throws gpu_timeout
[[noreturn]] void say_that_ring_is_late(char const* what);

/// Polls until the condition holds. Yields to other threads if that takes longer than messages do.
/// @throws gpu_timeout
template <class Condition>
void wait_until(Condition const& is_so, char const* what) {
    constexpr unsigned looks_until_yield = 16384;
    constexpr double limit_s = 20;
    if (is_so())
        return;
    clock::time_point const begin = clock::now();
    for (unsigned looks = 1; !is_so(); ++looks) {
        if (looks % looks_until_yield != 0)
            continue;
        if (seconds_since(begin) > limit_s)
            say_that_ring_is_late(what);
        std::this_thread::yield();
    }
}

/// The next message, unless the kernel has ended before it.
/// @throws gpu_timeout
template <class Ring>
[[nodiscard]] auto wait_and_pop(Ring& ring, char const* what) {
    if (auto message = ring.try_pop())
        return message;
    decltype(ring.try_pop()) late;
    wait_until([&] { return (late = ring.try_pop()) || ring.closed(); }, what);
    return late ? late : ring.try_pop(); // it may have come just before the end
}

// Each measures, reports, and returns whether every message was right. @throws error, gpu_timeout

[[nodiscard]] bool measure_ring_rates(ring_bench const& bench);
/// The CPU's cost of a push.
[[nodiscard]] bool measure_ring_pushes(ring_bench const& bench);
[[nodiscard]] bool measure_ring_trips(ring_bench const& bench);
[[nodiscard]] bool measure_ring_fifo(ring_bench const& bench);
/// Calls of GPU threads, which the CPU serves.
[[nodiscard]] bool measure_ring_calls(ring_bench const& bench);
/// Inputs and results of steps (step_inputs, step_outputs).
[[nodiscard]] bool measure_ring_steps(ring_bench const& bench);
[[nodiscard]] bool soak_rings(ring_bench const& bench);

} // namespace barmap::tool
