// SPDX-License-Identifier: MIT
#include "cuda/own_kernel.hpp"

#include "cuda/context_scope.hpp"
#include "cuda/driver_lifetime.hpp"

#include <barmap/error.hpp>

namespace barmap::cuda {

own_kernel::own_kernel(char const* ptx, char const* name) {
    driver_api const& cu = api();
    check(cu.ctx_get_current(&context_), "find the GPU's context");
    check(cu.module_load_data(&module_, ptx), "load one of barmap's kernels",
          "it is PTX 6.4 for sm_70: the driver needs its PTX compiler "
          "(libnvidia-ptxjitcompiler.so.1) and the GPU compute capability 7.0");
    CUresult const found = cu.module_get_function(&function_, module_, name);
    if (found != success) {
        cu.module_unload(module_);
        check(found, "find one of barmap's kernels");
    }
}

own_kernel::~own_kernel() {
    if (!drivers_are_up(owner_))
        return;
    try {
        context_scope const scope(context_);
        api().module_unload(module_);
    } catch (error const&) {
        // The context has been destroyed, and the module with it.
    }
}

void own_kernel::launch(unsigned threads, void** arguments, void* stream, char const* what) const {
    context_scope const scope(context_); // the module's, whatever the thread has
    check(api().launch_kernel(function_, 1, 1, 1, threads, 1, 1, 0, static_cast<CUstream>(stream),
                              arguments, nullptr),
          what, "give a stream of the context that was current when this was made");
}

} // namespace barmap::cuda
