// SPDX-License-Identifier: MIT
#include "system/fd.hpp"

#include "shared/caught.hpp"
#include "shared/in_child.hpp"
#include "system/tests/watched_calls.hpp"

#include <barmap/error.hpp>

#include <cerrno>
#include <fcntl.h>
#include <gtest/gtest.h>
#include <optional>
#include <string_view>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <unistd.h>
#include <utility>

namespace barmap::os {
namespace {

using test::caught;

class fd_test : public testing::Test {
protected:
    watched_calls calls_;

    error failure_of_open(int code) {
        calls_.fail("open", code);
        return caught([] { (void)open_file("/dev/some device", O_RDWR); });
    }
};

TEST_F(fd_test, closes_once) {
    {
        fd const file = open_file("/dev/null", O_RDWR);
        EXPECT_TRUE(file);
        EXPECT_EQ(::fcntl(file.get(), F_GETFD), FD_CLOEXEC);
    }
    EXPECT_EQ(watched_calls::counts.close, 1);
}

TEST_F(fd_test, moves) {
    {
        fd first = open_file("/dev/null", O_RDWR);
        int const number = first.get();
        fd second(std::move(first));
        EXPECT_EQ(second.get(), number);
        fd third;
        EXPECT_FALSE(third);
        third = std::move(second);
        EXPECT_EQ(third.get(), number);
        EXPECT_EQ(watched_calls::counts.close, 0);
        third = open_file("/dev/zero", O_RDWR);
        EXPECT_NE(third.get(), number);
    }
    EXPECT_EQ(watched_calls::counts.close, 2);
}

TEST_F(fd_test, duplicates) {
    fd const first = open_file("/dev/null", O_RDWR);
    fd const second = duplicate(first.get());
    EXPECT_NE(second.get(), first.get());
    EXPECT_EQ(::fcntl(second.get(), F_GETFD), FD_CLOEXEC);
    calls_.fail("duplicate", EMFILE);
    error const failure = caught([&] { (void)duplicate(first.get()); });
    EXPECT_EQ(failure.code(), std::error_code(EMFILE, std::system_category()));
    EXPECT_NE(failure.advice().find("ulimit -n"), std::string::npos);
}

TEST_F(fd_test, an_error_names_the_file_and_what_to_do) {
    for (auto const& [code, advice] : std::initializer_list<std::pair<int, char const*>>{
             {ENOENT, "load the driver"},
             {ENODEV, "load the driver"},
             {ENXIO, "load the driver"},
             {EACCES, "give this user read and write access"},
             {EPERM, "give this user read and write access"},
             {EMFILE, "ulimit -n"},
             {ENFILE, "ulimit -n"},
             {EIO, "documentation"}}) {
        error const failure = failure_of_open(code);
        EXPECT_EQ(failure.code(), std::error_code(code, std::system_category()));
        EXPECT_NE(failure.operation().find("/dev/some device"), std::string::npos);
        EXPECT_NE(failure.advice().find(advice), std::string::npos) << failure.advice();
    }
}

TEST_F(fd_test, can_be_released) {
    fd file = open_file("/dev/null", O_RDWR);
    int const number = file.release();
    EXPECT_FALSE(file);
    EXPECT_EQ(watched_calls::counts.close, 0);
    EXPECT_EQ(::fcntl(number, F_GETFD), FD_CLOEXEC) << "still open";
    ::close(number);
}

TEST_F(fd_test, may_be_number_0) {
    fd input(0);
    EXPECT_TRUE(input);
    EXPECT_EQ(input.release(), 0);
    calls closed_input = linux_calls();
    closed_input.open = [](char const*, int) { return 0; };
    closed_input.duplicate = [](int) { return 0; };
    replace(&closed_input);
    fd opened = open_file("/dev/null", O_RDWR), copy = duplicate(1);
    EXPECT_EQ(opened.release(), 0);
    EXPECT_EQ(copy.release(), 0);
}

// What an earlier call has left in errno says nothing about one that succeeds.
TEST_F(fd_test, is_not_opened_or_read_again_after_a_success) {
    int ends[2];
    ASSERT_EQ(::pipe2(ends, O_CLOEXEC | O_NONBLOCK), 0);
    fd const out(ends[0]), in(ends[1]);
    ASSERT_EQ(::write(in.get(), "ab", 2), 2);
    char byte = 0;
    errno = EINTR;
    EXPECT_EQ(linux_calls().read(out.get(), &byte, 1), 1);
    EXPECT_EQ(byte, 'a');
    int waiting = 0;
    errno = EINTR;
    EXPECT_EQ(linux_calls().ioctl(out.get(), FIONREAD, &waiting), 0);
    EXPECT_EQ(waiting, 1);
    errno = EINTR;
    fd const opened(linux_calls().open("/dev/null", O_RDWR));
    EXPECT_TRUE(opened);
}

TEST_F(fd_test, says_that_there_are_no_descriptors) {
    EXPECT_NO_THROW(expect_descriptors("do it"));
    EXPECT_EQ(watched_calls::counts.close, 1);
    for (int const exhausted : {EMFILE, ENFILE}) {
        calls_.fail("open", exhausted);
        error const failure = caught([] { expect_descriptors("do it"); });
        EXPECT_EQ(failure.code(), std::error_code(exhausted, std::system_category()));
        EXPECT_EQ(failure.operation(), "do it");
        EXPECT_NE(failure.advice().find("ulimit -n"), std::string::npos);
    }
    calls_.fail("open", ENOENT);
    EXPECT_NO_THROW(expect_descriptors("do it")) << "another reason";
}

TEST_F(fd_test, knows_the_size_of_a_file) {
    fd const file(::memfd_create("size", MFD_CLOEXEC));
    EXPECT_EQ(file_size(file.get()), 0u);
    ASSERT_EQ(::ftruncate(file.get(), 12345), 0);
    EXPECT_EQ(file_size(file.get()), 12345u);
    int ends[2];
    ASSERT_EQ(::pipe2(ends, O_CLOEXEC), 0);
    fd const out(ends[0]), in(ends[1]);
    EXPECT_EQ(file_size(out.get()), std::nullopt) << "a pipe has none";
}

// The system would send SIGXFSZ, of which a process dies.
TEST(memory_file, larger_than_files_may_be_is_refused) {
    test::expect_exit(7, test::in_child(0, [] {
                          rlimit const least{4096, 4096};
                          ::setrlimit(RLIMIT_FSIZE, &least);
                          error const failure = caught([] { (void)memory_file(8192); });
                          bool const is_told =
                              failure.code() == std::error_code(EFBIG, std::system_category()) &&
                              failure.advice().find("ulimit -f") != std::string_view::npos;
                          ::_exit(is_told && memory_file(4096).get() >= 0 ? 7 : 2);
                      }));
}

} // namespace
} // namespace barmap::os
