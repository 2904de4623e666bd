// SPDX-License-Identifier: MIT
#include "os/region.hpp"

#include "os/fd.hpp"
#include "watched_calls.hpp"

#include <barmap/error.hpp>

#include <csignal>
#include <gtest/gtest.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>
#include <utility>

namespace barmap::os {
namespace {

/// How a forked child ends that runs this.
template <class Action>
int in_child(Action action) {
    pid_t const child = ::fork();
    if (child == 0) {
        std::signal(SIGSEGV, SIG_DFL);
        action();
        ::_exit(0);
    }
    int status = -1;
    ::waitpid(child, &status, 0);
    return status;
}

bool faults(std::byte volatile* at) {
    int const status = in_child([=] { *at = std::byte{1}; });
    return WIFSIGNALED(status) && WTERMSIG(status) == SIGSEGV;
}

class region_test : public testing::Test {
protected:
    void SetUp() override {
        ASSERT_EQ(::ftruncate(file_.get(), static_cast<off_t>(4 * page_)), 0);
        for (std::size_t i = 0; i < 4; ++i) {
            char const mark = static_cast<char>('a' + i);
            ASSERT_EQ(::pwrite(file_.get(), &mark, 1, static_cast<off_t>(i * page_)), 1);
        }
    }
    watched_calls calls_;
    std::size_t const page_ = page_size();
    fd file_{::memfd_create("region", MFD_CLOEXEC)};
};

TEST_F(region_test, starts_as_a_range_that_faults) {
    region const reserved = region::reserve(3 * page_, "");
    EXPECT_EQ(reserved.size(), 3 * page_);
    EXPECT_TRUE(faults(reserved.data()));
    EXPECT_TRUE(faults(reserved.data() + 3 * page_ - 1));
}

TEST_F(region_test, puts_files_side_by_side) {
    region joined = region::reserve(3 * page_, "");
    joined.place(0, page_, file_.get(), static_cast<off_t>(2 * page_), "");
    joined.place(page_, 2 * page_, file_.get(), 0, "");
    EXPECT_EQ(joined.data()[0], std::byte{'c'});
    EXPECT_EQ(joined.data()[page_], std::byte{'a'});
    EXPECT_EQ(joined.data()[2 * page_], std::byte{'b'});
    joined.data()[page_ + 5] = std::byte{'x'};
    char seen = 0;
    EXPECT_EQ(::pread(file_.get(), &seen, 1, 5), 1);
    EXPECT_EQ(seen, 'x') << "shared";
}

TEST_F(region_test, stays_out_of_forked_children) {
    auto mapped = std::make_unique<region>(region::reserve(page_, ""));
    mapped->place(0, page_, file_.get(), 0, "");
    EXPECT_TRUE(faults(mapped->data()));
    int const status = in_child([&] {
        mapped.reset();
        ::_exit(watched_calls::counts.munmap);
    });
    EXPECT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) == 0) << "no munmap in the child";
    EXPECT_EQ(mapped->data()[0], std::byte{'a'});
}

TEST_F(region_test, unmaps_once) {
    {
        region first = region::reserve(page_, "");
        std::byte* const at = first.data();
        region second(std::move(first));
        EXPECT_EQ(first.data(), nullptr);
        EXPECT_EQ(second.data(), at);
        region third;
        third = std::move(second);
        EXPECT_EQ(third.data(), at);
        EXPECT_EQ(third.size(), page_);
        EXPECT_EQ(watched_calls::counts.munmap, 0);
    }
    EXPECT_EQ(watched_calls::counts.munmap, 1);
}

TEST_F(region_test, failures_are_told) {
    calls_.fail("mmap", ENOMEM);
    try {
        (void)region::reserve(page_, "rm");
        ADD_FAILURE() << "it did not fail";
    } catch (error const& failure) {
        EXPECT_EQ(failure.code(), std::error_code(ENOMEM, std::system_category()));
        EXPECT_NE(failure.advice().find("max_map_count"), std::string::npos);
        EXPECT_EQ(failure.backend(), "rm");
    }
    region reserved = region::reserve(page_, "");
    calls_.fail("mmap", EINVAL);
    EXPECT_THROW(reserved.place(0, page_, file_.get(), 0, "rm"), error);
    calls_.fail("madvise", EINVAL);
    EXPECT_THROW(reserved.place(0, page_, file_.get(), 0, "rm"), error);
    EXPECT_NO_THROW(reserved.place(0, page_, file_.get(), 0, "rm"));
}

TEST_F(region_test, knows_its_process) {
    EXPECT_TRUE(is_this_process(::getpid()));
    EXPECT_FALSE(is_this_process(::getppid()));
}

} // namespace
} // namespace barmap::os
