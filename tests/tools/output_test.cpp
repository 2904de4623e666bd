// SPDX-License-Identifier: MIT
#include "output/fold.hpp"
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

} // namespace
} // namespace barmap::tool
