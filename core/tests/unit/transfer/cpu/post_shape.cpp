// SPDX-License-Identifier: MIT
// What post_shape_test.py compiles and disassembles: posts as a program has them.
#include <barmap/copy.hpp>

extern "C" {

void post_u32(barmap::window const& to, std::uint32_t word) {
    barmap::post(to, word);
}
void post_u64(barmap::window const& to, std::uint64_t word) {
    barmap::post(to, word);
}
void post_double(barmap::window const& to, double word) {
    barmap::post(to, word);
}
void post_64_bytes(barmap::window const& to, std::span<std::byte const, 64> line) {
    barmap::post_line(to, line);
}
}
