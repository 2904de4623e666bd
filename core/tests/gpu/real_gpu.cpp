// SPDX-License-Identifier: MIT
#include "real_gpu.hpp"

#include <cstdlib>
#include <filesystem>
#include <iterator>

namespace barmap::gpu_test {

std::size_t open_descriptors() {
    return static_cast<std::size_t>(
        std::distance(std::filesystem::directory_iterator("/proc/self/fd"), {}));
}

void real_gpu::SetUp() {
    std::string why;
    cuda::driver_api const* driver = cuda::try_api(why);
    bool const real = driver && !driver->simulated && device::count() > 0;
    if (!real && std::getenv("BARMAP_REQUIRE"))
        FAIL() << "BARMAP_REQUIRE is set and there is no real GPU: " << why;
    if (!real)
        GTEST_SKIP() << "no real GPU: " << (why.empty() ? "simulated" : why);
    use(0);
}

void real_gpu::TearDown() {
    for (int const ordinal : retained_)
        cu().primary_ctx_release(ordinal);
}

void real_gpu::use(int ordinal) {
    CUcontext context = nullptr;
    expect_success(cu().primary_ctx_retain(&context, ordinal));
    retained_.push_back(ordinal);
    expect_success(cu().ctx_set_current(context));
}

int real_gpu::count() {
    return device::count();
}

} // namespace barmap::gpu_test
