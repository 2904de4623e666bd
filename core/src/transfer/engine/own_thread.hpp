// SPDX-License-Identifier: MIT
#pragma once

#include "system/thread.hpp"

#include <functional>

namespace barmap::engine {

/// Starts a thread of the library's. @param name as of os::thread
/// @param operation for the error's text
/// @throws error errc::backend_broken where the system allows no more threads
[[nodiscard]] os::thread start_own_thread(char const* name, char const* operation,
                                          std::function<void()> body);

} // namespace barmap::engine
