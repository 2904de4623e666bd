// SPDX-License-Identifier: MIT
#pragma once

#include <nlohmann/json.hpp>

#include <initializer_list>
#include <string>
#include <string_view>

namespace barmap::tool {

using json = nlohmann::ordered_json;

/// A name, and a value that lives until the end of the statement.
class member {
public:
    member(char const* name, bool value) noexcept
        : name_(name), kind_(kind::truth), truth_(value) {}
    member(char const* name, int value) noexcept : member(name, long{value}) {}
    member(char const* name, long value) noexcept
        : name_(name), kind_(kind::integer), integer_(value) {}
    member(char const* name, unsigned value) noexcept : member(name, 1ULL * value) {}
    member(char const* name, unsigned long value) noexcept : member(name, 1ULL * value) {}
    member(char const* name, unsigned long long value) noexcept
        : name_(name), kind_(kind::natural), natural_(value) {}
    member(char const* name, double value) noexcept
        : name_(name), kind_(kind::real), real_(value) {}
    member(char const* name, char const* value) noexcept : member(name, std::string_view(value)) {}
    member(char const* name, std::string const& value) noexcept
        : member(name, std::string_view(value)) {}
    member(char const* name, std::string_view value) noexcept
        : name_(name), kind_(kind::text), text_(value) {}
    member(char const* name, json const& value) noexcept
        : name_(name), kind_(kind::other), other_(&value) {}

    void put_into(json& object) const;

private:
    enum class kind : unsigned char { truth, integer, natural, real, text, other };
    char const* name_;
    kind kind_;
    union {
        bool truth_;
        long integer_;
        unsigned long long natural_;
        double real_;
        std::string_view text_;
        json const* other_;
    };
};

/// A JSON object of these members. A list of json's own takes ten times as long to compile.
///
///     bench.out.add(object({{"measurement", "rate"}, {"bytes", bytes}}));
[[nodiscard]] json object(std::initializer_list<member> members);

/// Null where there is none.
[[nodiscard]] inline json or_null(std::string_view text) {
    return text.empty() ? json(nullptr) : json(text);
}

} // namespace barmap::tool
