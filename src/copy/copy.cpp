// SPDX-License-Identifier: MIT
#include <barmap/copy.hpp>

#include "copy/transfer.hpp"

#include <bit>
#include <cassert>

namespace barmap {

// A posted word is handed over in the low bytes of a register.
static_assert(std::endian::native == std::endian::little);

void write(window to, std::span<std::byte const> bytes) noexcept {
    assert(bytes.size() <= to.size);
    copy::write_bytes(to.data, bytes.data(), bytes.size(), *to.plan);
}

void read(std::span<std::byte> bytes, window from) noexcept {
    assert(bytes.size() <= from.size);
    copy::read_bytes(bytes.data(), from.data, bytes.size(), *from.plan);
}

void flush_stores() noexcept {
    copy::flush_wc_stores();
}

void order_loads() noexcept {
    copy::order_device_loads();
}

void detail::post_word(window to, std::uint64_t word, unsigned bytes) noexcept {
    to.plan->post_word(to.data, word, bytes);
}

void detail::post_line(window to, void const* line) noexcept {
    to.plan->post_line(to.data, line);
}

} // namespace barmap
