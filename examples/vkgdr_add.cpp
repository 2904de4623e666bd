// SPDX-License-Identifier: MIT
// The same as vkgdr_add.c, with owners that release what they hold, and errors as exceptions.
#include "add_on_gpu.h"

#include <vkgdr.h>

#include <cstddef>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <span>
#include <stdexcept>
#include <string>

namespace {

[[noreturn]] void fail() {
    std::unique_ptr<char, decltype(&std::free)> const why(vkgdr_last_error(), &std::free);
    throw std::runtime_error(why ? why.get() : "vkgdr failed");
}

/// A GPU, opened through the current CUDA context.
class gpu {
public:
    gpu() : handle_(vkgdr_open(0, VKGDR_OPEN_CURRENT_CONTEXT_BIT)) {
        if (!handle_)
            fail();
    }
    gpu(gpu const&) = delete;
    gpu& operator=(gpu const&) = delete;
    ~gpu() { vkgdr_close(handle_); }
    [[nodiscard]] vkgdr_t handle() const noexcept { return handle_; }

private:
    vkgdr_t handle_;
};

/// An array in GPU memory that the CPU can use as well.
class array {
public:
    array(gpu const& on, std::size_t count)
        : handle_(vkgdr_memory_alloc(on.handle(), count * sizeof(float), 0)), count_(count) {
        if (!handle_)
            fail();
    }
    array(array const&) = delete;
    array& operator=(array const&) = delete;
    ~array() { vkgdr_memory_free(handle_); }

    [[nodiscard]] std::span<float> on_cpu() const {
        return {static_cast<float*>(vkgdr_memory_get_host_ptr(handle_)), count_};
    }
    [[nodiscard]] CUdeviceptr on_gpu() const { return vkgdr_memory_get_device_ptr(handle_); }
    void flush() const { vkgdr_memory_flush(handle_, 0, count_ * sizeof(float)); }
    void invalidate() const { vkgdr_memory_invalidate(handle_, 0, count_ * sizeof(float)); }

private:
    vkgdr_memory_t handle_;
    std::size_t count_;
};

int run() {
    constexpr std::size_t count = 100'000;
    add_on_gpu add;
    if (add_on_gpu_start(&add) != 0)
        return 1;
    gpu const opened;
    array const a(opened, count), b(opened, count), sum(opened, count);
    for (std::size_t i = 0; i < count; ++i) {
        a.on_cpu()[i] = 7.0f * static_cast<float>(i);
        b.on_cpu()[i] = -3.0f * static_cast<float>(i);
    }
    a.flush();
    b.flush();
    if (add_on_gpu_run(&add, a.on_gpu(), b.on_gpu(), sum.on_gpu(), count) != 0)
        return 1;
    sum.invalidate();
    std::size_t wrong = 0;
    for (std::size_t i = 0; i < count; ++i)
        wrong += sum.on_cpu()[i] != 4.0f * static_cast<float>(i);
    std::printf("added %zu numbers on the GPU, %zu of them wrong; the last sum is %g\n", count,
                wrong, static_cast<double>(sum.on_cpu()[count - 1]));
    return wrong == 0 ? 0 : 1;
}

} // namespace

int main() {
    try {
        return run();
    } catch (std::exception const& failure) {
        std::fprintf(stderr, "%s\n", failure.what());
        return 1;
    }
}
