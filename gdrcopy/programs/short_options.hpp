// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace CLI {
class App;
}

namespace barmap::tool::gdrcopy {

/// The options of one of gdrcopy's programs: a letter each, as getopt() takes them. `-w 10`, `-w10`
/// and letters in one word are understood; of an option that is given again, the last value counts.
/// Numbers are decimal, 0x hexadecimal or 0 octal.
class short_options {
public:
    explicit short_options(std::string description);
    ~short_options();
    short_options(short_options const&) = delete;
    short_options& operator=(short_options const&) = delete;

    void flag(char letter, bool& value, std::string const& help);
    /// @param least smallest value that is taken
    void number(char letter, std::uint64_t& value, std::string const& help,
                std::uint64_t least = 0);
    void choice(char letter, std::string& value, std::vector<std::string> const& choices,
                std::string const& help);
    /// May be given several times.
    void words(char letter, std::vector<std::string>& values, std::string const& help);

    // What most of the programs have.
    void device(int& ordinal);              ///< -d
    void allocation(std::string& function); ///< -a
    void mapping_type(std::string& name);   ///< -M

    void footer(std::string const& text);

    /// Nothing if the program must continue; else its exit code: 0 after -h, 1 after an error,
    /// which has been told.
    [[nodiscard]] std::optional<int> parse(int argc, char** argv);

private:
    std::unique_ptr<CLI::App> app_;
};

/// gdr_map_flags_t of a mapping type's name: default, wc, cache, device.
[[nodiscard]] int map_flags(std::string const& mapping_type);

} // namespace barmap::tool::gdrcopy
