// SPDX-License-Identifier: MIT
#pragma once

namespace barmap::memcpy_dropin {

/// Whether this process is the first that asked, among it and the parents that forked it: it asks
/// when the program finds a function that this library replaces, and in each batch that is not left
/// for its few pieces. CUDA works in no child of a process that has called cuInit, and a child that
/// asks CUDA anything before its first batch crashes in that batch (R580): so does one of a program
/// that is linked with CUDA, where no batch has come before the fork. Thread rule: free.
[[nodiscard]] bool is_first_user() noexcept;

} // namespace barmap::memcpy_dropin
