// SPDX-License-Identifier: MIT
/// A program against libbarmap-dev: memory of barmap's own, written and read.
#include <barmap/barmap.hpp>

#include <cstdio>

int main() {
    barmap::device const gpu = barmap::device::open(0);
    barmap::mapping const map = gpu.allocate(4096).map();
    barmap::write_value(map.window(8, 8), 42.0);
    double const back = barmap::read_value<double>(map.window(8, 8));
    std::printf("libbarmap-dev %s: %g\n", gpu.name().c_str(), back);
    return back == 42.0 ? 0 : 1;
}
