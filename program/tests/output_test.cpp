// SPDX-License-Identifier: MIT
#include "info/summary.hpp"
#include "output/fold.hpp"
#include "output/json.hpp"
#include "output/progress.hpp"
#include "output/table.hpp"
#include "output/units.hpp"

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <fcntl.h>
#include <gtest/gtest.h>
#include <sstream>
#include <sys/ioctl.h>
#include <unistd.h>
#include <utility>

namespace barmap::tool {
namespace {

using lines = std::vector<std::string>;

lines split(std::string const& text) {
    std::istringstream stream(text);
    lines all;
    for (std::string line; std::getline(stream, line);)
        all.push_back(line);
    return all;
}

TEST(fold, breaks_at_spaces) {
    EXPECT_EQ(lines_of("", 5), lines{""});
    EXPECT_EQ(lines_of("one two", 7), lines{"one two"});
    EXPECT_EQ(lines_of("one two", 6), (lines{"one", "two"}));
    EXPECT_EQ(lines_of("one two", 1), (lines{"one", "two"}));
    EXPECT_EQ(lines_of("longer than six", 6), (lines{"longer", "than", "six"}));
}

TEST(fold, continues_a_line_under_its_last_column) {
    std::string const sixty(60, 'x');
    EXPECT_EQ(fold("--name  " + sixty + " and the rest\n"),
              "--name  " + sixty + " and the\n        rest\n");
    EXPECT_EQ(fold("  2 " + sixty + " and what is the rest"),
              "  2 " + sixty + " and what is the\n    rest");
    EXPECT_EQ(fold(sixty + " and what may be the rest\n\nshort\n"),
              sixty + " and what may be the\nrest\n\nshort\n");
    EXPECT_EQ(fold("a  b  " + sixty + " and the rest\n"), "a  b  " + sixty + " and the rest\n");
    EXPECT_EQ(fold("a  b  " + sixty + " and all the rest"),
              "a  b  " + sixty + " and all the\n      rest");
}

TEST(fold, leaves_what_fits_and_long_words) {
    std::string const wide(80, 'x'), wider(200, 'x');
    EXPECT_EQ(fold(wide + "\n" + wider + "\n"), wide + "\n" + wider + "\n");
    EXPECT_EQ(fold(""), "");
}

TEST(fold, breaks_where_a_narrow_terminal_ends) {
    std::string const fifty(50, 'x');
    EXPECT_EQ(fold("--name  " + fifty + " and\n", 60), "--name  " + fifty + "\n        and\n");
    EXPECT_EQ(fold(fifty + " and the rest\n", 60), fifty + " and the\nrest\n");
}

/// Stdout, as a terminal of that many columns while this lives.
class terminal_of {
public:
    explicit terminal_of(unsigned short columns) : screen_(::posix_openpt(O_RDWR | O_NOCTTY)) {
        ::grantpt(screen_);
        ::unlockpt(screen_);
        side_ = ::open(::ptsname(screen_), O_RDWR | O_NOCTTY);
        winsize size{};
        size.ws_col = columns;
        ::ioctl(side_, TIOCSWINSZ, &size);
        std::fflush(stdout);
        ::dup2(side_, STDOUT_FILENO);
    }
    terminal_of(terminal_of const&) = delete;
    terminal_of& operator=(terminal_of const&) = delete;
    ~terminal_of() {
        ::dup2(before_, STDOUT_FILENO);
        for (int each : {before_, side_, screen_})
            ::close(each);
    }

private:
    int before_ = ::dup(STDOUT_FILENO);
    int screen_, side_ = -1;
};

TEST(fold, takes_the_columns_of_the_terminal) {
    std::size_t const usual = page_width(); // of what this test's output goes to
    for (auto const& [columns, width] :
         {std::pair<unsigned short, std::size_t>{60, 60}, {200, 80}, {20, 40}, {0, 80}}) {
        std::size_t found = 0;
        std::string folded;
        {
            terminal_of const here(columns);
            found = page_width();
            table wide({"first", "second", "third"});
            wide.row({std::string(20, 'x'), std::string(20, 'x'), std::string(20, 'x')});
            folded = wide.text();
        }
        EXPECT_EQ(found, width);
        for (std::string const& line : split(folded))
            EXPECT_LE(line.size(), std::max<std::size_t>(width, 42)) << line;
    }
    EXPECT_EQ(page_width(), usual);
}

TEST(progress, says_how_long_the_rest_takes) {
    EXPECT_EQ(progress_line(0, 4, 1, "8 B", 80), "[....................]   0% 8 B");
    EXPECT_EQ(progress_line(1, 4, 10, "8 B", 80), "[#####...............]  25% 30 s left 8 B");
    EXPECT_EQ(progress_line(1, 101, 60, "8 B", 80), "[....................]   0% 100 min left 8 B");
    for (std::size_t const columns : {40u, 60u, 80u})
        EXPECT_LT(progress_line(1, 101, 60, std::string(100, 'x'), columns).size(), columns);
}

TEST(table, breaks_the_headings_of_a_wide_one) {
    std::string const heading = "a heading of words";
    table wide({"first", heading, heading, heading, heading, heading});
    wide.row({"row", "1", "22", "333", "4", "5"});
    EXPECT_EQ(wide.text(), "             a        a        a        a        a\n"
                           "       heading  heading  heading  heading  heading\n"
                           "            of       of       of       of       of\n"
                           "first    words    words    words    words    words\n"
                           "row          1       22      333        4        5\n");
}

TEST(table, has_parts_where_its_columns_do_not_fit_beside_each_other) {
    std::string const cell(30, 'x');
    table wide({"first", "one", "two", "three"});
    wide.row({"row", cell, cell, cell});
    std::string const gap(27, ' ');
    EXPECT_EQ(wide.text(), "first  " + gap + "one  " + gap + "two\n" + //
                               "row    " + cell + "  " + cell + "\n\n" + "first  " + gap.substr(2) +
                               "three\n" + //
                               "row    " + cell + "\n");
}

found_gpu h200() {
    found_gpu gpu;
    gpu.name = "NVIDIA H200";
    gpu.pci = "0000:18:00.0";
    gpu.driver = 13000;
    gpu.bar1 = {std::size_t{256} << 30, std::size_t{255} << 30};
    for (char const* name : {"gdrdrv", "dmabuf", "rm", "vulkan"}) {
        backend_report& backend = gpu.backends.emplace_back();
        backend.name = name;
    }
    backend_report& rm = gpu.backends[2];
    rm.state = backend_state::usable;
    rm.allocates = true;
    rm.kinds = {{memory_kind::device, true, ""},
                {memory_kind::virtual_exportable, true, ""},
                {memory_kind::virtual_opaque, true, ""},
                {memory_kind::pool, false, "refused"},
                {memory_kind::pool_exportable, true, ""}};
    gpu.copies = {{"rm",
                   {{copy_direction::to_gpu, host_memory_kind::pinned, 0, "mapping"},
                    {copy_direction::to_gpu, host_memory_kind::pinned, 32 << 10, "channel"},
                    {copy_direction::to_cpu, host_memory_kind::pageable, 4096, "driver"},
                    {copy_direction::to_cpu, host_memory_kind::pinned, 1536, "channel"}},
                   ""}};
    engine_report& channel = gpu.batches.emplace_back();
    channel.name = "channel";
    channel.state = backend_state::usable;
    gpu.kernels = {true, "by a doorbell"};
    return gpu;
}

TEST(json_object, has_its_members_in_order) {
    EXPECT_EQ(
        object({{"size", ~0UL}, {"good", true}, {"each", 0.5}, {"by", "rm"}, {"why", or_null("")}})
            .dump(),
        R"({"size":18446744073709551615,"good":true,"each":0.5,"by":"rm","why":null})");
    EXPECT_EQ(object({}).dump(), "{}");
}

TEST(size, has_a_unit_and_ends_at_256_TiB) {
    EXPECT_EQ(parse_size("1"), 1u);
    EXPECT_EQ(parse_size("3k"), 3072u);
    EXPECT_EQ(parse_size("2MiB"), std::size_t{2} << 20);
    EXPECT_EQ(parse_size("256T"), std::size_t{1} << 48);
    EXPECT_EQ(parse_size("281474976710656"), std::size_t{1} << 48);
    for (char const* refused :
         {"257T", "281474976710657", "0", "", "K", "1X", "1KiBs", "1Kb5", "-1"})
        EXPECT_FALSE(parse_size(refused)) << refused;
}

TEST(summary, of_a_machine) {
    found_machine const machine{"Xeon, Linux 6.1",
                                "580.159.04",
                                {{"BARMAP_LOG", "info", "environment", "", ""},
                                 {"BARMAP_COPY", "auto", "ignored: not allowed", "", ""},
                                 {"BARMAP_SIM", "0", "default", "", ""}}};
    EXPECT_EQ(summary_of(machine, {h200()}, ""),
              "cudaMalloc memory can be mapped, by rm\n"
              "GPU 0      NVIDIA H200, 0000:18:00.0, BAR1 256 GiB (255 GiB free)\n"
              "backends   usable: rm; absent: gdrdrv, dmabuf, vulkan\n"
              "memory     cudaMalloc, cuMemCreate, exportable cudaMallocAsync, barmap's own\n"
              "copies     channel from 32 KiB to the GPU, channel from 1.5 KiB to the CPU\n"
              "batches    by channel\n"
              "kernels    submit copies by a doorbell\n"
              "driver     CUDA 13.0, kernel driver 580.159.04\n"
              "CPU        Xeon, Linux 6.1\n"
              "settings   BARMAP_LOG=info, BARMAP_COPY (ignored: not allowed)\n"
              "reasons and advice: barmap info --verbose; all of it as JSON: barmap info --json\n");
}

TEST(summary, tells_gpus_apart) {
    std::vector<found_gpu> gpus{h200(), h200(), h200()};
    gpus[1].ordinal = 1;
    gpus[2].ordinal = 2;
    gpus[2].backends[2].kinds.clear();
    gpus[2].backends[2].advice = "ask somebody";
    gpus[2].backends[1].advice = "change the driver";
    gpus[2].backends[1].reason = "too old";
    std::string const text = summary_of({}, gpus, "");
    EXPECT_EQ(text.find("GPU 0: cudaMalloc memory can be mapped, by rm\n"
                        "GPU 1: cudaMalloc memory can be mapped, by rm\n"
                        "GPU 2: cudaMalloc memory cannot be mapped; memory that barmap allocates "
                        "can, by rm\nGPU 0      NVIDIA"),
              0u)
        << text;
    EXPECT_NE(text.find("free)\nGPU 2      NVIDIA"), std::string::npos) << text;
    EXPECT_NE(text.find("\nmemory     barmap's own\n"), std::string::npos) << text;
    EXPECT_NE(text.find("\ndmabuf     too old -> change the driver\n"), std::string::npos) << text;
}

TEST(summary, names_a_broken_backend_with_its_advice) {
    std::vector<found_gpu> gpus{h200()};
    gpus[0].backends[3].state = backend_state::broken;
    gpus[0].backends[3].reason = "wrong bytes";
    gpus[0].backends[3].advice = "report it";
    std::string const text = summary_of({}, gpus, "");
    EXPECT_NE(text.find("; broken: vulkan\n"), std::string::npos) << text;
    EXPECT_NE(text.find("\nvulkan     wrong bytes -> report it\n"), std::string::npos) << text;
}

} // namespace
} // namespace barmap::tool
