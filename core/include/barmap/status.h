// SPDX-License-Identifier: MIT
#ifndef BARMAP_STATUS_H
#define BARMAP_STATUS_H

/// Returned by functions that can fail. Values are never reused; later versions may add some, so
/// treat an unknown one as a failure.
enum barmap_status {
    BARMAP_OK = 0,
    BARMAP_ERROR_INVALID_ARGUMENT = 1,      ///< a size of 0, a NULL, an unknown name or option
    BARMAP_ERROR_OUT_OF_RANGE = 2,          ///< the range leaves its allocation
    BARMAP_ERROR_UNSUPPORTED_MEMORY = 3,    ///< this kind of memory cannot be mapped
    BARMAP_ERROR_UNSUPPORTED_OPERATION = 4, ///< the backend lacks this operation
    BARMAP_ERROR_NO_DEVICE = 5,             ///< no driver, no GPU, or none with this ordinal
    BARMAP_ERROR_BACKEND_ABSENT = 6,        ///< no backend or engine for it is available here
    BARMAP_ERROR_BACKEND_BROKEN = 7,        ///< the backend or engine is present but does not work
    BARMAP_ERROR_WRONG_DEVICE = 8,          ///< the memory belongs to another GPU
    BARMAP_ERROR_UNKNOWN_LAYOUT = 9,        ///< the driver's data has an unknown layout
    BARMAP_ERROR_BAR1_EXHAUSTED = 10,       ///< too little of the GPU's BAR1 aperture is free
    BARMAP_ERROR_FORKED_CHILD = 11,         ///< the handle belongs to the parent process
    BARMAP_ERROR_NO_MEMORY = 12,            ///< the process has no memory left
    BARMAP_ERROR_SYSTEM = 13,               ///< the system refused; the cause is an errno value
    BARMAP_ERROR_CUDA = 14,                 ///< CUDA refused; the cause is a CUresult
    BARMAP_ERROR_VULKAN = 15,               ///< Vulkan refused; the cause is a VkResult
    BARMAP_ERROR_RM = 16,         ///< NVIDIA's resource manager refused; the cause is an NV_STATUS
    BARMAP_ERROR_UNEXPECTED = 17, ///< a fault in barmap; the message says which
    BARMAP_ERROR_COPY_UNFINISHED = 18, ///< a copy engine did not finish a copy
    BARMAP_ERROR_CHECKPOINTED = 19,    ///< call barmap_checkpoint_restore() first
    BARMAP_ERROR_NOT_STARTED = 20      ///< no copy engine is at work, and the call may not start one
};

#endif
