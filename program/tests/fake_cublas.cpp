// SPDX-License-Identifier: MIT
// The functions of cuBLAS that `barmap batch --beside gemm` calls. The simulated GPU multiplies no
// matrices: a product only takes some time.
#include <chrono>
#include <cstdlib>
#include <thread>

namespace {
int status() {
    char const* const wanted = std::getenv("FAKE_CUBLAS_STATUS");
    return wanted ? std::atoi(wanted) : 0;
}
int handle_of_all = 0;
} // namespace

extern "C" [[gnu::visibility("default")]] int cublasCreate_v2(void** handle) {
    *handle = &handle_of_all;
    return 0;
}

extern "C" [[gnu::visibility("default")]] int cublasDestroy_v2(void* handle) {
    return handle == &handle_of_all ? 0 : 1;
}

extern "C" [[gnu::visibility("default")]] int cublasSetStream_v2(void* handle, void* stream) {
    return handle == &handle_of_all && stream ? 0 : 1;
}

extern "C" [[gnu::visibility("default")]] int cublasGemmEx(void* handle, int, int, int, int, int,
                                                           void const* alpha, void const*, int, int,
                                                           void const*, int, int, void const* beta,
                                                           void*, int, int, int, int) {
    std::this_thread::sleep_for(std::chrono::microseconds(100));
    return handle == &handle_of_all && alpha && beta ? status() : 1;
}
