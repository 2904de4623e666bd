// SPDX-License-Identifier: MIT
#include <barmap/report.h>

#include "base/c_boundary.hpp"
#include "system/of_thread.hpp"

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <optional>
#include <string_view>
#include <type_traits>

using barmap::error;

namespace {

/// Plain bytes: it may be asked for until the thread's very end, after its destructors, and then a
/// longer text is cut. A failure of every backend takes about 1.5 KiB.
struct failure_of_thread {
    std::array<char, 4096> text;
    std::array<char, 512> operation;
    std::array<char, 64> backend;
    std::array<char, 2048> advice;
    int status, cause;
    std::int64_t piece_and_one; ///< 0: no piece was to blame
};
static_assert(std::is_trivially_destructible_v<failure_of_thread>);
constinit thread_local failure_of_thread last_failure{};

/// The same, whole, until the thread destroys its objects; nothing where a refusal has no such object.
struct whole_failure {
    std::optional<error> of;
};

/// A text of the failure: whole, or else the part that is kept.
template <class Part, std::size_t Bytes>
char const* whole(Part part, std::array<char, Bytes> const& kept) noexcept {
    if (std::strlen(kept.data()) != Bytes - 1) // else it may be cut
        return kept.data();
    whole_failure const* const failure = barmap::os::of_thread<whole_failure>::get();
    return failure && failure->of ? part(*failure->of) : kept.data();
}

constexpr bool is_refusal(int status) noexcept {
    return (status >= BARMAP_ERROR_INVALID_ARGUMENT && status <= BARMAP_ERROR_FORKED_CHILD) ||
           status == BARMAP_ERROR_COPY_UNFINISHED || status == BARMAP_ERROR_CHECKPOINTED;
}

barmap_status status_of(error const& failure) noexcept {
    std::error_code const& code = failure.code();
    if (code.category() == barmap::category())
        return is_refusal(code.value()) ? static_cast<barmap_status>(code.value())
                                        : BARMAP_ERROR_UNEXPECTED;
    struct {
        std::error_category const& category;
        barmap_status status;
    } const causes[] = {
        {std::system_category(), BARMAP_ERROR_SYSTEM},
        {std::generic_category(), BARMAP_ERROR_SYSTEM},
        {barmap::cuda_category(), BARMAP_ERROR_CUDA},
        {barmap::vulkan_category(), BARMAP_ERROR_VULKAN},
        {barmap::rm_category(), BARMAP_ERROR_RM},
    };
    for (auto const& [category, status] : causes)
        if (code.category() == category)
            return status;
    return BARMAP_ERROR_UNEXPECTED;
}

template <std::size_t Bytes>
void keep(std::array<char, Bytes>& in, std::string_view text) noexcept {
    std::size_t const length = std::min(text.size(), Bytes - 1);
    std::memcpy(in.data(), text.data(), length);
    in[length] = '\0';
}

} // namespace

int barmap::c::fail(barmap_status status, std::string_view text, int cause) noexcept {
    if (whole_failure* const whole = barmap::os::of_thread<whole_failure>::get())
        whole->of.reset();
    last_failure = {};
    keep(last_failure.text, text);
    last_failure.status = status;
    last_failure.cause = cause;
    return status;
}

int barmap::c::refuse(barmap_status status, std::string_view operation, std::string_view why,
                      std::string_view advice) noexcept {
    auto const length = [](std::string_view part) { return static_cast<int>(part.size()); };
    std::array<char, 512> text{};
    std::snprintf(text.data(), text.size(), "cannot %.*s: %.*s; %.*s", length(operation),
                  operation.data(), length(why), why.data(), length(advice), advice.data());
    (void)fail(status, text.data());
    keep(last_failure.operation, operation);
    keep(last_failure.advice, advice);
    return status;
}

int barmap::c::fail(error const& failure) noexcept {
    barmap_status const status = status_of(failure);
    bool const is_own = failure.code().category() == barmap::category();
    (void)fail(status, failure.what(), is_own ? 0 : failure.code().value());
    keep(last_failure.operation, failure.operation());
    keep(last_failure.backend, failure.backend());
    keep(last_failure.advice, failure.advice());
    if (whole_failure* const whole = barmap::os::of_thread<whole_failure>::get())
        whole->of = failure;
    if (failure.piece())
        last_failure.piece_and_one = static_cast<std::int64_t>(*failure.piece()) + 1;
    return status;
}

char const* barmap_error_message(void) {
    return whole([](error const& of) { return of.what(); }, last_failure.text);
}

int barmap_error_status(void) {
    return last_failure.status;
}

int barmap_error_cause(void) {
    return last_failure.cause;
}

char const* barmap_error_operation(void) {
    return whole([](error const& of) { return of.operation().c_str(); }, last_failure.operation);
}

char const* barmap_error_backend(void) {
    return whole([](error const& of) { return of.backend().c_str(); }, last_failure.backend);
}

char const* barmap_error_advice(void) {
    return whole([](error const& of) { return of.advice().c_str(); }, last_failure.advice);
}

std::int64_t barmap_error_piece(void) {
    return last_failure.piece_and_one - 1;
}
