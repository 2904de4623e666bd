// SPDX-License-Identifier: MIT
#include "transfer/cpu/routines.hpp"

#include "base/config.hpp"
#include "base/lists.hpp"
#include "transfer/cpu/cpu.hpp"
#include "transfer/cpu/instruction_sets.hpp"

#include <barmap/error.hpp>
#include <barmap/report.hpp>

#include <map>
#include <mutex>
#include <utility>

namespace barmap::copy {

namespace {

// The order settles ties, and which routine is used where nothing can be measured. A routine that
// borrows its load stands after the one that owns it.
constexpr copy_routine list[] = {
#if defined(__x86_64__)
    {"avx512", feature::avx512f | feature::avx512bw, 64, avx512::store, avx512::load},
    {"avx2", feature::avx2, 32, avx2::store, avx2::load},
    {"sse41", feature::sse41, 16, sse41::store, sse41::load},
    {"movdir64b", feature::movdir64b | feature::sse41, 64, movdir64b::store, sse41::load},
    {"avx512nt", feature::avx512f | feature::avx512bw, 64, avx512::store_streaming, avx512::load},
    {"erms", feature::erms | feature::sse41, 64, erms::store, sse41::load},
#elif defined(__aarch64__)
    {"neon", feature::asimd, 32, neon::store, neon::load},
    {"ls64", feature::ls64, 64, ls64::store, ls64::load},
#endif
    {"portable", 0, 8, portable::store, portable::load},
};

copy_routine const& find(std::string_view name, cpu_features cpu, std::string operation) {
    std::string known;
    for (copy_routine const& routine : list) {
        if (routine.name == name) {
            if (cpu_features const missing = routine.needs & ~cpu; missing != 0) {
                throw error(make_error_code(errc::unsupported_operation), std::move(operation), {},
                            "it needs " + describe(missing) +
                                ", which this CPU or operating system lacks");
            }
            return routine;
        }
        known += known.empty() ? "" : ", ";
        known += routine.name;
    }
    throw error(make_error_code(errc::invalid_argument), std::move(operation), {},
                "the copy routines of this build are " + known);
}

} // namespace

std::span<copy_routine const> all_routines() noexcept {
    return list;
}

bool only_when_asked_for(copy_routine const& routine) noexcept {
    return (routine.needs & feature::ls64) != 0;
}

bool supported(copy_routine const& routine) noexcept {
    return (routine.needs & ~this_cpu()) == 0;
}

copy_routine const& find_routine(std::string_view name) {
    return find_routine(name, this_cpu());
}

copy_routine const& find_routine(std::string_view name, cpu_features cpu) {
    return find(name, cpu, "choose copy routine \"" + std::string(name) + "\"");
}

copy_routine const* routine_forced_by_environment() {
    std::string const& name = config::current().copy;
    return name.empty() ? nullptr : &find(name, this_cpu(), "use BARMAP_COPY=" + name);
}

void choose_posts(copy_plan& plan, [[maybe_unused]] cpu_features cpu) noexcept {
    plan.post_word = portable::post_word;
    plan.post_line = portable::post_line;
    [[maybe_unused]] auto const has = [=](cpu_features needs) { return (needs & ~cpu) == 0; };
#if defined(__x86_64__)
    if (has(feature::avx512f | feature::avx512bw)) {
        plan.post_line = avx512::post_line;
    }
    if (plan.kind == cache_kind::write_combining) { // elsewhere a plain store leaves at once
        if (has(feature::movdiri)) {
            plan.post_word = movdir64b::post_word;
            plan.head.direct_words = true;
        }
        if (has(feature::movdir64b)) {
            plan.post_line = movdir64b::post_line;
            plan.head.direct_lines = true;
        }
    }
#elif defined(__aarch64__)
    if (has(feature::asimd)) {
        plan.post_line = neon::post_line;
    }
#endif
}

auto streaming_store() noexcept -> decltype(copy_routine::store) {
    for (copy_routine const& routine : all_routines())
        if (routine.name == "avx512nt" && supported(routine))
            return routine.store;
    return nullptr;
}

copy_plan plan_for_kind(copy_plan plan, cache_kind kind) noexcept {
    plan.kind = kind;
    plan.head = {};
    choose_posts(plan, this_cpu());
    return plan;
}

copy_plan plan_of_one(copy_routine const& routine, cache_kind kind) noexcept {
    copy_plan plan{};
    plan.store.fill(&routine);
    plan.load.fill(&routine);
    plan.kind = kind;
    choose_posts(plan, this_cpu());
    return plan;
}

copy_plan const& kept_plan_of_one(copy_routine const& routine, cache_kind kind) {
    static std::mutex lock;
    static auto* const made = new std::map<std::pair<std::string_view, cache_kind>, copy_plan>;
    std::lock_guard const hold(lock);
    return made->try_emplace({routine.name, kind}, plan_of_one(routine, kind)).first->second;
}

} // namespace barmap::copy

int barmap_list_copy_routines(barmap_list** out) {
    return barmap::c::make_list(out, "list the copy routines", [] {
        std::vector<barmap::copy_routine_report> reports;
        for (barmap::copy::copy_routine const& routine : barmap::copy::all_routines())
            reports.push_back({std::string(routine.name), barmap::copy::supported(routine),
                               barmap::copy::describe(routine.needs)});
        return reports;
    });
}
