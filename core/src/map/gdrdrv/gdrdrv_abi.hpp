// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <cstdint>
#include <sys/ioctl.h>

/// The ioctl interface of the gdrdrv kernel module, versions 2.0 to 2.6 (gdrdrv.h of gdrcopy), and
/// that of barmap's module from 64 on (gdrcopy/driver/gdrdrv_abi.h). Several commands encode the size of a
/// pointer instead of that of their struct: that is the ABI.
namespace barmap::backend::gdrdrv::abi {

inline constexpr unsigned magic = 0xda;
[[nodiscard]] constexpr std::uint32_t version(std::uint32_t major, std::uint32_t minor) noexcept {
    return major << 16 | minor;
}
inline constexpr std::uint32_t oldest_version = version(2, 0);
inline constexpr std::uint32_t version_with_info_v2 = version(2, 4);
inline constexpr std::uint32_t version_with_pin_v2 = version(2, 5);
inline constexpr std::uint32_t newest_major = 2;

inline constexpr std::uint32_t version_with_attributes = version(2, 5);
inline constexpr std::uint32_t version_with_requests = version(2, 5);
inline constexpr std::uint32_t version_with_events = version(2, 6); ///< in barmap's module

inline constexpr std::uint32_t pin_flag_force_pcie = 1;
inline constexpr std::uint32_t attribute_persistent = 1;
inline constexpr std::uint32_t attribute_force_pcie = 2;

enum class mapping_type : std::uint32_t { none = 0, write_combining = 1, caching = 2, device = 3 };

struct pin_parameters {
    std::uint64_t address;
    std::uint64_t size;
    std::uint64_t p2p_token;
    std::uint32_t va_space;
    std::uint64_t handle; ///< out
};

struct pin_v2_parameters {
    std::uint64_t address;
    std::uint64_t size;
    std::uint32_t flags;
    std::uint32_t pad;
    std::uint64_t handle; ///< out
};

struct unpin_parameters {
    std::uint64_t handle;
};

struct info_parameters {
    std::uint64_t handle;
    std::uint64_t va; ///< out, and all below
    std::uint64_t mapped_size;
    std::uint32_t page_size;
    std::uint32_t tsc_khz;
    std::uint64_t tm_cycles;
    std::uint32_t mapped;
    std::uint32_t write_combining;
};

struct info_v2_parameters {
    std::uint64_t handle;
    std::uint64_t va; ///< out, and all below
    std::uint64_t mapped_size;
    std::uint32_t page_size;
    std::uint32_t tsc_khz;
    std::uint64_t tm_cycles;
    std::uint32_t mapping;
};

struct callback_flag_parameters {
    std::uint64_t handle;
    std::uint32_t flag; ///< out
};

struct attribute_parameters {
    std::uint32_t attribute;
    std::uint32_t value; ///< out
};

struct mapping_type_parameters {
    std::uint64_t handle;
    std::uint32_t mapping;
};

struct driver_version_parameters {
    std::uint32_t driver;      ///< out
    std::uint32_t minimum_api; ///< out
};

inline constexpr std::uint64_t feature_events = 1;

struct features_parameters {
    std::uint64_t reserved;
    std::uint64_t features; ///< out, and all below
    std::uint32_t event_size;
    std::uint32_t event_capacity;
};

/// The pins that this process holds through the descriptor, and its user through all descriptors.
struct usage_parameters {
    std::uint64_t reserved;
    std::uint64_t pins; ///< out, and all below
    std::uint64_t bytes;
    std::uint64_t user_pins;
    std::uint64_t user_bytes;
    std::uint64_t max_user_pins; ///< 0: no limit
    std::uint64_t max_user_bytes;
};

enum class event_reason : std::uint32_t { revoked = 1, overflow = 2 };

/// A record that read() delivers. After an overflow, size is the number of lost events.
struct event {
    std::uint64_t handle;
    std::uint32_t reason;
    std::uint32_t reserved;
    std::uint64_t va;
    std::uint64_t size;
    std::uint64_t sequence;
};

static_assert(sizeof(features_parameters) == 24 && sizeof(usage_parameters) == 56);
static_assert(sizeof(event) == 40);
static_assert(sizeof(pin_parameters) == 40 && sizeof(pin_v2_parameters) == 32);
static_assert(sizeof(info_parameters) == 48 && sizeof(info_v2_parameters) == 48);

inline constexpr unsigned long pin = _IOWR(magic, 1, pin_parameters);
inline constexpr unsigned long unpin = _IOWR(magic, 2, void*);
inline constexpr unsigned long get_callback_flag = _IOWR(magic, 3, void*);
inline constexpr unsigned long get_info = _IOWR(magic, 4, void*);
inline constexpr unsigned long get_info_v2 = _IOWR(magic, 5, void*);
inline constexpr unsigned long get_attribute = _IOWR(magic, 6, void*);
inline constexpr unsigned long pin_v2 = _IOWR(magic, 7, pin_v2_parameters);
inline constexpr unsigned long request_mapping_type = _IOWR(magic, 8, void*);
inline constexpr unsigned long get_features = _IOWR(magic, 64, features_parameters);
inline constexpr unsigned long get_usage = _IOWR(magic, 65, usage_parameters);
inline constexpr unsigned long get_version = _IOWR(magic, 255, void*);

} // namespace barmap::backend::gdrdrv::abi
