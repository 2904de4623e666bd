// SPDX-License-Identifier: MIT
#include "checkpoint_calls.hpp"

#include "released_gil.hpp"

#include <barmap/checkpoint.hpp>
#include <barmap/waits.hpp>

namespace nb = nanobind;

namespace barmap::python {
namespace {

void prepare(double seconds) {
    released_gil const others_run;
    checkpoint_prepare(barmap::detail::wait_of_seconds(seconds));
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
