// SPDX-License-Identifier: MIT
#pragma once

#include "cuda/types.hpp"

#include <barmap/error.hpp>

#include <optional>
#include <string>
#include <string_view>

/// The only room that calls the CUDA driver. The table is filled once, at first use, from
/// libcuda.so.1, or from the simulated GPU if BARMAP_SIM=1.
namespace barmap::cuda {

// X(member, exported symbol, signature). A symbol that the driver lacks is replaced by an entry
// that answers CUDA_ERROR_NOT_FOUND, so that no call is ever made through a null pointer.
// clang-format off
#define BARMAP_CUDA_FUNCTIONS(X)                                                                   \
    X(init, "cuInit", (unsigned))                                                                  \
    X(driver_get_version, "cuDriverGetVersion", (int*))                                            \
    X(get_error_name, "cuGetErrorName", (CUresult, char const**))                                  \
    X(get_error_string, "cuGetErrorString", (CUresult, char const**))                              \
    X(device_get_count, "cuDeviceGetCount", (int*))                                                \
    X(device_get, "cuDeviceGet", (CUdevice*, int))                                                 \
    X(device_get_name, "cuDeviceGetName", (char*, int, CUdevice))                                  \
    X(device_get_uuid, "cuDeviceGetUuid", (CUuuid*, CUdevice))                                     \
    X(device_get_attribute, "cuDeviceGetAttribute", (int*, int, CUdevice))                         \
    X(device_total_mem, "cuDeviceTotalMem_v2", (std::size_t*, CUdevice))                           \
    X(primary_ctx_retain, "cuDevicePrimaryCtxRetain", (CUcontext*, CUdevice))                      \
    X(primary_ctx_release, "cuDevicePrimaryCtxRelease_v2", (CUdevice))                             \
    X(primary_ctx_get_state, "cuDevicePrimaryCtxGetState", (CUdevice, unsigned*, int*))            \
    X(primary_ctx_reset, "cuDevicePrimaryCtxReset_v2", (CUdevice))                                 \
    X(ctx_create, "cuCtxCreate_v2", (CUcontext*, unsigned, CUdevice))                              \
    X(ctx_destroy, "cuCtxDestroy_v2", (CUcontext))                                                 \
    X(ctx_get_current, "cuCtxGetCurrent", (CUcontext*))                                            \
    X(ctx_set_current, "cuCtxSetCurrent", (CUcontext))                                             \
    X(ctx_push_current, "cuCtxPushCurrent_v2", (CUcontext))                                        \
    X(ctx_pop_current, "cuCtxPopCurrent_v2", (CUcontext*))                                         \
    X(ctx_get_device, "cuCtxGetDevice", (CUdevice*))                                               \
    X(ctx_synchronize, "cuCtxSynchronize", ())                                                     \
    X(mem_alloc, "cuMemAlloc_v2", (CUdeviceptr*, std::size_t))                                     \
    X(mem_free, "cuMemFree_v2", (CUdeviceptr))                                                     \
    X(mem_get_info, "cuMemGetInfo_v2", (std::size_t*, std::size_t*))                               \
    X(mem_alloc_managed, "cuMemAllocManaged", (CUdeviceptr*, std::size_t, unsigned))               \
    X(mem_host_alloc, "cuMemHostAlloc", (void**, std::size_t, unsigned))                           \
    X(mem_free_host, "cuMemFreeHost", (void*))                                                     \
    X(mem_host_register, "cuMemHostRegister_v2", (void*, std::size_t, unsigned))                   \
    X(mem_host_unregister, "cuMemHostUnregister", (void*))                                         \
    X(mem_host_get_device_pointer, "cuMemHostGetDevicePointer_v2", (CUdeviceptr*, void*, unsigned))\
    X(mem_get_address_range, "cuMemGetAddressRange_v2", (CUdeviceptr*, std::size_t*, CUdeviceptr)) \
    X(pointer_get_attribute, "cuPointerGetAttribute", (void*, int, CUdeviceptr))                   \
    X(pointer_get_attributes, "cuPointerGetAttributes", (unsigned, int*, void**, CUdeviceptr))     \
    X(memcpy_htod, "cuMemcpyHtoD_v2", (CUdeviceptr, void const*, std::size_t))                     \
    X(memcpy_dtoh, "cuMemcpyDtoH_v2", (void*, CUdeviceptr, std::size_t))                           \
    X(memcpy_dtod, "cuMemcpyDtoD_v2", (CUdeviceptr, CUdeviceptr, std::size_t))                     \
    X(memcpy_htod_async, "cuMemcpyHtoDAsync_v2", (CUdeviceptr, void const*, std::size_t, CUstream))\
    X(memcpy_dtoh_async, "cuMemcpyDtoHAsync_v2", (void*, CUdeviceptr, std::size_t, CUstream))      \
    X(memcpy_2d_unaligned, "cuMemcpy2DUnaligned_v2", (CUDA_MEMCPY2D const*))                       \
    X(memset_d8, "cuMemsetD8_v2", (CUdeviceptr, unsigned char, std::size_t))                       \
    X(ipc_get_mem_handle, "cuIpcGetMemHandle", (CUipcMemHandle*, CUdeviceptr))                     \
    X(ipc_open_mem_handle, "cuIpcOpenMemHandle_v2", (CUdeviceptr*, CUipcMemHandle, unsigned))      \
    X(ipc_close_mem_handle, "cuIpcCloseMemHandle", (CUdeviceptr))                                  \
    X(mem_address_reserve, "cuMemAddressReserve",                                                  \
      (CUdeviceptr*, std::size_t, std::size_t, CUdeviceptr, unsigned long long))                   \
    X(mem_address_free, "cuMemAddressFree", (CUdeviceptr, std::size_t))                            \
    X(mem_create, "cuMemCreate",                                                                   \
      (CUmemGenericAllocationHandle*, std::size_t, CUmemAllocationProp const*, unsigned long long))\
    X(mem_release, "cuMemRelease", (CUmemGenericAllocationHandle))                                 \
    X(mem_map, "cuMemMap",                                                                         \
      (CUdeviceptr, std::size_t, std::size_t, CUmemGenericAllocationHandle, unsigned long long))   \
    X(mem_unmap, "cuMemUnmap", (CUdeviceptr, std::size_t))                                         \
    X(mem_set_access, "cuMemSetAccess",                                                            \
      (CUdeviceptr, std::size_t, CUmemAccessDesc const*, std::size_t))                             \
    X(mem_get_allocation_granularity, "cuMemGetAllocationGranularity",                             \
      (std::size_t*, CUmemAllocationProp const*, int))                                             \
    X(mem_get_allocation_properties, "cuMemGetAllocationPropertiesFromHandle",                     \
      (CUmemAllocationProp*, CUmemGenericAllocationHandle))                                        \
    X(mem_retain_allocation_handle, "cuMemRetainAllocationHandle",                                 \
      (CUmemGenericAllocationHandle*, void*))                                                      \
    X(mem_export_to_shareable_handle, "cuMemExportToShareableHandle",                              \
      (void*, CUmemGenericAllocationHandle, int, unsigned long long))                              \
    X(mem_get_handle_for_address_range, "cuMemGetHandleForAddressRange",                           \
      (void*, CUdeviceptr, std::size_t, int, unsigned long long))                                  \
    X(mem_pool_create, "cuMemPoolCreate", (CUmemoryPool*, CUmemPoolProps const*))                  \
    X(mem_pool_destroy, "cuMemPoolDestroy", (CUmemoryPool))                                        \
    X(mem_pool_export, "cuMemPoolExportToShareableHandle",                                         \
      (void*, CUmemoryPool, int, unsigned long long))                                              \
    X(device_get_default_mem_pool, "cuDeviceGetDefaultMemPool", (CUmemoryPool*, CUdevice))         \
    X(mem_alloc_async, "cuMemAllocAsync", (CUdeviceptr*, std::size_t, CUstream))                   \
    X(mem_alloc_from_pool_async, "cuMemAllocFromPoolAsync",                                        \
      (CUdeviceptr*, std::size_t, CUmemoryPool, CUstream))                                         \
    X(mem_free_async, "cuMemFreeAsync", (CUdeviceptr, CUstream))                                   \
    X(import_external_memory, "cuImportExternalMemory",                                            \
      (CUexternalMemory*, CUDA_EXTERNAL_MEMORY_HANDLE_DESC const*))                                \
    X(external_memory_get_mapped_buffer, "cuExternalMemoryGetMappedBuffer",                        \
      (CUdeviceptr*, CUexternalMemory, CUDA_EXTERNAL_MEMORY_BUFFER_DESC const*))                   \
    X(destroy_external_memory, "cuDestroyExternalMemory", (CUexternalMemory))                      \
    X(stream_create, "cuStreamCreate", (CUstream*, unsigned))                                      \
    X(stream_create_with_priority, "cuStreamCreateWithPriority", (CUstream*, unsigned, int))       \
    X(stream_destroy, "cuStreamDestroy_v2", (CUstream))                                            \
    X(stream_synchronize, "cuStreamSynchronize", (CUstream))                                       \
    X(stream_query, "cuStreamQuery", (CUstream))                                                   \
    X(stream_wait_event, "cuStreamWaitEvent", (CUstream, CUevent, unsigned))                       \
    X(event_create, "cuEventCreate", (CUevent*, unsigned))                                         \
    X(event_destroy, "cuEventDestroy_v2", (CUevent))                                               \
    X(event_record, "cuEventRecord", (CUevent, CUstream))                                          \
    X(event_query, "cuEventQuery", (CUevent))                                                      \
    X(event_synchronize, "cuEventSynchronize", (CUevent))                                          \
    X(event_elapsed_time, "cuEventElapsedTime", (float*, CUevent, CUevent))                        \
    X(module_load_data, "cuModuleLoadData", (CUmodule*, void const*))                              \
    X(module_unload, "cuModuleUnload", (CUmodule))                                                 \
    X(module_get_function, "cuModuleGetFunction", (CUfunction*, CUmodule, char const*))            \
    X(launch_kernel, "cuLaunchKernel",                                                             \
      (CUfunction, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, CUstream, \
       void**, void**))
// clang-format on

struct driver_api {
#define BARMAP_CUDA_MEMBER(member, symbol, signature) CUresult(*member) signature = nullptr;
    BARMAP_CUDA_FUNCTIONS(BARMAP_CUDA_MEMBER)
#undef BARMAP_CUDA_MEMBER
    bool simulated = false;
    int version = 0; ///< of the driver's API: 13000 for CUDA 13.0
};

/// The driver, loaded and initialised. Loaded once per process and never unloaded: GPU handles are
/// abandoned at process exit. Thread-safe.
/// @throws error errc::no_device with advice if there is no driver or no GPU
[[nodiscard]] driver_api const& api();

/// The same, or null with the reason in `why` where there is none.
[[nodiscard]] driver_api const* try_api(std::string& why);

/// What cuInit answered; nothing where the driver's library cannot be loaded. Loads it.
[[nodiscard]] std::optional<CUresult> answer_of_init();

/// Whether a kernel driver serves the simulated GPU, too: only where a test stands in for one.
[[nodiscard]] bool simulation_has_kernel_driver() noexcept;
void give_simulation_a_kernel_driver(bool there) noexcept; ///< for such a test

/// Another table for the calling process, for a test; null restores. Not while calls run.
void replace_api(driver_api const* table) noexcept;

/// @throws error with the CUresult unless it is success
void check(CUresult result, std::string_view operation, std::string_view advice = {},
           std::string_view backend = {});

} // namespace barmap::cuda
