// SPDX-License-Identifier: MIT
// The main program of the tests under an emulator:
//   PROGRAM JOBS [NAME...]    all tests but those whose names match one of these, with * and ?
// Each test has a process of its own, as under ctest, but a forked one, and those of a suite with
// the same parameter share theirs: the emulator translates a program's code anew in each process,
// which takes longer than most tests.
#include <gtest/gtest.h>

#include <algorithm>
#include <cerrno>
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

constexpr unsigned time_limit_seconds = 120;

/// Runs these tests, and writes to `told` which have passed and which were skipped.
/// @return the exit status
int run(std::string const& names, std::FILE* told) {
    testing::GTEST_FLAG(filter) = names;
    int const status = RUN_ALL_TESTS();
    testing::UnitTest const& program = *testing::UnitTest::GetInstance();
    for (int i = 0; i < program.total_test_suite_count(); ++i) {
        testing::TestSuite const& suite = *program.GetTestSuite(i);
        for (int k = 0; k < suite.total_test_count(); ++k) {
            testing::TestInfo const& test = *suite.GetTestInfo(k);
            if (test.should_run() && !test.result()->Failed())
                std::fprintf(told, "%s %s.%s\n", test.result()->Skipped() ? "skipped" : "passed",
                             suite.name(), test.name());
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
        std::printf("%d passed, %d processes failed, %d left out, %d skipped%s\n", passed_, failed_,
                    out_, skipped_, names_.c_str());
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
            ++failed_;
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
        char what[8], name[1024];
        long tests = 0;
        std::rewind(told);
        for (; std::fscanf(told, "%7s %1023s", what, name) == 2; ++tests) {
            if (what == std::string("passed")) {
                ++passed_;
            } else {
                ++skipped_;
                names_ += (names_.empty() ? ": " : ", ") + std::string(name);
            }
        }
        return tests;
    }

    int jobs_, passed_ = 0, skipped_ = 0, failed_ = 0, out_ = 0; ///< failed: processes
    std::vector<std::string> left_out_;
    std::string names_; // of what was skipped
    std::map<pid_t, started> running_;
};

} // namespace

/// What a test starts is a program for the emulated processor, too: GoogleTest starts the test
/// program once more for some tests of a process's end. EMULATOR holds the emulator's command line.
extern "C" int execv(char const* path, char* const* arguments) noexcept {
    std::vector<char*> line;
    std::string emulator = std::getenv("EMULATOR") ? std::getenv("EMULATOR") : "";
    for (char* word = std::strtok(emulator.data(), " "); word; word = std::strtok(nullptr, " "))
        line.push_back(word);
    line.push_back(const_cast<char*>(path));
    for (char* const* each = arguments + 1; *each; ++each)
        if (**each == '-') // GoogleTest's own, not main's
            line.push_back(*each);
    line.push_back(nullptr);
    return ::execvp(line.front(), line.data());
}

int main(int argc, char** argv) {
    testing::InitGoogleTest(&argc, argv);
    if (argc < 2) // as GoogleTest starts it
        return RUN_ALL_TESTS();
    return test_run(std::atoi(argv[1]), {argv + 2, argv + argc}).all();
}
