// SPDX-License-Identifier: MIT
#include "fresh/stale_loads.hpp"

#include <barmap/report.hpp>

#include <algorithm>
#include <vector>

#if defined(__x86_64__)
#include <immintrin.h>
#endif

namespace barmap::tool {

#if defined(__x86_64__)
namespace {

/// Whether the CPU has what a copy routine needs.
bool has(std::string_view routine) {
    std::vector<copy_routine_report> const all = copy_routines();
    return std::any_of(all.begin(), all.end(), [routine](copy_routine_report const& each) {
        return each.name == routine && each.supported;
    });
}

bool has_avx512() {
    static bool const known = has("avx512");
    return known;
}

bool has_sse41() {
    static bool const known = has("sse41");
    return known;
}

__attribute__((target("avx512f"))) void load_avx512(void* to, void const* from, std::size_t bytes) {
    for (std::size_t at = 0; at < bytes; at += 64)
        _mm512_storeu_si512(static_cast<char*>(to) + at,
                            _mm512_stream_load_si512(const_cast<void*>(
                                static_cast<void const*>(static_cast<char const*>(from) + at))));
}

__attribute__((target("sse4.1"))) void load_sse41(void* to, void const* from, std::size_t bytes) {
    for (std::size_t at = 0; at < bytes; at += 16)
        _mm_storeu_si128(reinterpret_cast<__m128i*>(static_cast<char*>(to) + at),
                         _mm_stream_load_si128(reinterpret_cast<__m128i*>(
                             const_cast<char*>(static_cast<char const*>(from) + at))));
}

} // namespace

std::string_view stale_load_name() {
    return has_avx512()  ? "avx512 streaming load, no fence"
           : has_sse41() ? "sse4.1 streaming load, no fence"
                         : "";
}

std::size_t stale_load_width() {
    return has_avx512() ? 64 : 16;
}

void stale_load(void* to, void const* from, std::size_t bytes) {
    has_avx512() ? load_avx512(to, from, bytes) : load_sse41(to, from, bytes);
}

#else

std::string_view stale_load_name() {
    return "";
}

std::size_t stale_load_width() {
    return 64;
}

void stale_load(void*, void const*, std::size_t) {}

#endif

} // namespace barmap::tool
