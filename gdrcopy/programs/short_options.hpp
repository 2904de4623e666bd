// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

namespace CLI {
class App;
}

namespace barmap::tool::gdrcopy {

/// The memory that the measuring programs use, by -d, -a and -M.
struct memory_options {
    int device = 0;
    std::string allocation = "cuMemAlloc", mapping_type = "default";
};

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

    // Options of most of the programs.
    void device(int& ordinal);              ///< -d
    void allocation(std::string& function); ///< -a
    void mapping_type(std::string& name);   ///< -M

    void footer(std::string const& text);

    /// Runs the program if the line asks for that. @return its exit code, or 0 after -h, or 1 after
    /// an error, which has been told
    [[nodiscard]] int run(int argc, char** argv, std::function<int()> const& program);

private:
    std::unique_ptr<CLI::App> app_;
};

/// gdr_map_flags_t of a mapping type's name: default, wc, cache, device.
[[nodiscard]] int map_flags(std::string const& mapping_type);

} // namespace barmap::tool::gdrcopy
