// SPDX-License-Identifier: MIT
#include "boundary.hpp"

#include "nvidia/cuda.hpp"
#include "shared/cancelled_thread.hpp"

#include <gtest/gtest.h>
#include <stdexcept>
#include <string>

/// What libgdrapi makes of failures: an errno value that its callers know, and the reason for those
/// who listen.
namespace barmap::gdrapi {
namespace {

std::string heard;

TEST(boundary, keeps_what_the_system_says) {
    EXPECT_EQ(errno_of({ENOSPC, std::system_category()}), ENOSPC);
    EXPECT_EQ(errno_of({EPERM, std::generic_category()}), EPERM);
    EXPECT_EQ(errno_of({524, std::system_category()}), ENOTSUP) << "the kernel's own ENOTSUPP";
    EXPECT_EQ(errno_of({0, std::system_category()}), EIO) << "a failure is never 0";
}

TEST(boundary, translates_what_CUDA_says) {
    EXPECT_EQ(errno_of({cuda::error_invalid_value, cuda_category()}), EINVAL);
    EXPECT_EQ(errno_of({cuda::error_out_of_memory, cuda_category()}), ENOMEM);
    EXPECT_EQ(errno_of({cuda::error_no_device, cuda_category()}), ENODEV);
    EXPECT_EQ(errno_of({cuda::error_not_supported, cuda_category()}), ENOTSUP);
    EXPECT_EQ(errno_of({999, cuda_category()}), EIO);
}

TEST(boundary, translates_want_of_room) {
    for (int const code : {-1, -2, -5})
        EXPECT_EQ(errno_of({code, vulkan_category()}), ENOMEM) << code;
    for (int const code : {0x1a, 0x51})
        EXPECT_EQ(errno_of({code, rm_category()}), ENOMEM) << code;
    EXPECT_EQ(errno_of({-4, vulkan_category()}), EIO);
    EXPECT_EQ(errno_of({0x1f, rm_category()}), EIO);
}

TEST(boundary, translates_what_barmap_says) {
    struct {
        errc code;
        int expected;
    } const all[] = {
        {errc::invalid_argument, EINVAL},    {errc::out_of_range, EINVAL},
        {errc::wrong_device, EINVAL},        {errc::unsupported_operation, EINVAL},
        {errc::unsupported_memory, ENOTSUP}, {errc::unknown_layout, ENOTSUP},
        {errc::no_device, ENODEV},           {errc::backend_absent, ENODEV},
        {errc::backend_broken, EIO},         {errc::bar1_exhausted, ENOMEM},
        {errc::forked_child, EACCES},        {errc::copy_unfinished, EIO},
    };
    for (auto const& [code, expected] : all)
        EXPECT_EQ(errno_of({static_cast<int>(code), category()}), expected)
            << static_cast<int>(code);
    EXPECT_EQ(errno_of(std::make_error_code(std::io_errc::stream)), EIO) << "anybody else's";
}

TEST(boundary, lets_no_exception_through) {
    failure_listener = [](std::string_view text) noexcept { heard = text; };
    EXPECT_EQ(guarded([] { return 7; }), 7);
    EXPECT_EQ(heard, "");
    EXPECT_EQ(guarded([]() -> int { throw error(errc::bar1_exhausted, "map", "", "unmap"); }),
              ENOMEM);
    EXPECT_NE(heard.find("unmap"), heard.npos) << heard;
    EXPECT_EQ(guarded([]() -> int { throw std::bad_alloc(); }), ENOMEM);
    EXPECT_EQ(guarded([]() -> int { throw std::runtime_error("odd"); }), EIO);
    EXPECT_EQ(heard, "odd");
    EXPECT_EQ(refuse(EAGAIN, "not now"), EAGAIN);
    EXPECT_EQ(heard, "not now");
    log(severity::warning, "no failure");
    EXPECT_EQ(heard, "not now");
    failure_listener = nullptr;
}

TEST(boundary, a_cancelled_thread_ends_after_the_call) {
    int answer = 0;
    auto const call = [&] {
        answer = guarded([] {
            ::pthread_testcancel();
            return 7;
        });
    };
    EXPECT_TRUE(test::returns_to_a_cancelled_thread(call));
    EXPECT_EQ(answer, 7);
}

} // namespace
} // namespace barmap::gdrapi
