// SPDX-License-Identifier: MIT
#include <barmap/report.h>

#include "c/c_boundary.hpp"

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <string_view>
#include <type_traits>

using barmap::errc;
using barmap::error;

namespace {

/// Plain bytes: it may be asked for until the thread's very end, after its destructors. A failure
/// of every backend takes about 1.5 KiB.
struct failure_of_thread {
    std::array<char, 4096> text;
    std::array<char, 512> operation;
    std::array<char, 64> backend;
    std::array<char, 2048> advice;
    int cause;
    std::int64_t piece_and_one; ///< 0: no piece was to blame
};
static_assert(std::is_trivially_destructible_v<failure_of_thread>);
constinit thread_local failure_of_thread last_failure{};

barmap_status status_of(errc code) noexcept {
    switch (code) {
    case errc::invalid_argument:
        return BARMAP_ERROR_INVALID_ARGUMENT;
    case errc::out_of_range:
        return BARMAP_ERROR_OUT_OF_RANGE;
    case errc::unsupported_memory:
        return BARMAP_ERROR_UNSUPPORTED_MEMORY;
    case errc::unsupported_operation:
        return BARMAP_ERROR_UNSUPPORTED_OPERATION;
    case errc::no_device:
        return BARMAP_ERROR_NO_DEVICE;
    case errc::backend_absent:
        return BARMAP_ERROR_BACKEND_ABSENT;
    case errc::backend_broken:
        return BARMAP_ERROR_BACKEND_BROKEN;
    case errc::wrong_device:
        return BARMAP_ERROR_WRONG_DEVICE;
    case errc::unknown_layout:
        return BARMAP_ERROR_UNKNOWN_LAYOUT;
    case errc::bar1_exhausted:
        return BARMAP_ERROR_BAR1_EXHAUSTED;
    case errc::forked_child:
        return BARMAP_ERROR_FORKED_CHILD;
    case errc::copy_unfinished:
        return BARMAP_ERROR_COPY_UNFINISHED;
    case errc::checkpointed:
        return BARMAP_ERROR_CHECKPOINTED;
    }
    return BARMAP_ERROR_UNEXPECTED;
}

barmap_status status_of(error const& failure) noexcept {
    std::error_code const& code = failure.code();
    if (code.category() == barmap::category())
        return status_of(static_cast<errc>(code.value()));
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
    last_failure = {};
    keep(last_failure.text, text);
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
    if (failure.piece())
        last_failure.piece_and_one = static_cast<std::int64_t>(*failure.piece()) + 1;
    return status;
}

char const* barmap_error_message(void) {
    return last_failure.text.data();
}

int barmap_error_cause(void) {
    return last_failure.cause;
}

char const* barmap_error_operation(void) {
    return last_failure.operation.data();
}

char const* barmap_error_backend(void) {
    return last_failure.backend.data();
}

char const* barmap_error_advice(void) {
    return last_failure.advice.data();
}

std::int64_t barmap_error_piece(void) {
    return last_failure.piece_and_one - 1;
}
