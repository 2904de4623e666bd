// SPDX-License-Identifier: MIT
#include "dlpack.hpp"

#include <nanobind/ndarray.h>
#include <nanobind/stl/vector.h>

#include <cstdint>
#include <vector>

namespace nb = nanobind;

namespace barmap::python {
namespace {

using array = nb::ndarray<nb::array_api>;

/// @param owner       kept alive by the array, and by its importer
/// @param strides     in elements
/// @param code, bits  DLDataType
/// @param device_type DLDeviceType
array dlpack_array(nb::handle owner, std::uintptr_t address, std::vector<std::size_t> const& shape,
                   std::vector<std::int64_t> const& strides, std::uint8_t code, std::uint8_t bits,
                   int device_type, int device) {
    if (strides.size() != shape.size())
        throw nb::value_error("there must be as many strides as axes");
    nb::dlpack::dtype const element{code, bits, 1};
    return array(reinterpret_cast<void*>(address), shape.size(), shape.data(), owner,
                 strides.data(), element, device_type, device);
}

} // namespace

void bind_dlpack(nb::module_& module) {
    module.def("dlpack_array", &dlpack_array, nb::arg("owner"), nb::arg("address"),
               nb::arg("shape"), nb::arg("strides"), nb::arg("code"), nb::arg("bits"),
               nb::arg("device_type"), nb::arg("device"));
}

} // namespace barmap::python
