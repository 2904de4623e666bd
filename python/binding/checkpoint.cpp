// SPDX-License-Identifier: MIT
#include "checkpoint.hpp"

#include "released_gil.hpp"

#include <barmap/checkpoint.hpp>

#include <algorithm>
#include <chrono>

namespace nb = nanobind;

namespace barmap::python {
namespace {

void prepare(double seconds) {
    using namespace std::chrono;
    constexpr duration<double> longest = hours(24 * 365);
    auto const at_most = duration_cast<nanoseconds>(std::min(duration<double>(seconds), longest));
    released_gil const others_run;
    checkpoint_prepare(at_most);
}

void restore() {
    released_gil const others_run;
    checkpoint_restore();
}

} // namespace

void bind_checkpoint(nb::module_& module) {
    module.def("checkpoint_prepare", &prepare, nb::arg("seconds"));
    module.def("checkpoint_restore", &restore);
}

} // namespace barmap::python
