// SPDX-License-Identifier: MIT
#pragma once

#include "held.hpp"

#include <barmap/step_tensors.hpp>

#include <nanobind/nanobind.h>

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace barmap::python {

/// Addresses and bytes, as Python gives them.
using tensor_list = std::vector<std::pair<std::uintptr_t, std::size_t>>;

/// The inputs or outputs of a step, step_inputs or step_outputs, as Python holds them.
template <class Steps>
class held_steps : public held<Steps> {
public:
    /// @throws error as device::from_pointer and Steps
    held_steps(tensor_list const& tensors, std::size_t versions);

    /// Waits for a free version or for results, without the GIL, and looks at signals meanwhile.
    /// @param seconds nothing: as long as it takes
    /// @return whether there is any; also false once the GPU's side has failed
    [[nodiscard]] bool wait(std::optional<double> seconds);
    /// Launches the kernel that lays a version into the tensors, or publishes them.
    void launch(std::uintptr_t stream);
    [[nodiscard]] bool failed();

    /// Where each tensor begins in the bytes of all of them.
    [[nodiscard]] std::vector<std::size_t> const& offsets() const noexcept { return offsets_; }
    /// The bytes of all tensors in the staging memory.
    [[nodiscard]] std::size_t bytes() const noexcept { return bytes_; }

private:
    std::vector<std::size_t> offsets_;
    std::size_t bytes_ = 0;
};

/// The inputs, with the arrays to copy from.
class held_inputs : public held_steps<step_inputs> {
public:
    using held_steps::held_steps;

    /// Sets what each tensor is called, and its dtype and shape. @pre as many as there are tensors
    void describe(nanobind::list const& of);
    /// Copies arrays, by name, into the staging memory, and publishes what that holds.
    /// @param arrays a dict, or None @return whether a version was free
    [[nodiscard]] bool push(nanobind::handle arrays);

private:
    struct input {
        nanobind::object name, dtype;
        std::vector<Py_ssize_t> shape;
    };
    class given_array;

    [[nodiscard]] std::size_t index_of(nanobind::handle name) const;
    [[noreturn]] void refuse(input const& to, nanobind::handle array) const;

    std::vector<input> inputs_;
    nanobind::dict indices_; ///< by name
};

/// Adds the classes StepInputs and StepOutputs.
void bind_steps(nanobind::module_& module);

} // namespace barmap::python
