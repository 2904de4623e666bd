// SPDX-License-Identifier: MIT
#include "vkgdr.h"

#include "last_error.hpp"
#include "live_handles.hpp"
#include "two_sided_memory.hpp"

#include "system/no_cancellation.hpp"

#include "nvidia/cuda.hpp"

#include <barmap/checkpoint.hpp>
#include <barmap/copy.hpp>
#include <barmap/waits.hpp>

#include <atomic>
#include <cstdio>
#include <new>
#include <string>

/// The C boundary: what each function is in terms of barmap.
namespace {

namespace vk = barmap::vkgdr;
using barmap::errc;
using barmap::error;

struct opened_gpu {
    barmap::device gpu;
    vk::coherence wanted;
};

// Never destroyed: a program may exit with live handles, and their memory goes with the process.

vk::live_handles<vkgdr_t, opened_gpu>& gpus() {
    static auto* const instance = new vk::live_handles<vkgdr_t, opened_gpu>("vkgdr_t");
    return *instance;
}

vk::live_handles<vkgdr_memory_t, vk::two_sided_memory>& memories() {
    static auto* const instance =
        new vk::live_handles<vkgdr_memory_t, vk::two_sided_memory>("vkgdr_memory_t");
    return *instance;
}

/// Where exceptions stop: what failed becomes the thread's last error, and the answer is `failed`.
template <class Result, class Action>
Result answer(Result failed, Action&& action) {
    barmap::os::no_cancellation const uncancelled;
    try {
        return action();
    } catch (std::bad_alloc const&) {
        vk::last_error::set("out of memory");
    } catch (error const& failure) {
        vk::last_error::set(vk::text_of(failure));
    } catch (std::exception const& failure) {
        vk::last_error::set(failure.what());
    }
    return failed;
}

/// One property of live memory; `otherwise` for a handle that is not live.
template <class Result, class Property>
Result property(vkgdr_memory_t mem, Result otherwise, Property&& of) {
    return answer(otherwise,
                  [&]() -> Result { return of(*memories().find(mem, "look at the memory")); });
}

vk::coherence coherence_from(std::uint32_t flags) {
    constexpr std::uint32_t known = VKGDR_OPEN_CURRENT_CONTEXT_BIT |
                                    VKGDR_OPEN_FORCE_NON_COHERENT_BIT |
                                    VKGDR_OPEN_REQUIRE_COHERENT_BIT;
    if (flags & ~known)
        throw error(errc::invalid_argument, "open a GPU with flags " + std::to_string(flags), "",
                    "only the bits of vkgdr_open_flags may be set");
    return {(flags & VKGDR_OPEN_FORCE_NON_COHERENT_BIT) != 0,
            (flags & VKGDR_OPEN_REQUIRE_COHERENT_BIT) != 0};
}

/// Whether the range keeps to the rules; if not, says so.
bool keeps_to_rules(vk::two_sided_memory const& memory, char const* operation, std::size_t offset,
                    std::size_t size) {
    char const* const broken = memory.broken_rule(offset, size);
    if (!broken)
        return true;
    std::string const text = std::string("cannot ") + operation + " " + std::to_string(size) +
                             " bytes at offset " + std::to_string(offset) + " of " +
                             std::to_string(memory.size()) + ": " + broken + " (atom size " +
                             std::to_string(memory.atom_size()) + ")";
    vk::last_error::set(text);
    // Few programs ask for the last error of a function that returns nothing.
    static std::atomic_flag printed = ATOMIC_FLAG_INIT;
    if (!printed.test_and_set())
        std::fprintf(stderr,
                     "vkgdr: %s; this is printed once, vkgdr_last_error() reports it each "
                     "time\n",
                     text.c_str());
    return false;
}

} // namespace

extern "C" {

char* vkgdr_last_error(void) {
    return vk::last_error::copy();
}

vkgdr_t vkgdr_open(CUdevice device, std::uint32_t flags) {
    vk::last_error::clear();
    return answer(vkgdr_t{}, [&] {
        vk::coherence const wanted = coherence_from(flags);
        int const ordinal = (flags & VKGDR_OPEN_CURRENT_CONTEXT_BIT)
                                ? vk::ordinal_of_current_context("open the current context's GPU")
                                : vk::ordinal_of(device);
        auto opened =
            std::make_shared<opened_gpu const>(opened_gpu{barmap::device::open(ordinal), wanted});
        // A GPU that cannot allocate is refused now, as by the original, and not at the first use.
        vk::two_sided_memory const trial(opened->gpu, 1, wanted);
        return gpus().add(std::move(opened));
    });
}

void vkgdr_close(vkgdr_t g) {
    if (g) // memory holds the device, so it may live on
        answer(false, [&] { return gpus().take(g, "close a GPU") != nullptr; });
}

vkgdr_memory_t vkgdr_memory_alloc(vkgdr_t g, size_t size, std::uint32_t flags) {
    vk::last_error::clear();
    return answer(vkgdr_memory_t{}, [&] {
        std::shared_ptr<opened_gpu const> const on = gpus().find(g, "allocate GPU memory");
        if (flags != 0)
            throw error(errc::invalid_argument,
                        "allocate GPU memory with flags " + std::to_string(flags), "",
                        "flags must be 0");
        if (size == 0)
            throw error(errc::invalid_argument, "allocate 0 bytes of GPU memory", "",
                        "give a size greater than 0");
        // The address must be valid in the caller's context.
        int const current = vk::ordinal_of_current_context("allocate GPU memory");
        if (current != on->gpu.ordinal())
            throw error({barmap::cuda::error_invalid_context, barmap::cuda_category()},
                        "allocate memory of GPU " + std::to_string(on->gpu.ordinal()), "",
                        "the current CUDA context is of GPU " + std::to_string(current));
        return memories().add(
            std::make_shared<vk::two_sided_memory const>(on->gpu, size, on->wanted));
    });
}

void vkgdr_memory_free(vkgdr_memory_t mem) {
    if (mem)
        answer(false, [&] { return memories().take(mem, "free GPU memory") != nullptr; });
}

void* vkgdr_memory_get_host_ptr(vkgdr_memory_t mem) {
    return property(mem, static_cast<void*>(nullptr),
                    [](vk::two_sided_memory const& of) { return of.cpu_address(); });
}

CUdeviceptr vkgdr_memory_get_device_ptr(vkgdr_memory_t mem) {
    return property(mem, CUdeviceptr{0},
                    [](vk::two_sided_memory const& of) { return of.gpu_address(); });
}

size_t vkgdr_memory_get_size(vkgdr_memory_t mem) {
    return property(mem, size_t{0}, [](vk::two_sided_memory const& of) { return of.size(); });
}

bool vkgdr_memory_is_coherent(vkgdr_memory_t mem) {
    return property(mem, false, [](vk::two_sided_memory const& of) { return of.coherent(); });
}

size_t vkgdr_memory_non_coherent_atom_size(vkgdr_memory_t mem) {
    return property(mem, size_t{0}, [](vk::two_sided_memory const& of) { return of.atom_size(); });
}

// Coherent memory needs no flush in Vulkan, because submitting work to a queue makes earlier writes
// visible; CUDA's launches also do. But stores to a write-combining mapping wait in a buffer of the
// CPU until it fills or a fence drains it, and neither a running kernel nor one that another thread
// launches drains it. So each flush executes a fence.
void vkgdr_memory_flush(vkgdr_memory_t mem, size_t offset, size_t size) {
    bool const may = property(mem, false, [&](vk::two_sided_memory const& of) {
        return keeps_to_rules(of, "flush", offset, size);
    });
    if (may)
        barmap::flush_stores();
}

// Loads from the mapping reach the GPU each time. But a streaming load may be served from a buffer
// that was filled before, and the CPU may execute a later load ahead of the one that showed that
// the GPU was done. This fence ends both.
void vkgdr_memory_invalidate(vkgdr_memory_t mem, size_t offset, size_t size) {
    bool const may = property(mem, false, [&](vk::two_sided_memory const& of) {
        return keeps_to_rules(of, "invalidate", offset, size);
    });
    if (may)
        barmap::order_loads();
}

bool vkgdr_barmap_checkpoint_prepare(std::uint64_t at_most_ns) {
    vk::last_error::clear();
    return answer(false, [&] {
        barmap::checkpoint_prepare(barmap::detail::wait_of_ns(at_most_ns));
        return true;
    });
}

bool vkgdr_barmap_checkpoint_restore() {
    vk::last_error::clear();
    return answer(false, [] {
        barmap::checkpoint_restore();
        return true;
    });
}

} // extern "C"
