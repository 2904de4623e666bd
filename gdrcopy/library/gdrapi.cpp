// SPDX-License-Identifier: MIT
#include "gdrapi.h"
#undef gdr_get_info // the older function, which the library keeps, has this name

#include "boundary.hpp"
#include "mapped_handle.hpp"
#include "session.hpp"

#include "cuda/memory.hpp"

#include <barmap/checkpoint.hpp>
#include <barmap/waits.hpp>

#include <cstdint>
#include <cstring>

/// The C functions: each looks up its session and handle, and forwards the call.
namespace {

using namespace barmap;
using namespace barmap::gdrapi;

/// gdr_info_t of gdrcopy before 2.4.
struct info_v1 {
    std::uint64_t va;
    std::uint64_t mapped_size;
    std::uint32_t page_size;
    std::uint64_t tm_cycles;
    std::uint32_t cycles_per_ms;
    unsigned mapped : 1;
    unsigned wc_mapping : 1;
};
static_assert(sizeof(info_v1) == 40 && sizeof(gdr_info_v2) == 48);

/// Runs body(session) for an open session of this process.
template <class Body>
int with_session(gdr_t g, Body body) noexcept {
    return guarded([&] {
        std::shared_ptr<session> const found = find_session(g);
        if (!found)
            return refuse(EINVAL, "this gdr_t is not open");
        if (!found->in_own_process())
            return refuse(EACCES, "this gdr_t belongs to the parent process: a forked child may "
                                  "only close it");
        return body(*found);
    });
}

/// Runs body(buffer), with its lock held, for a handle of the session.
template <class Body>
int with_buffer(gdr_t g, gdr_mh_t handle, Body body) noexcept {
    return with_session(g, [&](session& owner) {
        std::shared_ptr<buffer> const found = owner.find(handle.h);
        if (!found)
            return refuse(EINVAL, "this handle is not pinned through this gdr_t");
        std::lock_guard const guard(found->lock);
        if (!found->alive)
            return refuse(EINVAL, "this handle was unpinned");
        return body(*found);
    });
}

gdr_mapping_type_t type_of(mapping const& map) noexcept {
    if (map.size() == 0)
        return GDR_MAPPING_TYPE_NONE;
    switch (map.kind()) {
    case cache_kind::write_combining:
        return GDR_MAPPING_TYPE_WC;
    case cache_kind::cached:
        return GDR_MAPPING_TYPE_CACHING;
    case cache_kind::uncached:
        return GDR_MAPPING_TYPE_DEVICE;
    }
    return GDR_MAPPING_TYPE_NONE;
}

template <class Info>
int fill_info(gdr_t g, gdr_mh_t handle, Info* info) noexcept {
    if (!info)
        return refuse(EINVAL, "gdr_get_info needs somewhere to write to");
    return with_buffer(g, handle, [&](buffer& found) {
        gdr_mapping_type_t const type = type_of(found.mapped);
        Info told{};
        told.va = found.address;
        told.mapped_size = found.size;
        told.page_size = gpu_page_size;
        told.mapped = type != GDR_MAPPING_TYPE_NONE;
        told.wc_mapping = type == GDR_MAPPING_TYPE_WC;
        if constexpr (requires { told.mapping_type; })
            told.mapping_type = type;
        *info = told;
        return 0;
    });
}

int pin_range(gdr_t g, unsigned long address, std::size_t size, pin_options const& options,
              gdr_mh_t* handle) noexcept {
    if (!handle)
        return refuse(EINVAL, "a pin needs somewhere to write its handle to");
    return with_session(g, [&](session& owner) {
        try {
            handle->h = owner.pin(address, size, options)->handle;
        } catch (error const& failure) {
            // An address without memory is a wrong argument, not memory of a wrong kind.
            if (failure.code() != errc::unsupported_memory ||
                cuda::describe_pages(address, size).kind != memory_kind::unknown)
                throw;
            return refuse(EINVAL, failure.what());
        }
        return 0;
    });
}

[[gnu::noinline]] int copy_much_to_gpu(unsigned long handle, std::byte* gpu, std::byte const* host,
                                       std::size_t bytes) noexcept {
    return copy_much(handle, gpu, host, bytes, [=](mapping const& whole) {
        whole.copy_to_gpu(static_cast<std::size_t>(gpu - whole.data()), std::span(host, bytes));
    });
}

[[gnu::noinline]] int copy_much_to_cpu(unsigned long handle, std::byte const* gpu, std::byte* host,
                                       std::size_t bytes) noexcept {
    return copy_much(handle, gpu, host, bytes, [=](mapping const& whole) {
        whole.copy_to_cpu(std::span(host, bytes), static_cast<std::size_t>(gpu - whole.data()));
    });
}

bool fits(buffer const& which, std::size_t size) noexcept {
    return size != 0 && size <= which.size;
}

} // namespace

extern "C" {

#pragma GCC visibility push(default)

gdr_t gdr_open(void) {
    gdr_t opened = nullptr;
    (void)guarded([&] {
        opened = open_session();
        return 0;
    });
    return opened;
}

int gdr_close(gdr_t g) {
    return guarded([&] {
        std::shared_ptr<session> const found = remove_session(g);
        if (!found)
            return refuse(EINVAL, "this gdr_t is not open");
        if (found->in_own_process()) {
            found->close();
        } else {
            found->forget();
            (void)new std::shared_ptr<session>(found); // never destroyed
        }
        return 0;
    });
}

int gdr_pin_buffer(gdr_t g, unsigned long addr, size_t size, uint64_t p2p_token, uint32_t va_space,
                   gdr_mh_t* handle) {
    pin_options options;
    options.p2p_token = p2p_token;
    options.va_space = va_space;
    return pin_range(g, addr, size, options, handle);
}

int gdr_pin_buffer_v2(gdr_t g, unsigned long addr, size_t size, uint32_t flags, gdr_mh_t* handle) {
    if (flags & ~static_cast<uint32_t>(GDR_PIN_FLAG_FORCE_PCIE))
        return refuse(EINVAL, "unknown flags for a pin");
    pin_options options;
    options.force_pcie = flags & GDR_PIN_FLAG_FORCE_PCIE;
    return pin_range(g, addr, size, options, handle);
}

int gdr_unpin_buffer(gdr_t g, gdr_mh_t handle) {
    return with_session(g, [&](session& owner) {
        return owner.unpin(handle.h) ? 0
                                     : refuse(EINVAL, "this handle is not pinned through this "
                                                      "gdr_t");
    });
}

int gdr_get_callback_flag(gdr_t g, gdr_mh_t handle, int* flag) {
    if (!flag)
        return refuse(EINVAL, "gdr_get_callback_flag needs somewhere to write to");
    return with_buffer(g, handle, [&](buffer& found) {
        *flag = found.pinned.revoked();
        return 0;
    });
}

int gdr_get_info_v2(gdr_t g, gdr_mh_t handle, gdr_info_v2_t* info) {
    return fill_info(g, handle, info);
}

int gdr_get_info(gdr_t g, gdr_mh_t handle, info_v1* info) {
    return fill_info(g, handle, info);
}

int gdr_map_v2(gdr_t g, gdr_mh_t handle, void** va, size_t size, int flags) {
    std::optional<cache_kind> kind;
    switch (flags) {
    case GDR_MAP_FLAG_DEFAULT:
        break;
    case GDR_MAP_FLAG_REQ_WC_MAPPING:
        kind = cache_kind::write_combining;
        break;
    case GDR_MAP_FLAG_REQ_CACHE_MAPPING:
        kind = cache_kind::cached;
        break;
    case GDR_MAP_FLAG_REQ_DEVICE_MAPPING:
        kind = cache_kind::uncached;
        break;
    default:
        return refuse(EINVAL, "unknown flags for a mapping");
    }
    if (!va)
        return refuse(EINVAL, "a mapping needs somewhere to write its address to");
    return with_buffer(g, handle, [&](buffer& found) {
        if (found.mapped.size() != 0)
            return refuse(EAGAIN, "this handle is mapped already");
        if (!fits(found, size))
            return refuse(EINVAL, "a mapping of 0 bytes, or of more than was pinned");
        gdrapi::map(found, kind);
        // One page is what programs map flags and doorbells by.
        if (size > gpu_page_size)
            prepare_large_copies(found);
        *va = found.data();
        return 0;
    });
}

int gdr_map(gdr_t g, gdr_mh_t handle, void** va, size_t size) {
    return gdr_map_v2(g, handle, va, size, GDR_MAP_FLAG_DEFAULT);
}

int gdr_unmap(gdr_t g, gdr_mh_t handle, void* va, size_t size) {
    return with_buffer(g, handle, [&](buffer& found) {
        if (found.mapped.size() == 0)
            return refuse(EINVAL, "this handle is not mapped");
        // Or the GPU's address, as DPDK has it: the original answers 0 to that.
        bool const known =
            va == found.data() || reinterpret_cast<std::uintptr_t>(va) == found.address;
        if (!known || !fits(found, size))
            return refuse(EINVAL, "not the address and size of this handle's mapping");
        gdrapi::unmap(found);
        return 0;
    });
}

// The hot path: no lock, no log, except for what an engine may copy faster. Each function ends in a jump,
// which pushes nothing.

int gdr_copy_to_mapping(gdr_mh_t handle, void* map_d_ptr, const void* h_ptr, size_t size) {
    auto* const gpu = static_cast<std::byte*>(map_d_ptr);
    auto* const host = static_cast<std::byte const*>(h_ptr);
    return copy_through(handle.h, gpu, host, size, [&](slot const& named) {
        if (size >= named.engines_to_gpu.load(std::memory_order_relaxed)) [[unlikely]]
            return copy_much_to_gpu(handle.h, gpu, host, size);
        return barmap_copy_write(gpu, host, size, named.plan.load(std::memory_order_relaxed));
    });
}

int gdr_copy_from_mapping(gdr_mh_t handle, void* h_ptr, const void* map_d_ptr, size_t size) {
    auto* const gpu = static_cast<std::byte const*>(map_d_ptr);
    auto* const host = static_cast<std::byte*>(h_ptr);
    return copy_through(handle.h, gpu, host, size, [&](slot const& named) {
        if (size >= named.engines_to_cpu.load(std::memory_order_relaxed)) [[unlikely]]
            return copy_much_to_cpu(handle.h, gpu, host, size);
        return barmap_copy_read(host, gpu, size, named.plan.load(std::memory_order_relaxed));
    });
}

void gdr_runtime_get_version(int* major, int* minor) {
    if (major)
        *major = GDR_API_MAJOR_VERSION;
    if (minor)
        *minor = GDR_API_MINOR_VERSION;
}

int gdr_driver_get_version(gdr_t g, int* major, int* minor) {
    if (!major || !minor)
        return refuse(EINVAL, "gdr_driver_get_version needs somewhere to write to");
    return with_session(g, [&](session& open) {
        // Without a module there is no such version; that of the interface opens every gate that
        // programs have.
        module_version const version =
            open.module() ? open.module()->version
                          : module_version{GDR_API_MAJOR_VERSION, GDR_API_MINOR_VERSION};
        *major = version.major;
        *minor = version.minor;
        return 0;
    });
}

int gdr_get_attribute(gdr_t g, gdr_attr_t attr, int* v) {
    if (!v)
        return refuse(EINVAL, "gdr_get_attribute needs somewhere to write to");
    // As a number: a program may pass any, and not every number is a value of the enumeration.
    int which = 0;
    static_assert(sizeof attr == sizeof which);
    std::memcpy(&which, &attr, sizeof which);
    return with_session(g, [&](session& open) {
        switch (which) {
        case GDR_ATTR_USE_PERSISTENT_MAPPING:
            *v = !open.module() || open.module()->persistent;
            return 0;
        case GDR_ATTR_SUPPORT_PIN_FLAG_FORCE_PCIE:
            *v = !open.module() || open.module()->forces_pcie;
            return 0;
        case GDR_ATTR_USING_DMA_BUF_MMAP:
            *v = !open.module();
            return 0;
        default:
            return refuse(EINVAL, "an unknown attribute");
        }
    });
}

int gdr_get_mapping_type_string(gdr_mapping_type_t mapping_type, const char** pstr) {
    if (!pstr)
        return refuse(EINVAL, "gdr_get_mapping_type_string needs somewhere to write to");
    int which = 0; // as with the attributes
    static_assert(sizeof mapping_type == sizeof which);
    std::memcpy(&which, &mapping_type, sizeof which);
    switch (which) {
    case GDR_MAPPING_TYPE_NONE:
        *pstr = "None";
        return 0;
    case GDR_MAPPING_TYPE_WC:
        *pstr = "Write Combining";
        return 0;
    case GDR_MAPPING_TYPE_CACHING:
        *pstr = "Caching";
        return 0;
    case GDR_MAPPING_TYPE_DEVICE:
        *pstr = "Device";
        return 0;
    default:
        return refuse(EINVAL, "an unknown mapping type");
    }
}

int gdr_barmap_checkpoint_prepare(unsigned long long at_most_ns) {
    return guarded([&] {
        checkpoint_prepare(barmap::detail::wait_of_ns(at_most_ns));
        return 0;
    });
}

int gdr_barmap_checkpoint_restore() {
    return guarded([] {
        checkpoint_restore();
        return 0;
    });
}

#pragma GCC visibility pop

} // extern "C"
