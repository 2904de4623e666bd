// SPDX-License-Identifier: MIT
#include "gdrcopy/programs/buckets.hpp"

#include "gdrcopy/programs/selected_gpu.hpp"
#include "output/formatted.hpp"

#include <cstdio>

namespace barmap::tool::gdrcopy {

std::uint64_t whole_buckets(std::uint64_t count, char const* option) {
    if (count <= most_buckets || count % most_buckets == 0)
        return count;
    std::uint64_t const more = round_up(count, most_buckets);
    std::fputs(formatted("WARNING: {} {} is not a multiple of {}: {} are done\n", option, count,
                         most_buckets, more)
                   .c_str(),
               stderr);
    return more;
}

} // namespace barmap::tool::gdrcopy
