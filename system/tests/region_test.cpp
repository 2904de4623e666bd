// SPDX-License-Identifier: MIT
#include "system/region.hpp"

#include "shared/caught.hpp"
#include "shared/in_child.hpp"
#include "system/fd.hpp"
#include "system/tests/watched_calls.hpp"

#include <barmap/error.hpp>

#include <atomic>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <gtest/gtest.h>
#include <sys/mman.h>
#include <thread>
#include <unistd.h>
#include <utility>
#include <vector>

namespace barmap::os {
namespace {

using test::in_child;

bool faults(std::byte volatile* at) {
    int const status = in_child(0, [=] { *at = std::byte{1}; });
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
    region const reserved = region::reserve(3 * page_);
    EXPECT_EQ(reserved.size(), 3 * page_);
    EXPECT_TRUE(faults(reserved.data()));
    EXPECT_TRUE(faults(reserved.data() + 3 * page_ - 1));
}

TEST_F(region_test, puts_files_side_by_side) {
    region joined = region::reserve(3 * page_);
    joined.place(0, page_, file_.get(), static_cast<off_t>(2 * page_));
    joined.place(page_, 2 * page_, file_.get(), 0);
    EXPECT_EQ(joined.data()[0], std::byte{'c'});
    EXPECT_EQ(joined.data()[page_], std::byte{'a'});
    EXPECT_EQ(joined.data()[2 * page_], std::byte{'b'});
    joined.data()[page_ + 5] = std::byte{'x'};
    char seen = 0;
    EXPECT_EQ(::pread(file_.get(), &seen, 1, 5), 1);
    EXPECT_EQ(seen, 'x') << "shared";
}

TEST_F(region_test, stays_out_of_forked_children) {
    auto mapped = std::make_unique<region>(region::reserve(page_));
    mapped->place(0, page_, file_.get(), 0);
    EXPECT_TRUE(faults(mapped->data()));
    int const status = in_child(0, [&] {
        mapped.reset();
        ::_exit(watched_calls::counts.munmap);
    });
    EXPECT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) == 0) << "no munmap in the child";
    EXPECT_EQ(mapped->data()[0], std::byte{'a'});
}

TEST_F(region_test, unmaps_once) {
    {
        region first = region::reserve(page_);
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
    error const failure = test::caught([&] { (void)region::reserve(page_); });
    EXPECT_EQ(failure.code(), std::error_code(ENOMEM, std::system_category()));
    EXPECT_NE(failure.advice().find("max_map_count"), std::string::npos);
    region reserved = region::reserve(page_);
    calls_.fail("mmap", EINVAL);
    EXPECT_THROW(reserved.place(0, page_, file_.get(), 0), error);
    calls_.fail("madvise", EINVAL);
    EXPECT_THROW(reserved.place(0, page_, file_.get(), 0), error);
    EXPECT_NO_THROW(reserved.place(0, page_, file_.get(), 0));
}

TEST_F(region_test, shared_memory_is_one_with_that_of_forked_children) {
    region const memory = region::shared_memory(2 * page_);
    ASSERT_EQ(memory.size(), 2 * page_);
    ASSERT_NE(memory.data(), nullptr);
    (void)in_child(0, [&] { memory.data()[2 * page_ - 1] = std::byte{7}; });
    EXPECT_EQ(memory.data()[2 * page_ - 1], std::byte{7});
    calls_.fail("mmap", ENOMEM);
    EXPECT_THROW((void)region::shared_memory(page_), error);
}

TEST_F(region_test, a_part_outside_of_it_ends_a_debug_build) {
#ifdef NDEBUG
    GTEST_SKIP() << "checked in debug builds only";
#else
    region reserved = region::reserve(2 * page_);
    for (auto const& [at, bytes] : {std::pair{page_, 2 * page_}, std::pair{3 * page_, page_}}) {
        EXPECT_DEATH(reserved.place(at, bytes, file_.get(), 0), "Assertion") << at;
        EXPECT_DEATH(reserved.place_zeros(at, bytes), "Assertion") << at;
    }
#endif
}

// A file that fills its region needs no reservation, which a failing mmap could lose.
TEST_F(region_test, maps_a_single_file_without_a_reservation) {
    static int flags_seen = 0;
    calls table = current();
    table.mmap = [](void* at, std::size_t bytes, int protection, int flags, int file,
                    off_t offset) {
        flags_seen |= flags;
        return linux_calls().mmap(at, bytes, protection, flags, file, offset);
    };
    replace(&table);
    {
        region single = region::for_files(2 * page_);
        EXPECT_EQ(single.data(), nullptr);
        single.place(0, 2 * page_, file_.get(), static_cast<off_t>(page_));
        EXPECT_EQ(single.data()[0], std::byte{'b'});
        EXPECT_EQ(single.data()[page_], std::byte{'c'});
        EXPECT_TRUE(faults(single.data())) << "not in a child";
    }
    EXPECT_EQ(flags_seen & (MAP_FIXED | MAP_ANONYMOUS), 0);
    region several = region::for_files(2 * page_);
    several.place(page_, page_, file_.get(), 0);
    EXPECT_EQ(several.data()[page_], std::byte{'a'});
    EXPECT_TRUE(faults(several.data())) << "reserved";
    replace(nullptr);
}

/// As Linux 6.1: what a fixed mapping would have replaced is gone although the driver refuses.
void* punch_a_hole_and_fail(void* at, std::size_t bytes, int protection, int flags, int file,
                            off_t offset) {
    if (!(flags & MAP_FIXED))
        return linux_calls().mmap(at, bytes, protection, flags, file, offset);
    ::munmap(at, bytes);
    errno = EIO;
    return MAP_FAILED;
}

TEST_F(region_test, fills_the_hole_of_a_failed_mapping_again) {
    calls table = current();
    table.mmap = punch_a_hole_and_fail;
    replace(&table);
    region several = region::for_files(3 * page_);
    EXPECT_THROW(several.place(page_, page_, file_.get(), 0), error);
    unsigned char resident = 0;
    EXPECT_EQ(::mincore(several.data() + page_, page_, &resident), 0) << "there is something there";
    EXPECT_TRUE(faults(several.data() + page_));
    replace(nullptr);
    EXPECT_NO_THROW(several.place(page_, page_, file_.get(), 0));
}

TEST_F(region_test, never_unmaps_what_another_thread_has_put_into_the_hole) {
    static void* others = nullptr;
    calls table = current();
    table.mmap = [](void* at, std::size_t bytes, int protection, int flags, int file,
                    off_t offset) {
        void* const result = punch_a_hole_and_fail(at, bytes, protection, flags, file, offset);
        if (flags & MAP_FIXED)
            others = ::mmap(at, bytes, PROT_READ | PROT_WRITE,
                            MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED_NOREPLACE, -1, 0);
        errno = EIO;
        return result;
    };
    replace(&table);
    std::byte* at = nullptr;
    {
        region several = region::for_files(3 * page_);
        EXPECT_THROW(several.place(page_, page_, file_.get(), 0), error);
        at = several.data();
        ASSERT_EQ(others, at + page_);
        *static_cast<int*>(others) = 42;
    }
    replace(nullptr);
    unsigned char resident = 0;
    EXPECT_EQ(::mincore(at + page_, page_, &resident), 0);
    EXPECT_EQ(*static_cast<int*>(others), 42);
    EXPECT_NE(::mincore(at, page_, &resident), 0) << "the rest is unmapped";
    EXPECT_NE(::mincore(at + 2 * page_, page_, &resident), 0);
    ::munmap(others, page_);
}

TEST_F(region_test, knows_all_that_others_have_put_into_holes) {
    calls table = current();
    static std::vector<std::byte*> unmapped;
    unmapped.clear();
    table.mmap = [](void* at, std::size_t bytes, int protection, int flags, int file,
                    off_t offset) -> void* {
        if (!(flags & (MAP_FIXED | MAP_FIXED_NOREPLACE)))
            return linux_calls().mmap(at, bytes, protection, flags, file, offset);
        errno = flags & MAP_FIXED ? EIO : EEXIST;
        return MAP_FAILED;
    };
    table.munmap = [](void* at, std::size_t bytes) {
        EXPECT_GT(bytes, 0u);
        for (std::size_t i = 0; i < bytes; i += page_size())
            unmapped.push_back(static_cast<std::byte*>(at) + i);
        return linux_calls().munmap(at, bytes);
    };
    replace(&table);
    auto const lose = [&](std::initializer_list<std::size_t> pages) {
        region several = region::for_files(6 * page_);
        for (std::size_t const lost : pages)
            EXPECT_THROW(several.place(lost * page_, page_, file_.get(), 0), error);
        return several.data();
    };
    std::byte* const at = lose({3, 1, 4});
    EXPECT_EQ(unmapped, (std::vector<std::byte*>{at, at + 5 * page_}));
    unmapped.clear();
    std::byte* const next = lose({5, 0});
    EXPECT_EQ(unmapped, (std::vector<std::byte*>{})) << "all of it may be somebody else's";
    replace(nullptr);
    ::munmap(at + page_, 4 * page_);
    ::munmap(next, 6 * page_);
}

// Between mmap and MADV_DONTFORK a child would inherit the mapping.
TEST_F(region_test, no_fork_comes_between_mmap_and_madvise) {
    static std::atomic<bool> ready, go, forked;
    static std::atomic<int> status;
    ready = go = forked = false;
    static std::byte* mapped = nullptr;
    std::thread forker([] {
        { no_fork const of_its_own; } // which is over
        ready = true;
        while (!go)
            std::this_thread::yield();
        status = in_child(0, [] { *mapped = std::byte{1}; });
        forked = true;
    });
    while (!ready)
        std::this_thread::yield();
    calls table = current();
    table.madvise = [](void* at, std::size_t bytes, int advice) {
        mapped = static_cast<std::byte*>(at);
        go = true;
        // What is waited for never comes: the fork waits for this.
        for (int i = 0; i < 200 && !forked; ++i)
            std::this_thread::sleep_for(std::chrono::milliseconds(1));
        EXPECT_FALSE(forked);
        return linux_calls().madvise(at, bytes, advice);
    };
    replace(&table);
    region single = region::for_files(page_);
    single.place(0, page_, file_.get(), 0);
    forker.join();
    replace(nullptr);
    EXPECT_TRUE(WIFSIGNALED(status.load()) && WTERMSIG(status.load()) == SIGSEGV);
    EXPECT_EQ(single.data()[0], std::byte{'a'}) << "the child wrote into the mapping";
}

// A handler that forks between mmap and MADV_DONTFORK, in the very thread that maps.
TEST_F(region_test, no_signal_comes_between_mmap_and_madvise) {
    static std::byte* mapped = nullptr;
    static int status = 0;
    struct sigaction fork_in_handler{}, before{};
    fork_in_handler.sa_handler = [](int) { status = in_child(0, [] { *mapped = std::byte{1}; }); };
    ASSERT_EQ(::sigaction(SIGUSR1, &fork_in_handler, &before), 0);
    calls table = current();
    table.madvise = [](void* at, std::size_t bytes, int advice) {
        mapped = static_cast<std::byte*>(at);
        std::raise(SIGUSR1);
        return linux_calls().madvise(at, bytes, advice);
    };
    replace(&table);
    region single = region::for_files(page_);
    single.place(0, page_, file_.get(), 0);
    replace(nullptr);
    ::sigaction(SIGUSR1, &before, nullptr);
    EXPECT_TRUE(WIFSIGNALED(status) && WTERMSIG(status) == SIGSEGV) << "handled, and no mapping";
    EXPECT_EQ(single.data()[0], std::byte{'a'}) << "the child wrote into the mapping";
}

} // namespace
} // namespace barmap::os
