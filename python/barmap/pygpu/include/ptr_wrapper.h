// SPDX-License-Identifier: MIT
/// Pointers that C++ glue code takes from Python and returns to it: ptr_wrapper<T> in C++ is
/// pointer_wrapper_<dtype> in Python. `PyGPU.get_include()` is the directory of this file. C++11.
///
///     #include <ptr_wrapper.h>
///     void scale(ptr_wrapper<double> data, std::size_t n) {
///         scale_kernel<<<(n + 255) / 256, 256>>>(data.get(), n);
///     }
///     PYBIND11_MODULE(glue, m) { m.def("scale", &scale); }
///
///     glue.scale(array.device_data(), array.size())    # in Python
///
/// Where pybind11 is found, functions that pybind11 binds take and return ptr_wrapper<T> by value.
/// Python may pass a pointer_wrapper_<dtype> of this very type, or an address as an int; another
/// type is a TypeError. No element is copied, and the pointer owns nothing: keep the memory as long
/// as C++, or a pointer that C++ has returned, uses it.
#ifndef PYGPU_PTR_WRAPPER_H
#define PYGPU_PTR_WRAPPER_H

#include <complex>
#include <cstddef>
#include <cstdint>
#include <type_traits>

/// A pointer to elements on the device or the host; as large as a pointer.
template <class T>
class ptr_wrapper {
public:
    ptr_wrapper() noexcept : pointer_(nullptr) {}
    ptr_wrapper(T* pointer) noexcept : pointer_(pointer) {}

    T* get() const noexcept { return pointer_; }
    std::uintptr_t address() const noexcept { return reinterpret_cast<std::uintptr_t>(pointer_); }
    explicit operator bool() const noexcept { return pointer_ != nullptr; }

    // For host memory; for memory of the device, in kernels.
    T& operator*() const noexcept { return *pointer_; }
    T* operator->() const noexcept { return pointer_; }
    T& operator[](std::size_t i) const noexcept { return pointer_[i]; }

private:
    T* pointer_;
};

namespace pygpu {

/// NumPy's name of an element type, which ends the name of Python's class.
template <class T>
char const* dtype_name() {
    using type = typename std::remove_cv<T>::type;
    constexpr bool is_integer =
        std::is_integral<type>::value && !std::is_same<type, bool>::value && sizeof(type) >= 2;
    constexpr bool is_complex64 = std::is_same<type, std::complex<float>>::value;
    constexpr bool is_complex128 = std::is_same<type, std::complex<double>>::value;
    constexpr bool is_real = std::is_same<type, float>::value || std::is_same<type, double>::value;
    static_assert(is_integer || is_real || is_complex64 || is_complex128,
                  "ptr_wrapper is for integers of 16, 32 and 64 bits, float, double and their "
                  "std::complex");
    if (is_complex128)
        return "complex128";
    if (is_complex64)
        return "complex64";
    if (is_real)
        return sizeof(type) == 4 ? "float32" : "float64";
    if (std::is_signed<type>::value)
        return sizeof(type) == 2 ? "int16" : sizeof(type) == 4 ? "int32" : "int64";
    return sizeof(type) == 2 ? "uint16" : sizeof(type) == 4 ? "uint32" : "uint64";
}

} // namespace pygpu

#if defined(__has_include)
#if __has_include(<pybind11/pybind11.h>)
#include <pybind11/pybind11.h>

#include <string>

namespace pybind11 {
namespace detail {

template <class T>
struct type_caster<ptr_wrapper<T>> {
    PYBIND11_TYPE_CASTER(ptr_wrapper<T>, const_name("pointer_wrapper"));

    bool load(handle given, bool) {
        bool const is_number = PyLong_Check(given.ptr()) && !PyBool_Check(given.ptr());
        if (!is_number && !isinstance(given, python_class()))
            return false;
        object const number = reinterpret_steal<object>(PyNumber_Long(given.ptr()));
        if (!number)
            throw error_already_set();
        unsigned long long const address = PyLong_AsUnsignedLongLong(number.ptr());
        if (PyErr_Occurred()) // negative, or of more than 64 bits
            throw error_already_set();
        value = ptr_wrapper<T>(reinterpret_cast<T*>(static_cast<std::uintptr_t>(address)));
        return true;
    }

    static handle cast(ptr_wrapper<T> pointer, return_value_policy, handle) {
        return python_class().attr("from_address")(pointer.address()).release();
    }

private:
    static object python_class() {
        std::string const name = std::string("pointer_wrapper_") + pygpu::dtype_name<T>();
        return module_::import("barmap.pygpu").attr(name.c_str());
    }
};

} // namespace detail
} // namespace pybind11
#endif
#endif

#endif // PYGPU_PTR_WRAPPER_H
