// SPDX-License-Identifier: MIT
#pragma once

#include "restore_thread.h"

#include <nanobind/nanobind.h>

#include <cstddef>

namespace barmap::python {

/// Largest copies, in bytes, that keep the GIL: about a microsecond's worth on an H200 (1.0 us to
/// the GPU, 1.2 us from it). To get the GIL back may take as long as another thread cares to run.
/// What a copy engine may make never keeps it.
inline constexpr std::size_t written_with_gil = 16384;
inline constexpr std::size_t read_with_gil = 1024;

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
