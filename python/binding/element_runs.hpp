// SPDX-License-Identifier: MIT
#pragma once

#include <algorithm>
#include <cstddef>
#include <vector>

namespace barmap::python {

/// The bytes of an array's elements in C order, as NumPy's tobytes() gives them, and where each run
/// of them lies. Runs are as long as the strides let them be.
class element_runs {
public:
    /// @param first    bytes from the start of the memory to the first element
    /// @param strides  bytes from one element to the next, for each axis; may be 0 or negative
    template <class Lengths>
    element_runs(Lengths const& shape, Lengths const& strides, std::size_t itemsize,
                 std::ptrdiff_t first)
        : first_(first), run_(itemsize), bytes_(itemsize) {
        for (std::size_t axis = shape.size(); axis-- > 0;) {
            auto const length = static_cast<std::size_t>(shape[axis]);
            std::ptrdiff_t const stride = strides[axis];
            bytes_ *= length;
            if (length == 1)
                continue;
            if (axes_.empty() && stride == static_cast<std::ptrdiff_t>(run_))
                run_ *= length;
            else
                axes_.push_back({length, stride});
        }
    }

    /// Whether the elements are one run, in C order.
    [[nodiscard]] bool is_one() const noexcept { return axes_.empty(); }
    /// Bytes of all elements; more than the memory has, where elements share some.
    [[nodiscard]] std::size_t bytes() const noexcept { return bytes_; }

    /// Whether elements may share memory: never those of an array whose axes were only sliced,
    /// reversed or transposed, always those that were repeated by a stride of 0.
    [[nodiscard]] bool may_overlap() const {
        std::vector<axis> by_stride = axes_;
        std::sort(by_stride.begin(), by_stride.end(),
                  [](axis const& a, axis const& b) { return a.step() < b.step(); });
        std::size_t reach = run_;
        for (axis const& each : by_stride) {
            if (each.step() < reach)
                return true;
            reach += (each.length - 1) * each.step();
        }
        return false;
    }

    /// Calls a function with the place in the memory and the length of each run of a range of the
    /// elements' bytes, in order.
    /// @pre offset + bytes <= this->bytes()
    template <class Function>
    void for_each(std::size_t offset, std::size_t bytes, Function function) const {
        if (bytes == 0)
            return;
        std::size_t within = offset % run_, number = offset / run_;
        std::ptrdiff_t place = first_;
        std::vector<std::size_t> index;
        for (axis const& each : axes_) {
            index.push_back(number % each.length);
            number /= each.length;
            place += static_cast<std::ptrdiff_t>(index.back()) * each.stride;
        }
        for (;;) {
            std::size_t const here = std::min(bytes, run_ - within);
            function(static_cast<std::size_t>(place) + within, here);
            bytes -= here;
            if (bytes == 0)
                return;
            within = 0;
            for (std::size_t i = 0; i < axes_.size(); ++i) {
                place += axes_[i].stride;
                if (++index[i] < axes_[i].length)
                    break;
                place -= static_cast<std::ptrdiff_t>(index[i]) * axes_[i].stride;
                index[i] = 0;
            }
        }
    }

private:
    struct axis {
        std::size_t length;
        std::ptrdiff_t stride;
        [[nodiscard]] std::size_t step() const noexcept {
            auto const forwards = static_cast<std::size_t>(stride);
            return stride < 0 ? 0 - forwards : forwards;
        }
    };

    std::ptrdiff_t first_;
    std::size_t run_, bytes_;
    std::vector<axis> axes_; ///< of the runs, the innermost first
};

} // namespace barmap::python
