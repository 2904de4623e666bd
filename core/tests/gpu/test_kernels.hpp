// SPDX-License-Identifier: MIT
#pragma once

#include "real_gpu.hpp"
#include "signal_kernels.ptx.hpp"

#include <barmap/gpu/words.cuh>

namespace barmap::gpu_test {

/// The kernels of signal_kernels.ptx, in the context that is current.
class test_kernels {
public:
    test_kernels() : wrong_(sizeof(gpu::word)) {
        expect_success(cu_.module_load_data(&module_, ptx::signal_kernels));
        expect_success(cu_.stream_create(&stream_, non_blocking));
        fill_by_driver(wrong_.address(), 0, sizeof(gpu::word));
        expect_success(cu_.ctx_synchronize());
    }
    test_kernels(test_kernels const&) = delete;
    test_kernels& operator=(test_kernels const&) = delete;
    ~test_kernels() {
        cu_.stream_destroy(stream_);
        cu_.module_unload(module_);
    }

    [[nodiscard]] CUstream stream() const { return stream_; }
    /// What kernels count in.
    [[nodiscard]] gpu::word* wrong() const {
        return reinterpret_cast<gpu::word*>(wrong_.address());
    }

    template <class... Arguments>
    void launch(char const* name, unsigned blocks, Arguments... arguments) {
        CUfunction function = nullptr;
        expect_success(cu_.module_get_function(&function, module_, name));
        void* pointers[] = {&arguments...};
        expect_success(
            cu_.launch_kernel(function, blocks, 1, 1, 1, 1, 1, 0, stream_, pointers, nullptr));
    }

    /// Waits for the kernel, which has to have found nothing wrong.
    void expect_nothing_wrong() const {
        expect_success(cu_.stream_synchronize(stream_));
        gpu::word found = 1;
        expect_success(cu_.memcpy_dtoh(&found, wrong_.address(), sizeof found));
        EXPECT_EQ(found, 0u);
    }

private:
    static constexpr int non_blocking = 1; // CU_STREAM_NON_BLOCKING
    cuda::driver_api const& cu_ = cuda::api();
    CUmodule module_ = nullptr;
    CUstream stream_ = nullptr;
    device_block wrong_;
};

} // namespace barmap::gpu_test
