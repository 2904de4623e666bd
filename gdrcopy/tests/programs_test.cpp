// SPDX-License-Identifier: MIT
#include "program.hpp"

#include <gtest/gtest.h>

#include <filesystem>
#include <regex>

namespace barmap::test {
namespace {

std::size_t count(std::string const& text, std::string const& pattern) {
    std::regex const line(pattern, std::regex::multiline);
    return std::size_t(std::distance(std::sregex_iterator(text.begin(), text.end(), line),
                                     std::sregex_iterator()));
}

/// Each of these patterns stands in a line of what the program printed.
void expect_lines(outcome const& run, std::initializer_list<char const*> patterns) {
    EXPECT_EQ(run.exit_code, 0) << run.out << run.err;
    for (char const* pattern : patterns)
        EXPECT_EQ(count(run.out, pattern), 1u) << pattern << "\n" << run.out;
}

class gdrcopy_program : public testing::TestWithParam<char const*> {};

TEST_P(gdrcopy_program, has_help) {
    outcome const run = barmap_named(GetParam(), "-h");
    EXPECT_EQ(run.exit_code, 0) << run.err;
    EXPECT_NE(run.out.find("Usage:"), std::string::npos) << run.out;
    EXPECT_NE(run.out.find("LD_LIBRARY_PATH"), std::string::npos) << run.out;
}

TEST_P(gdrcopy_program, exits_1_after_an_unknown_option) {
    outcome const run = barmap_named(GetParam(), "-Z");
    EXPECT_EQ(run.exit_code, 1);
    EXPECT_NE(run.err.find("-Z"), std::string::npos) << run.err;
}

INSTANTIATE_TEST_SUITE_P(every, gdrcopy_program,
                         testing::Values("gdrcopy_sanity", "gdrcopy_copybw", "gdrcopy_copylat",
                                         "gdrcopy_apiperf", "gdrcopy_pplat", "gdrcopy_validate",
                                         "../libexec/barmap/validate"),
                         [](auto const& info) {
                             return std::filesystem::path(info.param).filename().string();
                         });

TEST(gdrcopy_copybw, prints_the_known_fields) {
    expect_lines(barmap_named("gdrcopy_copybw", "-w 10 -r 5 -s 65536"),
                 {"^GPU id:0; name: .+; Bus id: [0-9a-f]{4}:[0-9a-f]{2}:[0-9a-f]{2}$",
                  "^selecting device 0$",
                  "^testing size: 65536$",
                  "^rounded size: 65536$",
                  "^gpu alloc fn: cuMemAlloc$",
                  "^device ptr: [0-9a-f]+$",
                  "^map_d_ptr: 0x[0-9a-f]+$",
                  "^info.va: [0-9a-f]+$",
                  "^info.mapped_size: 65536$",
                  "^info.page_size: 65536$",
                  "^info.mapped: 1$",
                  "^info.wc_mapping: [01]$",
                  "^page offset: 0$",
                  "^user-space pointer:0x[0-9a-f]+$",
                  "^writing test, size=65536 offset=0 num_iters=10$",
                  "^write BW: [0-9.e+]+MB/s$",
                  "^reading test, size=65536 offset=0 num_iters=5$",
                  "^read BW: [0-9.e+]+MB/s$",
                  "^unmapping buffer$",
                  "^unpinning buffer$",
                  "^closing gdrdrv$"});
}

TEST(gdrcopy_copybw, takes_options_as_getopt_does) {
    outcome const run =
        barmap_named("gdrcopy_copybw", "-lw99 -w3 -r 2 -c 0x40 -a cuMemCreate -M default -o 8");
    EXPECT_EQ(run.exit_code, 0) << run.err;
    EXPECT_EQ(count(run.out, "^writing test, size=[0-9]+ offset=8 num_iters=3$"), 7u) << run.out;
    EXPECT_EQ(count(run.out, "^read BW: "), 7u) << run.out;
    EXPECT_EQ(count(run.out, "^gpu alloc fn: cuMemCreate$"), 1u) << run.out;
}

struct wrong_values {
    char const* program;
    char const* arguments;
    char const* says;
};

class gdrcopy_wrong : public testing::TestWithParam<wrong_values> {};

TEST_P(gdrcopy_wrong, exits_1_and_says_why) {
    outcome const run = barmap_named(GetParam().program, GetParam().arguments);
    EXPECT_EQ(run.exit_code, 1);
    EXPECT_NE(run.err.find(GetParam().says), std::string::npos) << run.err;
}

INSTANTIATE_TEST_SUITE_P(
    every, gdrcopy_wrong,
    testing::Values(wrong_values{"gdrcopy_copybw", "-o 3", "multiple of 4"},
                    wrong_values{"gdrcopy_copybw", "-s 4096 -o 4 -c 4096", "beyond"},
                    wrong_values{"gdrcopy_copybw", "-M nonsense", "cache"},
                    wrong_values{"gdrcopy_copybw", "-w 0", "at least 1"},
                    wrong_values{"gdrcopy_copybw", "-d 99", "GPU 99"},
                    // The simulated GPU's memory is cached, and cannot be mapped otherwise.
                    wrong_values{"gdrcopy_copybw", "-M wc", "gdr_map_v2 gave 22"},
                    wrong_values{"gdrcopy_copylat", "-a malloc", "cuMemCreate"},
                    wrong_values{"gdrcopy_apiperf", "-n many", "-n"},
                    wrong_values{"gdrcopy_pplat", "-m 2", "mode"},
                    wrong_values{"gdrcopy_pplat", "-s 3", "multiple of 4"},
                    wrong_values{"gdrcopy_pplat", "-T 4096", "1024"},
                    wrong_values{"gdrcopy_pplat", "-G nowhere", "hostmem"},
                    wrong_values{"gdrcopy_sanity", "-t nonsense", "nonsense"}));

TEST(gdrcopy_copylat, prints_a_row_for_each_size) {
    outcome const run = barmap_named("gdrcopy_copylat", "-c -w 110 -r 2 -s 65536");
    expect_lines(run, {"^device ptr: 0x[0-9a-f]+$", "^allocated size: 65536$",
                       "^gdr_copy_to_mapping num iters for each size: 200$",
                       "^gdr_copy_from_mapping num iters for each size: 2$", "^use cold cache: no$",
                       "^closing gdrdrv$"});
    EXPECT_NE(run.err.find("-w 110"), std::string::npos) << run.err;
    EXPECT_EQ(count(run.out, "^Test\\s+Size\\(B\\)\\s+Median Time\\(us\\)\\s+Min. Time\\(us\\)$"),
              4u);
    for (char const* test :
         {"cuMemcpy_H2D", "cuMemcpy_D2H", "gdr_copy_to_mapping", "gdr_copy_from_mapping"})
        EXPECT_EQ(count(run.out, std::string("^") + test +
                                     " \\t +[0-9]+ \\t +[0-9]+\\.[0-9]{4} \\t +[0-9]+\\.[0-9]{4}$"),
                  17u)
            << run.out;
}

TEST(gdrcopy_copylat, measures_a_cold_cache_where_there_is_one) {
    expect_lines(barmap_named("gdrcopy_copylat", "-C -w 2 -r 2 -s 65536"),
                 {"^use cold cache: yes$"});
}

TEST(gdrcopy_apiperf, prints_a_row_and_a_histogram_for_each_size) {
    outcome const run = barmap_named("gdrcopy_apiperf", "-n 5 -w 1 -s 200000");
    expect_lines(run, {"^allocated size: 262144$", "^closing gdrdrv$",
                       "^Histogram of gdr_pin_buffer latency for 262144 bytes$"});
    EXPECT_EQ(count(run.out,
                    "^Size\\(B\\)\tpin.Time\\(us\\)\tmap.Time\\(us\\)\tget_info.Time\\(us\\)"
                    "\tunmap.Time\\(us\\)\tunpin.Time\\(us\\)$"),
              3u);
    EXPECT_EQ(count(run.out, "^(65536|131072|262144)(\t-?[0-9]+\\.[0-9]{6}){5}$"), 3u) << run.out;
    EXPECT_EQ(count(run.out, "^\\[[0-9.]+\t-\t[0-9.]+\\]\t[0-9]+$"), 30u) << run.out;
}

class gdrcopy_pplat : public testing::TestWithParam<char const*> {};

TEST_P(gdrcopy_pplat, plays) {
    expect_lines(barmap_named("gdrcopy_pplat", std::string("-t 20 ") + GetParam()),
                 {"^Benchmark mode: (CPU produces and GPU|GPU produces and CPU) consumes$",
                  "^Running 20 iterations with .*flag size 4 bytes\\.$",
                  "^Round-trip latency per iteration is \\(min\\) [0-9.e-]+, \\(median\\) "
                  "[0-9.e-]+ us$",
                  "^closing gdrdrv$"});
}

INSTANTIATE_TEST_SUITE_P(every, gdrcopy_pplat,
                         testing::Values("", "-m 1", "-G hostmem -C gpumem",
                                         "-m 1 -G hostmem -C gpumem", "-s 4096 -B 3 -T 32",
                                         "-s 4096 -m 1", "-s 8 -D hostmem -a cuMemCreate",
                                         "-s 65536 -m 1 -D hostmem -C gpumem -u 0"));

TEST(gdrcopy_validate, prints_its_checks) {
    expect_lines(barmap_named("gdrcopy_validate", ""),
                 {"^buffer size: 327680$", "^off: 0$", "^check 1: .*cuMemcpy D->H$",
                  "^check 2: gdr_copy_to_bar\\(\\) \\+ read back via cuMemcpy D->H$",
                  "^check 3: gdr_copy_to_bar\\(\\) \\+ read back via gdr_copy_from_bar\\(\\)$",
                  "^check 4: .*extra_dwords=5$", "^check 5: ", "^unmapping$", "^unpinning$"});
}

TEST(gdrcopy_validate, is_known_to_barmap_sim) {
    outcome const run = barmap_without_gpu("sim -- gdrcopy_validate");
    EXPECT_EQ(run.exit_code, 0) << run.err;
    EXPECT_EQ(count(run.out, "^check 5: "), 1u) << run.out;
}

/// A folder for one test.
class gdrcopy_library : public testing::Test {
protected:
    // Beside the program, since a hard link must stay on one file system.
    std::filesystem::path const folder_ =
        std::filesystem::path(BARMAP_PROGRAM).parent_path() / ".." /
        testing::UnitTest::GetInstance()->current_test_info()->name() / "bin";

    void SetUp() override {
        std::filesystem::remove_all(folder_.parent_path());
        std::filesystem::create_directories(folder_);
        std::filesystem::create_directories(folder_.parent_path() / "lib");
        std::filesystem::copy_file(BARMAP_CORE, folder_.parent_path() / "lib/libbarmap.so.1");
    }
    void TearDown() override { std::filesystem::remove_all(folder_.parent_path()); }
};

TEST_F(gdrcopy_library, says_what_to_do_where_it_is_missing) {
    std::filesystem::create_hard_link(BARMAP_PROGRAM, folder_ / "gdrcopy_copybw");
    outcome const run =
        barmap_named("../says_what_to_do_where_it_is_missing/bin/gdrcopy_copybw", "");
    EXPECT_EQ(run.exit_code, 1);
    EXPECT_EQ(run.out, "");
    EXPECT_NE(run.err.find("cannot load libgdrapi.so.2"), std::string::npos) << run.err;
    EXPECT_NE(run.err.find("LD_LIBRARY_PATH"), std::string::npos) << run.err;
}

TEST_F(gdrcopy_library, is_taken_from_the_library_path_first) {
    std::filesystem::create_symlink(std::filesystem::path(BARMAP_PROGRAM).parent_path() /
                                        "../lib/barmap-sim/libcuda.so.1",
                                    folder_ / "libgdrapi.so.2");
    outcome const run = barmap_named("gdrcopy_copybw", "", "LD_LIBRARY_PATH=" + folder_.string());
    EXPECT_EQ(run.exit_code, 1);
    EXPECT_NE(run.err.find("has no function gdr_"), std::string::npos) << run.err;
}

} // namespace
} // namespace barmap::test
