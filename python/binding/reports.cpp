// SPDX-License-Identifier: MIT
#include "reports.hpp"

#include "driver_use.hpp"
#include "own_memory.hpp"
#include "released_gil.hpp"

#include <barmap/backend.hpp>
#include <barmap/device.hpp>

#include <nanobind/stl/string.h>
#include <nanobind/stl/string_view.h>
#include <nanobind/stl/vector.h>

namespace nb = nanobind;

namespace barmap::python {
namespace {

/// Runs set-up calls of the core without the GIL.
template <class Call>
auto without_gil(Call call) {
    driver_is_used = true;
    released_gil const others_run;
    return call();
}

struct gpu_facts {
    std::string name, pci_address;
    bool simulated;
    int driver_version;
    bar1_info bar1;
};

nb::dict gpu(int ordinal) {
    // The device is let go of without the GIL, too: that may wait for kernels.
    gpu_facts const found = without_gil([&]() -> gpu_facts {
        device const gpu = device::open(ordinal);
        return {gpu.name(), gpu.pci_address(), gpu.simulated(), gpu.driver_version(), gpu.bar1()};
    });
    nb::dict row;
    row["ordinal"] = ordinal;
    row["name"] = found.name;
    row["pci"] = found.pci_address;
    row["simulated"] = found.simulated;
    row["driver"] = found.driver_version;
    row["bar1"] = nb::dict();
    row["bar1"]["total"] = found.bar1.total;
    row["bar1"]["available"] = found.bar1.available;
    return row;
}

nb::list backends(int ordinal) {
    nb::list rows;
    for (backend_report const& found :
         without_gil([&] { return device::open(ordinal).backends(); })) {
        nb::dict row;
        row["name"] = found.name;
        row["state"] = to_string(found.state);
        row["reason"] = found.reason;
        row["advice"] = found.advice;
        row["allocates"] = found.allocates;
        row["events"] = found.events;
        row["start_us"] = found.start_us;
        rows.append(row);
    }
    return rows;
}

nb::list kernels() {
    nb::list rows;
    for (copy_routine_report const& kernel : copy_routines()) {
        nb::dict row;
        row["name"] = kernel.name;
        row["supported"] = kernel.supported;
        row["needs"] = kernel.needs;
        rows.append(row);
    }
    return rows;
}

} // namespace

void bind_reports(nb::module_& module) {
    module.def("gpu_count", [] {
        expect_not_forked("look for GPUs"); // count() would say that there are none
        return without_gil([] { return device::count(); });
    });
    module.def("gpu", &gpu, nb::arg("ordinal"));
    module.def("backends", &backends, nb::arg("ordinal"));
    module.def("backend_names", &backend_names);
    module.def("copy_routines", &kernels);
    module.def("driver_is_used", [] { return driver_is_used.load(); });
}

} // namespace barmap::python
