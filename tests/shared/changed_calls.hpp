// SPDX-License-Identifier: MIT
#pragma once

#include "system/calls.hpp"

namespace barmap::test {

/// The system's calls, some of which a test replaces, until this goes or is restored. One at a
/// time.
class changed_calls {
public:
    static inline os::calls table; ///< what is called
    static inline os::calls real;  ///< what was, for what stands in place of a call

    changed_calls() {
        real = table = *before_;
        os::replace(&table);
    }
    changed_calls(changed_calls const&) = delete;
    changed_calls& operator=(changed_calls const&) = delete;
    ~changed_calls() { restore(); }
    void restore() { os::replace(before_); }

    [[nodiscard]] os::calls* operator->() { return &table; }

private:
    os::calls const* before_ = &os::current();
};

} // namespace barmap::test
