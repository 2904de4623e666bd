// SPDX-License-Identifier: MIT
#include "batch/cublas.hpp"

#include "measure/pattern.hpp"
#include "output/formatted.hpp"

#include <barmap/error.hpp>

#include <cstdint>
#include <dlfcn.h>
#include <span>
#include <string>
#include <vector>

namespace barmap::tool {
namespace {

// The part of cuBLAS's interface that this file calls, unchanged since version 11.
using create_function = int (*)(void** handle);
using destroy_function = int (*)(void* handle);
using set_stream_function = int (*)(void* handle, CUstream stream);
using gemm_function = int (*)(void* handle, int transpose_a, int transpose_b, int m, int n, int k,
                              void const* alpha, void const* a, int a_type, int lda, void const* b,
                              int b_type, int ldb, void const* beta, void* c, int c_type, int ldc,
                              int compute_type, int algorithm);
constexpr int no_transpose = 0;   // CUBLAS_OP_N
constexpr int half = 2;           // CUDA_R_16F
constexpr int compute_float = 68; // CUBLAS_COMPUTE_32F
constexpr int by_default = -1;    // CUBLAS_GEMM_DEFAULT

constexpr int side = 8192;
constexpr std::size_t matrix_bytes = std::size_t{2} * side * side;

template <class Function>
Function function_of(void* library, char const* name) {
    auto* const found = reinterpret_cast<Function>(dlsym(library, name));
    if (!found)
        throw error(errc::unsupported_operation, "load cuBLAS", "",
                    std::string("it has no function ") + name);
    return found;
}

void require(int status, char const* operation) {
    if (status != 0)
        throw error(errc::unsupported_operation, operation, "",
                    formatted("cuBLAS returned status {}", status));
}

void* load() {
    std::string why;
    for (char const* const name : {"libcublas.so.13", "libcublas.so.12"}) {
        if (void* const library = dlopen(name, RTLD_NOW | RTLD_LOCAL))
            return library;
        why += (why.empty() ? "" : "; ") + std::string(dlerror());
    }
    throw error(errc::unsupported_operation, "load cuBLAS", "",
                why + "; install cuBLAS of CUDA 12 or 13, or name its directory in "
                      "LD_LIBRARY_PATH");
}

/// Random numbers of either sign, from 1/8 to 2: with equal numbers a product takes less power, and
/// leaves more of the GPU's limit to the copies beside it.
gpu_memory random_matrix(std::uint64_t seed) {
    std::vector<std::uint16_t> rows(std::size_t{16} * side); // repeated through the matrix
    fill_pattern(std::as_writable_bytes(std::span(rows)), seed, 0);
    constexpr std::uint16_t varying = 0x8fff, least = 0x3000;
    for (std::uint16_t& each : rows)
        each = static_cast<std::uint16_t>((each & varying) | least);
    gpu_memory made = gpu_memory::device(matrix_bytes);
    auto const bytes = std::as_bytes(std::span(rows));
    for (std::size_t at = 0; at < matrix_bytes; at += bytes.size())
        write_gpu(made.address() + at, bytes);
    return made;
}

} // namespace

large_product::large_product() : library_(load()) {
    a_ = random_matrix(1);
    b_ = random_matrix(2);
    c_ = gpu_memory::device(matrix_bytes);
    require(function_of<create_function>(library_, "cublasCreate_v2")(&handle_), "start cuBLAS");
}

large_product::~large_product() {
    if (handle_)
        function_of<destroy_function>(library_, "cublasDestroy_v2")(handle_);
}

void large_product::submit(CUstream stream) {
    static auto const set_stream = function_of<set_stream_function>(library_, "cublasSetStream_v2");
    static auto const gemm = function_of<gemm_function>(library_, "cublasGemmEx");
    require(set_stream(handle_, stream), "give cuBLAS a stream");
    float const one = 1, zero = 0;
    auto const at = [](gpu_memory const& matrix) {
        return reinterpret_cast<void*>(static_cast<std::uintptr_t>(matrix.address()));
    };
    require(gemm(handle_, no_transpose, no_transpose, side, side, side, &one, at(a_), half, side,
                 at(b_), half, side, &zero, at(c_), half, side, compute_float, by_default),
            "multiply matrices");
}

} // namespace barmap::tool
