// SPDX-License-Identifier: MIT
#include <barmap/copy.hpp>

#include "base/policy.hpp"
#include "transfer/cpu/transfer.hpp"

#include <algorithm>
#include <bit>
#include <cstring>

namespace barmap {
inline namespace BARMAP_INLINE_NAMESPACE {

// A posted word is handed over in the low bytes of a register.
static_assert(std::endian::native == std::endian::little);

void detail::write_bytes(std::byte* gpu, std::byte const* host, std::size_t bytes,
                         copy_plan const* plan) noexcept {
    if (plan == nullptr) // an empty window
        return copy::flush_wc_stores();
    copy::write_bytes(gpu, host, bytes, *plan);
}

void detail::read_bytes(std::byte* host, std::byte const* gpu, std::size_t bytes,
                        copy_plan const* plan) noexcept {
    if (plan == nullptr)
        return copy::order_device_loads();
    copy::read_bytes(host, gpu, bytes, *plan);
}

void detail::fill_bytes(std::byte* gpu, std::byte value, std::size_t bytes,
                        copy_plan const* plan) noexcept {
    constexpr std::size_t line = 64, most = policy::fill_piece;
    alignas(line) std::byte pattern[most];
    std::memset(pattern, std::to_integer<int>(value), std::min(bytes, most));
    if (bytes > most) {
        auto const store = plan->store[copy::size_class(bytes)]->store;
        do { // pieces end where lines do
            std::size_t const piece = most - reinterpret_cast<std::uintptr_t>(gpu) % line;
            store(gpu, pattern, piece);
            gpu += piece;
            bytes -= piece;
        } while (bytes > most);
    }
    write_bytes(gpu, pattern, bytes, plan);
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

} // namespace BARMAP_INLINE_NAMESPACE
} // namespace barmap
