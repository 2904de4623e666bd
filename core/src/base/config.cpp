// SPDX-License-Identifier: MIT
#include "base/config.hpp"

#include "base/lists.hpp"
#include "base/unknown_variables.hpp"
#include "system/environment.hpp"

#include <barmap/error.hpp>

#include <algorithm>
#include <array>
#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <mutex>
#include <sys/auxv.h>
#include <unistd.h>
#include <utility>

namespace barmap::config {
namespace {

bool take_name(std::string& to, std::string_view value) {
    to = value == "auto" ? std::string_view{} : value;
    return true;
}

bool take_list(std::vector<std::string>& to, std::string_view value) {
    if (value == "none")
        return true;
    while (!value.empty()) {
        std::size_t const comma = std::min(value.find(','), value.size());
        if (comma > 0)
            to.emplace_back(value.substr(0, comma));
        value.remove_prefix(std::min(comma + 1, value.size()));
    }
    return true;
}

bool take_level(log_level& to, std::string_view value) {
    if (value != "off" && value != "info" && value != "debug")
        return false;
    to = value == "debug" ? log_level::debug : value == "info" ? log_level::info : log_level::off;
    return true;
}

bool take_switch(bool& to, std::string_view value) {
    to = value == "1";
    return to || value == "0";
}

bool take_bell(bool& by_cpu, std::string_view value) {
    by_cpu = value == "cpu";
    return by_cpu || value == "kernel";
}

bool take_path(std::string& to, std::string_view value) {
    to = value;
    return true;
}

/// A variable: an empty value is its default.
struct entry {
    char const* name;
    char const* standard; ///< the default
    char const* allowed;
    char const* meaning;
    bool (*take)(values& to, std::string_view value); ///< false: not allowed
    bool only_says = false; ///< for diagnosis: a value that is not allowed stops nothing
};

constexpr std::array<entry, 10> table{{
    {"BARMAP_BACKEND", "auto", "auto, or one backend's name", "allow only this backend",
     [](values& to, std::string_view value) { return take_name(to.backend, value); }},
    {"BARMAP_COPY", "auto", "auto, or one copy routine's name", "use only this CPU copy routine",
     [](values& to, std::string_view value) { return take_name(to.copy, value); }},
    {"BARMAP_ENGINE", "auto", "auto, none, or one copy engine's name",
     "use only this copy engine, or none",
     [](values& to, std::string_view value) { return take_name(to.engine, value); }},
    {"BARMAP_DOORBELL", "kernel", "kernel, cpu",
     "who rings the doorbell of kernel queues: under compute-sanitizer, let the CPU",
     [](values& to, std::string_view value) { return take_bell(to.rings_by_cpu, value); }},
    {"BARMAP_REQUIRE", "none", "backends' names, separated by commas",
     "opening a device fails unless these backends are usable",
     [](values& to, std::string_view value) { return take_list(to.require, value); }},
    {"BARMAP_POLICY", "none",
     "name=value, separated by commas: names and ranges of `barmap info --json`",
     "overrule numbers by which barmap chooses",
     [](values& to, std::string_view value) { return policy::take(to.policy, value); }},
    {"BARMAP_LOG", "off", "off, info, debug", "print each decision, and each pin, to stderr",
     [](values& to, std::string_view value) { return take_level(to.log, value); }, true},
    {"BARMAP_SIM", "0", "0, 1", "load the simulated GPU instead of the driver",
     [](values& to, std::string_view value) { return take_switch(to.simulate, value); }},
    {"BARMAP_SIM_LIBRARY", "beside barmap", "a path", "the simulated GPU's library",
     [](values& to, std::string_view value) { return take_path(to.sim_library, value); }},
    {"BARMAP_SIM_HIP_LIBRARY", "beside barmap", "a path", "the simulated HIP runtime's library",
     [](values& to, std::string_view value) { return take_path(to.sim_hip_library, value); }},
}};

struct snapshot {
    values all;
    std::array<setting_report, table.size()> variables;
    entry const* refused = nullptr; ///< the first one whose value is not allowed
    std::string refused_value;
    std::vector<std::string> passed_over; ///< a sentence for each value that is ignored
};

std::unique_ptr<snapshot const> read(char const* (*get)(char const* name)) {
    auto result = std::make_unique<snapshot>();
    for (std::size_t i = 0; i < table.size(); ++i) {
        entry const& each = table[i];
        setting_report& shown = result->variables[i];
        shown = {each.name, each.standard, "default", each.allowed, each.meaning};
        char const* const text = get(each.name);
        if (!text && std::getenv(each.name))
            shown.from = "ignored: privileged process";
        if (!text || !*text)
            continue;
        if (values before = result->all; each.take(result->all, text)) {
            shown.value = text;
            shown.from = "environment";
        } else {
            result->all = std::move(before);
            shown.from = "ignored: not allowed";
            if (each.only_says) {
                result->passed_over.push_back(std::string("ignoring ") + each.name + "=" + text +
                                              ": allowed are " + each.allowed);
            } else if (!result->refused) {
                result->refused = &each;
                result->refused_value = text;
            }
        }
    }
    return result;
}

std::mutex reading;
std::atomic<snapshot const*> in_force{nullptr};

/// Keeps every snapshot, so that texts which were handed out stay valid.
void put_in_force(std::unique_ptr<snapshot const> next) {
    static auto* const kept = new std::vector<std::unique_ptr<snapshot const>>;
    kept->push_back(std::move(next));
    in_force.store(kept->back().get(), std::memory_order_release);
}

/// Names on stderr the variables that nothing reads and the values that are ignored: otherwise a
/// misspelt name would go unnoticed. Silent in a privileged process, as secure_getenv is.
void name_what_is_ignored(std::vector<std::string> sentences) {
    if (::getauxval(AT_SECURE))
        return;
    std::array<std::string_view, table.size()> names;
    std::ranges::transform(table, names.begin(), &entry::name);
    for (std::string& unknown : unknown_variables(environ, names))
        sentences.push_back(std::move(unknown));
    for (std::string const& sentence : sentences)
        std::fprintf(stderr, "barmap: %s\n", sentence.c_str());
}

snapshot const& now() {
    if (snapshot const* known = in_force.load(std::memory_order_acquire))
        return *known;
    std::lock_guard const guard(reading);
    if (!in_force.load(std::memory_order_relaxed)) {
        std::unique_ptr<snapshot const> first = read(os::environment);
        std::vector<std::string> sentences = first->passed_over;
        put_in_force(std::move(first));
        name_what_is_ignored(std::move(sentences));
    }
    return *in_force.load(std::memory_order_relaxed);
}

} // namespace

values const& current() {
    return now().all;
}

void read_again(char const* (*get)(char const* name)) {
    std::lock_guard const guard(reading);
    put_in_force(read(get ? get : os::environment));
}

void expect_valid() {
    snapshot const& known = now();
    if (known.refused)
        throw error(errc::invalid_argument,
                    std::string("use ") + known.refused->name + "=" + known.refused_value, "",
                    std::string("allowed are ") + known.refused->allowed);
}

} // namespace barmap::config

using barmap::c::attempt;

int barmap_settings_check(void) {
    return attempt([] { barmap::config::expect_valid(); });
}

int barmap_list_settings(barmap_list** out) {
    return barmap::c::make_list(out, "list the settings", [] {
        barmap::config::snapshot const& known = barmap::config::now();
        return std::vector<barmap::setting_report>(known.variables.begin(), known.variables.end());
    });
}

char const* barmap_setting(char const* name) {
    using namespace barmap::config;
    char const* found = nullptr;
    (void)attempt([&] {
        snapshot const& known = now();
        for (std::size_t i = 0; name && i < known.variables.size(); ++i)
            if (barmap::setting_report const& each = known.variables[i];
                each.name == name && each.value != table[i].standard)
                found = each.value.c_str(); // of a snapshot, which is kept
    });
    return found;
}
