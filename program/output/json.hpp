// SPDX-License-Identifier: MIT
#pragma once

#include <nlohmann/json.hpp>

#include <initializer_list>
#include <string_view>

namespace barmap::tool {

using json = nlohmann::ordered_json;

struct member {
    char const* name;
    json value;
};

/// A JSON object of these members. A list of json's own does the same, and compiles more slowly.
///
///     bench.out.add(object({{"measurement", "rate"}, {"bytes", bytes}}));
[[nodiscard]] json object(std::initializer_list<member> members);

/// Null where there is none.
[[nodiscard]] inline json or_null(std::string_view text) {
    return text.empty() ? json(nullptr) : json(text);
}

} // namespace barmap::tool
