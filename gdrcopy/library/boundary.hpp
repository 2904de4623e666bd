// SPDX-License-Identifier: MIT
#pragma once

#include "system/no_cancellation.hpp"

#include <barmap/error.hpp>

#include <cerrno>
#include <exception>
#include <new>
#include <string_view>

/// Where exceptions stop: all that libgdrapi tells is an errno value and, if asked to, a log.
namespace barmap::gdrapi {

enum class severity { debug = 1, information, warning, failure };

/// Learns why a call fails, if set, in the thread of the call: for front ends that can say more
/// than an errno value. The text is gone when it returns. To be set before the first call.
inline void (*failure_listener)(std::string_view text) noexcept = nullptr;

/// Whether GDRCOPY_ENABLE_LOGGING and GDRCOPY_LOG_LEVEL ask for this.
[[nodiscard]] bool logs(severity how) noexcept;
void log(severity how, std::string_view text) noexcept;

/// The errno value that says most of what went wrong.
[[nodiscard]] int errno_of(std::error_code const& code) noexcept;

/// Runs the body of a C function: what it returns, or the errno of what it throws.
template <class Body>
[[nodiscard]] int guarded(Body body) noexcept {
    os::no_cancellation const uncancelled;
    try {
        return body();
    } catch (error const& failure) {
        log(severity::failure, failure.what());
        return errno_of(failure.code());
    } catch (std::bad_alloc const&) {
        return ENOMEM;
    } catch (std::exception const& failure) {
        log(severity::failure, failure.what());
        return EIO;
    }
}

/// A refusal with a text of its own. @return code
inline int refuse(int code, std::string_view why) noexcept {
    log(severity::failure, why);
    return code;
}

} // namespace barmap::gdrapi
