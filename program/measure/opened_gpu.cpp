// SPDX-License-Identifier: MIT
#include "measure/opened_gpu.hpp"

namespace barmap::tool {

opened_gpu::opened_gpu(int ordinal) : device_(barmap::device::open(ordinal)) {
    cuda::check(cuda::api().device_get(&handle_, ordinal), "open the GPU");
    context_ = cuda::primary_context::retain(handle_);
}

} // namespace barmap::tool
