// SPDX-License-Identifier: MIT
#pragma once

#include <barmap/error.hpp>

#include <gtest/gtest.h>
#include <system_error>

namespace barmap::test {

/// Runs an action that must throw a barmap::error. @return that
template <class Action>
[[nodiscard]] error caught(Action&& action) {
    try {
        action();
    } catch (error const& thrown) {
        return thrown;
    }
    ADD_FAILURE() << "it is not refused";
    return {std::error_code(), "", "", ""};
}

} // namespace barmap::test
