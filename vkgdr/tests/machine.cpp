// SPDX-License-Identifier: MIT
#include "machine.hpp"

#include "vulkan/software_gpu.hpp"

#include <cstdlib>
#include <cstring>
#include <memory>
#include <ostream>

namespace barmap::vkgdr_test {
namespace {

std::string simulated_without_vulkan() {
    ::setenv("BARMAP_SIM", "1", 1);
    return {};
}

std::string simulated_with_vulkan() {
#if defined(__SANITIZE_THREAD__)
    return "Mesa's threads are not built for ThreadSanitizer";
#endif
    ::setenv("BARMAP_SIM_DRIVER", "580", 1); // so that nothing but Vulkan works
    test::choose_software_gpu();
    return test::why_no_software_gpu();
}

std::string real() {
    ::unsetenv("BARMAP_SIM");
    std::string why;
    if (!cuda::try_api(why))
        return "there is no GPU: " + why;
    return {};
}

constexpr machine all[] = {
    {"simulated_gpu", false, "CUDA_ERROR_OUT_OF_MEMORY", simulated_without_vulkan},
    {"software_vulkan", true, "VK_ERROR_OUT_OF_DEVICE_MEMORY", simulated_with_vulkan},
    {"real_gpu", false, "OUT_OF", real},
};

} // namespace

std::vector<machine> machines() {
    return {std::begin(all), std::end(all)};
}

void PrintTo(machine const& which, std::ostream* out) {
    *out << which.name;
}

void vkgdr_test::SetUp() {
    if (std::string const why = GetParam().prepare(); !why.empty()) {
        char const* const required = std::getenv("BARMAP_REQUIRE");
        if (required && GetParam().vulkan && std::strstr(required, "vulkan"))
            FAIL() << why;
        GTEST_SKIP() << why;
    }
    ::setenv("BARMAP_COPY", "portable", 0); // measuring copy routines is not the subject
    CUcontext context = nullptr;
    expect_success(cu().primary_ctx_retain(&context, 0));
    has_context_ = true;
    expect_success(cu().ctx_set_current(context));
}

void vkgdr_test::TearDown() {
    if (has_context_)
        cu().primary_ctx_release(0);
}

void vkgdr_test::without_context(std::function<void()> const& action) {
    CUcontext context = nullptr;
    expect_success(cu().ctx_pop_current(&context));
    action();
    expect_success(cu().ctx_push_current(context));
}

std::size_t vkgdr_test::free_gpu_memory() {
    std::size_t free = 0, total = 0;
    expect_success(cu().ctx_synchronize());
    expect_success(cu().mem_get_info(&free, &total));
    return free;
}

std::string last_error() {
    std::unique_ptr<char, decltype(&std::free)> const text(vkgdr_last_error(), &std::free);
    return text ? text.get() : "(none)";
}

void expect_error(std::string const& words) {
    std::string const text = last_error();
    EXPECT_NE(text.find(words), std::string::npos) << text << "\nlacks: " << words;
}

opened::opened(std::uint32_t flags) : handle_(vkgdr_open(0, flags)) {
    EXPECT_NE(handle_, nullptr) << last_error();
}

void opened::close() {
    if (handle_)
        vkgdr_close(handle_);
    handle_ = nullptr;
}

allocated::allocated(opened const& gpu, std::size_t bytes)
    : handle_(vkgdr_memory_alloc(gpu.get(), bytes, 0)) {
    EXPECT_NE(handle_, nullptr) << bytes << " bytes: " << last_error();
}

} // namespace barmap::vkgdr_test
