// SPDX-License-Identifier: MIT
#pragma once

#include <barmap/types.hpp>

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

/// @file
/// The content of `barmap info`: the backends, copy engines and copy routines of this build, which
/// of them work here, and why; and what the environment says of it. Thread rule: every function may
/// be called at once.
namespace barmap {
inline namespace BARMAP_INLINE_NAMESPACE {

/// Whether a backend or a copy engine works here.
enum class backend_state {
    usable, ///< its self-test moved a random value both ways
    absent, ///< this machine does not offer it, which is normal
    broken, ///< it is offered, but its start or self-test failed; never used
};

/// Version of a kernel module.
struct module_version {
    int major = 0;
    int minor = 0;
};

/// Properties of a backend that has started.
struct backend_properties {
    /// Version of its kernel module, if it needs one that reports a version.
    std::optional<module_version> module = std::nullopt;
    bool persistent = true;  ///< mappings outlive cudaFree; false: see pin::revoked()
    bool forces_pcie = true; ///< accepts pin_options::force_pcie
    bool events = false;     ///< accepts pin_options::events
    bool allocates = false;  ///< device::allocate may use it, once it is usable
};

/// Whether a backend maps a kind of memory, as its self-test found.
struct memory_kind_report {
    memory_kind kind = memory_kind::unknown;
    bool usable = false; ///< a random value moved both ways
    std::string reason;  ///< why not; or how the backend finds it, if there are several methods
};

/// One line of `barmap info`.
struct backend_report : backend_properties {
    std::string name;
    backend_state state = backend_state::absent;
    std::string reason;  ///< one sentence: why it is in this state
    std::string advice;  ///< what to do to make it usable; empty when it is
    double start_us = 0; ///< time that its start-up and self-test took, microseconds
    std::vector<memory_kind_report> kinds; ///< that it may map; empty unless it is usable
    std::vector<memory_kind> pins; ///< kinds that device::pin() takes, whether or not tested
};

/// One copy engine, which copies between host and GPU memory without the CPU.
struct engine_report {
    std::string name;
    backend_state state = backend_state::absent;
    std::string reason;       ///< one sentence: why it is in this state
    std::string advice;       ///< what to do to make it usable; empty when it is
    double start_us = 0;      ///< time that its start-up and self-test took, microseconds
    std::uint64_t copies = 0; ///< number of copies that it made in this process
    std::uint64_t bytes = 0;  ///< total size of these copies
    unsigned failures = 0;    ///< copies that it did not end in time; after three it stays off
};

/// From which size on mapping::copy_to_gpu() and copy_to_cpu() use a method.
struct copy_crossover {
    copy_direction direction = copy_direction::to_gpu;
    host_memory_kind host = host_memory_kind::pageable;
    std::size_t from_bytes = 0; ///< smallest size; it is used up to from_bytes of the next entry
    std::string method;         ///< "mapping": loads and stores; else the engine's name
    bool of_cuda_malloc = true; ///< false: not for memory of cudaMalloc, which the engine cannot
                                ///< hold while another thread may free it
};

/// Where the structures of a series of NVIDIA's kernel driver are known from.
enum class driver_source {
    unknown,        ///< nowhere: the engine "channel" is off
    other_projects, ///< other projects' tables
    headers         ///< NVIDIA's own headers
};

/// One CPU copy routine that this build has.
struct copy_routine_report {
    std::string name;
    bool supported = false; ///< the CPU and the operating system have what it needs
    std::string needs;      ///< the instruction sets it needs
};

/// A number by which the library chooses who copies, in what order and in which parts.
struct policy_report {
    std::string name;
    std::size_t value = 0;           ///< in force, in `unit`
    std::size_t least = 0, most = 0; ///< what BARMAP_POLICY may give
    std::string unit;
    std::string from; ///< "default", "BARMAP_POLICY" or "fixed": that cannot be overruled
    std::string why;  ///< the measurement that it is from, or what it is for
};

/// One of barmap's environment variables, as this process has read it.
struct setting_report {
    std::string_view name;
    std::string value;        ///< in force; the default's name if that is
    std::string_view from;    ///< "environment", "default", "ignored: privileged process" or
                              ///< "ignored: not allowed"
    std::string_view allowed; ///< which values there are
    std::string_view meaning;
};

/// How much BARMAP_LOG prints: each level also what the one before it prints.
enum class log_level {
    off,
    info, ///< each decision, once
    debug ///< also each pin
};

[[nodiscard]] BARMAP_API std::string_view to_string(backend_state state) noexcept;

/// Names of all backends that this build knows, in the order in which they are tried.
/// These are the values of BARMAP_BACKEND.
[[nodiscard]] BARMAP_API std::vector<std::string> backend_names();

/// Names of all copy engines of this build, in order of preference: the values of BARMAP_ENGINE,
/// beside "auto" and "none".
[[nodiscard]] BARMAP_API std::vector<std::string> engine_names();

/// All copy routines of this build. These are the values of BARMAP_COPY.
[[nodiscard]] BARMAP_API std::vector<copy_routine_report> copy_routines();

/// All numbers by which the library chooses. BARMAP_POLICY may overrule those that are not fixed.
[[nodiscard]] BARMAP_API std::vector<policy_report> policies();
/// The value of one of them, in force. @throws error errc::invalid_argument for an unknown name
[[nodiscard]] BARMAP_API std::size_t policy_value(std::string_view name);

/// Where barmap knows a version of NVIDIA's kernel driver from. Example: "580.159.04"
[[nodiscard]] BARMAP_API driver_source known_from(std::string_view driver_version) noexcept;

/// What the kernel module gdrdrv reports. Makes no call of CUDA, so that children that are forked
/// later may use CUDA. @throws error with errno if there is none, or if this process may not open
/// it; errc::unknown_layout for a version that this library does not know
[[nodiscard]] BARMAP_API backend_properties kernel_module();

/// All environment variables of barmap but those that tests or other libraries read.
[[nodiscard]] BARMAP_API std::vector<setting_report> settings();

/// The value of one of them, valid until the process ends; nothing while its default is in force,
/// and for a name that is none of theirs.
/// Example: setting("BARMAP_SIM") == "1"
[[nodiscard]] BARMAP_API std::optional<std::string_view> setting(std::string_view name);

/// Checks the variables. @throws error errc::invalid_argument for the first one, other than
/// BARMAP_LOG, whose value is not one of the words that are allowed. Each function that opens a GPU
/// checks names of backends and copy routines.
BARMAP_API void expect_settings();

/// What BARMAP_LOG asks for.
[[nodiscard]] BARMAP_API log_level log_threshold() noexcept;

/// Prints a line "barmap info: text" to stderr if BARMAP_LOG asks for its level: for libraries over
/// barmap that decide something.
BARMAP_API void log_line(log_level level, std::string_view text) noexcept;

} // namespace BARMAP_INLINE_NAMESPACE
} // namespace barmap
