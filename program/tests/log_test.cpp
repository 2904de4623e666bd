// SPDX-License-Identifier: MIT
#include "program.hpp"

#include "shared/peer.hpp"

#include <barmap/log.hpp>

#include <array>
#include <cstdio>
#include <cstdlib>
#include <fcntl.h>
#include <gtest/gtest.h>
#include <string>
#include <sys/stat.h>
#include <unistd.h>
#include <utility>

/// `barmap log`, which reads logs of this process and of others.
namespace barmap::test {
namespace {

class log_command : public testing::Test {
protected:
    log_command() { ::setenv("BARMAP_SIM", "1", 1); }
    [[nodiscard]] static outcome show(std::string const& options = {}) {
        return barmap_without_gpu("log " + options + " " + std::to_string(::getpid()));
    }
};

void expect(outcome const& run, std::string const& text) {
    EXPECT_NE(run.out.find(text), std::string::npos) << text << " is not in\n" << run.out;
}

void log_ids(log_ring& to, std::uint32_t first, std::uint32_t count) {
    for (std::uint32_t i = 0; i < count; ++i)
        gpu::log(to.handle_for_thread(), first + i, i % 2, 7, 8);
}

TEST_F(log_command, shows_the_records_of_a_process) {
    log_ring log(device::open(0), 4);
    outcome const before = show();
    EXPECT_EQ(before.exit_code, 0) << before.err;
    expect(before, ": 4 slots\n");
    expect(before, "\n0 records were lost\n");
    log_ids(log, 100, 6);
    outcome const run = show();
    EXPECT_EQ(run.exit_code, 0) << run.err;
    EXPECT_EQ(run.err, "");
    expect(run, "log of process " + std::to_string(::getpid()) + ", descriptor ");
    expect(run, "    0.000000            2        102          0          7          8\n");
    expect(run, "            5        105          1          7          8\n2 records were lost\n");
    EXPECT_EQ(run.out.find(" 101 "), std::string::npos);
    EXPECT_EQ(show().out, run.out) << "it has changed nothing";
}

TEST_F(log_command, shows_the_newest_record_of_each_value) {
    log_ring log(device::open(0), 16);
    log_ids(log, 100, 6);
    outcome const run = show("--newest-of a");
    EXPECT_EQ(run.exit_code, 0) << run.err;
    expect(run, " 4        104          0 ");
    expect(run, " 5        105          1 ");
    EXPECT_EQ(run.out.find(" 103 "), std::string::npos) << run.out;
    expect(show("--newest-of c"), " 5        105          1 ");
    EXPECT_EQ(show("--newest-of c").out.find(" 104 "), std::string::npos);
}

TEST_F(log_command, shows_each_log_once_or_the_chosen_one) {
    device const gpu = device::open(0);
    log_ring first(gpu, 4), second(gpu, 8);
    log_ids(second, 50, 1);
    os::fd const once_more(second.share());
    outcome const all = show();
    EXPECT_EQ(all.exit_code, 0) << all.err;
    expect(all, ": 4 slots\n");
    EXPECT_EQ(all.out.find(": 8 slots\n"), all.out.rfind(": 8 slots\n")) << all.out;
    std::string const chosen = "--fd " + std::to_string(once_more.get());
    outcome const one = show(chosen);
    EXPECT_EQ(one.exit_code, 0) << one.err;
    expect(one, "         50 ");
    EXPECT_EQ(one.out.find(": 4 slots\n"), std::string::npos);
    outcome const unclear = show("--follow");
    EXPECT_EQ(unclear.exit_code, 2);
    EXPECT_NE(unclear.err.find("has 2 logs: choose one with --fd"), std::string::npos)
        << unclear.err;
}

/// `barmap log --follow` of a process, and what it has written so far.
struct following {
    explicit following(pid_t of)
        : pipe_(::popen((BARMAP_PROGRAM " log --follow " + std::to_string(of)).c_str(), "r")) {}
    following(following const&) = delete;
    following& operator=(following const&) = delete;
    ~following() { close(); }

    void read_lines(int count) {
        for (int i = 0; i < count; ++i)
            EXPECT_TRUE(read_line());
    }
    /// Until it ends.
    void read_rest() {
        while (read_line()) {
        }
        close();
    }

    outcome seen;

private:
    bool read_line() {
        std::array<char, 4096> text{};
        if (!pipe_ || !std::fgets(text.data(), text.size(), pipe_))
            return false;
        seen.out += text.data();
        return true;
    }
    void close() {
        if (FILE* const open = std::exchange(pipe_, nullptr))
            seen.exit_code = ::pclose(open);
    }

    FILE* pipe_;
};

/// Follows the log of a process, which writes one record before and does `at_its_end` once that one
/// was shown.
void expect_followed(void (*at_its_end)(log_ring&), char const* record, char const* lost) {
    peer owner([at_its_end](line const& to_test) {
        ::setenv("BARMAP_SIM", "1", 1);
        log_ring log(device::open(0), 16);
        log_ids(log, 10, 1);
        char word = 'r';
        to_test.send(&word, 1);
        if (to_test.receive(&word, 1))
            at_its_end(log);
    });
    char word = 'x';
    ASSERT_TRUE(owner.receive(&word, 1));
    following log(owner.number());
    log.read_lines(3);
    expect(log.seen, "         10 ");
    owner.send(&word, 1);
    EXPECT_EQ(owner.wait(), 0);
    log.read_rest();
    expect(log.seen, record);
    expect(log.seen, lost);
    EXPECT_EQ(log.seen.exit_code, 0);
}

TEST_F(log_command, follows_until_the_process_ends) {
    expect_followed([](log_ring& log) { log_ids(log, 20, 1); }, "         20 ",
                    "\n0 records were lost\n");
}

// A thread of the GPU had taken a number, and did not come to write its record.
TEST_F(log_command, follows_to_what_was_held_up_when_the_process_ended) {
    expect_followed(
        [](log_ring& log) {
            gpu::add_relaxed(log.handle_for_thread().next, 1);
            log_ids(log, 30, 1);
        },
        "         30 ", "\n1 records were lost\n");
}

void expect_refusal(outcome const& run, int exit_code, std::string const& words) {
    EXPECT_EQ(run.exit_code, exit_code);
    EXPECT_EQ(run.out, "");
    EXPECT_NE(run.err.find(words), std::string::npos) << run.err;
}

TEST_F(log_command, shows_so_many_values_and_says_so) {
    log_ring log(device::open(0), std::size_t{1} << 17);
    constexpr std::uint32_t most = 100'000;
    log_ids(log, 1, most);
    EXPECT_EQ(show("--newest-of id").out.find("values are shown"), std::string::npos);
    log_ids(log, most, 2); // the first of which is there already
    outcome const run = show("--newest-of id");
    EXPECT_EQ(run.exit_code, 0) << run.err;
    expect(run, "\nonly the first 100000 values are shown\n0 records were lost\n");
    expect(run, " 100000     100000 ");
    EXPECT_EQ(run.out.find(" 100001 "), std::string::npos);
}

TEST_F(log_command, shows_the_others_beside_one_of_another_version) {
    log_ring log(device::open(0), 4);
    os::fd const good(log.share());
    std::array<char, 4096> bytes{};
    ASSERT_EQ(::pread(good.get(), bytes.data(), bytes.size(), 0), 4096);
    bytes[8] = 99;
    os::fd const newer = os::memory_file(bytes.size());
    ASSERT_EQ(::pwrite(newer.get(), bytes.data(), bytes.size(), 0), 4096);
    outcome const run = show();
    EXPECT_EQ(run.exit_code, 0) << run.err;
    expect(run, ": 4 slots\n");
    EXPECT_NE(run.err.find("descriptor " + std::to_string(newer.get()) + ": "), std::string::npos)
        << run.err;
    EXPECT_NE(run.err.find("use one version in both processes"), std::string::npos) << run.err;
}

// Opened to be read, it would wait for a writer.
TEST_F(log_command, refuses_a_pipe_that_nobody_writes_to) {
    std::string const path = testing::TempDir() + "barmap_pipe_" + std::to_string(::getpid());
    ASSERT_EQ(::mkfifo(path.c_str(), 0600), 0);
    os::fd const reader = os::open_file(path, O_RDONLY | O_NONBLOCK);
    ::unlink(path.c_str());
    expect_refusal(show("--fd " + std::to_string(reader.get())), 3, "it belongs to no log");
}

TEST_F(log_command, refuses_what_is_no_log) {
    expect_refusal(show(), 3, "it has none now");
    expect_refusal(show("--fd 0"), 3, "it belongs to no log");
    expect_refusal(show("--fd 999"), 3, "/fd/999");
    expect_refusal(barmap_without_gpu("log 99999999"), 3,
                   "read the descriptors of process 99999999");
    expect_refusal(show("--follow --newest-of a"), 2, "cannot be combined");
    expect_refusal(show("--newest-of d"), 2, "--newest-of");
    expect_refusal(barmap_without_gpu("log"), 2, "PID");
    expect_refusal(barmap_without_gpu("log -- -4"), 2, "PID");
}

} // namespace
} // namespace barmap::test
