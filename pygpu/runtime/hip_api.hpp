// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>

/// The part of the HIP runtime's ABI that is used here: documented functions, values and one
/// struct, the same in HIP 5 and 6, declared here so that building needs no ROCm. Compared with
/// Debian's headers by pygpu/tests/hip_headers.cpp. hipDeviceProp_t is not used: HIP 6 changed
/// its layout.
namespace barmap::hip {

using error = int;        ///< hipError_t
using stream = void*;     ///< hipStream_t
using event = void*;      ///< hipEvent_t
using address = void*;    ///< hipDeviceptr_t
using copy_kind = int;    ///< hipMemcpyKind
using attribute_id = int; ///< hipDeviceAttribute_t

struct uuid {
    char bytes[16];
};

// X(member, exported symbol, parameters). All answer a hipError_t.
// clang-format off
#define BARMAP_HIP_FUNCTIONS(X)                                                                    \
    X(get_device_count, hipGetDeviceCount, (int*))                                                 \
    X(set_device, hipSetDevice, (int))                                                             \
    X(get_device, hipGetDevice, (int*))                                                            \
    X(device_synchronize, hipDeviceSynchronize, ())                                                \
    X(device_reset, hipDeviceReset, ())                                                            \
    X(device_get_name, hipDeviceGetName, (char*, int, int))                                        \
    X(device_get_uuid, hipDeviceGetUuid, (uuid*, int))                                             \
    X(device_total_mem, hipDeviceTotalMem, (std::size_t*, int))                                    \
    X(device_get_attribute, hipDeviceGetAttribute, (int*, attribute_id, int))                      \
    X(mem_get_info, hipMemGetInfo, (std::size_t*, std::size_t*))                                   \
    X(get_last_error, hipGetLastError, ())                                                         \
    X(peek_at_last_error, hipPeekAtLastError, ())                                                  \
    X(malloc, hipMalloc, (void**, std::size_t))                                                    \
    X(free, hipFree, (void*))                                                                      \
    X(host_register, hipHostRegister, (void*, std::size_t, unsigned))                              \
    X(host_unregister, hipHostUnregister, (void*))                                                 \
    X(mem_get_address_range, hipMemGetAddressRange, (address*, std::size_t*, address))             \
    X(memcpy, hipMemcpy, (void*, void const*, std::size_t, copy_kind))                             \
    X(memcpy_2d, hipMemcpy2D,                                                                      \
      (void*, std::size_t, void const*, std::size_t, std::size_t, std::size_t, copy_kind))         \
    X(stream_create_with_priority, hipStreamCreateWithPriority, (stream*, unsigned, int))          \
    X(stream_destroy, hipStreamDestroy, (stream))                                                  \
    X(stream_synchronize, hipStreamSynchronize, (stream))                                          \
    X(stream_query, hipStreamQuery, (stream))                                                      \
    X(stream_wait_event, hipStreamWaitEvent, (stream, event, unsigned))                            \
    X(event_create_with_flags, hipEventCreateWithFlags, (event*, unsigned))                        \
    X(event_destroy, hipEventDestroy, (event))                                                     \
    X(event_record, hipEventRecord, (event, stream))                                               \
    X(event_synchronize, hipEventSynchronize, (event))                                             \
    X(event_query, hipEventQuery, (event))                                                         \
    X(event_elapsed_time, hipEventElapsedTime, (float*, event, event))
// clang-format on

struct api {
#define BARMAP_HIP_MEMBER(member, symbol, parameters) error(*member) parameters = nullptr;
    BARMAP_HIP_FUNCTIONS(BARMAP_HIP_MEMBER)
#undef BARMAP_HIP_MEMBER
    // These two give text.
    char const* (*get_error_name)(error) = nullptr;   ///< hipGetErrorName
    char const* (*get_error_string)(error) = nullptr; ///< hipGetErrorString
};

// hipDeviceAttribute_t
inline constexpr attribute_id attribute_integrated = 16;
inline constexpr attribute_id attribute_compute_capability_major = 23;
inline constexpr attribute_id attribute_max_threads_per_block = 56;
inline constexpr attribute_id attribute_compute_capability_minor = 61;
inline constexpr attribute_id attribute_multiprocessor_count = 63;
inline constexpr attribute_id attribute_pci_bus_id = 67;
inline constexpr attribute_id attribute_pci_device_id = 68;
inline constexpr attribute_id attribute_pci_domain_id = 69;
inline constexpr attribute_id attribute_warp_size = 87;

// hipMemcpyKind
inline constexpr copy_kind host_to_host = 0;
inline constexpr copy_kind host_to_device = 1;
inline constexpr copy_kind device_to_host = 2;
inline constexpr copy_kind device_to_device = 3;

// hipStreamCreateWithFlags, hipEventCreateWithFlags, hipHostRegister
inline constexpr unsigned stream_non_blocking = 1;
inline constexpr unsigned event_blocking_sync = 1;
inline constexpr unsigned event_disable_timing = 2;
inline constexpr unsigned host_register_portable = 1;

} // namespace barmap::hip
