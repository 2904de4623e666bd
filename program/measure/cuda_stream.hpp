// SPDX-License-Identifier: MIT
#pragma once

#include "cuda/driver_api.hpp"

namespace barmap::tool {

/// A stream that no other one waits for. Needs the GPU's context for as long as it lives.
class cuda_stream {
public:
    cuda_stream() { // @throws error
        constexpr unsigned non_blocking = 1;
        cuda::check(cuda::api().stream_create(&stream_, non_blocking), "create a CUDA stream");
    }
    cuda_stream(cuda_stream const&) = delete;
    cuda_stream& operator=(cuda_stream const&) = delete;
    ~cuda_stream() { cuda::api().stream_destroy(stream_); }

    [[nodiscard]] CUstream get() const noexcept { return stream_; }
    void wait() const { // @throws error
        cuda::check(cuda::api().stream_synchronize(stream_), "wait for a CUDA stream");
    }

private:
    CUstream stream_ = nullptr;
};

} // namespace barmap::tool
