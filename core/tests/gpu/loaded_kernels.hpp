// SPDX-License-Identifier: MIT
#pragma once

#include "real_gpu.hpp"

namespace barmap::gpu_test {

/// The kernels of some PTX, in the context that is current.
///
/// CUDA loads a kernel when it is first launched, and may wait for those that run then: launch each
/// one once, with nothing to do, before you rely on two that run at the same time.
class loaded_kernels {
public:
    explicit loaded_kernels(char const* ptx) {
        expect_success(cuda::api().module_load_data(&module_, ptx));
    }
    loaded_kernels(loaded_kernels const&) = delete;
    loaded_kernels& operator=(loaded_kernels const&) = delete;
    ~loaded_kernels() { cuda::api().module_unload(module_); }

    template <class... Arguments>
    void launch(char const* name, unsigned blocks, unsigned threads, CUstream stream,
                Arguments... arguments) const {
        CUfunction function = nullptr;
        expect_success(cuda::api().module_get_function(&function, module_, name));
        void* pointers[] = {&arguments...};
        expect_success(cuda::api().launch_kernel(function, blocks, 1, 1, threads, 1, 1, 0, stream,
                                                 pointers, nullptr));
    }

private:
    CUmodule module_ = nullptr;
};

/// A stream of the context that is current.
class own_stream {
public:
    own_stream() { expect_success(cuda::api().stream_create(&stream_, non_blocking)); }
    own_stream(own_stream const&) = delete;
    own_stream& operator=(own_stream const&) = delete;
    ~own_stream() { cuda::api().stream_destroy(stream_); }

    [[nodiscard]] CUstream get() const { return stream_; }
    void wait() const { expect_success(cuda::api().stream_synchronize(stream_)); }
    /// Whether all that it was given is done.
    [[nodiscard]] bool is_idle() const {
        CUresult const found = cuda::api().stream_query(stream_);
        if (found == cuda::error_not_ready)
            return false;
        expect_success(found);
        return true;
    }

private:
    static constexpr int non_blocking = 1; // CU_STREAM_NON_BLOCKING
    CUstream stream_ = nullptr;
};

} // namespace barmap::gpu_test
