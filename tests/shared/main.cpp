// SPDX-License-Identifier: MIT
// The main program of tests. With TEST_JOBS, the number of processes to have at once, in the
// environment:
//   PROGRAM [NAME...]    all tests but those whose names match one of these, with * and ?
// Those of a suite with the same parameter share a forked process. Under ctest each test starts the
// program anew, which takes longer than most tests: a sanitizer prepares its memory, and an
// emulator translates the code.
// Without TEST_JOBS it is GoogleTest's own.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fnmatch.h>
#include <map>
#include <string>
#include <sys/wait.h>
#include <unistd.h>
#include <vector>

namespace {

constexpr unsigned time_limit_seconds = 300;

/// Why a test was skipped, in one line.
std::string reason(testing::TestResult const& result) {
    for (int i = 0; i < result.total_part_count(); ++i)
        if (testing::TestPartResult const& part = result.GetTestPartResult(i); part.skipped()) {
            std::string said = part.message();
            std::ranges::replace(said, '\n', ' ');
            return said;
        }
    return "without a reason";
}

/// Runs these tests, and writes a line to `told` for each that has passed or was skipped: "passed",
/// or its name, a space and the reason.
/// @return the exit status
int run(std::string const& names, std::FILE* told) {
    testing::GTEST_FLAG(filter) = names;
    int const status = RUN_ALL_TESTS();
    testing::UnitTest const& program = *testing::UnitTest::GetInstance();
    for (int i = 0; i < program.total_test_suite_count(); ++i) {
        testing::TestSuite const& suite = *program.GetTestSuite(i);
        for (int k = 0; k < suite.total_test_count(); ++k) {
            testing::TestInfo const& test = *suite.GetTestInfo(k);
            if (!test.should_run() || test.result()->Failed())
                continue;
            if (test.result()->Skipped())
                std::fprintf(told, "%s.%s %s\n", suite.name(), test.name(),
                             reason(*test.result()).c_str());
            else
                std::fputs("passed\n", told);
        }
    }
    std::fflush(told);
    return status;
}

/// The tests of the program, and what has become of them.
class test_run {
public:
    test_run(int jobs, std::vector<std::string> left_out)
        : jobs_(std::max(jobs, 1)), left_out_(std::move(left_out)) {}

    int all() {
        testing::UnitTest const& program = *testing::UnitTest::GetInstance();
        for (int i = 0; i < program.total_test_suite_count(); ++i) {
            testing::TestSuite const& suite = *program.GetTestSuite(i);
            std::map<std::string, std::string> groups; // the names of its tests
            for (int k = 0; k < suite.total_test_count(); ++k) {
                std::string const test = suite.GetTestInfo(k)->name();
                std::string const name = std::string(suite.name()) + '.' + test;
                std::size_t const slash = test.rfind('/');
                if (is_left_out(name))
                    ++out_;
                else
                    groups[slash == test.npos ? '.' + test : test.substr(slash)] += name + ':';
            }
            for (auto const& [shared, names] : groups)
                start(suite.name() + shared, names);
        }
        while (!running_.empty())
            wait_for_one();
        std::printf("%d passed, %d failed, %d left out, %d skipped\n", passed_, failed_,
                    out_, skipped_);
        for (auto const& [why, tests] : why_skipped_) {
            std::string const others = " and " + std::to_string(tests.size() - 1) + " more";
            std::printf("skipped: %s%s: %s\n", tests.front().c_str(),
                        tests.size() > 1 ? others.c_str() : "", why.c_str());
        }
        return failed_ == 0 && passed_ != 0 ? 0 : 1;
    }

private:
    struct started {
        std::string group;
        long tests;
        std::FILE *output, *told;
    };

    bool is_left_out(std::string const& name) const {
        return std::ranges::any_of(left_out_, [&](std::string const& each) {
            return ::fnmatch(each.c_str(), name.c_str(), 0) == 0;
        });
    }

    void start(std::string const& group, std::string const& names) {
        while (running_.size() >= std::size_t(jobs_))
            wait_for_one();
        started const next = {group, std::ranges::count(names, ':'), std::tmpfile(),
                              std::tmpfile()};
        std::fflush(nullptr);
        pid_t const child = next.output && next.told ? ::fork() : -1;
        if (child < 0) {
            std::perror("cannot start a test");
            std::exit(1);
        }
        if (child == 0) {
            ::dup2(::fileno(next.output), STDOUT_FILENO);
            ::dup2(::fileno(next.output), STDERR_FILENO);
            ::alarm(time_limit_seconds);
            std::exit(run(names, next.told));
        }
        running_[child] = next;
    }

    void wait_for_one() {
        int status = 0;
        pid_t const child = ::wait(&status);
        auto const found = running_.find(child);
        if (found == running_.end())
            return;
        started const ended = found->second;
        running_.erase(found);
        long const tests = count(ended.told);
        if (status != 0 || tests != ended.tests) { // a test may have ended the process
            failed_ += int(std::max(ended.tests - tests, 1L));
            std::printf("FAILED (status %#x): %s\n", unsigned(status), ended.group.c_str());
            std::rewind(ended.output);
            for (int c; (c = std::getc(ended.output)) != EOF;)
                std::putchar(c);
        }
        std::fclose(ended.output);
        std::fclose(ended.told);
        std::fflush(stdout);
    }

    long count(std::FILE* told) {
        char line[4096];
        long tests = 0;
        std::rewind(told);
        for (; std::fgets(line, sizeof line, told); ++tests) {
            std::string const said(line, std::strcspn(line, "\n"));
            if (said == "passed") {
                ++passed_;
            } else {
                ++skipped_;
                auto const space = said.find(' ');
                why_skipped_[said.substr(space + 1)].push_back(said.substr(0, space));
            }
        }
        return tests;
    }

    int jobs_, passed_ = 0, skipped_ = 0, failed_ = 0, out_ = 0;
    std::vector<std::string> left_out_;
    std::map<std::string, std::vector<std::string>> why_skipped_; ///< for each reason, the tests
    std::map<pid_t, started> running_;
};

} // namespace

int main(int argc, char** argv) {
    testing::InitGoogleTest(&argc, argv);
    char const* const jobs = std::getenv("TEST_JOBS");
    if (!jobs)
        return RUN_ALL_TESTS();
    test_run tests(std::atoi(jobs), {argv + 1, argv + argc});
    ::unsetenv("TEST_JOBS"); // GoogleTest starts the program once more for some tests
    return tests.all();
}
