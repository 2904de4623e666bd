// SPDX-License-Identifier: MIT
#include "world.hpp"

#include <iterator>

namespace barmap::sim_hip {
namespace {

struct known_error {
    hip::error code;
    char const* name;
    char const* text;
};

// The codes that the simulated runtime answers, and some that tests ask for.
constexpr known_error known_errors[] = {
    {0, "hipSuccess", "no error"},
    {1, "hipErrorInvalidValue", "invalid argument"},
    {2, "hipErrorOutOfMemory", "out of memory"},
    {3, "hipErrorNotInitialized", "initialization error"},
    {17, "hipErrorInvalidDevicePointer", "invalid device pointer"},
    {21, "hipErrorInvalidMemcpyDirection", "invalid copy direction for memcpy"},
    {35, "hipErrorInsufficientDriver", "driver version is insufficient for runtime version"},
    {100, "hipErrorNoDevice", "no ROCm-capable device is detected"},
    {101, "hipErrorInvalidDevice", "invalid device ordinal"},
    {400, "hipErrorInvalidHandle", "invalid resource handle"},
    {600, "hipErrorNotReady", "device not ready"},
    {709, "hipErrorContextIsDestroyed", "context is destroyed"},
    {712, "hipErrorHostMemoryAlreadyRegistered", "part or all of the memory is already registered"},
    {713, "hipErrorHostMemoryNotRegistered", "pointer does not correspond to a registered region"},
    {801, "hipErrorNotSupported", "operation not supported"},
    {999, "hipErrorUnknown", "unknown error"},
};

known_error const& find(hip::error code) {
    for (known_error const& each : known_errors)
        if (each.code == code)
            return each;
    return known_errors[std::size(known_errors) - 1];
}

} // namespace

extern "C" __attribute__((visibility("default"))) char const* hipGetErrorName(hip::error code) {
    return find(code).name;
}

extern "C" __attribute__((visibility("default"))) char const* hipGetErrorString(hip::error code) {
    return find(code).text;
}

} // namespace barmap::sim_hip
