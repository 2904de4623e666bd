// SPDX-License-Identifier: MIT
#include "base/policy.hpp"

#include "base/c_boundary.hpp"
#include "base/config.hpp"
#include "base/lists.hpp"

#include <barmap/error.hpp>
#include <barmap/report.hpp>

#include <algorithm>
#include <charconv>

namespace barmap::policy {
namespace {

struct row {
    std::string_view name;
    std::size_t values::* member;
    std::string_view unit;
    std::size_t least, most;
    std::string_view why;
};

constexpr row table[] = {
#define BARMAP_POLICY_ROW(name, value, unit, least, most, why)                                     \
    {#name, &values::name, unit, least, most, why},
    BARMAP_POLICY(BARMAP_POLICY_ROW)
#undef BARMAP_POLICY_ROW
};

struct fixed_row {
    std::string_view name;
    std::size_t value;
    std::string_view unit, why;
};

constexpr fixed_row fixed_table[] = {
#define BARMAP_POLICY_ROW(name, value, unit, why) {#name, value, unit, why},
    BARMAP_POLICY_FIXED(BARMAP_POLICY_ROW)
#undef BARMAP_POLICY_ROW
};

bool take_one(values& to, std::string_view assignment) {
    std::size_t const equals = std::min(assignment.find('='), assignment.size());
    auto const found = std::ranges::find(table, assignment.substr(0, equals), &row::name);
    if (found == std::end(table) || equals == assignment.size())
        return false;
    std::string_view const text = assignment.substr(equals + 1);
    std::size_t value = 0;
    auto const [end, failure] = std::from_chars(text.data(), text.data() + text.size(), value);
    if (failure != std::errc{} || end != text.data() + text.size() || value < found->least ||
        value > found->most)
        return false;
    to.*found->member = value;
    return true;
}

} // namespace

bool take(values& to, std::string_view assignments) {
    while (!assignments.empty()) {
        std::size_t const comma = std::min(assignments.find(','), assignments.size());
        if (comma > 0 && !take_one(to, assignments.substr(0, comma)))
            return false;
        assignments.remove_prefix(std::min(comma + 1, assignments.size()));
    }
    return true;
}

namespace {

std::vector<policy_report> reports() {
    values const& now = config::current().policy;
    values const standard;
    std::vector<policy_report> result;
    for (row const& each : table)
        result.push_back({std::string(each.name), now.*each.member, each.least, each.most,
                          std::string(each.unit),
                          now.*each.member == standard.*each.member ? "default" : "BARMAP_POLICY",
                          std::string(each.why)});
    for (fixed_row const& each : fixed_table)
        result.push_back({std::string(each.name), each.value, each.value, each.value,
                          std::string(each.unit), "fixed",
                          std::string(each.why)});
    return result;
}

std::size_t value_of(std::string_view name) {
    values const& now = config::current().policy;
    for (row const& each : table)
        if (each.name == name)
            return now.*each.member;
    for (fixed_row const& each : fixed_table)
        if (each.name == name)
            return each.value;
    throw error(errc::invalid_argument, "read the policy " + std::string(name), "",
                "give a name that `barmap info --verbose` prints");
}

} // namespace

} // namespace barmap::policy

int barmap_list_policies(barmap_list** out) {
    return barmap::c::make_list(out, "list the policies", [] { return barmap::policy::reports(); });
}

int barmap_policy_value(char const* name, std::size_t* value) {
    static constexpr char operation[] = "read a policy";
    return barmap::c::attempt([&] {
        using barmap::c::expect;
        expect(value, operation, "pass a pointer for the value, not NULL") = 0;
        *value = barmap::policy::value_of(&expect(name, operation, "pass a name, not NULL"));
    });
}
