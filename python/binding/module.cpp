// SPDX-License-Identifier: MIT
// The extension module barmap._barmap. Its stubs, python/barmap/_barmap, are made from it.
#include "allocator.hpp"
#include "batches.hpp"
#include "checkpoint_calls.hpp"
#include "dlpack.hpp"
#include "errors.hpp"
#include "gdrapi.hpp"
#include "inheritable.hpp"
#include "kernel_queues.hpp"
#include "logs.hpp"
#include "mapped_memory.hpp"
#include "pygpu.hpp"
#include "reports.hpp"
#include "rings.hpp"
#include "signals.hpp"
#include "step_tensors.hpp"
#include "vkgdr.hpp"

#include <barmap/copy.hpp>
#include <barmap/version.hpp>

#include <nanobind/nanobind.h>
#include <nanobind/stl/string_view.h>

namespace nb = nanobind;

NB_MODULE(_barmap, module) {
    // Objects may outlive the module when the interpreter ends; that is no leak worth a message.
    nb::set_leak_warnings(false);
    module.def("report_leaks", &nb::set_leak_warnings, nb::arg("wanted"));
    module.attr("version") = barmap::version();
    module.def("flush_stores", &barmap::flush_stores);
    barmap::python::bind_checkpoint(module);
    barmap::python::translate_errors(module);
    barmap::python::bind_allocator(module);
    barmap::python::bind_batches(module);
    barmap::python::bind_dlpack(module);
    barmap::python::bind_inheritable(module); // before the classes that derive from it
    barmap::python::bind_kernel_queues(module);
    barmap::python::bind_logs(module);
    barmap::python::bind_mapped_memory(module);
    barmap::python::bind_reports(module);
    barmap::python::bind_rings(module);
    barmap::python::bind_signals(module);
    barmap::python::bind_steps(module);
    barmap::python::bind_gdrapi(module);
    barmap::python::bind_vkgdr(module);
    barmap::python::bind_pygpu(module);
}
