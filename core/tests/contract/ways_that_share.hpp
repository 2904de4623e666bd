// SPDX-License-Identifier: MIT
#pragma once

#include "contract/machine.hpp"

#include <algorithm>
#include <iterator>
#include <string_view>
#include <vector>

namespace barmap::contract {

[[nodiscard]] inline bool shares(way const& which) {
    std::string_view const backend = which.backend;
    return backend == "rm" || backend == "dmabuf";
}

[[nodiscard]] inline std::vector<way> ways_that_share() {
    std::vector<way> result;
    std::ranges::copy_if(all_ways(), std::back_inserter(result), shares);
    return result;
}

/// Memory of a simulated GPU that needs no fake driver, which other processes can really open.
class simulated_gpu_alone : public testing::Test {
protected:
    void SetUp() override {
        set_environment("BARMAP_BACKEND", "dmabuf");
        machine_.emplace("610");
        machine_->use();
    }

private:
    std::optional<machine> machine_;
};

} // namespace barmap::contract
