// SPDX-License-Identifier: MIT
#include <barmap/report.h>

#include <array>
#include <cstddef>
#include <cstdio>
#include <system_error>

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

/// Nothing for a status whose cause has a code.
constexpr char const* text_of(int status) noexcept {
    switch (status) {
    case BARMAP_ERROR_INVALID_ARGUMENT:
        return "invalid argument";
    case BARMAP_ERROR_OUT_OF_RANGE:
        return "out of range";
    case BARMAP_ERROR_UNSUPPORTED_MEMORY:
        return "this kind of memory cannot be mapped";
    case BARMAP_ERROR_UNSUPPORTED_OPERATION:
        return "not supported";
    case BARMAP_ERROR_NO_DEVICE:
        return "no usable GPU";
    case BARMAP_ERROR_BACKEND_ABSENT:
        return "not available on this machine";
    case BARMAP_ERROR_BACKEND_BROKEN:
        return "present, but does not work";
    case BARMAP_ERROR_WRONG_DEVICE:
        return "the memory belongs to another GPU";
    case BARMAP_ERROR_UNKNOWN_LAYOUT:
        return "the driver's data has an unknown layout";
    case BARMAP_ERROR_BAR1_EXHAUSTED:
        return "too little BAR1 aperture is free";
    case BARMAP_ERROR_FORKED_CHILD:
        return "the object belongs to the parent process";
    case BARMAP_ERROR_COPY_UNFINISHED:
        return "the copy did not end in time";
    case BARMAP_ERROR_CHECKPOINTED:
        return "a checkpoint has cut off this process from the GPU";
    case BARMAP_ERROR_NO_MEMORY:
        return "out of memory";
    case BARMAP_ERROR_UNEXPECTED:
        return "a fault in barmap";
    case BARMAP_ERROR_NOT_STARTED:
        return "no copy engine is at work";
    default:
        return nullptr;
    }
}

} // namespace

void barmap_cause_text(int status, int cause, char* text, std::size_t bytes) {
    char const* known = text_of(status);
    char const* unknown = "unknown barmap error %d";
    int number = status;
    if (status == BARMAP_ERROR_SYSTEM) {
        std::snprintf(text, bytes, "%s", std::system_category().message(cause).c_str());
        return;
    } else if (status == BARMAP_ERROR_CUDA) {
        known = find(cuda_names, cause);
        unknown = "CUresult %d";
        number = cause;
    } else if (status == BARMAP_ERROR_VULKAN) {
        known = find(vulkan_names, cause);
        unknown = "VkResult %d";
        number = cause;
    } else if (status == BARMAP_ERROR_RM) {
        known = find(rm_names, cause);
        unknown = "NV_STATUS 0x%x";
        number = cause;
    }
    if (known)
        std::snprintf(text, bytes, "%s", known);
    else
        std::snprintf(text, bytes, unknown, number);
}
