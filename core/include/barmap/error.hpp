// SPDX-License-Identifier: MIT
#pragma once

#include <barmap/export.hpp>

#include <cstddef>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <system_error>

namespace barmap {
inline namespace BARMAP_INLINE_NAMESPACE {

/// Refusals of barmap itself. Failures of the system, CUDA, Vulkan or NVIDIA's resource manager
/// keep their own code in their own category.
///
/// Codes of invalid_argument, out_of_range, unsupported_operation and no_device compare equal to
/// std::errc's invalid_argument, result_out_of_range, operation_not_supported and no_such_device.
enum class errc {
    invalid_argument = 1,  ///< a size of 0, a null pointer, an unknown name
    out_of_range,          ///< the range leaves its allocation, or a window its mapping
    unsupported_memory,    ///< no backend maps this kind of memory; the advice says what to use
    unsupported_operation, ///< the backend lacks this operation
    no_device,             ///< no driver, no GPU, or none with this ordinal
    backend_absent,        ///< the backend is not available on this machine
    backend_broken,        ///< the backend is offered, but does not work
    wrong_device,          ///< the memory belongs to another GPU than the one asked
    unknown_layout,        ///< the driver's data has a layout that this version does not know
    bar1_exhausted,        ///< the GPU has too little free BAR1 aperture for the mapping
    forked_child,          ///< the object belongs to the parent process
    copy_unfinished,       ///< a copy engine has not ended a copy, which may still arrive
    checkpointed,          ///< call checkpoint_restore() first
};

BARMAP_API std::error_category const& category() noexcept;        ///< of errc
BARMAP_API std::error_category const& cuda_category() noexcept;   ///< of CUresult
BARMAP_API std::error_category const& vulkan_category() noexcept; ///< of VkResult
BARMAP_API std::error_category const& rm_category() noexcept;     ///< of NV_STATUS

[[nodiscard]] BARMAP_API std::error_code make_error_code(errc code) noexcept;

/// The one exception that barmap throws, besides std::bad_alloc.
///
/// what() is a whole sentence: operation, cause, backend and advice.
/// Thread rule: an error is a value; copies are independent.
class BARMAP_API error : public std::system_error {
public:
    /// @param code      the cause, in the category of the party that reported it
    /// @param operation what was attempted, with its arguments where they help
    /// @param backend   the backend's name, or empty
    /// @param advice    what the user can do: one line, or one for each backend if several fail
    /// @param piece     the number, from 0, of the piece of a batch that is refused
    error(std::error_code code, std::string operation, std::string backend, std::string advice,
          std::optional<std::size_t> piece = {});
    error(error const&) noexcept;
    error& operator=(error const&) noexcept;
    ~error() override;

    [[nodiscard]] std::string const& operation() const noexcept;
    [[nodiscard]] std::string const& backend() const noexcept;
    [[nodiscard]] std::string const& advice() const noexcept;
    /// Which piece of a batch was refused, before any was copied: its number in the caller's list,
    /// from 0; nothing for other errors.
    [[nodiscard]] std::optional<std::size_t> piece() const noexcept;
    [[nodiscard]] char const* what() const noexcept override;

private:
    struct parts; ///< shared by copies, so that copying cannot fail
    std::shared_ptr<parts const> parts_;
};

} // namespace BARMAP_INLINE_NAMESPACE
} // namespace barmap

template <>
struct std::is_error_code_enum<barmap::errc> : std::true_type {};
