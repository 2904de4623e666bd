// SPDX-License-Identifier: MIT
#pragma once

#include <atomic>
#include <cstdint>
#include <cstdlib>
#include <initializer_list>
#include <optional>
#include <string>
#include <string_view>

/// The environment variables of the simulated GPUs. A value that is not understood is a problem,
/// with which nothing starts: a test with other settings than it has asked for would test nothing.
namespace barmap::sim {

/// "NAME=value: why" of the first variable that was not understood; empty if there is none.
using problem = std::string;

/// A variable's text; empty is the same as not set.
inline std::string_view text_of(char const* variable) {
    char const* const text = std::getenv(variable);
    return text ? std::string_view(text) : std::string_view();
}

inline void report(problem& first, char const* variable, std::string_view why) {
    if (first.empty())
        first =
            std::string(variable) + "=" + std::string(text_of(variable)) + ": " + std::string(why);
}

/// Decimal digits only.
inline std::optional<std::uint64_t> whole_number(std::string_view text) {
    if (text.empty())
        return std::nullopt;
    std::uint64_t value = 0;
    for (char const digit : text)
        if (digit < '0' || digit > '9' || __builtin_mul_overflow(value, 10u, &value) ||
            __builtin_add_overflow(value, std::uint64_t(digit - '0'), &value))
            return std::nullopt;
    return value;
}

/// A number with K, M or G behind it or without.
inline std::optional<std::uint64_t> byte_count(std::string_view text) {
    constexpr std::string_view units = "KMG", small_units = "kmg";
    unsigned shift = 0;
    if (!text.empty()) {
        auto at = units.find(text.back());
        if (at == std::string_view::npos)
            at = small_units.find(text.back());
        if (at != std::string_view::npos) {
            shift = 10 * unsigned(at + 1);
            text.remove_suffix(1);
        }
    }
    auto const number = whole_number(text);
    if (!number || (*number << shift) >> shift != *number)
        return std::nullopt;
    return *number << shift;
}

/// @return `otherwise` if the variable is not set or not understood
inline std::uint64_t number_setting(problem& first, char const* variable, std::uint64_t otherwise,
                                    std::uint64_t least, std::uint64_t most) {
    std::string_view const text = text_of(variable);
    if (text.empty())
        return otherwise;
    auto const number = whole_number(text);
    if (number && *number >= least && *number <= most)
        return *number;
    report(first, variable,
           "must be a number from " + std::to_string(least) + " to " + std::to_string(most));
    return otherwise;
}

inline std::uint64_t choice_setting(problem& first, char const* variable, std::uint64_t otherwise,
                                    std::initializer_list<std::uint64_t> choices) {
    std::string_view const text = text_of(variable);
    if (text.empty())
        return otherwise;
    std::string names;
    auto const number = whole_number(text);
    for (std::uint64_t const& one : choices) {
        if (number == one)
            return one;
        bool const last = &one == choices.end() - 1;
        names += (names.empty() ? "" : last ? " or " : ", ") + std::to_string(one);
    }
    report(first, variable, "must be " + names);
    return otherwise;
}

/// A size of memory: greater than 0, and small enough to be rounded and added up.
inline std::uint64_t size_setting(problem& first, char const* variable, std::uint64_t otherwise) {
    std::string_view const text = text_of(variable);
    if (text.empty())
        return otherwise;
    auto const bytes = byte_count(text);
    if (bytes && *bytes > 0 && *bytes <= std::uint64_t{1} << 48)
        return *bytes;
    report(first, variable, "must be a size such as 512M or 4G");
    return otherwise;
}

/// 16 bytes as 32 hexadecimal digits, with or without hyphens.
/// @return whether the variable is set and understood
inline bool digits_setting(problem& first, char const* variable, unsigned char (&bytes)[16]) {
    std::string digits(text_of(variable));
    if (digits.empty())
        return false;
    std::erase(digits, '-');
    if (digits.size() != 2 * sizeof bytes ||
        digits.find_first_not_of("0123456789abcdefABCDEF") != std::string::npos) {
        report(first, variable, "must be 32 hexadecimal digits");
        return false;
    }
    for (std::size_t k = 0; k < sizeof bytes; ++k)
        bytes[k] =
            static_cast<unsigned char>(std::strtoul(digits.substr(2 * k, 2).c_str(), nullptr, 16));
    return true;
}

/// BARMAP_SIM_FAIL=function:code[:which]
struct planned_failure {
    std::string function; ///< without a version suffix; empty: none
    int code = 0;
    unsigned which = 1;

    /// Whether this call of that function is the one; counts the calls.
    [[nodiscard]] bool strikes(std::string_view called) const noexcept {
        static std::atomic<unsigned> matches{0};
        return !function.empty() && function == called && matches.fetch_add(1) + 1 == which;
    }

    /// The variable serves both runtimes: functions of the other one are none of this one's.
    /// @param prefix of this runtime's functions
    template <class Known>
    static planned_failure read(problem& first, std::string_view prefix, Known&& known) {
        char const* const variable = "BARMAP_SIM_FAIL";
        std::string_view const text = text_of(variable);
        if (text.empty())
            return {};
        auto const colon = text.find(':');
        auto const second = colon == text.npos ? text.npos : text.find(':', colon + 1);
        planned_failure plan;
        plan.function = text.substr(0, colon);
        bool const cuda = text.starts_with("cu"), hip = text.starts_with("hip");
        auto const number = [&](std::size_t from, std::size_t end) {
            return whole_number(text.substr(from, end - from)).value_or(0);
        };
        std::uint64_t const code = colon == text.npos ? 0 : number(colon + 1, second);
        std::uint64_t const which = second == text.npos ? 1 : number(second + 1, text.npos);
        if (!(cuda || hip) || code == 0 || code > 9999 || which == 0 || which > ~0u) {
            report(first, variable, "must be FUNCTION:CODE or FUNCTION:CODE:WHICH");
            return {};
        }
        if (!text.starts_with(prefix))
            return {};
        if (!known(plan.function)) {
            report(first, variable, "there is no function " + plan.function);
            return {};
        }
        if (auto const suffix = plan.function.rfind("_v"); suffix != std::string::npos)
            plan.function.resize(suffix);
        plan.code = int(code);
        plan.which = unsigned(which);
        return plan;
    }
};

} // namespace barmap::sim
