// SPDX-License-Identifier: MIT
#pragma once

#include "restore_thread.h"
#include "transfer/copy_methods.hpp"

#include <nanobind/nanobind.h>

#include <cstddef>

namespace barmap::python {

/// Whether a copy keeps the GIL: one that no engine ever makes, which is over in a microsecond or
/// two. To get the GIL back may take as long as another thread cares to run.
[[nodiscard]] constexpr bool keeps_gil(copy_direction which, std::size_t bytes) noexcept {
    return bytes < least_for_engines(which);
}

/// Lets other threads run Python until it goes out of scope.
///
/// Unlike nanobind's, it may be used in daemon threads (restore_thread.h).
/// @pre the GIL is held
class released_gil {
public:
    released_gil() noexcept : thread_(PyEval_SaveThread()) {}
    ~released_gil() { barmap_restore_thread(thread_); }
    released_gil(released_gil const&) = delete;
    released_gil& operator=(released_gil const&) = delete;

private:
    PyThreadState* thread_;
};

} // namespace barmap::python
