// SPDX-License-Identifier: MIT
#include "fake/rm_parameters.hpp"

#include "fake/rm_driver.hpp"
#include "fake/rm_tables.hpp"

#include <algorithm>
#include <cstring>
#include <string>

namespace barmap::fake::rm {
namespace {

constexpr std::byte written{0xee};

} // namespace

bool all_zero(std::byte const* from, std::size_t bytes) {
    return std::all_of(from, from + bytes, [](std::byte each) { return each == std::byte{0}; });
}

copied_parameters::copied_parameters(rm_driver& driver, std::string_view structure, void* theirs,
                                     std::size_t given)
    : driver_(driver), theirs_(static_cast<std::byte*>(theirs)),
      known_(size_of(structure, driver.how().series)) {
    constexpr std::size_t least = 1024;
    own_.resize(std::max<std::size_t>(known_, least));
    if (!theirs_)
        return;
    std::memcpy(own_.data(), theirs_, known_);
    if (given > known_ && !all_zero(theirs_ + known_, given - known_))
        driver_.refuse(std::string(structure) + " with a member that the series does not have", 0);
    if (!all_zero(theirs_ + known_, driver_.how().grown))
        driver_.refuse(std::string(structure) + " without room behind it", 0);
}

copied_parameters::~copied_parameters() {
    if (!theirs_)
        return;
    std::memcpy(theirs_, own_.data(), known_);
    std::fill_n(theirs_ + known_, driver_.how().grown, written);
}

} // namespace barmap::fake::rm
