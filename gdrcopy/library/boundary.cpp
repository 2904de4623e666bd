// SPDX-License-Identifier: MIT
#include "boundary.hpp"

#include "nvidia/cuda.hpp"
#include "system/environment.hpp"

#include <cstdio>
#include <cstdlib>
#include <string>

namespace barmap::gdrapi {
namespace {

int threshold() noexcept {
    static int const value = [] {
        constexpr int nothing = 100;
        if (!os::environment("GDRCOPY_ENABLE_LOGGING"))
            return nothing;
        char const* const level = os::environment("GDRCOPY_LOG_LEVEL");
        return level ? std::atoi(level) : static_cast<int>(severity::failure);
    }();
    return value;
}

int errno_of_cuda(int result) noexcept {
    switch (result) {
    case cuda::error_invalid_value:
        return EINVAL;
    case cuda::error_out_of_memory:
        return ENOMEM;
    case cuda::error_no_device:
        return ENODEV;
    case cuda::error_not_supported:
        return ENOTSUP;
    default:
        return EIO;
    }
}

/// Vulkan and NVIDIA's resource manager: room in BAR1 or memory, or something else.
int errno_of_driver(std::error_code const& code) noexcept {
    constexpr int no_room[] = {-1, -2, -5,  // VK_ERROR_OUT_OF_..., VK_ERROR_MEMORY_MAP_FAILED
                               0x1a, 0x51}; // NV_ERR_INSUFFICIENT_RESOURCES, NV_ERR_NO_MEMORY
    for (int const value : no_room)
        if (code.value() == value)
            return ENOMEM;
    return EIO;
}

} // namespace

bool logs(severity how) noexcept {
    return static_cast<int>(how) >= threshold();
}

void log(severity how, std::string_view text) noexcept {
    if (how == severity::failure && failure_listener)
        failure_listener(text);
    if (!logs(how))
        return;
    static constexpr char const* names[] = {"", "DBG", "INFO", "WARN", "ERR"};
    try {
        // In one piece, so that lines of several threads do not mix.
        std::string const line = std::string("gdrapi: ") + names[static_cast<int>(how)] + ": " +
                                 std::string(text) + "\n";
        std::fputs(line.c_str(), stderr);
    } catch (std::bad_alloc const&) {
        // Then without this line.
    }
}

int errno_of(std::error_code const& code) noexcept {
    if (code.category() == std::system_category() || code.category() == std::generic_category()) {
        constexpr int kernel_enotsupp = 524; // of drivers that answer with a number for the kernel
        return code.value() == kernel_enotsupp ? ENOTSUP : code.value() ? code.value() : EIO;
    }
    if (code.category() == cuda_category())
        return errno_of_cuda(code.value());
    if (code.category() == vulkan_category() || code.category() == rm_category())
        return errno_of_driver(code);
    if (code.category() != category())
        return EIO;
    switch (static_cast<errc>(code.value())) {
    case errc::invalid_argument:
    case errc::out_of_range:
    case errc::wrong_device:
        return EINVAL;
    case errc::unsupported_memory:
    case errc::unknown_layout:
        return ENOTSUP;
    case errc::unsupported_operation: // a flag that cannot be met, in gdrcopy's words
        return EINVAL;
    case errc::no_device:
    case errc::backend_absent:
        return ENODEV;
    case errc::bar1_exhausted:
        return ENOMEM;
    case errc::forked_child:
        return EACCES;
    case errc::backend_broken:
    case errc::copy_unfinished:
    case errc::checkpointed:
        break;
    }
    return EIO;
}

} // namespace barmap::gdrapi
