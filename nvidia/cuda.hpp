// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <cstdint>

/// The part of the CUDA driver API's ABI that barmap uses: names, values and layouts of NVIDIA's
/// documented interface, declared here so that building needs no CUDA toolkit. The simulated GPU
/// implements the same declarations. Source: CUDA Driver API reference, 12.x–13.x.
extern "C" {

using CUresult = int;
using CUdevice = int;
using CUdeviceptr = unsigned long long;
using CUcontext = struct CUctx_st*;
using CUstream = struct CUstream_st*;
using CUevent = struct CUevent_st*;
using CUmodule = struct CUmod_st*;
using CUfunction = struct CUfunc_st*;
using CUgraph = struct CUgraph_st*;
using CUgraphNode = struct CUgraphNode_st*;
using CUgraphExec = struct CUgraphExec_st*;
using CUuserObject = struct CUuserObject_st*;
using CUmemoryPool = struct CUmemPoolHandle_st*;
using CUexternalMemory = struct CUextMemory_st*;
using CUmemGenericAllocationHandle = unsigned long long;

struct CUuuid {
    unsigned char bytes[16];
};

struct CUipcMemHandle {
    unsigned char reserved[64];
};

struct CUmemLocation {
    int type;
    int id;
};

struct CUmemAllocationProp {
    int type;
    int requestedHandleTypes;
    CUmemLocation location;
    void* win32HandleMetaData;
    struct {
        unsigned char compressionType;
        unsigned char gpuDirectRDMACapable;
        unsigned short usage;
        unsigned char reserved[4];
    } allocFlags;
};

struct CUmemAccessDesc {
    CUmemLocation location;
    int flags;
};

struct CUmemPoolProps {
    int allocType;
    int handleTypes;
    CUmemLocation location;
    void* win32SecurityAttributes;
    std::size_t maxSize;
    unsigned short usage;
    unsigned char reserved[54];
};

struct CUDA_MEM_ALLOC_NODE_PARAMS {
    CUmemPoolProps poolProps;
    CUmemAccessDesc const* accessDescs;
    std::size_t accessDescCount;
    std::size_t bytesize;
    CUdeviceptr dptr; ///< what comes back
};

struct CUDA_EXTERNAL_MEMORY_HANDLE_DESC {
    int type;
    union {
        int fd;
        struct {
            void* handle;
            void const* name;
        } win32;
        void const* nvSciBufObject;
    } handle;
    unsigned long long size;
    unsigned int flags;
    unsigned int reserved[16];
};

struct CUDA_EXTERNAL_MEMORY_BUFFER_DESC {
    unsigned long long offset;
    unsigned long long size;
    unsigned int flags;
    unsigned int reserved[16];
};

/// Of a wait for a word and of a write: CUDA has a union, with others.
struct CUstreamBatchMemOpParams {
    unsigned int operation;
    CUdeviceptr address;
    std::uint64_t value;
    unsigned int flags;
    CUdeviceptr alias;
    std::uint64_t reserved;
};

struct CUmemcpyAttributes {
    int srcAccessOrder;
    CUmemLocation srcLocHint;
    CUmemLocation dstLocHint;
    unsigned int flags;
};

struct CUDA_MEMCPY2D {
    std::size_t srcXInBytes;
    std::size_t srcY;
    int srcMemoryType;
    void const* srcHost;
    CUdeviceptr srcDevice;
    void* srcArray;
    std::size_t srcPitch;
    std::size_t dstXInBytes;
    std::size_t dstY;
    int dstMemoryType;
    void* dstHost;
    CUdeviceptr dstDevice;
    void* dstArray;
    std::size_t dstPitch;
    std::size_t WidthInBytes;
    std::size_t Height;
};

struct CUDA_MEMCPY3D {
    std::size_t srcXInBytes;
    std::size_t srcY;
    std::size_t srcZ;
    std::size_t srcLOD;
    int srcMemoryType;
    void const* srcHost;
    CUdeviceptr srcDevice;
    void* srcArray;
    void* reserved0;
    std::size_t srcPitch;
    std::size_t srcHeight;
    std::size_t dstXInBytes;
    std::size_t dstY;
    std::size_t dstZ;
    std::size_t dstLOD;
    int dstMemoryType;
    void* dstHost;
    CUdeviceptr dstDevice;
    void* dstArray;
    void* reserved1;
    std::size_t dstPitch;
    std::size_t dstHeight;
    std::size_t WidthInBytes;
    std::size_t Height;
    std::size_t Depth;
};

} // extern "C"

static_assert(sizeof(CUmemAllocationProp) == 32);
static_assert(sizeof(CUmemAccessDesc) == 12);
static_assert(sizeof(CUmemPoolProps) == 88);
static_assert(sizeof(CUDA_MEM_ALLOC_NODE_PARAMS) == 120);
static_assert(sizeof(CUDA_EXTERNAL_MEMORY_HANDLE_DESC) == 104);
static_assert(sizeof(CUDA_EXTERNAL_MEMORY_BUFFER_DESC) == 88);
static_assert(sizeof(CUstreamBatchMemOpParams) == 48);
static_assert(sizeof(CUmemcpyAttributes) == 24);
static_assert(sizeof(CUDA_MEMCPY2D) == 128);
static_assert(sizeof(CUDA_MEMCPY3D) == 200);

namespace barmap::cuda {

// CUresult
inline constexpr CUresult success = 0;
inline constexpr CUresult error_invalid_value = 1;
inline constexpr CUresult error_out_of_memory = 2;
inline constexpr CUresult error_not_initialized = 3;
inline constexpr CUresult error_deinitialized = 4;
inline constexpr CUresult error_stub_library = 34;
inline constexpr CUresult error_no_device = 100;
inline constexpr CUresult error_invalid_device = 101;
inline constexpr CUresult error_invalid_context = 201;
inline constexpr CUresult error_invalid_handle = 400;
inline constexpr CUresult error_not_found = 500;
inline constexpr CUresult error_not_ready = 600;
inline constexpr CUresult error_peer_already_enabled = 704;
inline constexpr CUresult error_context_is_destroyed = 709;
inline constexpr CUresult error_host_already_registered = 712;
inline constexpr CUresult error_not_permitted = 800;
inline constexpr CUresult error_not_supported = 801;
inline constexpr CUresult error_unknown = 999;

// CUpointer_attribute
inline constexpr int pointer_context = 1;
inline constexpr int pointer_memory_type = 2;
inline constexpr int pointer_device_pointer = 3;
inline constexpr int pointer_host_pointer = 4;
inline constexpr int pointer_sync_memops = 6;
inline constexpr int pointer_buffer_id = 7;
inline constexpr int pointer_is_managed = 8;
inline constexpr int pointer_device_ordinal = 9;
inline constexpr int pointer_is_legacy_cuda_ipc_capable = 10;
inline constexpr int pointer_range_start_addr = 11;
inline constexpr int pointer_range_size = 12;
inline constexpr int pointer_mapped = 13;
inline constexpr int pointer_allowed_handle_types = 14;
inline constexpr int pointer_is_gpu_direct_rdma_capable = 15;
inline constexpr int pointer_mempool_handle = 17;

// CUmemorytype
inline constexpr unsigned memory_type_host = 1;
inline constexpr unsigned memory_type_device = 2;
inline constexpr unsigned memory_type_unified = 4; ///< the address says which

// CUdevice_attribute
inline constexpr int attribute_max_threads_per_block = 1;
inline constexpr int attribute_warp_size = 10;
inline constexpr int attribute_multiprocessor_count = 16;
inline constexpr int attribute_integrated = 18;
inline constexpr int attribute_pci_bus_id = 33;
inline constexpr int attribute_pci_device_id = 34;
inline constexpr int attribute_unified_addressing = 41;
inline constexpr int attribute_pci_domain_id = 50;
inline constexpr int attribute_compute_capability_major = 75;
inline constexpr int attribute_compute_capability_minor = 76;
inline constexpr int attribute_managed_memory = 83;
inline constexpr int attribute_host_page_tables = 100; // PAGEABLE_MEMORY_ACCESS_USES_...
inline constexpr int attribute_virtual_memory_management = 102;
inline constexpr int attribute_posix_fd_handle = 103;
inline constexpr int attribute_gpu_direct_rdma_of_virtual_memory = 110;
inline constexpr int attribute_memory_pools = 115;
inline constexpr int attribute_gpu_direct_rdma = 116;
inline constexpr int attribute_flush_writes_options = 117;
inline constexpr int attribute_writes_ordering = 118;
inline constexpr int attribute_dma_buf = 124;
inline constexpr int attribute_dma_buf_mmap = 152; // since CUDA 13.3

// Virtual memory management, pools, external memory, address-range handles
inline constexpr int allocation_type_pinned = 1;
inline constexpr int location_type_device = 1;
inline constexpr int handle_type_none = 0;
inline constexpr int handle_type_posix_fd = 1;
inline constexpr int access_read_write = 3;
inline constexpr int granularity_minimum = 0;
inline constexpr int external_handle_opaque_fd = 1;
inline constexpr unsigned long long range_flag_dma_buf_pcie = 1; // ..._DMA_BUF_MAPPING_TYPE_PCIE
inline constexpr int range_handle_dma_buf_fd = 1;
inline constexpr unsigned mem_attach_global = 1;
inline constexpr unsigned mem_host_register_portable = 1;

// CUstreamWaitValue_flags
inline constexpr unsigned wait_value_geq = 0; ///< (int)(word - value) >= 0
inline constexpr unsigned wait_value_eq = 1;
inline constexpr unsigned wait_value_and = 2;
inline constexpr unsigned wait_value_nor = 3;
inline constexpr unsigned wait_value_flush = 1u << 30;

// CUstreamBatchMemOpType
inline constexpr unsigned operation_wait_value32 = 1;
inline constexpr unsigned operation_write_value32 = 2;

// CUmemcpySrcAccessOrder
inline constexpr int source_order_stream = 1;
inline constexpr int source_order_during_call = 2; ///< read when the call returns
inline constexpr int source_order_any = 3;

// CUstreamCaptureStatus
inline constexpr int capture_status_none = 0;
inline constexpr int capture_status_active = 1;
inline constexpr int capture_mode_thread_local = 1; // CU_STREAM_CAPTURE_MODE_THREAD_LOCAL

// User objects of graphs
inline constexpr unsigned user_object_no_destructor_sync = 1;
inline constexpr unsigned graph_user_object_move = 1; ///< the graph takes the caller's reference

} // namespace barmap::cuda
