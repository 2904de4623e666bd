// SPDX-License-Identifier: MIT
#include "contract/ways.hpp"

#include "contract/machine.hpp"
#include "fake/gdrdrv_driver.hpp"
#include "fake/rm_driver.hpp"
#include "vulkan/software_gpu.hpp"

#include <algorithm>
#include <ostream>

namespace barmap::contract {
namespace {

void nothing(machine&) {}

template <unsigned Series>
void rm(machine& to) {
    to.add<fake::rm_driver>({.series = Series});
}

template <unsigned Minor>
void gdrdrv(machine& to) {
    to.add<fake::gdrdrv_driver>({.minor = Minor});
}

std::string software_vulkan() {
#if defined(__SANITIZE_THREAD__)
    return "Mesa's threads are not built for ThreadSanitizer";
#endif
    test::choose_software_gpu();
    return test::why_no_software_gpu();
}

// clang-format off
constexpr way ways[] = {
    {"dmabuf", "dmabuf", "610", nothing},
    {"rm_580", "rm", "580", rm<580>},
    {"rm_535", "rm", "535", rm<535>},
    // One for each set of calls that the module has had; core/tests/fake goes through every version.
    {"gdrdrv_2_6", "gdrdrv", "580", gdrdrv<6>},
    {"gdrdrv_2_4", "gdrdrv", "580", gdrdrv<4>},
    {"gdrdrv_2_0", "gdrdrv", "580", gdrdrv<0>},
    // On Mesa's software device, which is one only and lacks VK_EXT_map_memory_placed.
    {"vulkan", "vulkan", "580", nothing, software_vulkan, false, false},
};
// clang-format on

} // namespace

std::span<way const> all_ways() {
    return ways;
}

std::vector<way> newest_ways() {
    std::vector<way> result;
    std::ranges::copy_if(ways, std::back_inserter(result),
                         [](way const& each) { return &way_of(each.backend) == &each; });
    return result;
}

way const& way_of(std::string_view backend) {
    return *std::find_if(std::begin(ways), std::end(ways),
                         [&](way const& each) { return each.backend == backend; });
}

bool is_asked_for(std::string_view way) {
    std::string const& filter = testing::GTEST_FLAG(filter);
    return filter.find_first_of("*?:-") != std::string::npos ||
           std::string_view(filter).substr(filter.rfind('/') + 1) == way;
}

std::string name_of(way const& which) {
    return which.name;
}

void PrintTo(way const& which, std::ostream* out) {
    *out << which.name;
}

} // namespace barmap::contract
