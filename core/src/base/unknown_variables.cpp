// SPDX-License-Identifier: MIT
#include "base/unknown_variables.hpp"

#include "system/nearest.hpp"

#include <algorithm>
#include <iterator>

namespace barmap::config {
namespace {

constexpr std::string_view prefix = "BARMAP_";
/// Variables of tests, which may invent what they need.
constexpr std::string_view test_prefix = "TEST_";

/// Variables that others read: without the prefix. tests/layout/variables_test.py compares the
/// list with the sources.
constexpr std::string_view others[]{
    // the simulated GPU
    "SIM_BAR1", "SIM_DEVICES", "SIM_DRIVER", "SIM_FAIL", "SIM_MEMORY", "SIM_MIG", "SIM_UUID",
    "SIM_VULKAN_DRIVER",
    // the Python package
    "RUNTIME", "VLLM",
    // scripts of the source tree, which may start programs that use barmap
    "CACHE", "DEBIAN_MIRROR", "DEB_WORK", "EMAIL", "GIT", "HOMEPAGE", "IN_NAMESPACE", "LAUNCHER",
    "NANOBIND", "RELEASES", "RPM_WORK", "WHEEL_WORK"};

} // namespace

std::vector<std::string> unknown_variables(char const* const* environment,
                                           std::span<std::string_view const> librarys) {
    std::vector<std::string_view> known(std::begin(others), std::end(others));
    for (std::string_view const name : librarys)
        known.push_back(name.substr(prefix.size()));
    std::vector<std::string> sentences;
    for (; environment && *environment; ++environment) {
        std::string_view name(*environment);
        name = name.substr(0, name.find('='));
        if (!name.starts_with(prefix))
            continue;
        name.remove_prefix(prefix.size());
        if (name.starts_with(test_prefix) || std::ranges::find(known, name) != known.end())
            continue;
        std::string sentence = "ignoring the unknown environment variable BARMAP_";
        sentence += name;
        if (std::string_view const meant = os::nearest(name, known); !meant.empty())
            (sentence += "; did you mean BARMAP_").append(meant) += "?";
        sentences.push_back(std::move(sentence));
    }
    return sentences;
}

} // namespace barmap::config
