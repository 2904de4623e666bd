// SPDX-License-Identifier: MIT
#include "cuda/nonce.hpp"

#include "cuda/driver_api.hpp"
#include "system/random_bytes.hpp"

#include <span>

namespace barmap::cuda {

nonce random_nonce() {
    nonce result{};
    os::fill_with_random_bytes(std::as_writable_bytes(std::span(result)));
    return result;
}

nonce_stream::nonce_stream() {
    constexpr unsigned non_blocking = 1;
    check(api().stream_create(&stream_, non_blocking), "make a CUDA stream");
}

nonce_stream::~nonce_stream() {
    api().stream_destroy(stream_);
}

void nonce_stream::to_gpu(CUdeviceptr to, nonce const& from) const {
    check(api().memcpy_htod_async(to, from.data(), sizeof from, stream_),
          "write the self-test's memory with the driver");
    synchronize();
}

void nonce_stream::from_gpu(nonce& to, CUdeviceptr from) const {
    check(api().memcpy_dtoh_async(to.data(), from, sizeof to, stream_),
          "read the self-test's memory with the driver");
    synchronize();
}

void nonce_stream::synchronize() const {
    check(api().stream_synchronize(stream_), "wait for the self-test's copy");
}

} // namespace barmap::cuda
