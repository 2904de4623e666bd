// SPDX-License-Identifier: MIT
#pragma once

#include "restore_thread.h"

#include <barmap/report.hpp>

#include <nanobind/nanobind.h>

#include <cstddef>

namespace barmap::python {

/// Whether a copy keeps the GIL: one that no engine ever makes, which is over in a microsecond or
/// two. To get the GIL back may take as long as another thread cares to run.
[[nodiscard]] inline bool keeps_gil(copy_direction which, std::size_t bytes) {
    static std::size_t const to_gpu = policy_value("engines_from_to_gpu"),
                             to_cpu = policy_value("engines_from_to_cpu");
    return bytes < (which == copy_direction::to_gpu ? to_gpu : to_cpu);
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
