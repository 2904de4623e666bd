// SPDX-License-Identifier: MIT
#include "last_error.hpp"

#include <algorithm>
#include <array>
#include <cstring>
#include <type_traits>

namespace barmap::vkgdr::last_error {
namespace {

/// Plain bytes: they may be asked for until the thread's very end, after its destructors. A failure
/// of every backend takes about 1.5 KiB.
struct text {
    std::array<char, 4096> bytes;
    bool set;
};
static_assert(std::is_trivially_destructible_v<text>);
constinit thread_local text latest{};

} // namespace

void clear() noexcept {
    latest.set = false;
}

void set(std::string_view what) noexcept {
    std::size_t const length = std::min(what.size(), latest.bytes.size() - 1);
    std::memcpy(latest.bytes.data(), what.data(), length);
    latest.bytes[length] = '\0';
    latest.set = true;
}

char* copy() noexcept {
    return latest.set ? ::strdup(latest.bytes.data()) : nullptr;
}

} // namespace barmap::vkgdr::last_error
