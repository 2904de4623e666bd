// SPDX-License-Identifier: MIT
#pragma once

#include <barmap/error.hpp>
#include <barmap/handle.hpp>
#include <barmap/list.h>
#include <barmap/report.h>
#include <barmap/types.hpp>

#include <cstddef>
#include <cstdint>
#include <new>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

/// @file
/// The content of `barmap info`: the backends, copy engines and copy routines of this build, which
/// of them work here, and why; and barmap's environment variables. Thread rule: every function may
/// be called at once.
namespace barmap {
inline namespace BARMAP_INLINE_NAMESPACE {

/// Whether a backend or a copy engine works here.
enum class backend_state {
    usable = BARMAP_USABLE, ///< its self-test moved a random value both ways
    absent = BARMAP_ABSENT, ///< this machine does not offer it, which is normal
    broken = BARMAP_BROKEN, ///< present, but its start or self-test failed; never used
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
    unknown = BARMAP_DRIVER_UNKNOWN, ///< nowhere: the engine "channel" is off
    other_projects = BARMAP_DRIVER_OTHER_PROJECTS, ///< other projects' tables
    headers = BARMAP_DRIVER_HEADERS ///< NVIDIA's own headers
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
    off = BARMAP_LOG_OFF,
    info = BARMAP_LOG_INFO,  ///< each decision, once
    debug = BARMAP_LOG_DEBUG ///< also each pin
};

[[nodiscard]] constexpr std::string_view to_string(backend_state state) noexcept {
    switch (state) {
    case backend_state::usable:
        return "usable";
    case backend_state::absent:
        return "absent";
    case backend_state::broken:
        return "broken";
    }
    return "unknown";
}

namespace detail {

inline backend_report report_of(barmap_backend_row const& row) {
    backend_report result;
    if (row.flags & BARMAP_BACKEND_HAS_MODULE)
        result.module = module_version{row.module_major, row.module_minor};
    result.persistent = row.flags & BARMAP_BACKEND_PERSISTENT;
    result.forces_pcie = row.flags & BARMAP_BACKEND_FORCES_PCIE;
    result.events = row.flags & BARMAP_BACKEND_EVENTS;
    result.allocates = row.flags & BARMAP_BACKEND_ALLOCATES;
    result.name = row.name;
    result.state = static_cast<backend_state>(row.state);
    result.reason = row.reason;
    result.advice = row.advice;
    result.start_us = row.start_us;
    for (std::size_t i = 0; i < row.kind_count; ++i)
        result.kinds.push_back({static_cast<memory_kind>(row.kinds[i].kind),
                                row.kinds[i].usable != 0, row.kinds[i].reason});
    for (std::size_t i = 0; i < row.pin_count; ++i)
        result.pins.push_back(static_cast<memory_kind>(row.pins[i]));
    return result;
}

inline engine_report report_of(barmap_engine_row const& row) {
    return {row.name,     static_cast<backend_state>(row.state),
            row.reason,   row.advice,
            row.start_us, row.copies,
            row.bytes,    row.failures};
}

inline copy_crossover report_of(barmap_crossover_row const& row) {
    return {static_cast<copy_direction>(row.direction),
            row.pinned ? host_memory_kind::pinned : host_memory_kind::pageable, row.from_bytes,
            row.method, row.of_cuda_malloc != 0};
}

inline copy_routine_report report_of(barmap_copy_routine_row const& row) {
    return {row.name, row.supported != 0, row.needs};
}

inline policy_report report_of(barmap_policy_row const& row) {
    return {row.name, row.value, row.least, row.most, row.unit, row.from, row.why};
}

inline setting_report report_of(barmap_setting_row const& row) {
    return {row.name, row.value, row.from, row.allowed, row.meaning};
}

/// The rows of a list. @param make is called with where to put the list
template <class Row, class Make>
auto reports(Make make) {
    owned<barmap_list, barmap_list_destroy> const list(made<barmap_list>(make));
    std::vector<decltype(report_of(std::declval<Row const&>()))> result;
    std::size_t const count = barmap_list_count(list.get());
    result.reserve(count);
    for (std::size_t i = 0; i < count; ++i)
        result.push_back(report_of(*static_cast<Row const*>(barmap_list_row(list.get(), i))));
    return result;
}

inline std::vector<std::string> names(char const* (*name)(std::size_t)) {
    std::vector<std::string> result;
    for (std::size_t i = 0; char const* const each = name(i); ++i)
        result.emplace_back(each);
    return result;
}

} // namespace detail

/// Names of all backends that this build knows, in the order in which they are tried.
/// Contract and errors: barmap_backend_name().
[[nodiscard]] inline std::vector<std::string> backend_names() {
    return detail::names(barmap_backend_name);
}

/// Names of all copy engines of this build, in order of preference.
/// Contract and errors: barmap_engine_name().
[[nodiscard]] inline std::vector<std::string> engine_names() {
    return detail::names(barmap_engine_name);
}

/// All copy routines of this build. Contract and errors: barmap_list_copy_routines().
[[nodiscard]] inline std::vector<copy_routine_report> copy_routines() {
    return detail::reports<barmap_copy_routine_row>(barmap_list_copy_routines);
}

/// All numbers by which the library chooses. Contract and errors: barmap_list_policies().
[[nodiscard]] inline std::vector<policy_report> policies() {
    return detail::reports<barmap_policy_row>(barmap_list_policies);
}
/// The value of one of them, in force. Contract and errors: barmap_policy_value().
[[nodiscard]] inline std::size_t policy_value(std::string_view name) {
    std::size_t value = 0;
    detail::check(barmap_policy_value(std::string(name).c_str(), &value));
    return value;
}

/// Where barmap knows a version of NVIDIA's kernel driver from. Example: "580.159.04".
/// Contract and errors: barmap_driver_known_from().
[[nodiscard]] inline driver_source known_from(std::string_view driver_version) {
    return static_cast<driver_source>(barmap_driver_known_from(std::string(driver_version).c_str()));
}

/// The report of the kernel module gdrdrv. Makes no call of CUDA.
/// Contract and errors: barmap_list_kernel_module().
[[nodiscard]] inline backend_properties kernel_module() {
    return detail::reports<barmap_backend_row>(barmap_list_kernel_module).front();
}

/// All environment variables of barmap but those that tests or other libraries read.
/// Contract and errors: barmap_list_settings().
[[nodiscard]] inline std::vector<setting_report> settings() {
    return detail::reports<barmap_setting_row>(barmap_list_settings);
}

/// The value of one of them; nothing while its default is in force.
/// Example: setting("BARMAP_SIM") == "1". Contract and errors: barmap_setting().
[[nodiscard]] inline std::optional<std::string_view> setting(std::string_view name) {
    char const* const value = barmap_setting(std::string(name).c_str());
    return value ? std::optional<std::string_view>(value) : std::nullopt;
}

/// Checks the variables. Contract and errors: barmap_settings_check().
inline void expect_settings() {
    detail::check(barmap_settings_check());
}

/// The level that BARMAP_LOG sets. Contract and errors: barmap_log_threshold().
[[nodiscard]] inline log_level log_threshold() noexcept {
    return static_cast<log_level>(barmap_log_threshold());
}

/// Prints a line to stderr if BARMAP_LOG asks for its level; nothing if memory is short.
/// Contract and errors: barmap_log_line().
inline void log_line(log_level level, std::string_view text) noexcept try {
    barmap_log_line(static_cast<int>(level), std::string(text).c_str());
} catch (std::bad_alloc const&) {
    // Nothing depends on it.
}

} // namespace BARMAP_INLINE_NAMESPACE
} // namespace barmap
