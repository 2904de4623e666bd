// SPDX-License-Identifier: MIT
#include "transfer/measured_plan.hpp"

#include "transfer/cpu/routines.hpp"

#include <barmap/copy.hpp>

#include <algorithm>
#include <array>
#include <bit>
#include <cstring>
#include <memory>
#include <new>

namespace barmap::copy {

namespace {

constexpr std::size_t smallest = policy::routine_contest_begin;
constexpr std::size_t largest = policy::routine_contest_end;

// Nanoseconds of each of two measurements.
constexpr std::int64_t store_budget = policy::store_contest * 1000;
constexpr std::int64_t load_budget = policy::load_contest * 1000;

} // namespace

copy_plan measure_plan_among(std::span<copy_routine const* const> routines,
                             std::span<std::byte> scratch, cache_kind kind,
                             nanosecond_clock now) noexcept {
    copy_plan const preferred = plan_of_one(*routines.front(), kind);
    std::size_t const bytes = std::min(std::bit_floor(scratch.size()), largest);
    auto const align = std::align_val_t{4096};
    auto const drop = [&](std::byte* memory) { ::operator delete(memory, align); };
    std::unique_ptr<std::byte, decltype(drop)> const memory(
        static_cast<std::byte*>(::operator new(bytes, align, std::nothrow)), drop);
    if (bytes < smallest || !memory)
        return preferred;
    std::memset(memory.get(), 0x5a, bytes); // untouched pages would all be the one page of zeros
    std::byte* const host = memory.get();

    copy_plan under_test = preferred; // what write() and read() see
    auto const timed = [&](unsigned repeats, auto const& copy) {
        std::int64_t const begin = now();
        for (unsigned i = 0; i < repeats; ++i)
            copy();
        return static_cast<double>(now() - begin);
    };
    auto const store = [&](std::size_t which, std::size_t size, unsigned repeats) {
        under_test.store.fill(routines[which]);
        window const gpu{scratch.data(), size, &under_test};
        return timed(repeats, [&] { write(gpu, std::span<std::byte const>(host, size)); });
    };
    contest stores(routines.size(), smallest, bytes, std::ref(store));

    std::array<copy_routine const*, contest::max_candidates> with_load;
    std::span<copy_routine const*> loading(with_load.data(),
                                           0); // several may share one load: the first
    for (copy_routine const* routine : routines)
        if (std::ranges::find(loading, routine->load, &copy_routine::load) == loading.end()) {
            loading = {with_load.data(), loading.size() + 1};
            loading.back() = routine;
        }
    auto const load = [&](std::size_t which, std::size_t size, unsigned repeats) {
        under_test.load.fill(loading[which]);
        window const gpu{scratch.data(), size, &under_test};
        return timed(repeats, [&] { read(std::span(host, size), gpu); });
    };
    contest loads(loading.size(), smallest, bytes, std::ref(load));

    for (int twice = 0; twice < 2; ++twice) {
        stores.measure(store_budget);
        loads.measure(load_budget);
    }
    copy_plan result = preferred;
    auto const store_winners = stores.winners(), load_winners = loads.winners();
    for (std::size_t i = 0; i < size_classes; ++i) {
        result.store[i] = routines[store_winners[i]];
        result.load[i] = loading[load_winners[i]];
    }
    return result;
}

namespace {

bool may_be_chosen(copy_routine const& routine) noexcept {
    return supported(routine) && !only_when_asked_for(routine);
}

} // namespace

copy_plan preferred_plan(cache_kind kind) {
    if (copy_routine const* const forced = routine_forced_by_environment())
        return plan_of_one(*forced, kind);
    return plan_of_one(*std::ranges::find_if(all_routines(), may_be_chosen), kind);
}

copy_plan measure_plan(std::span<std::byte> scratch, cache_kind kind) noexcept {
    std::array<copy_routine const*, contest::max_candidates> usable;
    std::size_t count = 0;
    for (copy_routine const& routine : all_routines())
        if (may_be_chosen(routine) && count < usable.size())
            usable[count++] = &routine;
    return measure_plan_among({usable.data(), count}, scratch, kind);
}

} // namespace barmap::copy
