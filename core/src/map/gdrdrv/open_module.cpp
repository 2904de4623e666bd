// SPDX-License-Identifier: MIT
#include "map/gdrdrv/open_module.hpp"

#include "base/lists.hpp"
#include "map/gdrdrv/gdrdrv_abi.hpp"
#include "system/calls.hpp"
#include "system/region.hpp"

#include <cerrno>
#include <fcntl.h>
#include <utility>
#include <vector>

namespace barmap::backend::gdrdrv {
namespace {

constexpr char path[] = "/dev/gdrdrv";
constexpr char see_log[] = "see the kernel log (dmesg)";

} // namespace

// Not blocking, for next_event; to ioctl and mmap it is all the same.
open_module::open_module()
    : fd_(os::open_file(path, O_RDWR | O_NONBLOCK)), owner_(os::this_process()) {
    abi::driver_version_parameters version{};
    call(abi::get_version, version, "read the module's version",
         "reload the module: this /dev/gdrdrv does not know its ioctls");
    version_ = version.driver;
    if (version_ < abi::oldest_version || version_ >> 16 > abi::newest_major)
        throw error(errc::unknown_layout,
                    "use gdrdrv " + std::to_string(version_ >> 16) + "." +
                        std::to_string(version_ & 0xffff),
                    "", "this barmap knows versions 2.0 to 2.6");
}

template <class Parameters>
bool open_module::succeeds(unsigned long request, Parameters& parameters) const noexcept {
    return os::current().ioctl(fd_.get(), request, &parameters) == 0;
}

template <class Parameters>
void open_module::call(unsigned long request, Parameters& parameters, char const* what,
                       std::string const& advice) const {
    if (!succeeds(request, parameters)) {
        int const code = errno;
        throw error({code, std::system_category()}, what, "", advice);
    }
}

std::uint64_t open_module::pin(CUdeviceptr address, std::size_t bytes,
                               pin_options const& asked) const {
    if (version_ >= abi::version_with_pin_v2) {
        std::uint32_t const flags = asked.force_pcie ? abi::pin_flag_force_pcie : 0;
        abi::pin_v2_parameters request{address, bytes, flags, 0, 0};
        return pin_as(abi::pin_v2, request);
    }
    abi::pin_parameters request{address, bytes, asked.p2p_token, asked.va_space, 0};
    return pin_as(abi::pin, request);
}

template <class Parameters>
std::uint64_t open_module::pin_as(unsigned long request, Parameters& parameters) const {
    if (!succeeds(request, parameters)) {
        int const code = errno;
        throw error({code, std::system_category()}, "pin GPU memory", "",
                    code == EDQUOT
                        ? "unpin other memory, or ask the administrator to raise the limits" +
                              limits()
                        : "the kernel log (dmesg) has gdrdrv's reason; the memory must be "
                          "capable of GPUDirect RDMA and fit into BAR1");
    }
    return parameters.handle;
}

/// The user's pins and limits.
std::string open_module::limits() const {
    auto const of = [](std::uint64_t held, std::uint64_t most) {
        return std::to_string(held) + (most ? " of " + std::to_string(most) : "");
    };
    abi::usage_parameters usage{};
    if (!succeeds(abi::get_usage, usage))
        return "";
    return " (parameters max_user_pins, max_user_bytes of gdrdrv): this user holds " +
           of(usage.user_pins, usage.max_user_pins) + " pins and " +
           of(usage.user_bytes, usage.max_user_bytes) + " bytes";
}

void open_module::unpin(std::uint64_t handle) const noexcept {
    abi::unpin_parameters request{handle};
    if (os::is_this_process(owner_))
        (void)succeeds(abi::unpin, request);
}

backend_properties open_module::properties() const {
    module_version const version{static_cast<int>(version_ >> 16),
                                 static_cast<int>(version_ & 0xffff)};
    return {version, attribute(abi::attribute_persistent), attribute(abi::attribute_force_pcie),
            has_events()};
}

/// An attribute that the module does not know is 0.
bool open_module::attribute(std::uint32_t which) const {
    abi::attribute_parameters request{which, 0};
    return version_ >= abi::version_with_attributes && succeeds(abi::get_attribute, request) &&
           request.value != 0;
}

/// gdrcopy's own module would log a complaint about the ioctl. It is recognised by read(), which it
/// does not implement (EINVAL), and which finds no event yet in barmap's (EAGAIN).
bool open_module::has_events() const {
    if (version_ < abi::version_with_events || attribute(abi::attribute_persistent))
        return false;
    abi::event none{};
    if (os::current().read(fd_.get(), &none, sizeof(none)) >= 0 || errno != EAGAIN)
        return false;
    abi::features_parameters request{};
    return succeeds(abi::get_features, request) && (request.features & abi::feature_events) &&
           request.event_size == sizeof(abi::event);
}

bool open_module::callback_flag(std::uint64_t handle) const {
    abi::callback_flag_parameters request{handle, 0};
    call(abi::get_callback_flag, request, "ask whether memory was revoked", see_log);
    return request.flag != 0;
}

std::optional<pin_event> open_module::next_event() const {
    abi::event event{};
    ssize_t const done = os::current().read(fd_.get(), &event, sizeof(event));
    int const code = done < 0 ? errno : EIO;
    if (done < 0 && code == EAGAIN)
        return std::nullopt;
    if (done != sizeof(event))
        throw error({code, std::system_category()}, "read an event", "", see_log);
    switch (static_cast<abi::event_reason>(event.reason)) {
    case abi::event_reason::overflow:
        return pin_event{0, 0, event.sequence, event.size};
    case abi::event_reason::revoked:
        return pin_event{event.va, event.size, event.sequence, 0};
    }
    throw error(errc::unknown_layout, "read an event of kind " + std::to_string(event.reason), "",
                "this barmap knows the events of gdrdrv 2.6");
}

void open_module::request(std::uint64_t handle, std::optional<cache_kind> wanted) const {
    if (version_ < abi::version_with_requests)
        return; // one way only; the core compares it with what was wanted
    abi::mapping_type const type = !wanted                         ? abi::mapping_type::none
                                   : *wanted == cache_kind::cached ? abi::mapping_type::caching
                                   : *wanted == cache_kind::uncached
                                       ? abi::mapping_type::device
                                       : abi::mapping_type::write_combining;
    abi::mapping_type_parameters request{handle, static_cast<std::uint32_t>(type)};
    call(abi::request_mapping_type, request, "choose how a mapping is cached",
         "the module does not map this memory with that kind of caching: let it choose");
}

cache_kind open_module::kind(std::uint64_t handle) const {
    constexpr char what[] = "ask how a mapping is cached";
    if (version_ >= abi::version_with_info_v2) {
        abi::info_v2_parameters info{};
        info.handle = handle;
        call(abi::get_info_v2, info, what, see_log);
        switch (static_cast<abi::mapping_type>(info.mapping)) {
        case abi::mapping_type::caching:
            return cache_kind::cached;
        case abi::mapping_type::device:
            return cache_kind::uncached;
        default:
            return cache_kind::write_combining;
        }
    }
    abi::info_parameters info{};
    info.handle = handle;
    call(abi::get_info, info, what, see_log);
    return info.write_combining ? cache_kind::write_combining : cache_kind::cached;
}

} // namespace barmap::backend::gdrdrv

int barmap_list_kernel_module(barmap_list** out) {
    return barmap::c::make_list(out, "ask for the kernel module gdrdrv", [] {
        barmap::backend_report report;
        static_cast<barmap::backend_properties&>(report) =
            barmap::backend::gdrdrv::open_module().properties();
        return std::vector<barmap::backend_report>{std::move(report)};
    });
}
