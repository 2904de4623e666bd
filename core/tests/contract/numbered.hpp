// SPDX-License-Identifier: MIT
#pragma once

#include "contract/machine.hpp"

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

/// For tests of what a CPU and GPU code tell each other by, with threads in the place of kernels.
namespace barmap::contract {

/// Nanoseconds that GPU code waits for what comes.
constexpr std::uint64_t patience = 60'000'000'000;
/// Bytes of each kind of memory for what a test makes.
constexpr std::size_t enough = 1 << 16;

/// A value that knows whether it is whole.
template <std::size_t Words>
struct numbered {
    std::array<std::uint64_t, Words> words;

    static numbered of(std::uint64_t number) {
        numbered result;
        for (std::size_t i = 0; i < Words; ++i)
            result.words[i] = number + i * i;
        return result;
    }
    [[nodiscard]] bool is_whole() const { return *this == of(words[0]); }
    bool operator==(numbered const&) const = default;
};

/// For tests that ThreadSanitizer should see.
class signalling_threads : public contract_test {
protected:
    void SetUp() override {
        contract_test::SetUp();
#if defined(__SANITIZE_THREAD__)
        if (GetParam().backend != std::string_view("dmabuf"))
            GTEST_SKIP() << "ThreadSanitizer does not know the order of stores through a mapping";
#endif
    }
};

/// They ask for nothing of their memory but how the CPU caches it: one way of each kind.
inline std::vector<way> ways_of_each_kind() {
    std::vector<way> result;
    for (way const& each : all_ways())
        if (std::string const name = name_of(each); name == "dmabuf" || name == "gdrdrv_2_6")
            result.push_back(each);
    return result;
}

/// The same, and a process of its own for the CPU's side, which only simulated memory lets in.
inline std::vector<way> ways_of_each_side() {
    std::vector<way> result = ways_of_each_kind();
    way other = way_of("dmabuf");
    other.name = "in_another_process";
    other.in_other_process = true;
    result.push_back(other);
    return result;
}

#define BARMAP_OVER_KINDS_OF_MEMORY(suite)                                                         \
    INSTANTIATE_TEST_SUITE_P(ways, suite, over(ways_of_each_kind()),                               \
                             [](auto const& info) { return name_of(info.param); })

} // namespace barmap::contract
