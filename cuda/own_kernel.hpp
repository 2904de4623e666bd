// SPDX-License-Identifier: MIT
#pragma once

#include "cuda/driver_api.hpp"
#include "system/process.hpp"

namespace barmap::cuda {

/// One of barmap's kernels, in the context that was current when it was loaded.
/// Thread rule: launch() may be called at once.
class own_kernel {
public:
    /// @param ptx what packaging/make_ptx.cmake makes. @throws error
    own_kernel(char const* ptx, char const* name);
    own_kernel(own_kernel const&) = delete;
    own_kernel& operator=(own_kernel const&) = delete;
    /// Leaves the kernel to a context that has gone, or goes with the process.
    ~own_kernel();

    /// Enqueues one block. @param what for the error's text. @throws error
    void launch(unsigned threads, void** arguments, void* stream, char const* what) const;

private:
    CUcontext context_ = nullptr;
    CUmodule module_ = nullptr;
    CUfunction function_ = nullptr;
    os::process_id owner_ = os::this_process();
};

} // namespace barmap::cuda
