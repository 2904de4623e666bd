// SPDX-License-Identifier: MIT
// Compares what barmap declares of the HIP runtime with AMD's headers, when this is compiled, and
// loads the runtime that they belong to.
#include "pygpu/runtime/hip_api.hpp"
#include "pygpu/runtime/runtime.hpp"
#include "same_abi.hpp"

#include <hip/hip_runtime_api.h>

#include <cstdio>
#include <type_traits>

using namespace barmap;
using barmap::runtime_test::same_abi;

// The header overloads this one with a template, so that its address alone has no type.
hipError_t hip_malloc_in_c(void**, size_t);
using found_malloc = decltype(static_cast<decltype(&hip_malloc_in_c)>(&::hipMalloc));
static_assert(std::is_same_v<found_malloc, decltype(&hip_malloc_in_c)>);
#define hipMalloc hip_malloc_in_c
#define BARMAP_CHECK(member, symbol, parameters)                                                   \
    static_assert(same_abi<decltype(hip::api::member), decltype(&::symbol)>::value, #symbol);
BARMAP_HIP_FUNCTIONS(BARMAP_CHECK)
#undef BARMAP_CHECK
#undef hipMalloc
static_assert(same_abi<decltype(hip::api::get_error_name), decltype(&::hipGetErrorName)>::value);
static_assert(
    same_abi<decltype(hip::api::get_error_string), decltype(&::hipGetErrorString)>::value);
static_assert(sizeof(hip::uuid) == sizeof(hipUUID));

static_assert(hip::attribute_integrated == hipDeviceAttributeIntegrated);
static_assert(hip::attribute_compute_capability_major == hipDeviceAttributeComputeCapabilityMajor);
static_assert(hip::attribute_compute_capability_minor == hipDeviceAttributeComputeCapabilityMinor);
static_assert(hip::attribute_max_threads_per_block == hipDeviceAttributeMaxThreadsPerBlock);
static_assert(hip::attribute_multiprocessor_count == hipDeviceAttributeMultiprocessorCount);
static_assert(hip::attribute_pci_bus_id == hipDeviceAttributePciBusId);
static_assert(hip::attribute_pci_device_id == hipDeviceAttributePciDeviceId);
static_assert(hip::attribute_pci_domain_id == hipDeviceAttributePciDomainID);
static_assert(hip::attribute_warp_size == hipDeviceAttributeWarpSize);

static_assert(hip::host_to_host == hipMemcpyHostToHost);
static_assert(hip::host_to_device == hipMemcpyHostToDevice);
static_assert(hip::device_to_host == hipMemcpyDeviceToHost);
static_assert(hip::device_to_device == hipMemcpyDeviceToDevice);
static_assert(int(runtime::memcpy_kind::host_to_host) == hipMemcpyHostToHost);
static_assert(int(runtime::memcpy_kind::to_device) == hipMemcpyHostToDevice);
static_assert(int(runtime::memcpy_kind::to_host) == hipMemcpyDeviceToHost);
static_assert(int(runtime::memcpy_kind::on_device) == hipMemcpyDeviceToDevice);

static_assert(hip::stream_non_blocking == hipStreamNonBlocking);
static_assert(hip::event_blocking_sync == hipEventBlockingSync);
static_assert(hip::event_disable_timing == hipEventDisableTiming);
static_assert(hip::host_register_portable == hipHostRegisterPortable);

static_assert(runtime::success == hipSuccess);
static_assert(runtime::invalid_value == hipErrorInvalidValue);
static_assert(runtime::out_of_memory == hipErrorOutOfMemory);
static_assert(runtime::initialization_error == hipErrorNotInitialized);
static_assert(runtime::invalid_device_pointer == hipErrorInvalidDevicePointer);
static_assert(runtime::insufficient_driver == hipErrorInsufficientDriver);
static_assert(runtime::no_device == hipErrorNoDevice);
static_assert(runtime::invalid_device == hipErrorInvalidDevice);
static_assert(runtime::invalid_handle == hipErrorInvalidHandle);
static_assert(runtime::not_ready == hipErrorNotReady);
static_assert(runtime::context_is_destroyed == hipErrorContextIsDestroyed);
static_assert(runtime::not_supported == hipErrorNotSupported);
static_assert(runtime::unknown == hipErrorUnknown);

int main() {
    runtime::vendor_table const& found = runtime::hip_table();
    std::printf("%s\n", found.functions ? "there is a GPU" : found.why.c_str());
    // The library was loaded, and has all functions.
    return !found.functions && found.answer != runtime::no_device;
}
