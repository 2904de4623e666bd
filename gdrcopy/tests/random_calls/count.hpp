// SPDX-License-Identifier: MIT
#pragma once

#include <array>
#include <atomic>
#include <cstdint>

namespace barmap::dropin {

/// The functions of the library, as counted.
enum class call : unsigned {
    open,
    close,
    pin,
    pin_v2,
    unpin,
    callback_flag,
    info_v1,
    info_v2,
    map,
    map_v2,
    unmap,
    copy_to,
    copy_from,
    runtime_version,
    driver_version,
    attribute,
    type_string,
};
inline constexpr std::array call_names{
    "gdr_open",
    "gdr_close",
    "gdr_pin_buffer",
    "gdr_pin_buffer_v2",
    "gdr_unpin_buffer",
    "gdr_get_callback_flag",
    "gdr_get_info",
    "gdr_get_info_v2",
    "gdr_map",
    "gdr_map_v2",
    "gdr_unmap",
    "gdr_copy_to_mapping",
    "gdr_copy_from_mapping",
    "gdr_runtime_get_version",
    "gdr_driver_get_version",
    "gdr_get_attribute",
    "gdr_get_mapping_type_string",
};

/// How often each was called, and how it ended.
class counts {
public:
    void add(call which, bool succeeded) {
        auto& row = rows_[static_cast<unsigned>(which)];
        (succeeded ? row.succeeded : row.refused).fetch_add(1, std::memory_order_relaxed);
        all_.fetch_add(1, std::memory_order_relaxed);
    }

    [[nodiscard]] std::uint64_t all() const { return all_.load(std::memory_order_relaxed); }

    /// Prints a line for each function.
    /// @return how many never succeeded, or were never refused though there is a wrong way to call
    /// them
    [[nodiscard]] unsigned report() const;

private:
    struct row {
        std::atomic<std::uint64_t> succeeded{0}, refused{0};
    };
    std::array<row, call_names.size()> rows_;
    std::atomic<std::uint64_t> all_{0};
};

} // namespace barmap::dropin
