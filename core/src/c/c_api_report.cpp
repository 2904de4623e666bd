// SPDX-License-Identifier: MIT
#include <barmap/host_buffer.hpp>
#include <barmap/report.h>
#include <barmap/report.hpp>

#include "c/c_boundary.hpp"

#include <span>
#include <string_view>

using barmap::errc;
using barmap::error;
using barmap::c::attempt;
using barmap::c::expect;
using barmap::c::make;

static_assert(BARMAP_LOG_OFF == static_cast<int>(barmap::log_level::off) &&
              BARMAP_LOG_INFO == static_cast<int>(barmap::log_level::info) &&
              BARMAP_LOG_DEBUG == static_cast<int>(barmap::log_level::debug));

int barmap_device_create_current(barmap_device** out) {
    return make(out, "open a GPU", [] { return barmap_device{barmap::device::open()}; });
}

int barmap_device_ordinal(barmap_device const* device) {
    return device->device.ordinal();
}

char const* barmap_device_pci_address(barmap_device const* device) {
    return device->device.pci_address().c_str();
}

int barmap_device_driver_version(barmap_device const* device) {
    return device->device.driver_version();
}

int barmap_device_simulated(barmap_device const* device) {
    return device->device.simulated() ? 1 : 0;
}

int barmap_device_bar1(barmap_device const* device, std::uint64_t* total,
                       std::uint64_t* available) {
    static constexpr char operation[] = "read the size of BAR1";
    return attempt([&] {
        for (std::uint64_t* const each : {total, available})
            if (each)
                *each = 0;
        (void)expect(total, operation, "pass pointers for both sizes, not NULL");
        (void)expect(available, operation, "pass pointers for both sizes, not NULL");
        barmap::bar1_info const found =
            expect(device, operation, "create a device first").device.bar1();
        *total = found.total;
        *available = found.available;
    });
}

int barmap_is_pinned(void const* data, std::size_t bytes) {
    barmap::os::no_cancellation const uncancelled;
    return barmap::is_pinned({static_cast<std::byte const*>(data), bytes}) ? 1 : 0;
}

char const* barmap_setting(char const* name) {
    char const* found = nullptr;
    (void)attempt([&] {
        if (name)
            if (auto const value = barmap::setting(name))
                found = value->data(); // of a string that is kept
    });
    return found;
}

int barmap_settings_check(void) {
    return attempt([] { barmap::expect_settings(); });
}

int barmap_policy_value(char const* name, std::size_t* value) {
    static constexpr char operation[] = "read a policy";
    return attempt([&] {
        expect(value, operation, "pass a pointer for the value, not NULL") = 0;
        *value = barmap::policy_value(&expect(name, operation, "pass a name, not NULL"));
    });
}

int barmap_log_threshold(void) {
    barmap::os::no_cancellation const uncancelled;
    return static_cast<int>(barmap::log_threshold());
}

void barmap_log_line(int level, char const* text) {
    barmap::os::no_cancellation const uncancelled;
    if (text && (level == BARMAP_LOG_INFO || level == BARMAP_LOG_DEBUG))
        barmap::log_line(static_cast<barmap::log_level>(level), text);
}
