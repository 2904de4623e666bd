// SPDX-License-Identifier: MIT
#pragma once

namespace barmap::memcpy_dropin {

/// While it lives, this thread's calls of CUDA are barmap's own, which are not taken again.
class own_calls {
public:
    own_calls() noexcept : before_(are_here) { are_here = true; }
    own_calls(own_calls const&) = delete;
    own_calls& operator=(own_calls const&) = delete;
    ~own_calls() { are_here = before_; }
    static inline constinit thread_local bool are_here = false;

private:
    bool before_;
};

} // namespace barmap::memcpy_dropin
