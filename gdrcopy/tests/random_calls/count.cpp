// SPDX-License-Identifier: MIT
#include "count.hpp"

#include <cstdio>

namespace barmap::dropin {

unsigned counts::report() const {
    unsigned missing = 0;
    for (unsigned i = 0; i < rows_.size(); ++i) {
        // gdr_open takes nothing that could be wrong, and gdr_runtime_get_version answers nothing.
        bool const never_refuses = i == static_cast<unsigned>(call::open) ||
                                   i == static_cast<unsigned>(call::runtime_version);
        std::uint64_t const succeeded = rows_[i].succeeded, refused = rows_[i].refused;
        bool const enough = succeeded > 0 && (refused > 0 || never_refuses);
        missing += !enough;
        std::printf("  %-28s %8llu succeeded %8llu refused%s\n", call_names[i],
                    static_cast<unsigned long long>(succeeded),
                    static_cast<unsigned long long>(refused), enough ? "" : "  <- too few");
    }
    return missing;
}

} // namespace barmap::dropin
