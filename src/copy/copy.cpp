// SPDX-License-Identifier: MIT
#include <barmap/copy.hpp>

#include "copy/transfer.hpp"

#include <bit>

namespace barmap {

// A posted word is handed over in the low bytes of a register.
static_assert(std::endian::native == std::endian::little);

void detail::write_bytes(std::byte* gpu, std::byte const* host, std::size_t bytes,
                         copy_plan const& plan) noexcept {
    copy::write_bytes(gpu, host, bytes, plan);
}

void detail::read_bytes(std::byte* host, std::byte const* gpu, std::size_t bytes,
                        copy_plan const& plan) noexcept {
    copy::read_bytes(host, gpu, bytes, plan);
}

void flush_stores() noexcept {
    copy::flush_wc_stores();
}

void order_loads() noexcept {
    copy::order_device_loads();
}

void detail::post_word(std::byte* gpu, std::uint64_t word, unsigned bytes,
                       copy_plan const& plan) noexcept {
    plan.post_word(gpu, word, bytes);
}

void detail::post_line(std::byte* gpu, void const* line, copy_plan const& plan) noexcept {
    plan.post_line(gpu, line);
}

} // namespace barmap
