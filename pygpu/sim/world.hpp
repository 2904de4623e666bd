// SPDX-License-Identifier: MIT
#pragma once

#include "handle_table.hpp"
#include "pygpu/runtime/hip_api.hpp"
#include "refusal.hpp"
#include "settings.hpp"
#include "work.hpp"

#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <vector>

/// A function of the HIP runtime.
#define BARMAP_SIM_HIP extern "C" __attribute__((visibility("default"))) ::barmap::hip::error

/// A stand-in for AMD's runtime: host memory, streams that work in order, events, errors.
namespace barmap::sim_hip {

using hip::error;
using sim::completion;
using sim::completions;
using sim::invalid_handle;
using sim::invalid_value;
using sim::out;
using sim::out_of_memory;
using sim::require;
using sim::world_lock;
inline constexpr error success = 0;
inline constexpr error not_initialized = 3;
inline constexpr error invalid_copy_direction = 21;
inline constexpr error no_device = 100;
inline constexpr error invalid_device = 101;
inline constexpr error not_ready = 600;
inline constexpr error already_registered = 712;
inline constexpr error not_registered = 713;

struct stream : sim::work_queue {
    int owner = 0; ///< device
};

struct event {
    int device = 0;
    bool timed = true;
    std::shared_ptr<completion> recorded; ///< null before hipEventRecord
};

struct allocation {
    std::uintptr_t base = 0;
    std::size_t size = 0; ///< as asked for
    int device = 0;
    bool on_device = true; ///< false for registered host memory
};

struct device {
    std::size_t memory_size = 0;
    std::size_t memory_used = 0;
    std::shared_ptr<stream> null_stream = std::make_shared<stream>();
    completions departed; ///< last work of destroyed streams
};

/// Everything there is. One per process, never destroyed; guarded by `mutex`.
struct world {
    std::mutex mutex;
    std::condition_variable changed; ///< some work is done
    sim::problem trouble;            ///< what is wrong with the environment: every call fails
    sim::planned_failure failing;    ///< the call that BARMAP_SIM_FAIL names
    std::vector<device> devices;
    std::map<std::uintptr_t, allocation> allocations; ///< by address
    sim::handle_table<hip::stream, stream> streams{0x6a00'0000'0000};
    sim::handle_table<hip::event, event> events{0x6b00'0000'0000};

    world();
    /// Refuses with invalid_device.
    device& get_device(int ordinal);
    /// The allocation that contains the range; null if none contains its start. Refuses with
    /// invalid_value where the range leaves it.
    allocation const* find(void const* address, std::size_t bytes);
};
[[nodiscard]] world& the_world();

/// The calling thread's device.
[[nodiscard]] int& current_device() noexcept;
/// The calling thread's last error.
[[nodiscard]] error& last_error() noexcept;

/// Whether a call of this function may continue: neither in a forked child, nor if BARMAP_SIM_FAIL
/// says that it fails.
[[nodiscard]] error admit(char const* function) noexcept;

/// The C boundary: runs body(lock) as one call of `function`, and remembers its error.
template <class Body>
error call(char const* function, Body&& body) noexcept {
    error answer = admit(function);
    if (answer == success)
        answer = sim::guarded([&] {
            world_lock lock(the_world().mutex);
            body(lock);
        });
    if (answer != success)
        last_error() = answer;
    return answer;
}

/// The stream that a handle means; null is the default stream of the current device. Refuses with
/// invalid_handle.
[[nodiscard]] std::shared_ptr<stream> get_stream(hip::stream handle);

/// Adds work to the end of a stream; the work that `extra` names must also be done before it.
std::shared_ptr<completion> submit(std::shared_ptr<stream> const& to, std::function<void()> run,
                                   std::shared_ptr<completion> extra = nullptr);

/// The completions that work which is submitted now must wait for.
[[nodiscard]] completions predecessors(stream const& of);

void wait_for_work(completions const& what, world_lock& lock);

/// Waits for all work of a device.
void drain(int device, world_lock& lock);

} // namespace barmap::sim_hip
