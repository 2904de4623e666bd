// SPDX-License-Identifier: MIT
/// Lists of the C interface, from the reports that the core makes.
#pragma once

#include "base/c_boundary.hpp"

#include <barmap/list.h>
#include <barmap/report.hpp>

#include <vector>

namespace barmap::c {

[[nodiscard]] barmap_list* list_of(std::vector<backend_report> reports);
[[nodiscard]] barmap_list* list_of(std::vector<engine_report> reports);
[[nodiscard]] barmap_list* list_of(std::vector<copy_crossover> reports);
[[nodiscard]] barmap_list* list_of(std::vector<copy_routine_report> reports);
[[nodiscard]] barmap_list* list_of(std::vector<policy_report> reports);
/// @param reports of texts that end with 0
[[nodiscard]] barmap_list* list_of(std::vector<setting_report> reports);

/// Makes a list of what the body returns, and hands it over.
template <class Body>
int make_list(barmap_list** out, char const* operation, Body body) noexcept {
    return attempt([&] {
        expect(out, operation, "pass a pointer for the list, not NULL") = nullptr;
        *out = list_of(body());
    });
}

} // namespace barmap::c
