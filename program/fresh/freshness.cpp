// SPDX-License-Identifier: MIT
#include "fresh/freshness.hpp"

#include <cmath>
#include <cstring>

namespace barmap::tool {

freshness::freshness(std::size_t word_bytes, std::size_t words, double shortest_step_ns)
    : word_bytes_(word_bytes),
      half_way_ns_((std::ldexp(1.0, static_cast<int>(8 * word_bytes) - 1) - 1) * shortest_step_ns),
      last_(words) {}

void freshness::see(std::span<std::byte const> bytes, double begin_ns, double end_ns) {
    unsigned const unused_bits = static_cast<unsigned>(64 - 8 * word_bytes_);
    bool const judged = polls_ > 0 && end_ns - last_begin_ns_ < half_way_ns_;
    bool changed = polls_ == 0;
    bool back = false;
    for (std::size_t i = 0; i < last_.size(); ++i) {
        std::uint64_t now = 0;
        std::memcpy(&now, bytes.data() + i * word_bytes_, word_bytes_);
        // Shifted to the top, the difference's sign is that of the word's own arithmetic.
        auto const step = static_cast<std::int64_t>((now - last_[i]) << unused_bits);
        changed |= step != 0;
        back |= step < 0;
        last_[i] = now;
    }
    if (polls_ > 0 && !judged)
        ++unjudged_;
    non_monotonic_ += judged && back;
    distinct_ += changed;
    last_begin_ns_ = begin_ns;
    ++polls_;
}

} // namespace barmap::tool
