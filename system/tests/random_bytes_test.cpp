// SPDX-License-Identifier: MIT
#include "system/random_bytes.hpp"

#include "shared/caught.hpp"
#include "system/calls.hpp"

#include <barmap/error.hpp>

#include <array>
#include <cerrno>
#include <gtest/gtest.h>

namespace barmap::os {
namespace {

class random_test : public testing::Test {
protected:
    void TearDown() override { replace(nullptr); }

    void replace_getrandom(ssize_t (*with)(void*, std::size_t, unsigned)) {
        table_ = linux_calls();
        table_.getrandom = with;
        replace(&table_);
    }

    std::array<std::byte, 64> bytes_{};

private:
    calls table_{};
};

TEST_F(random_test, differs_from_time_to_time) {
    fill_with_random_bytes(bytes_);
    std::array<std::byte, 64> const first = bytes_;
    EXPECT_NE(first, (std::array<std::byte, 64>{}));
    fill_with_random_bytes(bytes_);
    EXPECT_NE(first, bytes_);
}

// Bytes that are not random would let a mapping of other, zeroed memory pass for the right one.
TEST_F(random_test, a_refusal_is_an_error_and_not_zeros) {
    replace_getrandom([](void*, std::size_t, unsigned) -> ssize_t {
        errno = ENOSYS;
        return -1;
    });
    error const failure = test::caught([&] { fill_with_random_bytes(bytes_); });
    EXPECT_EQ(failure.code(), std::errc::function_not_supported);
    EXPECT_NE(failure.advice().find("getrandom"), std::string::npos);
}

TEST_F(random_test, too_few_bytes_are_an_error) {
    replace_getrandom([](void*, std::size_t, unsigned) -> ssize_t { return 3; });
    errno = EPERM; // of another call, before
    EXPECT_EQ(test::caught([&] { fill_with_random_bytes(bytes_); }).code(), std::errc::io_error);
}

} // namespace
} // namespace barmap::os
