// SPDX-License-Identifier: MIT
// Compares what barmap declares of the CUDA driver for its runtime table with NVIDIA's headers,
// when this is compiled, and its error names with those that the CUDA runtime gives.
#include "cuda/driver_api.hpp"
#include "pygpu/runtime/runtime.hpp"
#include "same_abi.hpp"

#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>

// The same names for the same things: in a namespace they do not meet.
namespace nvidia {
#include <cuda.h>
#include <driver_types.h>
extern "C" char const* cudaGetErrorName(cudaError_t);
} // namespace nvidia

using namespace barmap;
using barmap::runtime_test::same_abi;

#define SAME(member, function)                                                                     \
    static_assert(                                                                                 \
        same_abi<decltype(cuda::driver_api::member), decltype(&nvidia::function)>::value,          \
        #function);
SAME(ctx_disable_peer_access, cuCtxDisablePeerAccess)
SAME(ctx_enable_peer_access, cuCtxEnablePeerAccess)
SAME(ctx_get_current, cuCtxGetCurrent)
SAME(ctx_get_device, cuCtxGetDevice)
SAME(ctx_set_current, cuCtxSetCurrent)
SAME(ctx_synchronize, cuCtxSynchronize)
SAME(device_can_access_peer, cuDeviceCanAccessPeer)
SAME(device_get, cuDeviceGet)
SAME(device_get_attribute, cuDeviceGetAttribute)
SAME(device_get_count, cuDeviceGetCount)
SAME(device_get_name, cuDeviceGetName)
SAME(device_get_uuid, cuDeviceGetUuid)
SAME(device_total_mem, cuDeviceTotalMem)
SAME(event_create, cuEventCreate)
SAME(event_destroy, cuEventDestroy)
SAME(event_elapsed_time, cuEventElapsedTime)
SAME(event_query, cuEventQuery)
SAME(event_record, cuEventRecord)
SAME(event_synchronize, cuEventSynchronize)
SAME(device_graph_mem_trim, cuDeviceGraphMemTrim)
SAME(graph_add_mem_alloc_node, cuGraphAddMemAllocNode)
SAME(stream_begin_capture, cuStreamBeginCapture_v2)
SAME(stream_end_capture, cuStreamEndCapture)
SAME(graph_create, cuGraphCreate)
SAME(graph_destroy, cuGraphDestroy)
SAME(graph_exec_destroy, cuGraphExecDestroy)
SAME(graph_instantiate, cuGraphInstantiateWithFlags)
SAME(graph_launch, cuGraphLaunch)
SAME(graph_retain_user_object, cuGraphRetainUserObject)
SAME(user_object_create, cuUserObjectCreate)
SAME(user_object_release, cuUserObjectRelease)
SAME(get_error_name, cuGetErrorName)
SAME(get_error_string, cuGetErrorString)
SAME(mem_alloc, cuMemAlloc)
SAME(mem_free, cuMemFree)
SAME(mem_get_address_range, cuMemGetAddressRange)
SAME(mem_get_info, cuMemGetInfo)
SAME(mem_import_from_shareable_handle, cuMemImportFromShareableHandle)
SAME(mem_pool_trim_to, cuMemPoolTrimTo)
SAME(mem_host_register, cuMemHostRegister)
SAME(mem_host_unregister, cuMemHostUnregister)
SAME(memcpy_2d_unaligned, cuMemcpy2DUnaligned)
SAME(memcpy_async, cuMemcpyAsync)
SAME(memcpy_dtod, cuMemcpyDtoD)
SAME(memcpy_dtoh, cuMemcpyDtoH)
SAME(memcpy_htod, cuMemcpyHtoD)
SAME(primary_ctx_release, cuDevicePrimaryCtxRelease)
SAME(primary_ctx_reset, cuDevicePrimaryCtxReset)
SAME(primary_ctx_retain, cuDevicePrimaryCtxRetain)
SAME(stream_batch_mem_op, cuStreamBatchMemOp)
SAME(stream_create_with_priority, cuStreamCreateWithPriority)
SAME(stream_destroy, cuStreamDestroy)
SAME(stream_get_ctx, cuStreamGetCtx)
SAME(stream_is_capturing, cuStreamIsCapturing)
SAME(stream_query, cuStreamQuery)
SAME(stream_synchronize, cuStreamSynchronize)
SAME(stream_wait_event, cuStreamWaitEvent)
SAME(stream_wait_value32, cuStreamWaitValue32)
SAME(stream_write_value32, cuStreamWriteValue32)

#define SAME_PLACE(member)                                                                         \
    static_assert(offsetof(::CUDA_MEMCPY2D, member) == offsetof(nvidia::CUDA_MEMCPY2D, member));
SAME_PLACE(srcXInBytes)
SAME_PLACE(srcMemoryType)
SAME_PLACE(srcHost)
SAME_PLACE(srcDevice)
SAME_PLACE(srcPitch)
SAME_PLACE(dstXInBytes)
SAME_PLACE(dstMemoryType)
SAME_PLACE(dstHost)
SAME_PLACE(dstDevice)
SAME_PLACE(dstPitch)
SAME_PLACE(WidthInBytes)
SAME_PLACE(Height)
static_assert(sizeof(::CUDA_MEMCPY2D) == sizeof(nvidia::CUDA_MEMCPY2D));

#define SAME_PLACE_3D(member)                                                                      \
    static_assert(offsetof(::CUDA_MEMCPY3D, member) == offsetof(nvidia::CUDA_MEMCPY3D, member));
SAME_PLACE_3D(srcMemoryType)
SAME_PLACE_3D(srcHost)
SAME_PLACE_3D(srcDevice)
SAME_PLACE_3D(dstMemoryType)
SAME_PLACE_3D(dstHost)
SAME_PLACE_3D(dstDevice)
SAME_PLACE_3D(WidthInBytes)
SAME_PLACE_3D(Height)
SAME_PLACE_3D(Depth)
static_assert(sizeof(::CUDA_MEMCPY3D) == sizeof(nvidia::CUDA_MEMCPY3D));

using operation = nvidia::CUstreamBatchMemOpParams;
static_assert(sizeof(::CUstreamBatchMemOpParams) == sizeof(operation));
static_assert(offsetof(::CUstreamBatchMemOpParams, address) ==
              offsetof(operation, waitValue.address));
static_assert(offsetof(::CUstreamBatchMemOpParams, value) == offsetof(operation, waitValue.value));
static_assert(offsetof(::CUstreamBatchMemOpParams, flags) == offsetof(operation, waitValue.flags));
static_assert(offsetof(::CUstreamBatchMemOpParams, address) ==
              offsetof(operation, writeValue.address));
static_assert(offsetof(::CUstreamBatchMemOpParams, value) == offsetof(operation, writeValue.value));
static_assert(offsetof(::CUstreamBatchMemOpParams, flags) == offsetof(operation, writeValue.flags));
static_assert(cuda::operation_wait_value32 == nvidia::CU_STREAM_MEM_OP_WAIT_VALUE_32);
static_assert(cuda::operation_write_value32 == nvidia::CU_STREAM_MEM_OP_WRITE_VALUE_32);
static_assert(sizeof(::CUmemcpyAttributes) == sizeof(nvidia::CUmemcpyAttributes));
static_assert(offsetof(::CUmemcpyAttributes, flags) == offsetof(nvidia::CUmemcpyAttributes, flags));
static_assert(cuda::source_order_stream == nvidia::CU_MEMCPY_SRC_ACCESS_ORDER_STREAM);
static_assert(cuda::source_order_during_call == nvidia::CU_MEMCPY_SRC_ACCESS_ORDER_DURING_API_CALL);
static_assert(cuda::source_order_any == nvidia::CU_MEMCPY_SRC_ACCESS_ORDER_ANY);
static_assert(cuda::wait_value_geq == nvidia::CU_STREAM_WAIT_VALUE_GEQ);
static_assert(cuda::wait_value_eq == nvidia::CU_STREAM_WAIT_VALUE_EQ);
static_assert(cuda::wait_value_and == nvidia::CU_STREAM_WAIT_VALUE_AND);
static_assert(cuda::wait_value_nor == nvidia::CU_STREAM_WAIT_VALUE_NOR);
static_assert(cuda::wait_value_flush == nvidia::CU_STREAM_WAIT_VALUE_FLUSH);
static_assert(cuda::capture_status_none == nvidia::CU_STREAM_CAPTURE_STATUS_NONE);
static_assert(cuda::capture_status_active == nvidia::CU_STREAM_CAPTURE_STATUS_ACTIVE);
static_assert(cuda::user_object_no_destructor_sync == nvidia::CU_USER_OBJECT_NO_DESTRUCTOR_SYNC);
static_assert(cuda::graph_user_object_move == nvidia::CU_GRAPH_USER_OBJECT_MOVE);

static_assert(cuda::memory_type_host == nvidia::CU_MEMORYTYPE_HOST);
static_assert(cuda::memory_type_device == nvidia::CU_MEMORYTYPE_DEVICE);
static_assert(cuda::mem_host_register_portable == CU_MEMHOSTREGISTER_PORTABLE);
static_assert(cuda::attribute_warp_size == nvidia::CU_DEVICE_ATTRIBUTE_WARP_SIZE);
static_assert(cuda::attribute_integrated == nvidia::CU_DEVICE_ATTRIBUTE_INTEGRATED);
static_assert(cuda::attribute_multiprocessor_count ==
              nvidia::CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT);
static_assert(cuda::attribute_max_threads_per_block ==
              nvidia::CU_DEVICE_ATTRIBUTE_MAX_THREADS_PER_BLOCK);

static_assert(runtime::success == nvidia::cudaSuccess);
static_assert(runtime::invalid_value == nvidia::cudaErrorInvalidValue);
static_assert(runtime::out_of_memory == nvidia::cudaErrorMemoryAllocation);
static_assert(runtime::initialization_error == nvidia::cudaErrorInitializationError);
static_assert(runtime::invalid_device_pointer == nvidia::cudaErrorInvalidDevicePointer);
static_assert(runtime::insufficient_driver == nvidia::cudaErrorInsufficientDriver);
static_assert(runtime::no_device == nvidia::cudaErrorNoDevice);
static_assert(runtime::invalid_device == nvidia::cudaErrorInvalidDevice);
static_assert(runtime::invalid_handle == nvidia::cudaErrorInvalidResourceHandle);
static_assert(runtime::not_ready == nvidia::cudaErrorNotReady);
static_assert(runtime::context_is_destroyed == nvidia::cudaErrorContextIsDestroyed);
static_assert(runtime::not_supported == nvidia::cudaErrorNotSupported);
static_assert(runtime::unknown == nvidia::cudaErrorUnknown);
static_assert(int(runtime::memcpy_kind::to_device) == nvidia::cudaMemcpyHostToDevice);
static_assert(int(runtime::memcpy_kind::to_host) == nvidia::cudaMemcpyDeviceToHost);
static_assert(int(runtime::memcpy_kind::on_device) == nvidia::cudaMemcpyDeviceToDevice);

int main() {
    constexpr int more_than_all = 1000; // 10000 and above: a deprecated range
    int known = 0, wrong = 0;
    for (int code = 0; code < more_than_all; ++code) {
        char const* const theirs = nvidia::cudaGetErrorName(static_cast<nvidia::cudaError_t>(code));
        char const* const ours = runtime::cuda_error_name(code);
        known += runtime::is_cuda_error(code);
        if (std::strcmp(ours, theirs) != 0) {
            std::printf("%d: %s here, %s there\n", code, ours, theirs);
            ++wrong;
        }
    }
    std::printf("%d codes are known, %d have another name\n", known, wrong);
    return wrong != 0;
}
