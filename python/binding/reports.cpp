// SPDX-License-Identifier: MIT
#include "reports.hpp"

#include "driver_use.hpp"
#include "own_memory.hpp"

#include <barmap/device.hpp>

#include <nanobind/stl/string.h>
#include <nanobind/stl/string_view.h>

namespace nb = nanobind;

namespace barmap::python {
namespace {

struct gpu_facts {
    std::string name, pci_address;
    bool simulated;
    int driver_version;
    bar1_info bar1;
};

nb::dict describe_gpu(int ordinal) {
    // The device is also released without the GIL: that may wait for kernels.
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

nb::list engines(int ordinal) {
    return rows_of(without_gil([&] { return device::open(ordinal).engines(); }));
}

/// The backend that maps where none is named: of those that start quickly, if one of them can.
std::string first_usable(device const& gpu) {
    for (auto const reports : {&device::started_backends, &device::backends})
        for (backend_report const& each : (gpu.*reports)())
            if (each.state == backend_state::usable)
                return each.name;
    return backend_names().front(); // whose refusal says why
}

nb::list copy_crossovers(int ordinal, std::string const& backend) {
    nb::list rows;
    for (copy_crossover const& each : without_gil([&] {
             device const gpu = device::open(ordinal);
             return gpu.copy_crossovers(backend.empty() ? first_usable(gpu) : backend);
         })) {
        nb::dict row;
        row["direction"] = to_string(each.direction);
        row["host"] = to_string(each.host);
        row["from_nbytes"] = each.from_bytes;
        row["method"] = each.method;
        rows.append(row);
    }
    return rows;
}

} // namespace

nb::list rows_of(std::vector<engine_report> const& reports) {
    nb::list rows;
    for (engine_report const& each : reports) {
        nb::dict row;
        row["name"] = each.name;
        row["state"] = to_string(each.state);
        row["reason"] = each.reason;
        row["advice"] = each.advice;
        row["start_us"] = each.start_us;
        row["copies"] = each.copies;
        row["nbytes"] = each.bytes;
        row["failures"] = each.failures;
        rows.append(row);
    }
    return rows;
}

void bind_reports(nb::module_& module) {
    module.def("gpu_count", [] {
        expect_not_forked("look for GPUs"); // count() would say that there are none
        return without_gil([] { return device::count(); });
    });
    module.def("current_device", &current_ordinal);
    module.def("gpu", &describe_gpu, nb::arg("ordinal"));
    module.def("engines", &engines, nb::arg("ordinal"));
    module.def("copy_crossovers", &copy_crossovers, nb::arg("ordinal"), nb::arg("backend"));
    module.def("driver_is_used", [] { return driver_is_used.load(); });
}

} // namespace barmap::python
