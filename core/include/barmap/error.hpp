// SPDX-License-Identifier: MIT
/// Failures in C++.
///
/// A comment that ends with "Contract and errors: barmap_pin_create()." names the function of C
/// that does the same. Its comment, in the C header, has the rest: units and limits, what must stay
/// alive, which threads may call it, and its errors. The member returns the
/// value that this function sets by a pointer; an empty object stands for NULL. The member throws a
/// status as barmap::error with the errc of the same value; BARMAP_ERROR_SYSTEM, _CUDA, _VULKAN and
/// _RM with the cause, in std::system_category(), cuda_category(), vulkan_category() or rm_category();
/// BARMAP_ERROR_NO_MEMORY as std::bad_alloc, and _UNEXPECTED as std::runtime_error.
#pragma once

#include <barmap/export.hpp>
#include <barmap/report.h>
#include <barmap/status.h>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <new>
#include <optional>
#include <stdexcept>
#include <string>
#include <string_view>
#include <system_error>
#include <utility>

namespace barmap {
inline namespace BARMAP_INLINE_NAMESPACE {

/// Refusals of barmap itself: the values of enum barmap_status. Failures of the system, CUDA, Vulkan
/// or NVIDIA's resource manager keep their own code in their own category.
///
/// Compare a code with them by `failure.code() == barmap::errc::no_device`; that is right too if
/// another library, with its own copy of these headers, threw the error.
/// Codes of invalid_argument, out_of_range, unsupported_operation and no_device compare equal to
/// std::errc's invalid_argument, result_out_of_range, operation_not_supported and no_such_device.
enum class errc {
    invalid_argument = BARMAP_ERROR_INVALID_ARGUMENT, ///< a size of 0, a null pointer, an unknown name
    /// The range leaves its allocation, or a window its mapping.
    out_of_range = BARMAP_ERROR_OUT_OF_RANGE,
    /// No backend maps this kind of memory; the advice says what to use.
    unsupported_memory = BARMAP_ERROR_UNSUPPORTED_MEMORY,
    unsupported_operation = BARMAP_ERROR_UNSUPPORTED_OPERATION, ///< the backend lacks this operation
    no_device = BARMAP_ERROR_NO_DEVICE, ///< no driver, no GPU, or none with this ordinal
    backend_absent = BARMAP_ERROR_BACKEND_ABSENT, ///< the backend is not available on this machine
    backend_broken = BARMAP_ERROR_BACKEND_BROKEN, ///< the backend is present, but does not work
    wrong_device = BARMAP_ERROR_WRONG_DEVICE, ///< the memory belongs to another GPU than the one asked
    /// The driver's data has a layout that this version does not know.
    unknown_layout = BARMAP_ERROR_UNKNOWN_LAYOUT,
    /// The GPU has too little free BAR1 aperture for the mapping.
    bar1_exhausted = BARMAP_ERROR_BAR1_EXHAUSTED,
    forked_child = BARMAP_ERROR_FORKED_CHILD, ///< the object belongs to the parent process
    /// A copy engine did not finish a copy, whose bytes may still arrive.
    copy_unfinished = BARMAP_ERROR_COPY_UNFINISHED,
    checkpointed = BARMAP_ERROR_CHECKPOINTED, ///< call checkpoint_restore() first
};

class error;

namespace detail {

/// Throws this thread's last failure, which a C function has returned.
[[noreturn]] void throw_failure(int status);

/// The codes of one party. The codes of another library's copy of it, with its name, are equal.
class code_category final : public std::error_category {
public:
    constexpr code_category(barmap_status status, char const* name) noexcept
        : status_(status), name_(name) {}

    [[nodiscard]] char const* name() const noexcept override { return name_; }
    [[nodiscard]] std::string message(int code) const override {
        char text[BARMAP_CAUSE_TEXT_BYTES];
        barmap_cause_text(status_ == BARMAP_OK ? code : static_cast<int>(status_), code, text,
                          sizeof text);
        return text;
    }
    [[nodiscard]] std::error_condition default_error_condition(int code) const noexcept override {
        if (status_ == BARMAP_OK)
            switch (static_cast<errc>(code)) {
            case errc::invalid_argument:
                return std::errc::invalid_argument;
            case errc::out_of_range:
                return std::errc::result_out_of_range;
            case errc::unsupported_operation:
                return std::errc::operation_not_supported;
            case errc::no_device:
                return std::errc::no_such_device;
            default:
                break;
            }
        return {code, *this};
    }
    using std::error_category::equivalent;
    [[nodiscard]] bool equivalent(std::error_code const& code, int condition) const noexcept override {
        return code.value() == condition && std::string_view(code.category().name()) == name_;
    }

private:
    barmap_status status_; ///< of failures with such codes; BARMAP_OK: the codes are statuses
    char const* name_;
};

/// An object that is there before any code runs and is never destroyed: errors are thrown,
/// compared and printed while memory is exhausted, and while the process exits.
template <class Object>
union immortal {
    template <class... Arguments>
    constexpr explicit immortal(Arguments... arguments) noexcept : object(arguments...) {}
    immortal(immortal const&) = delete;
    immortal& operator=(immortal const&) = delete;
    ~immortal() {} // not the object's
    Object object;
};

} // namespace detail

/// Of errc.
[[nodiscard]] BARMAP_COMMON inline std::error_category const& category() noexcept {
    static constinit detail::immortal<detail::code_category> const codes(BARMAP_OK, "barmap");
    return codes.object;
}
/// Of CUresult.
[[nodiscard]] BARMAP_COMMON inline std::error_category const& cuda_category() noexcept {
    static constinit detail::immortal<detail::code_category> const codes(BARMAP_ERROR_CUDA, "cuda");
    return codes.object;
}
/// Of VkResult.
[[nodiscard]] BARMAP_COMMON inline std::error_category const& vulkan_category() noexcept {
    static constinit detail::immortal<detail::code_category> const codes(BARMAP_ERROR_VULKAN, "vulkan");
    return codes.object;
}
/// Of NV_STATUS.
[[nodiscard]] BARMAP_COMMON inline std::error_category const& rm_category() noexcept {
    static constinit detail::immortal<detail::code_category> const codes(BARMAP_ERROR_RM, "rm");
    return codes.object;
}

[[nodiscard]] inline std::error_code make_error_code(errc code) noexcept {
    return {static_cast<int>(code), category()};
}
[[nodiscard]] inline std::error_condition make_error_condition(errc code) noexcept {
    return {static_cast<int>(code), category()};
}

/// The one exception that barmap throws, besides std::bad_alloc and, for a fault in barmap,
/// std::runtime_error.
///
/// what() is a whole sentence: operation, cause, backend and advice.
/// Thread rule: an error is a value; copies are independent.
class BARMAP_COMMON error : public std::system_error {
public:
    /// @param code      the cause, in the category of the party that reported it
    /// @param operation what was attempted, with its arguments where they help
    /// @param backend   the backend's name, or empty
    /// @param advice    what the user can do: one line, or one for each backend if several fail
    /// @param piece     the number, from 0, of the piece of a batch that is refused
    error(std::error_code code, std::string operation, std::string backend, std::string advice,
          std::optional<std::size_t> piece = {})
        : std::system_error(code) {
        std::string text = "cannot " + operation;
        if (!backend.empty() && !operation.ends_with(' ' + backend))
            text += " (backend " + backend + ")";
        text += ": " + code.message();
        if (!advice.empty())
            text += "; " + advice;
        parts_ = std::make_shared<parts const>(parts{std::move(text), std::move(operation),
                                                     std::move(backend), std::move(advice), piece});
    }
    error(errc code, std::string operation, std::string backend, std::string advice,
          std::optional<std::size_t> piece = {})
        : error(make_error_code(code), std::move(operation), std::move(backend), std::move(advice),
                piece) {}
    error(error const&) noexcept = default; // moving copies
    error& operator=(error const&) noexcept = default;
    ~error() override = default;

    [[nodiscard]] std::string const& operation() const noexcept { return parts_->operation; }
    [[nodiscard]] std::string const& backend() const noexcept { return parts_->backend; }
    [[nodiscard]] std::string const& advice() const noexcept { return parts_->advice; }
    /// Which piece of a batch was refused, before any was copied: its number in the caller's list,
    /// from 0; nothing for other errors. Contract and errors: barmap_error_piece().
    [[nodiscard]] std::optional<std::size_t> piece() const noexcept { return parts_->piece; }
    [[nodiscard]] char const* what() const noexcept override { return parts_->text.c_str(); }

private:
    friend void detail::throw_failure(int status);
    struct parts {
        std::string text, operation, backend, advice;
        std::optional<std::size_t> piece;
    };
    error(std::error_code code, parts whole)
        : std::system_error(code), parts_(std::make_shared<parts const>(std::move(whole))) {}

    std::shared_ptr<parts const> parts_; ///< shared by copies, so that copying cannot fail
};

namespace detail {

[[noreturn, gnu::cold, gnu::noinline]] inline void throw_failure(int status) {
    std::error_code code(status, category());
    switch (status) {
    case BARMAP_ERROR_NO_MEMORY:
        throw std::bad_alloc();
    case BARMAP_ERROR_UNEXPECTED:
        throw std::runtime_error(barmap_error_message());
    case BARMAP_ERROR_SYSTEM:
        code = {barmap_error_cause(), std::system_category()};
        break;
    case BARMAP_ERROR_CUDA:
        code = {barmap_error_cause(), cuda_category()};
        break;
    case BARMAP_ERROR_VULKAN:
        code = {barmap_error_cause(), vulkan_category()};
        break;
    case BARMAP_ERROR_RM:
        code = {barmap_error_cause(), rm_category()};
        break;
    default:
        break;
    }
    std::int64_t const piece = barmap_error_piece();
    throw error(
        code, {barmap_error_message(), barmap_error_operation(), barmap_error_backend(),
               barmap_error_advice(),
               piece < 0 ? std::nullopt : std::optional(static_cast<std::size_t>(piece))});
}

/// Calls of C functions: throws unless they succeed.
inline void check(int status) {
    if (status != BARMAP_OK) [[unlikely]]
        throw_failure(status);
}

} // namespace detail

} // namespace BARMAP_INLINE_NAMESPACE
} // namespace barmap

template <>
struct std::is_error_condition_enum<barmap::errc> : std::true_type {};
