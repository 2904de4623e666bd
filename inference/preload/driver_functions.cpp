// SPDX-License-Identifier: MIT
#include "driver_functions.hpp"

#include "captured.hpp"
#include "interposed.hpp"
#include "take.hpp"

#include <limits>

using namespace barmap::memcpy_dropin;
using barmap::cuda::error_not_found;
using barmap::cuda::success;

namespace {

constexpr std::size_t no_copy = std::numeric_limits<std::size_t>::max();

/// The driver's result of cuGetProcAddress, with this library's functions in place of the
/// driver's.
CUresult with_ours(CUresult result, char const* name, void** function, int version,
                   unsigned long long flags) noexcept {
    if (result != success || !name || !function || !*function)
        return result;
    if (interposed* const which = find_interposed(name, version, flags))
        *function = hand_out(*which, *function);
    return result;
}

template <class Function>
CUresult get_address(char const* symbol, char const* name, void** function, int version,
                     unsigned long long flags, auto... status) noexcept {
    auto* const driver = real_function<Function>(*find_interposed(symbol));
    if (!driver)
        return error_not_found;
    return with_ours(driver(name, function, version, flags, status...), name, function, version,
                     flags);
}

std::optional<CUresult> try_to_take(batch_call const& call) noexcept {
    return driver_is_loaded() ? take(call) : std::nullopt;
}

/// @param result what the driver has answered
CUresult or_captured(CUresult result, batch_call const& call, std::size_t* failed) noexcept {
    if (result != capture_unsupported)
        return result;
    std::size_t which = no_copy;
    auto const captured = capture(call, which);
    if (captured && failed)
        *failed = which;
    return captured.value_or(result);
}

/// As CUDA 12 has it. CUDA defines SIZE_MAX for an error of no copy in particular; but programs
/// that look at nothing else take it for success.
CUresult copy_as_12(decltype(cuMemcpyBatchAsync)* driver, batch_call const& call,
                    std::size_t* failed, auto... as_given) noexcept {
    if (!driver)
        return error_not_found;
    if (auto const result = try_to_take(call)) {
        if (failed)
            *failed = *result == success ? no_copy : 0;
        return *result;
    }
    return or_captured(driver(as_given..., failed, call.stream), call, failed);
}

CUresult copy_as_13(decltype(cuMemcpyBatchAsync_v2)* driver, batch_call const& call,
                    auto... as_given) noexcept {
    if (!driver)
        return error_not_found;
    if (auto const result = try_to_take(call))
        return *result;
    return or_captured(driver(as_given..., call.stream), call, nullptr);
}

} // namespace

CUresult cuGetProcAddress(char const* name, void** function, int version,
                          unsigned long long flags) {
    return get_address<decltype(cuGetProcAddress)>("cuGetProcAddress", name, function, version,
                                                   flags);
}

CUresult cuGetProcAddress_v2(char const* name, void** function, int version,
                             unsigned long long flags, int* status) {
    return get_address<decltype(cuGetProcAddress_v2)>("cuGetProcAddress_v2", name, function,
                                                      version, flags, status);
}

// clang-format off
#define BARMAP_LISTS                                                                               \
    CUdeviceptr *to, CUdeviceptr *from, std::size_t *bytes, std::size_t count,                     \
        CUmemcpyAttributes *attributes, std::size_t *first_of, std::size_t attribute_count
#define BARMAP_LISTS_GIVEN to, from, bytes, count, attributes, first_of, attribute_count
#define BARMAP_AS_12(symbol)                                                                       \
    CUresult symbol(BARMAP_LISTS, std::size_t* failed, CUstream stream) {                          \
        static interposed& mine = *find_interposed(#symbol);                                       \
        return copy_as_12(real_function<decltype(symbol)>(mine), {BARMAP_LISTS_GIVEN, stream},     \
                          failed, BARMAP_LISTS_GIVEN);                                             \
    }
#define BARMAP_AS_13(symbol)                                                                       \
    CUresult symbol(BARMAP_LISTS, CUstream stream) {                                               \
        static interposed& mine = *find_interposed(#symbol);                                       \
        return copy_as_13(real_function<decltype(symbol)>(mine), {BARMAP_LISTS_GIVEN, stream},     \
                          BARMAP_LISTS_GIVEN);                                                     \
    }
// clang-format on
// A null stream is a default one to both kinds, and those are the driver's.
BARMAP_AS_12(cuMemcpyBatchAsync)
BARMAP_AS_12(cuMemcpyBatchAsync_ptsz)
BARMAP_AS_13(cuMemcpyBatchAsync_v2)
BARMAP_AS_13(cuMemcpyBatchAsync_v2_ptsz)
