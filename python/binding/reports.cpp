// SPDX-License-Identifier: MIT
#include "reports.hpp"

#include "driver_use.hpp"
#include "own_memory.hpp"
#include "released_gil.hpp"

#include <barmap/device.hpp>

#include <nanobind/stl/string.h>

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
    // The device is released without the GIL, too: that may wait for kernels.
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

} // namespace

void bind_reports(nb::module_& module) {
    module.def("gpu_count", [] {
        expect_not_forked("look for GPUs"); // count() would say that there are none
        return without_gil([] { return device::count(); });
    });
    module.def("gpu", &gpu, nb::arg("ordinal"));
    module.def("driver_is_used", [] { return driver_is_used.load(); });
}

} // namespace barmap::python
