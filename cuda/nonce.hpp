// SPDX-License-Identifier: MIT
#pragma once

#include "nvidia/cuda.hpp"

#include <array>
#include <cstdint>

/// Random values for self-tests, which the driver itself writes and reads.
namespace barmap::cuda {

using nonce = std::array<std::uint64_t, 8>;

/// @throws error
[[nodiscard]] nonce random_nonce();

/// Copies by the driver, on a separate stream. Needs a current context.
class nonce_stream {
public:
    nonce_stream();
    nonce_stream(nonce_stream const&) = delete;
    nonce_stream& operator=(nonce_stream const&) = delete;
    ~nonce_stream();

    /// Both return when the copy is done. @throws error
    void to_gpu(CUdeviceptr to, nonce const& from) const;
    void from_gpu(nonce& to, CUdeviceptr from) const;

private:
    void synchronize() const;
    CUstream stream_ = nullptr;
};

} // namespace barmap::cuda
