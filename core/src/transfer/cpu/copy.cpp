// SPDX-License-Identifier: MIT
#include <barmap/barmap.h>

#include "base/policy.hpp"
#include "transfer/cpu/fenced_copy.hpp"

#include <algorithm>
#include <bit>
#include <cstring>

namespace {

using barmap::copy_plan;

// A posted word is handed over in the low bytes of a register.
static_assert(std::endian::native == std::endian::little);

copy_plan const* plan_of(void const* plan) noexcept {
    return static_cast<copy_plan const*>(plan);
}

} // namespace

int barmap_copy_write(void* gpu, void const* host, std::size_t bytes, void const* plan) {
    if (plan == nullptr) // an empty window
        barmap::copy::flush_wc_stores();
    else
        barmap::copy::write_bytes(static_cast<std::byte*>(gpu), static_cast<std::byte const*>(host),
                                  bytes, *plan_of(plan));
    return BARMAP_OK;
}

int barmap_copy_read(void* host, void const* gpu, std::size_t bytes, void const* plan) {
    if (plan == nullptr)
        barmap::copy::order_device_loads();
    else
        barmap::copy::read_bytes(static_cast<std::byte*>(host), static_cast<std::byte const*>(gpu),
                                 bytes, *plan_of(plan));
    return BARMAP_OK;
}

int barmap_copy_fill(void* gpu, unsigned char value, std::size_t bytes, void const* plan) {
    constexpr std::size_t line = 64, most = barmap::policy::fill_piece;
    alignas(line) std::byte pattern[most];
    std::memset(pattern, value, std::min(bytes, most));
    auto* to = static_cast<std::byte*>(gpu);
    if (bytes > most) {
        auto const store = plan_of(plan)->store[barmap::copy::size_class(bytes)]->store;
        do { // pieces end where lines do
            std::size_t const piece = most - reinterpret_cast<std::uintptr_t>(to) % line;
            store(to, pattern, piece);
            to += piece;
            bytes -= piece;
        } while (bytes > most);
    }
    return barmap_copy_write(to, pattern, bytes, plan);
}

int barmap_copy_post_word(void* gpu, std::uint64_t word, unsigned bytes, void const* plan) {
    plan_of(plan)->post_word(gpu, word, bytes);
    return BARMAP_OK;
}

int barmap_copy_post_line(void* gpu, void const* line, void const* plan) {
    plan_of(plan)->post_line(gpu, line);
    return BARMAP_OK;
}

void barmap_flush_stores(void) {
    barmap::copy::flush_wc_stores();
}

void barmap_order_loads(void) {
    barmap::copy::order_device_loads();
}
