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

row describe_gpu(int ordinal) {
    // The device is also released without the GIL: that may wait for kernels.
    gpu_facts const found = without_gil([&]() -> gpu_facts {
        device const gpu = device::open(ordinal);
        return {gpu.name(), gpu.pci_address(), gpu.simulated(), gpu.driver_version(), gpu.bar1()};
    });
    row told;
    told["ordinal"] = ordinal;
    told["name"] = found.name;
    told["pci"] = found.pci_address;
    told["simulated"] = found.simulated;
    told["driver"] = found.driver_version;
    told["bar1"] = nb::dict();
    told["bar1"]["total"] = found.bar1.total;
    told["bar1"]["available"] = found.bar1.available;
    return told;
}

row_list engines(int ordinal) {
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

row_list copy_crossovers(int ordinal, std::string const& backend) {
    row_list rows;
    for (copy_crossover const& each : without_gil([&] {
             device const gpu = device::open(ordinal);
             return gpu.copy_crossovers(backend.empty() ? first_usable(gpu) : backend);
         })) {
        row told;
        told["direction"] = to_string(each.direction);
        told["host"] = to_string(each.host);
        told["from_nbytes"] = each.from_bytes;
        told["method"] = each.method;
        rows.append(told);
    }
    return rows;
}

} // namespace

row_list rows_of(std::vector<engine_report> const& reports) {
    row_list rows;
    for (engine_report const& each : reports) {
        row told;
        told["name"] = each.name;
        told["state"] = to_string(each.state);
        told["reason"] = each.reason;
        told["advice"] = each.advice;
        told["start_us"] = each.start_us;
        told["copies"] = each.copies;
        told["nbytes"] = each.bytes;
        told["failures"] = each.failures;
        rows.append(told);
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
