// SPDX-License-Identifier: MIT
#include "output/json.hpp"

namespace barmap::tool {

void member::put_into(json& object) const {
    json& value = object[name_];
    switch (kind_) {
    case kind::truth:
        value = truth_;
        break;
    case kind::integer:
        value = integer_;
        break;
    case kind::natural:
        value = natural_;
        break;
    case kind::real:
        value = real_;
        break;
    case kind::text:
        value = text_;
        break;
    case kind::other:
        value = *other_;
        break;
    }
}

json object(std::initializer_list<member> members) {
    json result;
    for (member const& each : members)
        each.put_into(result);
    return result;
}

} // namespace barmap::tool
