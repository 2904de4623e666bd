// SPDX-License-Identifier: MIT
#include "output/results.hpp"
#include "output/timing.hpp"

#include <gtest/gtest.h>

#include <array>
#include <filesystem>
#include <fstream>
#include <optional>
#include <string>

namespace barmap::tool {
namespace {

/// A report whose text and JSON are looked at.
class results_test : public testing::Test {
protected:
    results_test() {
        values_.output =
            (std::filesystem::path(testing::TempDir()) / "barmap-results.json").string();
        testing::internal::CaptureStdout();
        out_.emplace(values_);
    }
    ~results_test() override {
        out_.reset();
        std::filesystem::remove(values_.output);
    }
    report& out() { return *out_; }
    static std::string text() { return testing::internal::GetCapturedStdout(); }
    /// The rows, as they are in the file.
    std::string rows() {
        out_->finish();
        return json::parse(std::ifstream(values_.output)).at("results").dump();
    }

private:
    options values_;
    std::optional<report> out_;
};

TEST_F(results_test, are_lines_of_a_table_and_rows_of_the_json) {
    results found(out(), {"copy",
                          {column("size", "size", size_of), "by", column("n", "count"), us("p50")},
                          "title\n",
                          ""});
    summary times;
    times.p50_ns = 1500;
    times.samples = 3;
    found.add(result_row({{"size", 4096}, {"count", 7}}).with(times), {"hand"});
    found.add(result_row({{"size", nullptr}, {"count", "none"}}).with(times), {"", "behind"});
    EXPECT_TRUE(found.tell());
    EXPECT_EQ(text(), "title\n"
                      "size     by     n  p50 us\n"
                      "4 KiB  hand     7   1.500\n"
                      "             none   1.500  behind\n");
    EXPECT_EQ(rows(),
              R"([{"measurement":"copy","size":4096,"count":7,"min_ns":0.0,"p50_ns":1500.0,)"
              R"("p99_ns":0.0,"samples":3,"operations_per_sample":1},)"
              R"({"measurement":"copy","size":null,"count":"none","min_ns":0.0,)"
              R"("p50_ns":1500.0,"p99_ns":0.0,"samples":3,"operations_per_sample":1}])");
}

TEST_F(results_test, are_good_unless_one_is_not) {
    for (bool const good : {true, false}) {
        results found(out(), {"check", {column("n", "n")}});
        found.add(result_row({{"n", 1}}));
        found.add_row(result_row({{"n", 2}}), good);
        found.add(result_row({{"n", 3}}));
        EXPECT_EQ(found.tell(), good);
    }
    EXPECT_EQ(text(), "n\n1\n3\n\nn\n1\n3\n\n");
}

TEST_F(results_test, come_from_every_combination_of_cases) {
    std::array const sizes{1, 2};
    std::array const names{"a", "b"};
    measurement const what("each", {column("size", "size"), column("name", "name")});
    EXPECT_FALSE(
        measure(out(), what, every(sizes, names), [](results& into, int size, char const* name) {
            into.add(result_row({{"size", size}, {"name", name}}), {}, size == 2);
        }));
    EXPECT_EQ(text(), "size  name\n1        a\n1        b\n2        a\n2        b\n\n");
    EXPECT_EQ(every().size(), 1u) << "no range, one case";
    EXPECT_TRUE(every(sizes, std::array<int, 0>{}).empty());
}

TEST(columns, say_quantiles_in_either_unit) {
    json row;
    put_tail(row, {1, 2345, 3, 4, 5.06, 6, 7, 8});
    EXPECT_EQ(us("p50").heading, "p50 us");
    EXPECT_EQ(us("p50").shown(row.at(us("p50").member)), "2.345");
    EXPECT_EQ(ns("p99.9").heading, "p99.9 ns");
    EXPECT_EQ(ns("p99.9").shown(row.at(ns("p99.9").member)), "5.1");
}

TEST(columns, say_numbers_and_text) {
    EXPECT_EQ(text_of("text"), "text");
    EXPECT_EQ(text_of(12), "12");
    EXPECT_EQ(text_of(nullptr), "");
    EXPECT_EQ(size_of(nullptr), "");
    EXPECT_EQ((fixed<3, 1'000'000>(1'234'567)), "1.235");
}

} // namespace
} // namespace barmap::tool
