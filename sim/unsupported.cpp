// SPDX-License-Identifier: MIT
#include "entry.hpp"

// Functions of the driver that programs are linked to, PyCUDA for one, and that are not simulated:
// they are there, so that these programs start, and refuse to be used.
#define BARMAP_SIM_UNSUPPORTED(name)                                                               \
    BARMAP_SIM_ENTRY name() {                                                                      \
        return barmap::sim::call(                                                                  \
            #name, [](barmap::sim::world_lock&) { return barmap::cuda::error_not_supported; });    \
    }

// Arrays, and copies to and from them
BARMAP_SIM_UNSUPPORTED(cuArray3DCreate_v2)
BARMAP_SIM_UNSUPPORTED(cuArray3DGetDescriptor_v2)
BARMAP_SIM_UNSUPPORTED(cuArrayCreate_v2)
BARMAP_SIM_UNSUPPORTED(cuArrayDestroy)
BARMAP_SIM_UNSUPPORTED(cuArrayGetDescriptor_v2)
BARMAP_SIM_UNSUPPORTED(cuMemcpy3D_v2)
BARMAP_SIM_UNSUPPORTED(cuMemcpy3DAsync_v2)
BARMAP_SIM_UNSUPPORTED(cuMemcpy3DPeer)
BARMAP_SIM_UNSUPPORTED(cuMemcpy3DPeerAsync)
BARMAP_SIM_UNSUPPORTED(cuMemcpyAtoA_v2)
BARMAP_SIM_UNSUPPORTED(cuMemcpyAtoD_v2)
BARMAP_SIM_UNSUPPORTED(cuMemcpyAtoH_v2)
BARMAP_SIM_UNSUPPORTED(cuMemcpyDtoA_v2)
BARMAP_SIM_UNSUPPORTED(cuMemcpyHtoA_v2)
BARMAP_SIM_UNSUPPORTED(cuMemcpyPeerAsync)

// Copies that have come since CUDA 12.8: what stands in front of the batch call must pass them on
BARMAP_SIM_UNSUPPORTED(cuFabricCpyBatchAsync)
BARMAP_SIM_UNSUPPORTED(cuMemcpy3DBatchAsync)
BARMAP_SIM_UNSUPPORTED(cuMemcpy3DBatchAsync_v2)
BARMAP_SIM_UNSUPPORTED(cuMemcpy3DWithAttributesAsync)
BARMAP_SIM_UNSUPPORTED(cuMemcpyWithAttributesAsync)
BARMAP_SIM_UNSUPPORTED(cuMemDiscardAndPrefetchBatchAsync)
BARMAP_SIM_UNSUPPORTED(cuMemDiscardBatchAsync)
BARMAP_SIM_UNSUPPORTED(cuMemPrefetchBatchAsync)

// Rows of memory
BARMAP_SIM_UNSUPPORTED(cuMemsetD16Async)
BARMAP_SIM_UNSUPPORTED(cuMemsetD2D16_v2)
BARMAP_SIM_UNSUPPORTED(cuMemsetD2D16Async)
BARMAP_SIM_UNSUPPORTED(cuMemsetD2D32_v2)
BARMAP_SIM_UNSUPPORTED(cuMemsetD2D32Async)
BARMAP_SIM_UNSUPPORTED(cuMemsetD2D8_v2)
BARMAP_SIM_UNSUPPORTED(cuMemsetD2D8Async)

// Textures and surfaces
BARMAP_SIM_UNSUPPORTED(cuSurfRefGetArray)
BARMAP_SIM_UNSUPPORTED(cuSurfRefSetArray)
BARMAP_SIM_UNSUPPORTED(cuTexRefCreate)
BARMAP_SIM_UNSUPPORTED(cuTexRefDestroy)
BARMAP_SIM_UNSUPPORTED(cuTexRefGetAddress_v2)
BARMAP_SIM_UNSUPPORTED(cuTexRefGetAddressMode)
BARMAP_SIM_UNSUPPORTED(cuTexRefGetArray)
BARMAP_SIM_UNSUPPORTED(cuTexRefGetFilterMode)
BARMAP_SIM_UNSUPPORTED(cuTexRefGetFlags)
BARMAP_SIM_UNSUPPORTED(cuTexRefGetFormat)
BARMAP_SIM_UNSUPPORTED(cuTexRefSetAddress_v2)
BARMAP_SIM_UNSUPPORTED(cuTexRefSetAddress2D_v3)
BARMAP_SIM_UNSUPPORTED(cuTexRefSetAddressMode)
BARMAP_SIM_UNSUPPORTED(cuTexRefSetArray)
BARMAP_SIM_UNSUPPORTED(cuTexRefSetFilterMode)
BARMAP_SIM_UNSUPPORTED(cuTexRefSetFlags)
BARMAP_SIM_UNSUPPORTED(cuTexRefSetFormat)

// Graphs
BARMAP_SIM_UNSUPPORTED(cuDeviceGraphMemTrim)
BARMAP_SIM_UNSUPPORTED(cuGraphAddMemAllocNode)
BARMAP_SIM_UNSUPPORTED(cuGraphAddMemcpyNode)
BARMAP_SIM_UNSUPPORTED(cuStreamBeginCapture_v2)
BARMAP_SIM_UNSUPPORTED(cuStreamEndCapture)
BARMAP_SIM_UNSUPPORTED(cuGraphCreate)
BARMAP_SIM_UNSUPPORTED(cuGraphDestroy)
BARMAP_SIM_UNSUPPORTED(cuGraphExecDestroy)
BARMAP_SIM_UNSUPPORTED(cuGraphInstantiateWithFlags)
BARMAP_SIM_UNSUPPORTED(cuGraphLaunch)
BARMAP_SIM_UNSUPPORTED(cuGraphRetainUserObject)
BARMAP_SIM_UNSUPPORTED(cuUserObjectCreate)
BARMAP_SIM_UNSUPPORTED(cuUserObjectRelease)

// Modules, linking, and launching as it was before cuLaunchKernel
BARMAP_SIM_UNSUPPORTED(cuFuncGetAttribute)
BARMAP_SIM_UNSUPPORTED(cuFuncSetAttribute)
BARMAP_SIM_UNSUPPORTED(cuFuncSetBlockShape)
BARMAP_SIM_UNSUPPORTED(cuFuncSetCacheConfig)
BARMAP_SIM_UNSUPPORTED(cuFuncSetSharedMemConfig)
BARMAP_SIM_UNSUPPORTED(cuFuncSetSharedSize)
BARMAP_SIM_UNSUPPORTED(cuLaunch)
BARMAP_SIM_UNSUPPORTED(cuLaunchGrid)
BARMAP_SIM_UNSUPPORTED(cuLaunchGridAsync)
BARMAP_SIM_UNSUPPORTED(cuLinkAddData_v2)
BARMAP_SIM_UNSUPPORTED(cuLinkAddFile_v2)
BARMAP_SIM_UNSUPPORTED(cuLinkComplete)
BARMAP_SIM_UNSUPPORTED(cuLinkCreate_v2)
BARMAP_SIM_UNSUPPORTED(cuLinkDestroy)
BARMAP_SIM_UNSUPPORTED(cuModuleGetGlobal_v2)
BARMAP_SIM_UNSUPPORTED(cuModuleGetSurfRef)
BARMAP_SIM_UNSUPPORTED(cuModuleGetTexRef)
BARMAP_SIM_UNSUPPORTED(cuModuleLoad)
BARMAP_SIM_UNSUPPORTED(cuParamSetSize)
BARMAP_SIM_UNSUPPORTED(cuParamSetTexRef)
BARMAP_SIM_UNSUPPORTED(cuParamSetf)
BARMAP_SIM_UNSUPPORTED(cuParamSeti)
BARMAP_SIM_UNSUPPORTED(cuParamSetv)

// Contexts, profiling, and what else there is
BARMAP_SIM_UNSUPPORTED(cuCtxAttach)
BARMAP_SIM_UNSUPPORTED(cuCtxDetach)
BARMAP_SIM_UNSUPPORTED(cuCtxGetCacheConfig)
BARMAP_SIM_UNSUPPORTED(cuCtxGetLimit)
BARMAP_SIM_UNSUPPORTED(cuCtxGetSharedMemConfig)
BARMAP_SIM_UNSUPPORTED(cuCtxSetCacheConfig)
BARMAP_SIM_UNSUPPORTED(cuCtxSetLimit)
BARMAP_SIM_UNSUPPORTED(cuCtxSetSharedMemConfig)
BARMAP_SIM_UNSUPPORTED(cuIpcGetEventHandle)
BARMAP_SIM_UNSUPPORTED(cuIpcOpenEventHandle)
BARMAP_SIM_UNSUPPORTED(cuProfilerInitialize)
BARMAP_SIM_UNSUPPORTED(cuProfilerStart)
BARMAP_SIM_UNSUPPORTED(cuProfilerStop)
BARMAP_SIM_UNSUPPORTED(cuStreamAttachMemAsync)
