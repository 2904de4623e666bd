// SPDX-License-Identifier: MIT
#include "info/summary.hpp"
#include "output/fold.hpp"
#include "output/json.hpp"
#include "output/table.hpp"

#include <gtest/gtest.h>

namespace barmap::tool {
namespace {

using lines = std::vector<std::string>;

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
    return gpu;
}

TEST(json_object, has_its_members_in_order) {
    EXPECT_EQ(
        object({{"size", ~0UL}, {"good", true}, {"each", 0.5}, {"by", "rm"}, {"why", or_null("")}})
            .dump(),
        R"({"size":18446744073709551615,"good":true,"each":0.5,"by":"rm","why":null})");
    EXPECT_EQ(object({}).dump(), "{}");
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
