// SPDX-License-Identifier: MIT
// Glue between Python and device code: takes and returns PyGPU's pointers, and copies no element.
// A file for nvcc or hipcc would launch kernels with them.
//
//     include=$(python -c "from barmap import pygpu; print(pygpu.get_include())")
//     c++ -O2 -shared -fPIC $(python -m pybind11 --includes) -I$include examples/pygpu_glue.cpp -o pygpu_glue.so
//
//     array = pygpu.DeviceArray_float64(numpy.arange(12.0).reshape(3, 4))
//     array.allocate()
//     array.to_device()
//     second = pygpu_glue.row(array.device_data(), 4, 1)    # the address of 4 numbers on the device
#include <pybind11/pybind11.h>

#include <ptr_wrapper.h>

namespace py = pybind11;

namespace {

/// Where a row of a matrix begins, on the device or on the host. Keep the matrix while you use it.
ptr_wrapper<double> row(ptr_wrapper<double> matrix, std::size_t columns, std::size_t i) {
    return matrix.get() + i * columns;
}

/// Of host memory, which the CPU may read.
double sum(ptr_wrapper<double const> numbers, std::size_t n) {
    double result = 0;
    for (std::size_t i = 0; i < n; ++i)
        result += numbers[i];
    return result;
}

} // namespace

PYBIND11_MODULE(pygpu_glue, module) {
    module.def("row", &row, py::arg("matrix"), py::arg("columns"), py::arg("i"));
    module.def("sum", &sum, py::arg("numbers"), py::arg("n"));
}
