// SPDX-License-Identifier: MIT
// Where exceptions stop: what each one becomes for C, and again for C++.
#include <barmap/barmap.h>
#include <barmap/error.hpp>
#include <barmap/report.h>

#include "base/c_boundary.hpp"
#include "shared/cancelled_thread.hpp"
#include "shared/caught.hpp"

#include <functional>
#include <gtest/gtest.h>
#include <memory>
#include <new>
#include <pthread.h>
#include <stdexcept>
#include <utility>

namespace barmap {
namespace {

std::function<void()> failure;

void expect(barmap_status status, int cause, std::string_view text) {
    int was = 0, *made = &was;
    EXPECT_EQ(c::make(&made, "make it", []() -> std::unique_ptr<int> {
                  failure();
                  return std::make_unique<int>(1);
              }),
              status);
    EXPECT_EQ(made, nullptr);
    EXPECT_EQ(barmap_error_status(), status);
    EXPECT_EQ(barmap_error_cause(), cause);
    EXPECT_EQ(barmap_error_message(), text);
}

void expect_code(std::error_code code, barmap_status status, int cause) {
    SCOPED_TRACE(code.message());
    error const thrown(code, "do it", "rm", "do something else");
    failure = [&] { throw thrown; };
    expect(status, cause, thrown.what());
    EXPECT_STREQ(barmap_error_operation(), "do it");
    EXPECT_STREQ(barmap_error_backend(), "rm");
    EXPECT_STREQ(barmap_error_advice(), "do something else");
    EXPECT_EQ(barmap_error_piece(), -1);
}

TEST(the_boundary, tells_the_piece_and_forgets_it) {
    failure = [] { throw error(errc::out_of_range, "copy piece 3 of a batch", "", "", 3); };
    expect(BARMAP_ERROR_OUT_OF_RANGE, 0, "cannot copy piece 3 of a batch: out of range");
    EXPECT_EQ(barmap_error_piece(), 3);
    failure = [] { throw std::bad_alloc(); };
    expect(BARMAP_ERROR_NO_MEMORY, 0, "out of memory");
    EXPECT_EQ(barmap_error_piece(), -1);
    EXPECT_STREQ(barmap_error_operation(), "");
}

TEST(the_boundary, each_refusal_has_its_status) {
    std::pair<errc, barmap_status> const all[] = {
        {errc::invalid_argument, BARMAP_ERROR_INVALID_ARGUMENT},
        {errc::out_of_range, BARMAP_ERROR_OUT_OF_RANGE},
        {errc::unsupported_memory, BARMAP_ERROR_UNSUPPORTED_MEMORY},
        {errc::unsupported_operation, BARMAP_ERROR_UNSUPPORTED_OPERATION},
        {errc::no_device, BARMAP_ERROR_NO_DEVICE},
        {errc::backend_absent, BARMAP_ERROR_BACKEND_ABSENT},
        {errc::backend_broken, BARMAP_ERROR_BACKEND_BROKEN},
        {errc::wrong_device, BARMAP_ERROR_WRONG_DEVICE},
        {errc::unknown_layout, BARMAP_ERROR_UNKNOWN_LAYOUT},
        {errc::bar1_exhausted, BARMAP_ERROR_BAR1_EXHAUSTED},
        {errc::forked_child, BARMAP_ERROR_FORKED_CHILD},
        {errc::copy_unfinished, BARMAP_ERROR_COPY_UNFINISHED},
        {errc::checkpointed, BARMAP_ERROR_CHECKPOINTED},
    };
    for (auto const& [code, status] : all)
        expect_code(make_error_code(code), status, 0);
    expect_code({9999, category()}, BARMAP_ERROR_UNEXPECTED, 0);
}

TEST(the_boundary, a_foreign_failure_keeps_its_number) {
    expect_code({EMFILE, std::system_category()}, BARMAP_ERROR_SYSTEM, EMFILE);
    expect_code({ENODEV, std::generic_category()}, BARMAP_ERROR_SYSTEM, ENODEV);
    expect_code({2, cuda_category()}, BARMAP_ERROR_CUDA, 2);
    expect_code({-2, vulkan_category()}, BARMAP_ERROR_VULKAN, -2);
    expect_code({0x51, rm_category()}, BARMAP_ERROR_RM, 0x51);
    expect_code(std::make_error_code(std::io_errc::stream), BARMAP_ERROR_UNEXPECTED, 1);
}

TEST(the_boundary, other_exceptions_stop_there_too) {
    failure = [] { throw std::bad_alloc(); };
    expect(BARMAP_ERROR_NO_MEMORY, 0, "out of memory");
    failure = [] { throw std::runtime_error("a fault"); };
    expect(BARMAP_ERROR_UNEXPECTED, 0, "a fault");
}

TEST(the_boundary, a_text_without_end_is_cut) {
    failure = [] { throw std::runtime_error(std::string(100000, 'x')); };
    expect(BARMAP_ERROR_UNEXPECTED, 0, std::string(4095, 'x'));
}

TEST(the_boundary, what_c_is_told_is_thrown_again) {
    for (std::error_code const code :
         {make_error_code(errc::checkpointed), std::error_code(EMFILE, std::system_category()),
          std::error_code(2, cuda_category()), std::error_code(-2, vulkan_category()),
          std::error_code(0x51, rm_category())}) {
        error const thrown(code, "do it", "rm", "do something else", 4);
        error const again = test::caught(
            [&] { detail::check(c::attempt([&] { throw thrown; })); });
        EXPECT_EQ(again.code(), code);
        EXPECT_STREQ(again.what(), thrown.what());
        EXPECT_EQ(again.operation(), "do it");
        EXPECT_EQ(again.backend(), "rm");
        EXPECT_EQ(again.advice(), "do something else");
        EXPECT_EQ(again.piece(), std::size_t{4});
    }
    EXPECT_THROW(detail::check(c::attempt([] { throw std::bad_alloc(); })), std::bad_alloc);
    try {
        detail::check(c::attempt([] { throw std::runtime_error("a fault"); }));
        ADD_FAILURE() << "did not throw";
    } catch (std::runtime_error const& other) {
        EXPECT_STREQ(other.what(), "a fault");
    }
    EXPECT_NO_THROW(detail::check(c::attempt([] {})));
}

TEST(the_boundary, a_cancelled_thread_ends_after_the_call) {
    EXPECT_TRUE(test::returns_to_a_cancelled_thread([] {
        EXPECT_EQ(c::attempt([] { pthread_testcancel(); }), BARMAP_OK);
    }));
}

TEST(the_boundary, the_last_use_frees_a_shared_handle) {
    static int freed;
    struct handle : c::shared_handle {
        ~handle() { ++freed; }
    };
    freed = 0;
    auto* const one = new handle;
    EXPECT_EQ(c::retain(one), one);
    c::release(one);
    EXPECT_EQ(freed, 0);
    c::release(one);
    EXPECT_EQ(freed, 1);
    c::release<handle>(nullptr);
}

} // namespace
} // namespace barmap
