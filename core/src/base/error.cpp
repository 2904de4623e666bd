// SPDX-License-Identifier: MIT
#include <barmap/error.hpp>

#include <array>
#include <charconv>
#include <memory>
#include <utility>

namespace barmap {
inline namespace BARMAP_INLINE_NAMESPACE {
namespace {

struct named_code {
    int code;
    char const* text;
};

template <std::size_t Count>
char const* find(std::array<named_code, Count> const& names, int code) {
    for (named_code const& entry : names)
        if (entry.code == code)
            return entry.text;
    return nullptr;
}

// Source of the values: CUDA Driver API reference, CUresult. Not asked of the driver: naming an
// error is no reason to load one.
constexpr std::array<named_code, 35> cuda_names{{
    {1, "CUDA_ERROR_INVALID_VALUE"},
    {2, "CUDA_ERROR_OUT_OF_MEMORY"},
    {3, "CUDA_ERROR_NOT_INITIALIZED"},
    {4, "CUDA_ERROR_DEINITIALIZED"},
    {34, "CUDA_ERROR_STUB_LIBRARY"},
    {46, "CUDA_ERROR_DEVICE_UNAVAILABLE"},
    {100, "CUDA_ERROR_NO_DEVICE"},
    {101, "CUDA_ERROR_INVALID_DEVICE"},
    {200, "CUDA_ERROR_INVALID_IMAGE"},
    {201, "CUDA_ERROR_INVALID_CONTEXT"},
    {205, "CUDA_ERROR_MAP_FAILED"},
    {206, "CUDA_ERROR_UNMAP_FAILED"},
    {209, "CUDA_ERROR_NO_BINARY_FOR_GPU"},
    {214, "CUDA_ERROR_ECC_UNCORRECTABLE"},
    {217, "CUDA_ERROR_PEER_ACCESS_UNSUPPORTED"},
    {218, "CUDA_ERROR_INVALID_PTX"},
    {222, "CUDA_ERROR_UNSUPPORTED_PTX_VERSION"},
    {300, "CUDA_ERROR_INVALID_SOURCE"},
    {304, "CUDA_ERROR_OPERATING_SYSTEM"},
    {400, "CUDA_ERROR_INVALID_HANDLE"},
    {401, "CUDA_ERROR_ILLEGAL_STATE"},
    {500, "CUDA_ERROR_NOT_FOUND"},
    {600, "CUDA_ERROR_NOT_READY"},
    {700, "CUDA_ERROR_ILLEGAL_ADDRESS"},
    {701, "CUDA_ERROR_LAUNCH_OUT_OF_RESOURCES"},
    {702, "CUDA_ERROR_LAUNCH_TIMEOUT"},
    {708, "CUDA_ERROR_PRIMARY_CONTEXT_ACTIVE"},
    {709, "CUDA_ERROR_CONTEXT_IS_DESTROYED"},
    {719, "CUDA_ERROR_LAUNCH_FAILED"},
    {800, "CUDA_ERROR_NOT_PERMITTED"},
    {801, "CUDA_ERROR_NOT_SUPPORTED"},
    {802, "CUDA_ERROR_SYSTEM_NOT_READY"},
    {803, "CUDA_ERROR_SYSTEM_DRIVER_MISMATCH"},
    {804, "CUDA_ERROR_COMPAT_NOT_SUPPORTED_ON_DEVICE"},
    {999, "CUDA_ERROR_UNKNOWN"},
}};

// Source of the values: vulkan_core.h, VkResult.
constexpr std::array<named_code, 12> vulkan_names{{
    {-1, "VK_ERROR_OUT_OF_HOST_MEMORY"},
    {-2, "VK_ERROR_OUT_OF_DEVICE_MEMORY"},
    {-3, "VK_ERROR_INITIALIZATION_FAILED"},
    {-4, "VK_ERROR_DEVICE_LOST"},
    {-5, "VK_ERROR_MEMORY_MAP_FAILED"},
    {-7, "VK_ERROR_EXTENSION_NOT_PRESENT"},
    {-8, "VK_ERROR_FEATURE_NOT_PRESENT"},
    {-9, "VK_ERROR_INCOMPATIBLE_DRIVER"},
    {-10, "VK_ERROR_TOO_MANY_OBJECTS"},
    {-13, "VK_ERROR_UNKNOWN"},
    {-1000072003, "VK_ERROR_INVALID_EXTERNAL_HANDLE"},
    {-1000069000, "VK_ERROR_OUT_OF_POOL_MEMORY"},
}};

// Source of the values: nvstatuscodes.h of NVIDIA's open GPU kernel modules.
constexpr std::array<named_code, 16> rm_names{{
    {0x1a, "NV_ERR_INSUFFICIENT_RESOURCES"},
    {0x1b, "NV_ERR_INSUFFICIENT_PERMISSIONS"},
    {0x1f, "NV_ERR_INVALID_ARGUMENT"},
    {0x22, "NV_ERR_INVALID_CLASS"},
    {0x23, "NV_ERR_INVALID_CLIENT"},
    {0x24, "NV_ERR_INVALID_COMMAND"},
    {0x26, "NV_ERR_INVALID_DEVICE"},
    {0x2e, "NV_ERR_INVALID_LIMIT"},
    {0x33, "NV_ERR_INVALID_OBJECT_HANDLE"},
    {0x36, "NV_ERR_INVALID_OBJECT_PARENT"},
    {0x3a, "NV_ERR_INVALID_PARAM_STRUCT"},
    {0x3b, "NV_ERR_INVALID_PARAMETER"},
    {0x51, "NV_ERR_NO_MEMORY"},
    {0x56, "NV_ERR_NOT_SUPPORTED"},
    {0x57, "NV_ERR_OBJECT_NOT_FOUND"},
    {0x59, "NV_ERR_OPERATING_SYSTEM"},
}};

std::string hexadecimal(int value) {
    std::array<char, 8> digits{};
    auto const end = std::to_chars(digits.data(), digits.data() + digits.size(),
                                   static_cast<unsigned>(value), 16);
    return "0x" + std::string(digits.data(), end.ptr);
}

class barmap_category final : public std::error_category {
    char const* name() const noexcept override { return "barmap"; }
    std::string message(int code) const override {
        switch (static_cast<errc>(code)) {
        case errc::invalid_argument:
            return "invalid argument";
        case errc::out_of_range:
            return "out of range";
        case errc::unsupported_memory:
            return "this kind of memory cannot be mapped";
        case errc::unsupported_operation:
            return "not supported";
        case errc::no_device:
            return "no usable GPU";
        case errc::backend_absent:
            return "not available on this machine";
        case errc::backend_broken:
            return "it is offered, but does not work";
        case errc::wrong_device:
            return "the memory belongs to another GPU";
        case errc::unknown_layout:
            return "the driver's data has an unknown layout";
        case errc::bar1_exhausted:
            return "too little BAR1 aperture is free";
        case errc::forked_child:
            return "the object belongs to the parent process";
        case errc::copy_unfinished:
            return "the copy did not end in time";
        case errc::checkpointed:
            return "a checkpoint has cut off this process from the GPU";
        }
        return "unknown barmap error " + std::to_string(code);
    }
    std::error_condition default_error_condition(int code) const noexcept override {
        switch (static_cast<errc>(code)) {
        case errc::invalid_argument:
            return std::errc::invalid_argument;
        case errc::out_of_range:
            return std::errc::result_out_of_range;
        case errc::unsupported_operation:
            return std::errc::operation_not_supported;
        case errc::no_device:
            return std::errc::no_such_device;
        default:
            return {code, *this};
        }
    }
};

class cuda_error_category final : public std::error_category {
    char const* name() const noexcept override { return "cuda"; }
    std::string message(int code) const override {
        char const* text = find(cuda_names, code);
        return text ? text : "CUresult " + std::to_string(code);
    }
};

class vulkan_error_category final : public std::error_category {
    char const* name() const noexcept override { return "vulkan"; }
    std::string message(int code) const override {
        char const* text = find(vulkan_names, code);
        return text ? text : "VkResult " + std::to_string(code);
    }
};

class rm_error_category final : public std::error_category {
    char const* name() const noexcept override { return "rm"; }
    std::string message(int code) const override {
        char const* text = find(rm_names, code);
        return text ? text : "NV_STATUS " + hexadecimal(code);
    }
};

/// An object that is there before any code runs and is never destroyed: errors are thrown,
/// compared and printed while memory is exhausted, and while the process exits.
template <class Object>
union immortal {
    constexpr immortal() noexcept : object() {}
    ~immortal() {} // not the object's
    Object object;
};

constinit immortal<barmap_category> const barmap_codes;
constinit immortal<cuda_error_category> const cuda_codes;
constinit immortal<vulkan_error_category> const vulkan_codes;
constinit immortal<rm_error_category> const rm_codes;

} // namespace

std::error_category const& category() noexcept {
    return barmap_codes.object;
}

std::error_category const& cuda_category() noexcept {
    return cuda_codes.object;
}

std::error_category const& vulkan_category() noexcept {
    return vulkan_codes.object;
}

std::error_category const& rm_category() noexcept {
    return rm_codes.object;
}

std::error_code make_error_code(errc code) noexcept {
    return {static_cast<int>(code), category()};
}

struct error::parts {
    std::string operation, backend, advice, text;
    std::optional<std::size_t> piece;
};

error::error(std::error_code code, std::string operation, std::string backend, std::string advice,
             std::optional<std::size_t> piece)
    : std::system_error(code) {
    std::string text = "cannot " + operation;
    if (!backend.empty() && !operation.ends_with(' ' + backend))
        text += " (backend " + backend + ")";
    text += ": " + code.message();
    if (!advice.empty())
        text += "; " + advice;
    parts_ = std::make_shared<parts const>(parts{std::move(operation), std::move(backend),
                                                 std::move(advice), std::move(text), piece});
}

error::error(error const&) noexcept = default;
error& error::operator=(error const&) noexcept = default;
error::~error() = default;

std::string const& error::operation() const noexcept {
    return parts_->operation;
}

std::string const& error::backend() const noexcept {
    return parts_->backend;
}

std::string const& error::advice() const noexcept {
    return parts_->advice;
}

std::optional<std::size_t> error::piece() const noexcept {
    return parts_->piece;
}

char const* error::what() const noexcept {
    return parts_->text.c_str();
}

} // namespace BARMAP_INLINE_NAMESPACE
} // namespace barmap
