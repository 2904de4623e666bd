// SPDX-License-Identifier: MIT
/// The order of each atomic operation that the public headers make on words, noted as it is executed:
/// an x86 processor orders nearly all of them by itself, so that no test there would miss an acquire
/// or a release. Included before anything else in each source of a program of its own (-include): in
/// another one, the linker would merge its inline functions with those that are not noted. Time, too, is the
/// test's.
#pragma once

// What must not see the macros below.
#include <algorithm>
#include <array>
#include <atomic>
#include <cassert>
#include <chrono>
#include <cstring>
#include <functional>
#include <gtest/gtest.h>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <system_error>
#include <time.h>
#include <type_traits>
#include <utility>
#include <vector>

namespace barmap::noted {

struct place {
    unsigned long long const* first;
    std::size_t words;
    std::string name;
};

struct notes {
    std::vector<place> places;
    std::string text;
    bool is_on = false;
};
inline notes trace;

/// Of the clock that GPU code reads: each reading is so much later.
constexpr long tick = 1000;
inline timespec now{1, 0};
inline std::function<void()> at_reading = [] {};
inline int read_clock(timespec* to) {
    *to = now;
    now.tv_nsec += tick;
    at_reading();
    return 0;
}

/// Called before each load.
inline std::function<void()> at_load = [] {};

inline char const* name_of(int order) {
    switch (order) {
    case __ATOMIC_RELAXED:
        return "relaxed";
    case __ATOMIC_ACQUIRE:
        return "acquire";
    case __ATOMIC_RELEASE:
        return "release";
    case __ATOMIC_ACQ_REL:
        return "acq_rel";
    default:
        return "other";
    }
}

inline void note(char const* what, int order, void const* address) {
    if (!trace.is_on)
        return;
    trace.text += (trace.text.empty() ? "" : ", ") + std::string(what) + " " + name_of(order);
    for (place const& each : trace.places)
        if (address >= each.first && address < each.first + each.words)
            trace.text += " " + each.name +
                (each.words == 1 ? ""
                                 : std::to_string(static_cast<unsigned long long const*>(address) -
                                                  each.first));
}

template <class Word>
Word load(Word const* from, int order) {
    at_load();
    note("load", order, from);
    return __atomic_load_n(from, __ATOMIC_SEQ_CST);
}
template <class Word>
void store(Word* to, Word value, int order) {
    note("store", order, to);
    __atomic_store_n(to, value, __ATOMIC_SEQ_CST);
}
template <class Word>
Word add(Word* to, Word number, int order) {
    note("add", order, to);
    return __atomic_fetch_add(to, number, __ATOMIC_SEQ_CST);
}
template <class Word>
bool replace(Word* at, Word* expected, Word value, bool, int order, int) {
    note("replace", order, at);
    return __atomic_compare_exchange_n(at, expected, value, false, __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST);
}
inline void fence(int order) {
    note("fence", order, nullptr);
}

/// The accesses that `run` makes, in order, with the names of the places.
inline std::string accesses(std::function<void()> const& run) {
    trace.text.clear();
    trace.is_on = true;
    run();
    trace.is_on = false;
    return trace.text;
}

} // namespace barmap::noted

#define __atomic_load_n(from, order) ::barmap::noted::load(from, order)
#define __atomic_store_n(to, value, order) ::barmap::noted::store<unsigned long long>(to, value, order)
#define __atomic_fetch_add(to, number, order) ::barmap::noted::add<unsigned long long>(to, number, order)
#define __atomic_compare_exchange_n ::barmap::noted::replace<unsigned long long>
#define __atomic_thread_fence(order) ::barmap::noted::fence(order)
#define clock_gettime(clock, to) ::barmap::noted::read_clock(to)
