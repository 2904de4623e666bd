// SPDX-License-Identifier: MIT
#include "shared/changed_calls.hpp"

#include <barmap/error.hpp>
#include <barmap/report.hpp>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <gtest/gtest.h>
#include <iostream>
#include <set>
#include <sstream>
#include <type_traits>
#include <utility>

namespace barmap {
namespace {

TEST(error_test, is_a_whole_sentence) {
    error const all(errc::out_of_range, "pin 8 bytes at 0x10", "rm", "pin less");
    EXPECT_STREQ(all.what(), "cannot pin 8 bytes at 0x10 (backend rm): out of range; "
                             "pin less");
    EXPECT_EQ(all.operation(), "pin 8 bytes at 0x10");
    EXPECT_EQ(all.backend(), "rm");
    EXPECT_EQ(all.advice(), "pin less");
    error const bare(errc::no_device, "open GPU 3", "", "");
    EXPECT_STREQ(bare.what(), "cannot open GPU 3: no usable GPU");
    error const broken(errc::backend_broken, "use backend rm", "", "");
    EXPECT_STREQ(broken.what(), "cannot use backend rm: present, but does not work");
    error const named(errc::backend_absent, "use backend rm", "rm", "");
    EXPECT_STREQ(named.what(), "cannot use backend rm: not available on this machine");
    EXPECT_EQ(named.backend(), "rm");
}

TEST(error_test, keeps_the_code_of_whoever_reported_it) {
    error const system({EACCES, std::system_category()}, "open /dev/x", "", "");
    EXPECT_EQ(system.code(), std::errc::permission_denied);
    EXPECT_NE(std::string(system.what()).find(std::generic_category().message(EACCES)),
              std::string::npos);
    error const own(errc::wrong_device, "", "", "");
    EXPECT_EQ(own.code(), errc::wrong_device);
    EXPECT_NE(own.code(), errc::no_device);
}

TEST(error_test, names_the_piece_of_a_batch) {
    EXPECT_EQ(error(errc::out_of_range, "a", "b", "c").piece(), std::nullopt);
    error const refusal(errc::out_of_range, "copy piece 0 of a batch", "", "", 0);
    EXPECT_EQ(refusal.piece(), std::size_t{0});
    error const copied = refusal;
    EXPECT_EQ(copied.piece(), std::size_t{0});
}

TEST(error_test, is_a_value) {
    error const first(errc::no_device, "a", "b", "c");
    error second(errc::wrong_device, "", "", "");
    second = first;
    error const third(second);
    EXPECT_STREQ(third.what(), first.what());
    EXPECT_EQ(third.code(), first.code());
    try {
        throw third;
    } catch (std::system_error const& caught) {
        EXPECT_STREQ(caught.what(), first.what());
    }
}

// What is caught by value, kept or handed to another thread is copied, also without memory.
TEST(error_test, is_copied_without_fail) {
    static_assert(std::is_nothrow_copy_constructible_v<error>);
    static_assert(std::is_nothrow_copy_assignable_v<error>);
    error first(errc::no_device, "a", "b", "c");
    error const second = std::move(first);
    EXPECT_EQ(first.operation(), second.operation()) << "a moved one is whole, too";
}

TEST(error_test, compares_equal_to_the_standards_codes) {
    EXPECT_EQ(make_error_code(errc::invalid_argument), std::errc::invalid_argument);
    EXPECT_EQ(make_error_code(errc::out_of_range), std::errc::result_out_of_range);
    EXPECT_EQ(make_error_code(errc::unsupported_operation), std::errc::operation_not_supported);
    EXPECT_EQ(make_error_code(errc::no_device), std::errc::no_such_device);
    EXPECT_NE(make_error_code(errc::wrong_device), std::errc::no_such_device);
    EXPECT_EQ(make_error_code(errc::wrong_device).default_error_condition().category(), category());
}

TEST(error_test, every_code_has_its_own_words) {
    std::set<std::string> messages;
    int const last = static_cast<int>(errc::checkpointed);
    std::size_t codes = 0;
    for (int code = static_cast<int>(errc::invalid_argument); code <= last; ++code) {
        if (code >= BARMAP_ERROR_NO_MEMORY && code <= BARMAP_ERROR_UNEXPECTED)
            continue; // no refusals
        messages.insert(category().message(code));
        ++codes;
    }
    EXPECT_EQ(messages.size(), codes);
    EXPECT_EQ(codes, std::size_t{13});
    for (std::string const& message : messages)
        EXPECT_EQ(message.find("unknown barmap error"), std::string::npos);
    EXPECT_EQ(category().message(BARMAP_ERROR_NOT_STARTED), "no copy engine is at work");
    EXPECT_EQ(category().message(4711), "unknown barmap error 4711");
    EXPECT_EQ(category().message(0), "unknown barmap error 0");
}

TEST(error_test, categories_are_apart_and_named) {
    std::set<std::string> names;
    for (std::error_category const* each :
         {&category(), &cuda_category(), &vulkan_category(), &rm_category()})
        names.insert(each->name());
    EXPECT_EQ(names, (std::set<std::string>{"barmap", "cuda", "vulkan", "rm"}));
    EXPECT_NE(std::error_code(1, cuda_category()), std::error_code(1, rm_category()));
}

// What was made before the categories goes after them, if those go.
TEST(error_test, categories_are_there_until_the_process_has_ended) {
    auto const end_and_tell = [] {
        std::atexit([] {
            for (std::error_category const* each :
                 {&category(), &cuda_category(), &vulkan_category(), &rm_category()})
                std::cerr << each->name() << ' ' << each->message(0) << '\n';
        });
        (void)category(), (void)cuda_category(), (void)vulkan_category(), (void)rm_category();
        std::exit(0);
    };
    testing::FLAGS_gtest_death_test_style = "threadsafe"; // nothing before it has used them
    EXPECT_EXIT(end_and_tell(), testing::ExitedWithCode(0), "barmap unknown barmap error 0");
}

TEST(error_test, foreign_codes_are_named_where_they_are_known) {
    EXPECT_EQ(rm_category().message(0x1a), "NV_ERR_INSUFFICIENT_RESOURCES");
    EXPECT_EQ(rm_category().message(0x57), "NV_ERR_OBJECT_NOT_FOUND");
    EXPECT_EQ(rm_category().message(0xffe), "NV_STATUS 0xffe");
    EXPECT_EQ(vulkan_category().message(-2), "VK_ERROR_OUT_OF_DEVICE_MEMORY");
    EXPECT_EQ(vulkan_category().message(-1000072003), "VK_ERROR_INVALID_EXTERNAL_HANDLE");
    EXPECT_EQ(vulkan_category().message(-77), "VkResult -77");
}

TEST(error_test, naming_a_cuda_error_loads_no_driver) {
    static bool loaded = false;
    test::changed_calls calls;
    calls->dlopen = [](char const*, int) -> void* {
        loaded = true;
        return nullptr;
    };
    EXPECT_EQ(cuda_category().message(2), "CUDA_ERROR_OUT_OF_MEMORY");
    EXPECT_EQ(cuda_category().message(999), "CUDA_ERROR_UNKNOWN");
    EXPECT_EQ(cuda_category().message(12345), "CUresult 12345");
    EXPECT_FALSE(loaded);
}

TEST(error_test, every_kind_of_memory_and_state_has_a_name) {
    std::set<std::string_view> names;
    for (int kind = 0; kind <= static_cast<int>(memory_kind::unknown); ++kind)
        names.insert(to_string(static_cast<memory_kind>(kind)));
    EXPECT_EQ(names.size(), static_cast<std::size_t>(memory_kind::unknown) + 1);
    EXPECT_FALSE(names.contains("unknown"));
    EXPECT_EQ(to_string(backend_state::usable), "usable");
    EXPECT_EQ(to_string(backend_state::absent), "absent");
    EXPECT_EQ(to_string(backend_state::broken), "broken");
    EXPECT_EQ(to_string(cache_kind::write_combining), "write-combining");
    EXPECT_EQ(to_string(cache_kind::cached), "cached");
    EXPECT_EQ(to_string(cache_kind::uncached), "uncached");
}

} // namespace
} // namespace barmap
