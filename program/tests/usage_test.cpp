// SPDX-License-Identifier: MIT
#include "program.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <utility>
#include <vector>

namespace barmap::test {
namespace {

/// The lines of more than 80 columns.
std::string wider_than_a_page(std::string const& text) {
    std::istringstream lines(text);
    std::string wide;
    for (std::string line; std::getline(lines, line);)
        if (line.size() > 80)
            wide += line + "\n";
    return wide;
}

class subcommand : public testing::TestWithParam<char const*> {};

TEST_P(subcommand, has_help) {
    outcome const run = barmap(std::string(GetParam()) + " --help");
    EXPECT_EQ(run.exit_code, 0);
    EXPECT_NE(run.out.find("Usage: barmap"), std::string::npos);
    EXPECT_EQ(wider_than_a_page(run.out), "");
}

TEST_P(subcommand, refuses_an_unknown_option) {
    outcome const run = barmap(std::string(GetParam()) + " --no-such-option");
    EXPECT_EQ(run.exit_code, 2);
    EXPECT_NE(run.err.find("--help"), std::string::npos) << run.err;
}

INSTANTIATE_TEST_SUITE_P(every, subcommand,
                         testing::Values("info", "demo", "check", "lat", "bw", "api", "batch",
                                         "pingpong", "ring", "fresh", "stress", "log", "run", "sim",
                                         "plot"),
                         [](auto const& info) { return std::string(info.param); });

TEST(usage, top_help_documents_the_exit_codes) {
    outcome const run = barmap("--help");
    EXPECT_EQ(run.exit_code, 0);
    EXPECT_NE(run.out.find("Exit codes:\n  0 done"), std::string::npos);
    EXPECT_EQ(wider_than_a_page(run.out), "");
}

TEST(usage, plot_without_python_says_what_is_missing) {
    outcome const run = barmap("plot a.json -o a.svg", "PATH=/nonexistent");
    EXPECT_EQ(run.exit_code, 127);
    EXPECT_NE(run.err.find("install Python"), std::string::npos) << run.err;
}

TEST(usage, a_misspelt_variable_is_named_once) {
    outcome const run = barmap("info", "BARMAP_ENGIN=none BARMAP_SIM_DRIVER=610 BARMAP_TEST_X=1");
    EXPECT_EQ(run.exit_code, 0);
    EXPECT_EQ(run.err, "barmap: ignoring the unknown environment variable BARMAP_ENGIN; did you "
                       "mean BARMAP_ENGINE?\n");
}

TEST(usage, a_level_of_the_log_that_there_is_not_is_named_once) {
    outcome const run = barmap("info", "BARMAP_LOG=warning");
    EXPECT_EQ(run.exit_code, 0);
    EXPECT_EQ(run.err, "barmap: ignoring BARMAP_LOG=warning: allowed are off, info, debug\n");
}

TEST(usage, a_simulated_gpu_that_is_not_there_is_named) {
    outcome const run = barmap("demo", "BARMAP_SIM_LIBRARY=/no/such/libcuda.so.1");
    EXPECT_EQ(run.exit_code, 3);
    EXPECT_NE(run.err.find("/no/such/libcuda.so.1"), std::string::npos) << run.err;
    EXPECT_NE(run.err.find("set BARMAP_SIM_LIBRARY to"), std::string::npos) << run.err;
    EXPECT_EQ(run.err.find("BARMAP_SIM=1"), std::string::npos) << "which is set: " << run.err;
}

TEST(usage, a_variable_of_the_simulated_gpu_that_is_wrong_is_named) {
    for (char const* wrong : {"BARMAP_SIM_MIG=2", "BARMAP_SIM_DEVICES=0", "BARMAP_SIM_FAIL=cuFoo:2"})
        for (char const* subcommand : {"demo", "info"}) {
            outcome const run = barmap(subcommand, wrong);
            std::string const said = unfolded(run.out + run.err);
            EXPECT_NE(said.find("correct the variables BARMAP_SIM_"), std::string::npos) << said;
            EXPECT_EQ(said.find("set BARMAP_SIM=1"), std::string::npos) << "which is set: " << said;
        }
    EXPECT_NE(barmap("info", "BARMAP_SIM_MIG=2").err.find("BARMAP_SIM_MIG=2: must be 0 or 1\n"),
              std::string::npos);
}

// A backend's advice takes no other backend for usable, which none is here.
TEST(usage, advice_is_true_where_no_backend_is_usable) {
    outcome const run = barmap("demo", "BARMAP_SIM_DRIVER=580");
    EXPECT_EQ(run.exit_code, 3);
    EXPECT_EQ(run.err.find("nothing needs to be done"), std::string::npos) << run.err;
    for (char const* backend : {"gdrdrv", "dmabuf", "rm"}) {
        auto const line = run.err.find("\n  " + std::string(backend) + ": ");
        ASSERT_NE(line, std::string::npos) << run.err;
        EXPECT_LT(run.err.find('\n', line + 1) - line, 250u) << run.err;
    }
}

TEST(usage, a_backend_that_was_asked_for_is_named_once) {
    for (char const* wish : {"BARMAP_BACKEND=gdrdrv", "BARMAP_REQUIRE=gdrdrv"}) {
        outcome const run = barmap("demo", wish);
        EXPECT_EQ(run.exit_code, 3);
        EXPECT_EQ(run.err, "barmap: cannot use backend gdrdrv: not available on this machine; cannot "
                           "reach a simulated GPU through a kernel driver; use backend dmabuf, "
                           "which needs BARMAP_SIM_DRIVER=610, the default\n");
    }
}

TEST(usage, a_subcommand_is_required) {
    outcome const run = barmap("");
    EXPECT_EQ(run.exit_code, 2);
    EXPECT_EQ(run.err.find("barmap: give a subcommand; the subcommands are info, demo, "), 0u)
        << run.err;
}

TEST(usage, what_nothing_takes_is_named_with_what_was_probably_meant) {
    for (auto const& [arguments, says] : std::vector<std::pair<char const*, char const*>>{
             {"frob", "barmap: unknown subcommand frob; the subcommands are info, "},
             {"help frob", "barmap: unknown subcommand frob; the subcommands are info, "},
             {"help chekc", "barmap: unknown subcommand chekc; did you mean check?; "},
             {"frob --help", "barmap: unknown subcommand frob; the subcommands are info, "},
             {"-h frob", "barmap: unknown subcommand frob; the subcommands are info, "},
             {"chekc --device 0", "barmap: unknown subcommand chekc; did you mean check?; "},
             {"--versoin",
              "barmap: unknown option --versoin; did you mean --version?; see barmap --help\n"},
             {"fresh --polls 0",
              "barmap: fresh: unknown option --polls; see barmap fresh --help\n"},
             {"lat --budgte=3 8", "barmap: lat: unknown option --budgte; did you mean --budget?; "
                                  "see barmap lat --help\n"},
             {"lat ---", "barmap: lat: unknown option ---; see barmap lat --help\n"},
             {"lat ''", "barmap: lat: unexpected argument ; see barmap lat --help\n"},
             {"''", "barmap: unknown subcommand ; "},
             {"info more", "barmap: info: unexpected argument more; see barmap info --help\n"},
             {"lat --budget 0",
              "barmap: lat: --budget: 0 is not a time in seconds above 0; see "}}) {
        outcome const run = barmap(arguments);
        EXPECT_EQ(run.exit_code, 2);
        EXPECT_EQ(run.err.find(says), 0u) << run.err;
        EXPECT_EQ(run.out, "");
    }
}

TEST(usage, plot_without_the_package_says_what_is_missing) {
    std::filesystem::path const folder = std::filesystem::temp_directory_path() / "barmap-no-package";
    std::filesystem::create_directories(folder);
    std::filesystem::path const python = folder / "python3";
    std::ofstream(python) << "#!/bin/sh\nexec /usr/bin/env -u PYTHONPATH /usr/bin/python3 -I -S \"$@\"\n";
    std::filesystem::permissions(python, std::filesystem::perms::owner_all);
    outcome const run = barmap("plot a.json -o a.svg", "PATH=" + folder.string() + ":$PATH");
    std::filesystem::remove_all(folder);
    EXPECT_EQ(run.exit_code, 3) << run.err;
    EXPECT_NE(run.err.find("No module named 'barmap'"), std::string::npos) << run.err;
    EXPECT_EQ(run.err.find("Traceback"), std::string::npos) << run.err;
}

TEST(usage, prints_its_version) {
    outcome const run = barmap("--version");
    EXPECT_EQ(run.exit_code, 0);
    EXPECT_NE(run.out.find('.'), std::string::npos);
}

TEST(usage, help_and_version_are_words_as_well) {
    EXPECT_EQ(barmap("version").out, barmap("--version").out);
    for (char const* words : {"help", "help help", "help version"})
        EXPECT_EQ(barmap(words).out, barmap("--help").out);
    outcome const of_one = barmap("help lat");
    EXPECT_EQ(of_one.exit_code, 0) << of_one.err;
    EXPECT_EQ(of_one.out, barmap("lat --help").out);
}

TEST(usage, an_option_without_its_value_is_told_what_it_needs) {
    for (char const* line : {"info --output", "lat --output", "lat --json --output"}) {
        outcome const run = barmap(line);
        EXPECT_EQ(run.exit_code, 2);
        EXPECT_NE(run.err.find(": --output needs a value: --output FILE; see barmap "), std::string::npos)
            << run.err;
    }
    EXPECT_NE(barmap("sim --devices").err.find("--devices needs a value: --devices N; see barmap sim"),
              std::string::npos);
}

struct wrong_line {
    char const* arguments;
    char const* says; ///< a part of what it must say
};

class wrong : public testing::TestWithParam<wrong_line> {};

TEST_P(wrong, exits_2_and_says_what_to_do) {
    outcome const run = barmap(GetParam().arguments);
    EXPECT_EQ(run.exit_code, 2);
    EXPECT_NE(run.err.find(GetParam().says), std::string::npos) << run.err;
    EXPECT_EQ(run.out, "");
    EXPECT_LT(run.err.size(), 300u) << run.err; // no limits of 309 digits
}

INSTANTIATE_TEST_SUITE_P(
    every, wrong,
    testing::Values(
        wrong_line{"lat --backend nonsense", "vulkan"},
        wrong_line{"lat --routine nonsense", "portable"},
        wrong_line{"lat --memory nonsense", "vmm5"}, wrong_line{"lat --sizes 4Q", "--sizes"},
        wrong_line{"lat --sizes 0", "--sizes"}, wrong_line{"lat --budget -1", "--budget"},
        wrong_line{"lat --sizes -8", "--sizes"}, wrong_line{"lat --sizes 1Ki4", "--sizes"},
        wrong_line{"lat --sizes 999999999999999999999999", "from 1 to 256T"},
        wrong_line{"lat --sizes 8,16777216T", "from 1 to 256T"}, wrong_line{"lat --max 0", "--max"},
        wrong_line{"lat --iterations -3", "--iterations"},
        wrong_line{"lat --iterations 0", "--iterations"},
        wrong_line{"lat --iterations 1e3", "--iterations"},
        wrong_line{"bw --iterations 99999999999999999999", "from 1 to 1000000000000"},
        wrong_line{"pingpong --iterations -1", "--iterations"},
        wrong_line{"ring --messages 0", "--messages"},
        wrong_line{"ring --messages 1e9", "--messages"},
        wrong_line{"ring --slots 0", "from 1 to 1048576"},
        wrong_line{"ring --slots 2097152", "from 1 to 1048576"},
        wrong_line{"ring --slots 48", "a power of two, not 48"},
        wrong_line{"ring --only nonsense", "soak"},
        wrong_line{"ring --only rates,nonsense", "soak"},
        wrong_line{"ring --iterations 0", "--iterations"},
        wrong_line{"ring --slices 0", "--slices"}, wrong_line{"ring --device 1024", "--device"},
        wrong_line{"fresh --iterations -1", "--iterations"},
        wrong_line{"stress --iterations -1", "--iterations"},
        wrong_line{"stress --seed -1", "--seed"}, wrong_line{"api --cycles -1", "--cycles"},
        wrong_line{"lat --budget nan", "--budget"}, wrong_line{"lat --budget inf", "--budget"},
        wrong_line{"lat --budget 0x10", "--budget"}, wrong_line{"lat --budget 1e999", "--budget"},
        wrong_line{"lat --budget 1s", "--budget"}, wrong_line{"lat --budget 0", "--budget"},
        wrong_line{"bw --threads 0", "--threads"},
        wrong_line{"bw --threads 1025", "from 1 to 1024"},
        wrong_line{"lat --device -1", "--device"}, wrong_line{"fresh --sizes 3", "powers of two"},
        wrong_line{"stress --region 1K", "4K"}, wrong_line{"stress --pieces -1", "--pieces"},
        wrong_line{"stress --pairs 1e3", "--pairs"},
        wrong_line{"batch --pieces 0", "from 1 to 4096"},
        wrong_line{"batch --pieces 1,4097", "from 1 to 4096"},
        wrong_line{"batch --sizes 4Q", "--sizes"}, wrong_line{"batch --max 0", "--max"},
        wrong_line{"batch --direction up", "to_gpu"},
        wrong_line{"batch --order sorted", "contiguous"},
        wrong_line{"batch --between gpus", "inside"}, wrong_line{"batch --peer -2", "--peer"},
        wrong_line{"batch --in-flight 0", "--in-flight"},
        wrong_line{"batch --methods warp", "kernel32"}, wrong_line{"batch --pool 0", "--pool"},
        wrong_line{"batch --pool 32K", "at least 64K"},
        wrong_line{"batch --beside nothing", "gemm"}, wrong_line{"batch --check 0", "--check"},
        wrong_line{"batch --check -1", "--check"},
        wrong_line{"batch --round-trips 1e3", "--round-trips"},
        wrong_line{"batch --seed -1", "--seed"}, wrong_line{"batch --budget 0", "--budget"},
        wrong_line{"batch --iterations 0", "--iterations"},
        wrong_line{"batch --device 1024", "--device"},
        wrong_line{"check --require nonsense", "the backends are"}, wrong_line{"run", "PROGRAM"},
        wrong_line{"sim", "PROGRAM"}));

TEST(usage, an_output_file_that_cannot_be_written_is_told) {
    outcome const run = barmap("info --output /no/such/folder/file");
    EXPECT_EQ(run.exit_code, 2);
    EXPECT_NE(run.err.find("/no/such/folder/file"), std::string::npos) << run.err;
}

class measuring : public testing::TestWithParam<char const*> {};

TEST_P(measuring, needs_its_output_file_first) {
    // A run that had got as far as the GPU would exit 3: there is no GPU 99.
    outcome const run =
        barmap(std::string(GetParam()) + " --device 99 --output /no/such/folder/file");
    EXPECT_EQ(run.exit_code, 2);
    EXPECT_NE(run.err.find("/no/such/folder/file"), std::string::npos) << run.err;
}

TEST_P(measuring, fails_where_its_help_cannot_be_written) {
    outcome const run = barmap(std::string(GetParam()) + " --help > /dev/full");
    EXPECT_EQ(run.exit_code, 3);
    EXPECT_NE(run.err.find("stdout"), std::string::npos) << run.err;
}

INSTANTIATE_TEST_SUITE_P(every, measuring,
                         testing::Values("demo", "check", "lat", "bw", "api", "batch", "pingpong",
                                         "ring", "fresh", "stress"),
                         [](auto const& info) { return std::string(info.param); });

class output : public testing::TestWithParam<char const*> {};

TEST_P(output, fits_a_page) {
    outcome const run = barmap(GetParam());
    EXPECT_EQ(run.exit_code, 0) << run.err;
    EXPECT_EQ(wider_than_a_page(run.out), "");
}

INSTANTIATE_TEST_SUITE_P(
    every, output,
    testing::Values("info", "info --verbose", "demo --sizes 8 --budget 0.01",
                    "check --max-size 1M", "lat --sizes 8,64K --budget 0.01",
                    "lat --compare --sizes 8,64K --budget 0.01", "bw --sizes 8,1M --budget 0.01",
                    "api --max 64K --iterations 1", "batch --pool 64K --pieces 1 --iterations 1",
                    "batch --both --pool 64K --pieces 1 --iterations 1", "pingpong --iterations 10",
                    "ring --messages 1000 --iterations 10",
                    "fresh --sizes 8 --iterations 100",
                    "stress --threads 1 --iterations 10 --pieces 10 --pairs 10"),
    [](auto const& info) {
        std::string name = info.param;
        name.resize(std::min(name.find(' ', name.find(" --") + 3), name.size()));
        std::erase_if(name, [](char letter) { return letter == ' ' || letter == '-'; });
        return name;
    });

class full_output : public testing::TestWithParam<char const*> {};

TEST_P(full_output, exits_3) {
    for (char const* form : {" --json > /dev/full", " > /dev/full", " --json >&-"}) {
        outcome const run = barmap(std::string(GetParam()) + form);
        EXPECT_EQ(run.exit_code, 3) << form;
        EXPECT_NE(run.err.find("stdout"), std::string::npos) << run.err;
    }
}

INSTANTIATE_TEST_SUITE_P(
    every, full_output,
    testing::Values("info", "demo --sizes 8 --budget 0.01", "check --backend dmabuf --max-size 1M",
                    "lat --sizes 8 --budget 0.01", "bw --sizes 8 --budget 0.01",
                    "api --max 64K --iterations 1", "batch --pool 64K --pieces 1 --iterations 1",
                    "pingpong --iterations 10", "ring --only fifo --iterations 10",
                    "fresh --sizes 8 --iterations 100",
                    "stress --threads 1 --iterations 10 --pieces 0 --pairs 0"),
    [](auto const& info) {
        std::string const line = info.param;
        return line.substr(0, line.find(' '));
    });

TEST(usage, a_failure_without_output_leaves_no_file) {
    std::string const file = testing::TempDir() + "barmap-unfinished.json";
    EXPECT_EQ(barmap("lat --device 99 --output " + file).exit_code, 3);
    EXPECT_FALSE(std::filesystem::exists(file));
    // What was there before stays as it was.
    std::ofstream(file) << "earlier";
    EXPECT_EQ(barmap("lat --device 99 --output " + file).exit_code, 3);
    EXPECT_EQ(std::filesystem::file_size(file), std::string("earlier").size());
    std::filesystem::remove(file);
}

TEST(usage, a_shorter_output_replaces_all_of_a_longer_one) {
    std::string const file = testing::TempDir() + "barmap-replaced.json";
    std::ofstream(file) << std::string(100'000, 'x');
    EXPECT_EQ(barmap("lat --sizes 8 --iterations 1 --budget 0.01 --output " + file).exit_code, 0);
    std::ifstream stream(file);
    EXPECT_TRUE(nlohmann::json::accept(stream));
    std::filesystem::remove(file);
}

TEST(usage, former_names_of_options_still_work) {
    outcome const run = barmap("lat --sizes 8 --budget 0.01 --kernel portable --json");
    ASSERT_EQ(run.exit_code, 0) << run.err;
    EXPECT_EQ(rows(run, "measurement", "copy")[0].at("routine"), "portable");
    EXPECT_EQ(barmap("lat --kernel nonsense").exit_code, 2);
    outcome const every = barmap("fresh --sizes 8 --iterations 100 --every-kernel --json");
    ASSERT_EQ(every.exit_code, 0) << every.err;
    EXPECT_EQ(rows(every, "routine", "portable").size(), 1u);
    for (char const* listed : {"lat --help", "fresh --help"})
        EXPECT_EQ(barmap(listed).out.find("-kernel"), std::string::npos) << listed;
}

TEST(usage, a_gpu_that_is_not_there_exits_3) {
    outcome const run = barmap("lat --device 99 --sizes 8");
    EXPECT_EQ(run.exit_code, 3);
    EXPECT_NE(run.err.find("GPU"), std::string::npos) << run.err;
}

} // namespace
} // namespace barmap::test
