// SPDX-License-Identifier: MIT
#pragma once

#include "nvidia/cuda.hpp"

#include <barmap/error.hpp>

#include <functional>
#include <optional>
#include <string>
#include <string_view>

/// The only directory that calls the CUDA driver, by a table of its functions.
namespace barmap::cuda {

// X(member, exported symbol, signature), after the CUDA version whose driver first exports the
// symbol. A symbol that the driver lacks is replaced by an entry that returns CUDA_ERROR_NOT_FOUND,
// so that no call is ever made through a null pointer, and none that is absent keeps the driver
// from being used.
// clang-format off
/// The functions that the library, the drop-ins and the plug-ins call.
#define BARMAP_CUDA_LIBRARY_FUNCTIONS(X)                                                           \
    /*  2.0 */ X(init, "cuInit", (unsigned))                                                       \
    /*  2.2 */ X(driver_get_version, "cuDriverGetVersion", (int*))                                 \
    /*  2.0 */ X(device_get_count, "cuDeviceGetCount", (int*))                                     \
    /*  2.0 */ X(device_get, "cuDeviceGet", (CUdevice*, int))                                      \
    /*  2.0 */ X(device_get_name, "cuDeviceGetName", (char*, int, CUdevice))                       \
    /*  9.2 */ X(device_get_uuid, "cuDeviceGetUuid", (CUuuid*, CUdevice))                          \
    /*  2.0 */ X(device_get_attribute, "cuDeviceGetAttribute", (int*, int, CUdevice))              \
    /*  7.0 */ X(primary_ctx_retain, "cuDevicePrimaryCtxRetain", (CUcontext*, CUdevice))           \
    /* 11.0 */ X(primary_ctx_release, "cuDevicePrimaryCtxRelease_v2", (CUdevice))                  \
    /*  7.0 */ X(primary_ctx_get_state, "cuDevicePrimaryCtxGetState", (CUdevice, unsigned*, int*)) \
    /*  4.0 */ X(ctx_get_current, "cuCtxGetCurrent", (CUcontext*))                                 \
    /*  4.0 */ X(ctx_push_current, "cuCtxPushCurrent_v2", (CUcontext))                             \
    /*  4.0 */ X(ctx_pop_current, "cuCtxPopCurrent_v2", (CUcontext*))                              \
    /*  2.0 */ X(ctx_get_device, "cuCtxGetDevice", (CUdevice*))                                    \
    /*  4.0 */ X(device_can_access_peer, "cuDeviceCanAccessPeer", (int*, CUdevice, CUdevice))      \
    /*  4.0 */ X(ctx_enable_peer_access, "cuCtxEnablePeerAccess", (CUcontext, unsigned))           \
    /*  2.0 */ X(ctx_synchronize, "cuCtxSynchronize", ())                                          \
    /*  3.2 */ X(mem_alloc, "cuMemAlloc_v2", (CUdeviceptr*, std::size_t))                          \
    /*  3.2 */ X(mem_free, "cuMemFree_v2", (CUdeviceptr))                                          \
    /*  3.2 */ X(mem_get_address_range, "cuMemGetAddressRange_v2",                                 \
                 (CUdeviceptr*, std::size_t*, CUdeviceptr))                                        \
    /*  4.0 */ X(pointer_get_attribute, "cuPointerGetAttribute", (void*, int, CUdeviceptr))        \
    /*  7.0 */ X(pointer_get_attributes, "cuPointerGetAttributes",                                 \
                 (unsigned, int*, void**, CUdeviceptr))                                            \
    /*  3.2 */ X(memcpy_htod_async, "cuMemcpyHtoDAsync_v2",                                        \
                 (CUdeviceptr, void const*, std::size_t, CUstream))                                \
    /*  3.2 */ X(memcpy_dtoh_async, "cuMemcpyDtoHAsync_v2",                                        \
                 (void*, CUdeviceptr, std::size_t, CUstream))                                      \
    /*  4.1 */ X(ipc_get_mem_handle, "cuIpcGetMemHandle", (CUipcMemHandle*, CUdeviceptr))          \
    /* 11.0 */ X(ipc_open_mem_handle, "cuIpcOpenMemHandle_v2",                                     \
                 (CUdeviceptr*, CUipcMemHandle, unsigned))                                         \
    /*  4.1 */ X(ipc_close_mem_handle, "cuIpcCloseMemHandle", (CUdeviceptr))                       \
    /* 10.2 */ X(mem_address_reserve, "cuMemAddressReserve",                                       \
                 (CUdeviceptr*, std::size_t, std::size_t, CUdeviceptr, unsigned long long))        \
    /* 10.2 */ X(mem_address_free, "cuMemAddressFree", (CUdeviceptr, std::size_t))                 \
    /* 10.2 */ X(mem_create, "cuMemCreate",                                                        \
                 (CUmemGenericAllocationHandle*, std::size_t, CUmemAllocationProp const*,          \
                  unsigned long long))                                                             \
    /* 10.2 */ X(mem_release, "cuMemRelease", (CUmemGenericAllocationHandle))                      \
    /* 10.2 */ X(mem_map, "cuMemMap",                                                              \
                 (CUdeviceptr, std::size_t, std::size_t, CUmemGenericAllocationHandle,             \
                  unsigned long long))                                                             \
    /* 10.2 */ X(mem_unmap, "cuMemUnmap", (CUdeviceptr, std::size_t))                              \
    /* 10.2 */ X(mem_set_access, "cuMemSetAccess",                                                 \
                 (CUdeviceptr, std::size_t, CUmemAccessDesc const*, std::size_t))                  \
    /* 10.2 */ X(mem_get_allocation_granularity, "cuMemGetAllocationGranularity",                  \
                 (std::size_t*, CUmemAllocationProp const*, int))                                  \
    /* 10.2 */ X(mem_get_allocation_properties, "cuMemGetAllocationPropertiesFromHandle",          \
                 (CUmemAllocationProp*, CUmemGenericAllocationHandle))                             \
    /* 11.0 */ X(mem_retain_allocation_handle, "cuMemRetainAllocationHandle",                      \
                 (CUmemGenericAllocationHandle*, void*))                                           \
    /* 10.2 */ X(mem_export_to_shareable_handle, "cuMemExportToShareableHandle",                   \
                 (void*, CUmemGenericAllocationHandle, int, unsigned long long))                   \
    /* 11.7 */ X(mem_get_handle_for_address_range, "cuMemGetHandleForAddressRange",                \
                 (void*, CUdeviceptr, std::size_t, int, unsigned long long))                       \
    /* 10.0 */ X(import_external_memory, "cuImportExternalMemory",                                 \
                 (CUexternalMemory*, CUDA_EXTERNAL_MEMORY_HANDLE_DESC const*))                     \
    /* 10.0 */ X(external_memory_get_mapped_buffer, "cuExternalMemoryGetMappedBuffer",             \
                 (CUdeviceptr*, CUexternalMemory, CUDA_EXTERNAL_MEMORY_BUFFER_DESC const*))        \
    /* 10.0 */ X(destroy_external_memory, "cuDestroyExternalMemory", (CUexternalMemory))           \
    /* 11.2 */ X(mem_pool_create, "cuMemPoolCreate", (CUmemoryPool*, CUmemPoolProps const*))       \
    /* 11.2 */ X(mem_pool_destroy, "cuMemPoolDestroy", (CUmemoryPool))                             \
    /* 11.2 */ X(mem_alloc_from_pool_async, "cuMemAllocFromPoolAsync",                             \
                 (CUdeviceptr*, std::size_t, CUmemoryPool, CUstream))                              \
    /* 11.2 */ X(mem_free_async, "cuMemFreeAsync", (CUdeviceptr, CUstream))                        \
    /*  2.0 */ X(stream_create, "cuStreamCreate", (CUstream*, unsigned))                           \
    /*  4.0 */ X(stream_destroy, "cuStreamDestroy_v2", (CUstream))                                 \
    /*  2.0 */ X(stream_synchronize, "cuStreamSynchronize", (CUstream))                            \
    /*  6.5 */ X(mem_host_register, "cuMemHostRegister_v2", (void*, std::size_t, unsigned))        \
    /*  2.2 */ X(mem_host_alloc, "cuMemHostAlloc", (void**, std::size_t, unsigned))                \
    /*  2.0 */ X(mem_free_host, "cuMemFreeHost", (void*))                                          \
    /*  4.0 */ X(mem_host_unregister, "cuMemHostUnregister", (void*))                              \
    /*  3.2 */ X(mem_host_get_device_pointer, "cuMemHostGetDevicePointer_v2",                      \
                 (CUdeviceptr*, void*, unsigned))                                                  \
    /*  9.2 */ X(stream_get_ctx, "cuStreamGetCtx", (CUstream, CUcontext*))                         \
    /*  2.0 */ X(stream_query, "cuStreamQuery", (CUstream))                                        \
    /* 10.1 */ X(thread_exchange_stream_capture_mode, "cuThreadExchangeStreamCaptureMode", (int*))  \
    /*  3.2 */ X(memset_d32_async, "cuMemsetD32Async",                                             \
                 (CUdeviceptr, unsigned, std::size_t, CUstream))                                   \
    /* 11.2 */ X(device_get_default_mem_pool, "cuDeviceGetDefaultMemPool",                         \
                 (CUmemoryPool*, CUdevice))                                                        \
    /* 11.7 */ X(stream_write_value32, "cuStreamWriteValue32_v2",                                  \
                 (CUstream, CUdeviceptr, std::uint32_t, unsigned))                                 \
    /* 11.7 */ X(stream_wait_value32, "cuStreamWaitValue32_v2",                                    \
                 (CUstream, CUdeviceptr, std::uint32_t, unsigned))                                 \
    /* 11.7 */ X(stream_write_value64, "cuStreamWriteValue64_v2",                                  \
                 (CUstream, CUdeviceptr, std::uint64_t, unsigned))                                 \
    /* 11.7 */ X(stream_wait_value64, "cuStreamWaitValue64_v2",                                    \
                 (CUstream, CUdeviceptr, std::uint64_t, unsigned))                                 \
    /* 11.7 */ X(stream_batch_mem_op, "cuStreamBatchMemOp_v2",                                    \
                 (CUstream, unsigned, CUstreamBatchMemOpParams*, unsigned))                        \
    /*  2.0 */ X(module_load_data, "cuModuleLoadData", (CUmodule*, void const*))                   \
    /*  2.0 */ X(module_unload, "cuModuleUnload", (CUmodule))                                      \
    /*  2.0 */ X(module_get_function, "cuModuleGetFunction", (CUfunction*, CUmodule, char const*)) \
    /*  4.0 */ X(launch_kernel, "cuLaunchKernel",                                                  \
                 (CUfunction, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned,          \
                  unsigned, CUstream, void**, void**))                                             \
    /* 10.0 */ X(stream_is_capturing, "cuStreamIsCapturing", (CUstream, int*))                     \
    /* 11.3 */ X(stream_get_capture_info, "cuStreamGetCaptureInfo_v2",                             \
                 (CUstream, int*, std::uint64_t*, CUgraph*, CUgraphNode const**, std::size_t*))    \
    /* 11.3 */ X(user_object_create, "cuUserObjectCreate",                                         \
                 (CUuserObject*, void*, void (*)(void*), unsigned, unsigned))                      \
    /* 11.3 */ X(user_object_release, "cuUserObjectRelease", (CUuserObject, unsigned))             \
    /* 11.3 */ X(graph_retain_user_object, "cuGraphRetainUserObject",                              \
                 (CUgraph, CUuserObject, unsigned, unsigned))                                      \
    /*  3.2 */ X(stream_wait_event, "cuStreamWaitEvent", (CUstream, CUevent, unsigned))            \
    /*  2.0 */ X(event_create, "cuEventCreate", (CUevent*, unsigned))                              \
    /*  4.0 */ X(event_destroy, "cuEventDestroy_v2", (CUevent))                                    \
    /*  2.0 */ X(event_record, "cuEventRecord", (CUevent, CUstream))                               \
    /*  2.0 */ X(event_query, "cuEventQuery", (CUevent))                                           \
    /*  2.0 */ X(event_synchronize, "cuEventSynchronize", (CUevent))                               \
    /*  4.0 */ X(memcpy_async, "cuMemcpyAsync", (CUdeviceptr, CUdeviceptr, std::size_t, CUstream)) \
    /* 12.8 */ X(memcpy_batch_async, "cuMemcpyBatchAsync",                                         \
                 (CUdeviceptr*, CUdeviceptr*, std::size_t*, std::size_t, CUmemcpyAttributes*,      \
                  std::size_t*, std::size_t, std::size_t*, CUstream))
/// The functions that only the program, the Python package and the tests call.
#define BARMAP_CUDA_OTHER_FUNCTIONS(X)                                                             \
    /*  6.0 */ X(get_error_name, "cuGetErrorName", (CUresult, char const**))                       \
    /*  6.0 */ X(get_error_string, "cuGetErrorString", (CUresult, char const**))                   \
    /*  3.2 */ X(device_total_mem, "cuDeviceTotalMem_v2", (std::size_t*, CUdevice))                \
    /* 11.0 */ X(primary_ctx_reset, "cuDevicePrimaryCtxReset_v2", (CUdevice))                      \
    /*  3.2 */ X(ctx_create, "cuCtxCreate_v2", (CUcontext*, unsigned, CUdevice))                   \
    /*  4.0 */ X(ctx_destroy, "cuCtxDestroy_v2", (CUcontext))                                      \
    /*  4.0 */ X(ctx_set_current, "cuCtxSetCurrent", (CUcontext))                                  \
    /*  4.0 */ X(ctx_disable_peer_access, "cuCtxDisablePeerAccess", (CUcontext))                   \
    /*  3.2 */ X(mem_get_info, "cuMemGetInfo_v2", (std::size_t*, std::size_t*))                    \
    /*  6.0 */ X(mem_alloc_managed, "cuMemAllocManaged", (CUdeviceptr*, std::size_t, unsigned))    \
    /*  3.2 */ X(memcpy_htod, "cuMemcpyHtoD_v2", (CUdeviceptr, void const*, std::size_t))          \
    /*  3.2 */ X(memcpy_dtoh, "cuMemcpyDtoH_v2", (void*, CUdeviceptr, std::size_t))                \
    /*  3.2 */ X(memcpy_dtod, "cuMemcpyDtoD_v2", (CUdeviceptr, CUdeviceptr, std::size_t))          \
    /*  3.2 */ X(memcpy_2d_unaligned, "cuMemcpy2DUnaligned_v2", (CUDA_MEMCPY2D const*))            \
    /*  3.2 */ X(memset_d8, "cuMemsetD8_v2", (CUdeviceptr, unsigned char, std::size_t))            \
    /* 11.2 */ X(mem_pool_export, "cuMemPoolExportToShareableHandle",                              \
                 (void*, CUmemoryPool, int, unsigned long long))                                   \
    /* 10.2 */ X(mem_import_from_shareable_handle, "cuMemImportFromShareableHandle",               \
                 (CUmemGenericAllocationHandle*, void*, int))                                      \
    /* 11.2 */ X(mem_pool_trim_to, "cuMemPoolTrimTo", (CUmemoryPool, std::size_t))                 \
    /* 11.2 */ X(mem_alloc_async, "cuMemAllocAsync", (CUdeviceptr*, std::size_t, CUstream))        \
    /*  5.5 */ X(stream_create_with_priority, "cuStreamCreateWithPriority",                        \
                 (CUstream*, unsigned, int))                                                       \
    /*  2.0 */ X(event_elapsed_time, "cuEventElapsedTime", (float*, CUevent, CUevent))             \
    /* 10.1 */ X(stream_begin_capture, "cuStreamBeginCapture_v2", (CUstream, int))                 \
    /* 10.0 */ X(stream_end_capture, "cuStreamEndCapture", (CUstream, CUgraph*))                   \
    /* 10.0 */ X(graph_create, "cuGraphCreate", (CUgraph*, unsigned))                              \
    /* 10.0 */ X(graph_destroy, "cuGraphDestroy", (CUgraph))                                       \
    /* 10.0 */ X(graph_add_memcpy_node, "cuGraphAddMemcpyNode",                                    \
                 (CUgraphNode*, CUgraph, CUgraphNode const*, std::size_t, CUDA_MEMCPY3D const*,    \
                  CUcontext))                                                                      \
    /* 11.4 */ X(graph_add_mem_alloc_node, "cuGraphAddMemAllocNode",                               \
                 (CUgraphNode*, CUgraph, CUgraphNode const*, std::size_t,                          \
                  CUDA_MEM_ALLOC_NODE_PARAMS*))                                                    \
    /* 11.4 */ X(device_graph_mem_trim, "cuDeviceGraphMemTrim", (CUdevice))                        \
    /* 11.4 */ X(graph_instantiate, "cuGraphInstantiateWithFlags",                                 \
                 (CUgraphExec*, CUgraph, unsigned long long))                                      \
    /* 10.0 */ X(graph_exec_destroy, "cuGraphExecDestroy", (CUgraphExec))                          \
    /* 10.0 */ X(graph_launch, "cuGraphLaunch", (CUgraphExec, CUstream))
// clang-format on
#define BARMAP_CUDA_FUNCTIONS(X) BARMAP_CUDA_LIBRARY_FUNCTIONS(X) BARMAP_CUDA_OTHER_FUNCTIONS(X)

struct driver_api {
#define BARMAP_CUDA_MEMBER(member, symbol, signature) CUresult(*member) signature = nullptr;
    BARMAP_CUDA_FUNCTIONS(BARMAP_CUDA_MEMBER)
#undef BARMAP_CUDA_MEMBER
    void* library = nullptr; ///< that these functions are of, as dlopen knows it
    bool simulated = false;
    int version = 0; ///< of the driver's API: 13000 for CUDA 13.0
};

/// The outcome of loading the driver.
struct loaded_driver {
    driver_api table;
    std::string problem;                 ///< why the table may not be used; empty: it may
    std::optional<error> refused;        ///< the same as an error, where one says it better
    std::optional<CUresult> initialised; ///< what cuInit returned; nothing without a library
};

/// The driver, loaded and initialised: from libcuda.so.1, or the simulated GPU's if BARMAP_SIM=1.
/// Loaded once per process and never unloaded: GPU handles are abandoned at process exit.
/// Thread-safe. The core defines it (core/src/driver/load_driver.cpp); what stands over the core asks it
/// (cuda/driver_of_core.cpp).
[[nodiscard]] loaded_driver const& driver();

/// Fills the table with the functions that `find` knows by their symbols.
void bind_functions(driver_api& table, std::function<void*(char const* symbol)> const& find);

/// The driver's functions. Thread-safe.
/// @throws error errc::no_device with advice if there is no driver or no GPU
[[nodiscard]] driver_api const& api();

/// The same, or null with the reason in `why` where there is none.
[[nodiscard]] driver_api const* try_api(std::string& why);

/// Advice for a user without a driver or a GPU.
[[nodiscard]] std::string_view advice_without_gpu();

/// The result of cuInit; nothing if the driver's library cannot be loaded. Loads it.
[[nodiscard]] std::optional<CUresult> result_of_init();

/// Whether a kernel driver also serves the simulated GPU: only if a test acts as one.
[[nodiscard]] bool simulation_has_kernel_driver() noexcept;
void give_simulation_a_kernel_driver(bool there) noexcept; ///< for such a test

/// Another table for the calling process, for a test; null restores. Not while calls run.
void replace_api(driver_api const* table) noexcept;

/// The driver's handle of a GPU. @throws error
[[nodiscard]] CUdevice device_with(int ordinal);

/// @throws error with the CUresult unless it is success
void check(CUresult result, std::string_view operation, std::string_view advice = {});

} // namespace barmap::cuda
