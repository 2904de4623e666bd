// SPDX-License-Identifier: MIT
#include "base/library_ioctls.hpp"

#include "shared/caught.hpp"
#include "shared/changed_calls.hpp"
#include "shared/in_child.hpp"
#include "system/region.hpp"
#include "system/tests/watched_calls.hpp"

#include <atomic>
#include <cerrno>
#include <csignal>
#include <dlfcn.h>
#include <fstream>
#include <gtest/gtest.h>
#include <map>
#include <optional>
#include <stdexcept>
#include <string>
#include <sys/ioctl.h>
#include <thread>
#include <vector>

namespace barmap::os {
namespace {

// Requests that need no argument, and that emulators pass on.
constexpr unsigned long ours = FIOCLEX, other = FIONCLEX;

/// Answers one request, and counts what it is shown.
class counter final : public library_ioctls::watcher {
public:
    bool answers(unsigned long request, void* argument) noexcept override {
        ++shown;
        last_argument = argument;
        return request == ours;
    }
    int shown = 0;
    void* last_argument = nullptr;
};

/// Once with entries that the loader leaves writable, and once with read-only ones.
class library_ioctls_test : public testing::TestWithParam<char const*> {
protected:
    void SetUp() override {
        library_ = ::dlopen(GetParam(), RTLD_NOW | RTLD_LOCAL);
        ASSERT_NE(library_, nullptr) << ::dlerror();
        call = reinterpret_cast<decltype(call)>(::dlsym(library_, "call_ioctl"));
        ASSERT_NE(call, nullptr);
        ioctls_.emplace(library_);
        before_ = rights();
        led_to_ = entry();
    }
    void TearDown() override {
        expect_put_back();
        expect_rights_kept();
        ioctls_.reset();
        ::dlclose(library_);
    }

    /// No descriptor is -1: the kernel answers so.
    void expect_real() const {
        errno = 0;
        EXPECT_EQ(call(-1, ours, nullptr), -1);
        EXPECT_EQ(errno, EBADF);
    }

    /// No right is taken away; only the right to write may come.
    void expect_rights_kept() const {
        auto const now = rights();
        for (auto const& [page, rights] : before_) {
            auto const found = now.find(page);
            ASSERT_NE(found, now.end());
            EXPECT_TRUE(found->second == rights || (rights == "r--p" && found->second == "rw-p"))
                << rights << " " << found->second;
        }
    }

    void expect_put_back() const {
        EXPECT_EQ(entry(), led_to_);
        expect_real();
    }

    [[nodiscard]] library_ioctls const& ioctls() const { return *ioctls_; }
    [[nodiscard]] void*& entry() const { return *ioctls_->places().front(); }

    int (*call)(int, unsigned long, void*) = nullptr;

private:
    /// Of each page of the library.
    static std::map<std::uintptr_t, std::string> rights() {
        std::ifstream maps("/proc/self/maps");
        std::map<std::uintptr_t, std::string> result;
        for (std::string line; std::getline(maps, line);) {
            if (line.find(GetParam()) == std::string::npos)
                continue;
            std::uintptr_t const begin = std::stoull(line, nullptr, 16),
                                 end = std::stoull(line.substr(line.find('-') + 1), nullptr, 16);
            for (std::uintptr_t page = begin; page < end; page += page_size())
                result[page] = line.substr(line.find(' ') + 1, 4);
        }
        return result;
    }

    void* library_ = nullptr;
    std::optional<library_ioctls> ioctls_;
    std::map<std::uintptr_t, std::string> before_;
    void* led_to_ = nullptr;
};

TEST_P(library_ioctls_test, shows_them_and_gives_the_answer) {
    counter seen;
    int argument = 0;
    ioctls().watch(seen, [&] {
        EXPECT_EQ(call(-1, ours, &argument), 0);
        EXPECT_EQ(seen.last_argument, &argument);
        errno = 0;
        EXPECT_EQ(call(-1, other, nullptr), -1) << "what it does not answer reaches the kernel";
        EXPECT_EQ(errno, EBADF);
    });
    EXPECT_EQ(seen.shown, 2);
    expect_real();
    EXPECT_EQ(seen.shown, 2);
}

TEST_P(library_ioctls_test, ends_with_an_exception) {
    counter seen;
    EXPECT_THROW(ioctls().watch(seen, [] { throw std::runtime_error("of the body"); }),
                 std::runtime_error);
    expect_real();
    ioctls().watch(seen, [&] { EXPECT_EQ(call(-1, ours, nullptr), 0); });
}

TEST_P(library_ioctls_test, leaves_other_threads_alone) {
    counter seen;
    ioctls().watch(seen, [&] { std::thread([&] { expect_real(); }).join(); });
    EXPECT_EQ(seen.shown, 0);
}

TEST_P(library_ioctls_test, shows_each_thread_its_own) {
    constexpr int threads = 8, rounds = 500;
    std::vector<counter> seen(threads);
    std::atomic<bool> done{false};
    std::atomic<int> wrong{0};
    std::vector<std::thread> running;
    for (counter& each : seen)
        running.emplace_back([&] {
            for (int i = 0; i < rounds; ++i)
                ioctls().watch(each, [&] { wrong += call(-1, ours, &each) != 0; });
            wrong += each.shown != rounds || each.last_argument != &each;
        });
    std::thread bystander([&] {
        while (!done)
            wrong += call(-1, ours, nullptr) != -1;
    });
    for (std::thread& each : running)
        each.join();
    done = true;
    bystander.join();
    EXPECT_EQ(wrong, 0);
}

TEST_P(library_ioctls_test, signals_come_through) {
    static volatile std::sig_atomic_t handled;
    handled = 0;
    for (int const number : {SIGSYS, SIGALRM}) {
        auto const before = std::signal(number, [](int) { handled = handled + 1; });
        counter seen;
        ioctls().watch(seen, [&] {
            std::raise(number);
            EXPECT_EQ(call(-1, ours, nullptr), 0);
        });
        std::signal(number, before);
    }
    EXPECT_EQ(handled, 2);
}

TEST_P(library_ioctls_test, a_forked_child_has_none) {
    counter seen;
    ioctls().watch(seen, [&] {
        test::expect_exit(0, test::in_child(0, [&] {
                              if (call(-1, ours, nullptr) != -1)
                                  ::_exit(1);
                          }));
    });
    EXPECT_EQ(seen.shown, 0);
}

// As a second copy of this code in the process does, or another library's hook: it remembers what
// it found, which is the watch.
TEST_P(library_ioctls_test, what_another_put_there_stays) {
    if (std::string_view(GetParam()).find("read_only") != std::string_view::npos)
        return; // it would have to write there, too
    static int calls;
    static int (*found)(int, unsigned long, ...);
    calls = 0;
    auto const others = +[](int fd, unsigned long request, void* argument) {
        ++calls;
        return found(fd, request, argument);
    };
    void* const original = entry();
    counter seen;
    ioctls().watch(seen, [&] {
        found = reinterpret_cast<decltype(found)>(entry());
        entry() = reinterpret_cast<void*>(others);
        EXPECT_EQ(call(-1, ours, nullptr), 0);
    });
    EXPECT_EQ(calls, 1);
    expect_real();
    EXPECT_EQ(calls, 2) << "it stays";
    ioctls().watch(seen, [&] {
        EXPECT_EQ(call(-1, ours, nullptr), 0);
        EXPECT_EQ(call(-1, other, nullptr), -1) << "no circle";
    });
    expect_real();
    EXPECT_EQ(calls, 3) << "it is put back";
    entry() = original;
}

TEST_P(library_ioctls_test, a_table_that_cannot_be_written_is_told) {
    watched_calls calls;
    counter seen;
    bool run = false;
    calls.fail("mprotect", ENOMEM);
    auto const watch = [&] { ioctls().watch(seen, [&] { run = true; }); };
    if (std::string_view(GetParam()).find("read_only") == std::string_view::npos) {
        watch(); // needs no leave
        EXPECT_TRUE(run);
        return;
    }
    EXPECT_EQ(test::caught(watch).code(), std::error_code(ENOMEM, std::system_category()));
    EXPECT_FALSE(run);
    expect_put_back();
    watch();
    EXPECT_TRUE(run) << "the next one works";
    ioctls().watch(seen, [&] { calls.fail("mprotect", ENOMEM); });
    expect_put_back(); // its end changes no rights
    EXPECT_EQ(seen.shown, 0);
}

INSTANTIATE_TEST_SUITE_P(tables, library_ioctls_test,
                         testing::Values(BARMAP_IOCTL_CALLER, BARMAP_READ_ONLY_IOCTL_CALLER),
                         [](auto const& each) {
                             return std::string_view(each.param).find("read_only") !=
                                            std::string_view::npos
                                        ? "read_only"
                                        : "writable";
                         });

/// A library as the loader has it, and its function of this name.
struct loaded {
    explicit loaded(char const* path) : library(::dlopen(path, RTLD_NOW | RTLD_LOCAL)) {
        EXPECT_NE(library, nullptr) << ::dlerror();
    }
    loaded(loaded const&) = delete;
    loaded& operator=(loaded const&) = delete;
    ~loaded() { ::dlclose(library); }
    template <class Function>
    [[nodiscard]] Function* find(char const* name) const {
        auto* const found = reinterpret_cast<Function*>(::dlsym(library, name));
        EXPECT_NE(found, nullptr) << name;
        return found;
    }
    void* library;
};
using caller = int(int, unsigned long, void*);

TEST(library_with_two_entries, a_second_that_cannot_be_written_leaves_neither_watched) {
    loaded const of(BARMAP_TWO_IOCTLS);
    library_ioctls const ioctls(of.library);
    auto const places = ioctls.places();
    ASSERT_EQ(places.size(), 2u);
    std::vector<void*> const before{*places[0], *places[1]};
    auto* const call = of.find<caller>("call_ioctl");
    auto* const call_by_pointer = of.find<caller>("call_by_pointer");
    counter seen;
    {
        test::changed_calls failing;
        static int calls;
        calls = 0;
        failing->mprotect = [](void* at, std::size_t bytes, int rights) {
            if (++calls != 2)
                return test::changed_calls::real.mprotect(at, bytes, rights);
            errno = ENOMEM;
            return -1;
        };
        EXPECT_EQ(test::caught([&] { ioctls.watch(seen, [] {}); }).code(),
                  std::error_code(ENOMEM, std::system_category()));
    }
    EXPECT_EQ((std::vector<void*>{*places[0], *places[1]}), before);
    EXPECT_EQ(call(-1, ours, nullptr), -1);
    EXPECT_EQ(call_by_pointer(-1, ours, nullptr), -1);
    EXPECT_EQ(seen.shown, 0);
    ioctls.watch(seen, [&] {
        EXPECT_EQ(call(-1, ours, nullptr), 0);
        EXPECT_EQ(call_by_pointer(-1, ours, nullptr), 0);
    });
    EXPECT_EQ(seen.shown, 2);
}

// One copy must not take the right to write away while the other one is about to write. Either may
// miss calls of its own while both watch.
TEST(library_with_two_watches, by_two_copies_of_the_core_at_once) {
    loaded const of(BARMAP_READ_ONLY_IOCTL_CALLER), copy(BARMAP_SECOND_COPY);
    auto* const call = of.find<caller>("call_ioctl");
    auto* const watch = copy.find<void(void*, int, caller*)>("watch_by_second_copy");
    constexpr int rounds = 20'000;
    std::thread other([&] { watch(of.library, rounds, call); });
    library_ioctls const ioctls(of.library);
    counter seen;
    for (int i = 0; i < rounds; ++i)
        ioctls.watch(seen, [&] { (void)call(-1, ours, nullptr); });
    other.join();
    errno = 0;
    EXPECT_EQ(call(-1, ours, nullptr), -1);
    EXPECT_EQ(errno, EBADF);
}

TEST(library_without_ioctls, is_named_absent) {
    void* const library = ::dlopen("libm.so.6", RTLD_NOW);
    ASSERT_NE(library, nullptr);
    EXPECT_EQ(test::caught([&] { library_ioctls const none(library); }).code(),
              errc::backend_absent);
    ::dlclose(library);
}

} // namespace
} // namespace barmap::os
