// SPDX-License-Identifier: MIT
#include "system/process.hpp"

#include <atomic>
#include <cerrno>
#include <csignal>
#include <cstddef>
#include <functional>
#include <gtest/gtest.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <sched.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <thread>
#include <unistd.h>

namespace barmap::os {
namespace {

/// How a child ends that was made so and runs this.
template <class Fork, class Action>
int in_child_by(Fork fork, Action action) {
    auto const child = static_cast<pid_t>(fork());
    if (child == 0) {
        action();
        ::_exit(0);
    }
    int status = -1;
    ::waitpid(child, &status, 0);
    return status;
}

// Which calls no handler of pthread_atfork.
long bare_clone() {
    return ::syscall(SYS_clone, SIGCHLD, nullptr, nullptr, nullptr, nullptr);
}

template <class Fork>
void expect_other_process_by(Fork fork) {
    process_id const parent = this_process();
    ASSERT_TRUE(is_this_process(parent));
    auto const child = [&] {
        bool const before = is_this_process(parent);
        process_id const own = this_process();
        ::_exit(!before && !is_this_process(parent) && is_this_process(own) && own != parent ? 0
                                                                                            : 1);
    };
    EXPECT_EQ(in_child_by(fork, child), 0);
    EXPECT_TRUE(is_this_process(parent));
}

TEST(process_test, knows_a_child_of_fork) {
    expect_other_process_by(::fork);
}

TEST(process_test, knows_a_child_of_a_bare_clone) {
    expect_other_process_by(bare_clone);
}

TEST(process_test, nobodys_identity_is_that_of_no_process) {
    EXPECT_FALSE(is_this_process({}));
    EXPECT_EQ(in_child_by(::fork, [] { ::_exit(is_this_process({}) ? 1 : 0); }), 0)
        << "also where nobody has asked yet";
}

// Strict mode of seccomp kills a thread that makes any call but read, write and exit.
TEST(process_test, knows_its_process_without_asking_the_system) {
    constexpr int not_here = 77;
    int const status = in_child_by(::fork, [] {
        process_id const own = this_process();
        if (::prctl(PR_SET_SECCOMP, SECCOMP_MODE_STRICT) != 0)
            ::_exit(not_here);
        bool is_own = true;
        for (int i = 0; i < 1000; ++i)
            is_own = is_own && is_this_process(own);
        ::syscall(SYS_exit, is_own ? 0 : 1);
    });
    if (WIFEXITED(status) && WEXITSTATUS(status) == not_here)
        GTEST_SKIP() << "the system lets no process restrict itself";
    EXPECT_EQ(status, 0);
}

/// As Linux before 4.14: madvise() refuses MADV_WIPEONFORK.
bool refuse_advice() {
    sock_filter program[] = {
        BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(seccomp_data, nr)),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_madvise, 0, 1),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | EINVAL),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
    };
    sock_fprog const filter{sizeof program / sizeof *program, program};
    return ::prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0 &&
           ::prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &filter) == 0;
}

TEST(process_test, knows_a_child_by_its_number_where_the_kernel_wipes_nothing) {
    if (in_child_by(::fork, [] { ::_exit(refuse_advice() ? 0 : 1); }) != 0)
        GTEST_SKIP() << "the system lets no process restrict itself";
    testing::FLAGS_gtest_death_test_style = "threadsafe"; // a new process, which has not asked yet
    auto const ask = [] {
        bool const refused = refuse_advice();
        process_id const parent = this_process();
        auto const child = [&] {
            bool const before = is_this_process(parent);
            process_id const own = this_process();
            ::_exit(!before && !is_this_process(parent) && is_this_process(own) ? 0 : 1);
        };
        bool const right = is_this_process(parent) && in_child_by(::fork, child) == 0 &&
                           in_child_by(bare_clone, child) == 0 && is_this_process(parent);
        ::_exit(refused && right ? 0 : 1);
    };
    EXPECT_EXIT(ask(), testing::ExitedWithCode(0), "");
}

TEST(process_test, knows_its_process) {
    process_id const here = this_process();
    EXPECT_TRUE(is_this_process(here));
    EXPECT_EQ(this_process(), here);
    EXPECT_EQ(in_child_by(::fork, [&] { ::_exit(is_this_process(here) ? 1 : 0); }), 0);
    // A grandchild that ran on while its parent did not must not pass for the first either.
    EXPECT_EQ(in_child_by(::fork, [&] {
                  process_id const child = this_process();
                  int const status = in_child_by(::fork, 
                      [&] { ::_exit(is_this_process(here) || is_this_process(child) ? 1 : 0); });
                  ::_exit(status == 0 && is_this_process(child) ? 0 : 1);
              }),
              0);
}

// The first call of a process finds out how to tell; two threads may make it at once.
TEST(process_test, knows_its_process_in_threads_that_ask_first) {
    for (int i = 0; i < 200; ++i) {
        int const status = in_child_by(::fork, [] {
            std::atomic<int> missing{2};
            process_id seen[2];
            auto const ask = [&](process_id& to) {
                --missing;
                while (missing)
                    ;
                to = this_process();
            };
            std::thread other(ask, std::ref(seen[0]));
            ask(seen[1]);
            other.join();
            ::_exit(seen[0] == seen[1] && is_this_process(seen[0]) ? 0 : 1);
        });
        ASSERT_EQ(status, 0);
    }
}

// In a PID namespace of its own a child can have its parent's number: both are 1 here.
TEST(process_test, knows_its_process_by_more_than_its_number) {
    constexpr int not_here = 77;
    auto const clone_child = [](auto action) {
        long const child =
            ::syscall(SYS_clone, CLONE_NEWPID | SIGCHLD, nullptr, nullptr, nullptr, nullptr);
        if (child < 0)
            return not_here << 8;
        if (child == 0) {
            action();
            ::_exit(0);
        }
        int status = -1;
        ::waitpid(static_cast<pid_t>(child), &status, 0);
        return status;
    };
    int const status = clone_child([&] {
        process_id const first = this_process();
        if (::getpid() != 1)
            ::_exit(2);
        int const inner = clone_child([&] {
            if (::getpid() != first.number)
                ::_exit(3);
            ::_exit(is_this_process(first) ? 1 : 0);
        });
        ::_exit(WEXITSTATUS(inner));
    });
    if (WEXITSTATUS(status) == not_here)
        GTEST_SKIP() << "no new PID namespaces here: needs root";
    EXPECT_EQ(status, 0);
}

} // namespace
} // namespace barmap::os
