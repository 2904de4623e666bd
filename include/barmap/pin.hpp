// SPDX-License-Identifier: MIT
#pragma once

#include <barmap/mapping.hpp>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string_view>

namespace barmap {

class device;
struct pin_state; ///< inside the library

/// A GPU memory range held reachable for the CPU. Move-only; unpins in its destructor, once no
/// mapping of it is left. Keeps its device alive.
/// Thread rule: const members may be called at once; destroying is exclusive.
class BARMAP_API pin {
public:
    pin() noexcept; ///< empty: size() is 0
    pin(pin&&) noexcept;
    pin& operator=(pin&&) noexcept;
    ~pin();

    /// The address that was given, a CUdeviceptr.
    [[nodiscard]] std::uintptr_t gpu_address() const noexcept;
    [[nodiscard]] std::size_t size() const noexcept; ///< bytes, as asked for
    [[nodiscard]] memory_kind memory() const noexcept;
    [[nodiscard]] std::string_view backend() const noexcept;

    /// Makes CPU addresses for the whole range.
    ///
    /// The first mapping through a backend also measures the copy kernels there (a few
    /// milliseconds, in memory of barmap's own), unless BARMAP_COPY forces one. See
    /// docs/measuring.md.
    /// @throws error errc::bar1_exhausted, or what the backend reports
    [[nodiscard]] mapping map() const;

private:
    friend class device;
    explicit pin(std::shared_ptr<pin_state const> state) noexcept;
    std::shared_ptr<pin_state const> state_;
};

} // namespace barmap
