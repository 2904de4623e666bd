// SPDX-License-Identifier: MIT
#include <barmap/barmap.hpp>

#include <cstdint>
#include <cstdio>
#include <string>

int main() try {
    barmap::pin const pin = barmap::device::open(0).allocate(4096);
    barmap::mapping const one = pin.map(), other = pin.map();
    barmap::write_value(one.window(8, 8), std::uint64_t{42});
    auto const there = barmap::read_value<std::uint64_t>(other.window(8, 8));
    std::printf("barmap %s: %d\n", std::string(barmap::version()).c_str(), int(there));
    return there == 42 ? 0 : 1;
} catch (barmap::error const& failure) {
    std::fprintf(stderr, "%s\n", failure.what());
    return 1;
}
