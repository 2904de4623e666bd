// SPDX-License-Identifier: MIT
#include "output/json.hpp"

namespace barmap::tool {

json object(std::initializer_list<member> members) {
    json result = json::object();
    for (member const& each : members)
        result[each.name] = each.value;
    return result;
}

} // namespace barmap::tool
