// SPDX-License-Identifier: MIT
/// The common part of the functions of the library's interface: it turns exceptions into statuses,
/// and makes and frees handles.
#pragma once

#include <barmap/barmap.h>
#include <barmap/error.hpp>

#include "system/no_cancellation.hpp"

#include <atomic>
#include <cstddef>
#include <exception>
#include <new>
#include <string_view>
#include <utility>

namespace barmap::c {

/// Notes the thread's last failure. @return the status
int fail(barmap_status status, std::string_view text, int cause = 0) noexcept;
/// The same for a refusal that the C interface alone has.
int refuse(barmap_status status, std::string_view operation, std::string_view why,
           std::string_view advice) noexcept;
/// The same for an exception.
int fail(error const& failure) noexcept;

/// Where exceptions stop. Runs a body in which no thread can be cancelled, or says why not.
template <class Body>
int attempt_at_once(Body body) noexcept {
    try {
        body();
        return BARMAP_OK;
    } catch (error const& failure) {
        return fail(failure);
    } catch (std::bad_alloc const&) {
        return fail(BARMAP_ERROR_NO_MEMORY, "out of memory");
    } catch (std::exception const& failure) {
        return fail(BARMAP_ERROR_UNEXPECTED, failure.what());
    }
}

/// The same with any body.
template <class Body>
int attempt(Body body) noexcept {
    os::no_cancellation const uncancelled; // which takes 10 ns
    return attempt_at_once(std::move(body));
}

/// Hands over the handle that the body makes, a std::unique_ptr.
template <class Handle, class Make>
int make(Handle** out, char const* operation, Make body) noexcept {
    return attempt([&] {
        if (!out)
            throw error(errc::invalid_argument, operation, "",
                        "pass a pointer for the handle, not NULL");
        *out = nullptr;
        *out = body().release();
    });
}

template <class Handle>
void free_handle(Handle* handle) noexcept {
    barmap::os::no_cancellation const uncancelled;
    delete handle;
}

/// The count of uses in a handle that several owners share.
struct shared_handle {
    std::atomic<std::size_t> uses{1};
};

template <class Handle>
Handle* retain(Handle* handle) noexcept {
    handle->uses.fetch_add(1, std::memory_order_relaxed);
    return handle;
}

/// Ends a use; the last one frees it.
template <class Handle>
void release(Handle* handle) noexcept {
    if (handle && handle->uses.fetch_sub(1, std::memory_order_acq_rel) == 1)
        free_handle(handle);
}

template <class Handle>
Handle& expect(Handle* handle, char const* operation, char const* advice) {
    if (!handle)
        throw error(errc::invalid_argument, operation, "", advice);
    return *handle;
}

} // namespace barmap::c
