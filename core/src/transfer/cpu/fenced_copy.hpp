// SPDX-License-Identifier: MIT
#pragma once

#include "transfer/cpu/fence.hpp"
#include "transfer/cpu/plan.hpp"
#include "transfer/cpu/walk.hpp"

#include <cstddef>
#include <cstdint>

/// The bodies of barmap::write and barmap::read, for entry points that need one call less: each
/// store to the stack next to one to write-combining memory costs time.
namespace barmap::copy {

[[gnu::always_inline]] inline void write_bytes(std::byte* gpu, std::byte const* host,
                                               std::size_t bytes, copy_plan const& plan) noexcept {
    // A word needs no routine. Here and not in one, since a call's own stores, next to stores to
    // write-combining memory, cost a tenth of the whole (12 ns on Sapphire Rapids).
    if (is_word(reinterpret_cast<std::uintptr_t>(gpu), bytes))
        store_one_word(gpu, host, bytes);
    else
        plan.store[size_class(bytes)]->store(gpu, host, bytes);
    // Whatever the kind: a routine may use streaming or direct stores, which are weakly ordered
    // even in coherent memory, where the fence is nearly free.
    flush_wc_stores();
}

[[gnu::always_inline]] inline void read_bytes(std::byte* host, std::byte const* gpu,
                                              std::size_t bytes, copy_plan const& plan) noexcept {
    bool const coherent = plan.kind == cache_kind::cached;
    // Code behind a fence starts after it: a routine looked up there costs a word 10 ns.
    if (is_word(reinterpret_cast<std::uintptr_t>(gpu), bytes)) {
        if (coherent)
            load_one_word(gpu, host, bytes, [] { order_coherent_loads(); });
        else
            load_one_word(gpu, host, bytes, [] { order_device_words(); });
        return;
    }
    auto const load = plan.load[size_class(bytes)]->load;
    if (coherent)
        order_coherent_loads();
    else
        order_device_loads();
    load(host, gpu, bytes);
}

} // namespace barmap::copy
