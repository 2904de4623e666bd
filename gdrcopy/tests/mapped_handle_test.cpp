// SPDX-License-Identifier: MIT
#include "mapped_handle.hpp"

#include <array>
#include <gtest/gtest.h>
#include <set>
#include <span>
#include <vector>

/// The table of handles, from inside.
namespace barmap::gdrapi {
namespace {

constexpr std::size_t most = detail::index_mask; // one is nobody's

struct counted {
    int& moves;
    int operator()(slot const&) const noexcept {
        ++moves;
        return 0;
    }
};

/// What a copy of so many bytes answers, and whether it moved any.
struct answer {
    int code = 0;
    int moves = 0;
    bool operator==(answer const&) const = default;
};

answer copied(unsigned long handle, std::byte* gpu, std::byte const* host, std::size_t bytes) {
    answer got;
    got.code = copy_through(handle, gpu, host, bytes, counted{got.moves});
    return got;
}

constexpr answer done{0, 1}, nothing{0, 0}, refused{EINVAL, 0};

mapping const& any_mapping() {
    static mapping const empty;
    return empty;
}

TEST(mapped_handle, copies_only_what_lies_in_its_mapping) {
    std::array<std::byte, 192> memory{}, host{};
    auto const gpu = std::span(memory).subspan<64, 64>();
    unsigned long const handle = allocate_handle();
    EXPECT_EQ(copied(handle, gpu.data(), host.data(), 1), refused) << "not mapped yet";
    publish_handle(handle, gpu.data(), gpu.size(), any_mapping());
    EXPECT_EQ(copied(handle, gpu.data(), host.data(), gpu.size()), done);
    EXPECT_EQ(copied(handle, gpu.data() + 63, host.data(), 1), done);
    EXPECT_EQ(copied(handle, gpu.data() + 63, host.data(), 2), refused);
    EXPECT_EQ(copied(handle, gpu.data() + 65, host.data(), 1), refused);
    EXPECT_EQ(copied(handle, gpu.data() + 65, host.data(), ~std::size_t{0}), refused);
    EXPECT_EQ(copied(handle, gpu.data() - 1, host.data(), 1), refused);
    EXPECT_EQ(copied(handle, gpu.data(), nullptr, 1), refused);
    EXPECT_EQ(copied(handle, nullptr, nullptr, 0), nothing);
    void_handle(handle);
    EXPECT_EQ(copied(handle, gpu.data(), host.data(), 1), refused);
    EXPECT_EQ(copied(handle, gpu.data(), host.data(), 0), refused);
    free_handle(handle);
}

TEST(mapped_handle, tells_why_a_large_copy_failed) {
    std::array<std::byte, 64> gpu{}, host{};
    unsigned long const handle = allocate_handle();
    publish_handle(handle, gpu.data(), gpu.size(), any_mapping());
    mapping const* given = nullptr;
    auto const copied = [&](std::size_t bytes, auto end) {
        given = nullptr;
        return copy_much(handle, gpu.data(), host.data(), bytes, [&](mapping const& whole) {
            given = &whole;
            end();
        });
    };
    EXPECT_EQ(copied(64, [] {}), 0);
    EXPECT_EQ(given, &any_mapping());
    EXPECT_EQ(copied(64, [] { throw error(errc::copy_unfinished, "copy", "", ""); }), EIO);
    EXPECT_EQ(copied(64, [] { throw std::bad_alloc(); }), ENOMEM);
    EXPECT_EQ(copied(65, [] {}), EINVAL);
    EXPECT_EQ(given, nullptr);
    void_handle(handle);
    EXPECT_EQ(copied(1, [] {}), EINVAL);
    EXPECT_EQ(given, nullptr);
    free_handle(handle);
}

TEST(mapped_handle, names_nothing_that_was_not_published) {
    std::array<std::byte, 64> gpu{}, host{};
    unsigned long const handle = allocate_handle();
    publish_handle(handle, gpu.data(), gpu.size(), any_mapping());
    for (unsigned long const wrong :
         {0ul, 1ul, handle + 1, handle - 1, handle + detail::index_mask + 1, ~0ul, most})
        for (std::size_t const bytes : {0, 1})
            EXPECT_EQ(copied(wrong, gpu.data(), host.data(), bytes), refused) << wrong;
    void_handle(handle);
    free_handle(handle);
}

TEST(mapped_handle, is_refused_in_a_child_and_stays_in_use) {
    std::array<std::byte, 64> gpu{}, host{};
    unsigned long const handle = allocate_handle();
    publish_handle(handle, gpu.data(), gpu.size(), any_mapping());
    lock_handles();
    void_all_handles();
    unlock_handles();
    EXPECT_EQ(copied(handle, gpu.data(), host.data(), 1), refused);
    EXPECT_EQ(copied(0, gpu.data(), host.data(), 1), refused) << "0 names nothing still";
    unsigned long const other = allocate_handle();
    EXPECT_NE(find_slot(other), find_slot(handle));
    free_handle(other);
    free_handle(handle);
}

TEST(mapped_handle, is_refused_in_a_child_however_many_there_are) {
    std::array<std::byte, 64> gpu{}, host{};
    std::vector<unsigned long> handles;
    for (std::size_t i = 0; i < 3 * detail::slots_per_block; ++i) {
        handles.push_back(allocate_handle());
        publish_handle(handles.back(), gpu.data(), gpu.size(), any_mapping());
    }
    lock_handles();
    void_all_handles();
    unlock_handles();
    for (unsigned long const each : handles) {
        EXPECT_EQ(copied(each, gpu.data(), host.data(), 1), refused) << each;
        free_handle(each);
    }
}

TEST(mapped_handle, is_never_given_out_twice_and_gives_its_place_to_others) {
    unsigned long const first = allocate_handle();
    free_handle(first);
    unsigned long last = first;
    for (std::size_t i = 0; i < 2 * most; ++i) {
        unsigned long const handle = allocate_handle();
        ASSERT_GT(handle, last) << "a serial number above an index";
        last = handle;
        free_handle(handle);
    }
    EXPECT_EQ(find_slot(last), find_slot(first));
}

TEST(mapped_handle, is_one_of_so_many) {
    std::vector<unsigned long> handles;
    std::set<slot*> slots;
    for (std::size_t i = 0; i < most; ++i)
        handles.push_back(allocate_handle());
    for (std::size_t i = 0; i < most; i += 97)
        EXPECT_TRUE(slots.insert(find_slot(handles[i])).second);
    EXPECT_THROW((void)allocate_handle(), std::bad_alloc);
    free_handle(handles.back());
    EXPECT_NO_THROW(handles.back() = allocate_handle());
    for (unsigned long const each : handles)
        free_handle(each);
}

} // namespace
} // namespace barmap::gdrapi
