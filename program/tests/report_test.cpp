// SPDX-License-Identifier: MIT
#include "output/progress.hpp"
#include "output/report.hpp"

#include <gtest/gtest.h>

#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <fcntl.h>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <unistd.h>

namespace barmap::tool {
namespace {

class report_test : public testing::Test {
protected:
    void SetUp() override {
        std::string name =
            (std::filesystem::temp_directory_path() / "barmap-report-XXXXXX").string();
        ASSERT_NE(::mkdtemp(name.data()), nullptr);
        folder_ = name;
        values_.output = (folder_ / "results.json").string();
    }
    void TearDown() override { std::filesystem::remove_all(folder_); }

    [[nodiscard]] std::string content() const {
        std::ifstream stream(values_.output);
        return {std::istreambuf_iterator<char>(stream), {}};
    }

    /// What a measurement is that a signal ends.
    [[noreturn]] static void measure(options const& values, int rows, int signal) {
        report out(values);
        for (int i = 0; i < rows; ++i)
            out.add({{"row", i}});
        std::raise(signal);
        for (;;)
            ::pause();
    }

    std::filesystem::path folder_;
    options values_;
};

TEST_F(report_test, an_interrupted_measurement_keeps_its_results) {
    for (int const signal : {SIGINT, SIGTERM}) {
        EXPECT_EXIT(measure(values_, 2, signal), testing::KilledBySignal(signal),
                    "barmap: interrupted: .*results.json has the 2 results until then");
        json const found = json::parse(content());
        EXPECT_EQ(found.at("results").size(), 2u);
        EXPECT_EQ(found.at("interrupted"), true);
    }
}

TEST_F(report_test, an_interrupted_measurement_without_results_leaves_no_file) {
    EXPECT_EXIT(measure(values_, 0, SIGINT), testing::KilledBySignal(SIGINT), "^$");
    EXPECT_FALSE(std::filesystem::exists(values_.output));
}

TEST_F(report_test, an_interrupted_measurement_without_results_leaves_an_old_file) {
    std::ofstream(values_.output) << "old";
    EXPECT_EXIT(measure(values_, 0, SIGINT), testing::KilledBySignal(SIGINT), "^$");
    EXPECT_EQ(content(), "old");
}

TEST_F(report_test, an_ignored_signal_stays_ignored) {
    auto const whole = [&] {
        std::signal(SIGINT, SIG_IGN);
        report out(values_);
        struct sigaction now {};
        if (::sigaction(SIGINT, nullptr, &now) != 0 || now.sa_handler != SIG_IGN)
            ::_exit(7);
        std::raise(SIGINT);
        out.add({{"row", 0}});
        out.finish();
        std::exit(0);
    };
    EXPECT_EXIT(whole(), testing::ExitedWithCode(0), "");
    EXPECT_FALSE(json::parse(content()).contains("interrupted"));
}

TEST_F(report_test, signals_are_again_what_they_were) {
    auto const after = [&] {
        { report const out(values_); }
        std::raise(SIGINT);
        ::_exit(0);
    };
    EXPECT_EXIT(after(), testing::KilledBySignal(SIGINT), "^$");
}

/// A terminal, whose screen is what was written to it.
class terminal {
public:
    terminal() : screen_(::posix_openpt(O_RDWR | O_NOCTTY | O_NONBLOCK)) {
        if (screen_ >= 0 && ::grantpt(screen_) == 0 && ::unlockpt(screen_) == 0)
            side_ = ::open(::ptsname(screen_), O_RDWR | O_NOCTTY);
    }
    terminal(terminal const&) = delete;
    terminal& operator=(terminal const&) = delete;
    ~terminal() {
        ::close(screen_);
        ::close(side_);
    }
    [[nodiscard]] int side() const { return side_; } ///< negative: there is no terminal
    std::string const& shown() {
        for (char byte = 0; ::read(screen_, &byte, 1) == 1;)
            shown_ += byte;
        return shown_;
    }

private:
    int screen_, side_ = -1;
    std::string shown_;
};

TEST_F(report_test, text_erases_the_progress_bar_first) {
    terminal here;
    ASSERT_GE(here.side(), 0);
    int const out_before = ::dup(STDOUT_FILENO), err_before = ::dup(STDERR_FILENO);
    std::fflush(stdout);
    ::dup2(here.side(), STDOUT_FILENO);
    ::dup2(here.side(), STDERR_FILENO);
    {
        report const out(values_);
        progress bar(2);
        while (here.shown().find("50%") == std::string::npos) // it takes a second
            bar.reach(1, "a step");
        out.say("a table\n");
    }
    ::dup2(out_before, STDOUT_FILENO);
    ::dup2(err_before, STDERR_FILENO);
    ::close(out_before);
    ::close(err_before);
    EXPECT_NE(here.shown().find("a step\r\033[Ka table"), std::string::npos) << here.shown();
}

TEST_F(report_test, an_interruption_erases_the_progress_bar) {
    terminal here;
    ASSERT_GE(here.side(), 0);
    auto const interrupted = [&] {
        ::dup2(here.side(), STDERR_FILENO);
        report out(values_);
        out.add({{"row", 0}});
        progress bar(2);
        while (here.shown().find("50%") == std::string::npos)
            bar.reach(1, "a step");
        std::raise(SIGINT);
        for (;;)
            bar.reach(1, "a step");
    };
    // Also a bar that the measuring thread would draw meanwhile.
    EXPECT_EXIT(interrupted(), testing::KilledBySignal(SIGINT), "");
    std::string const after = here.shown();
    // The time left may have changed, and the bar been drawn again, before the signal.
    std::size_t const erased = after.find("\r\033[K\r\nbarmap: interrupted");
    ASSERT_NE(erased, std::string::npos) << after;
    EXPECT_EQ(after.find('#', erased), std::string::npos) << after;
}

} // namespace
} // namespace barmap::tool
