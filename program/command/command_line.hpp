// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

// CLI11 takes seconds to compile in each file: only command_line.cpp and gdrcopy/programs/short_options.cpp
// include it.
namespace CLI {
class App;
class Option;
} // namespace CLI

namespace barmap::tool {

/// An option of a subcommand, while it is described. A user who gives another value than a
/// method demands gets that demand printed.
class option {
public:
    explicit option(CLI::Option* made) noexcept : made_(made) {}

    option& with_default(); ///< the help shows the value that it has now
    option& with_default(std::string const& text);            ///< the same, as this text
    option& between(std::uint64_t least, std::uint64_t most); ///< a whole number
    option& positive();                                       ///< a whole number from 1 on
    option& seconds();                                        ///< above 0, with a fraction or not
    option& one_of(std::vector<std::string> const& names);
    option&
    one_of_this_machine(std::vector<std::string> const& names); ///< the help does not list them
    option& some_of(std::vector<std::string> const& names); ///< with commas between them
    option& bytes(); ///< a size from 1 on (parse_size)
    option& list();  ///< several values, with commas between them
    option& repeated(); ///< one value at a time, and as often as wanted
    option& required();
    option& hidden();                        ///< the help does not list it
    option& named(std::string const& value); ///< what the help calls the value

private:
    CLI::Option* made_;
};

/// The end of a subcommand's help. Manual pages are made from help
/// (packaging/man/from_help.py).
struct help_end {
    std::string remark;                  ///< what else users should know, if anything
    std::vector<std::string> exit_codes; ///< "0 done, and every check passed"
    std::vector<std::string> examples;   ///< lines; one with # first says what the next ones do
};

class command_line;

/// A subcommand, while it is described. The variables that options set must live as long as the
/// command line.
class subcommand {
public:
    subcommand(CLI::App& app, command_line& whole) noexcept : app_(app), whole_(whole) {}

    option flag(std::string const& name, bool& value, std::string const& help);
    /// A name without dashes is an argument by its place. Value is a number, a string, or a vector
    /// of these; command_line.cpp lists which.
    template <class Value>
    option add(std::string const& name, Value& value, std::string const& help);

    /// All that follows the first argument without a dash belongs to it.
    void arguments_at_end();
    void footer(help_end const& end);

    /// Sets the function of this subcommand, which returns the exit code.
    void runs(std::function<int()> run);

    /// The command line as it was typed.
    [[nodiscard]] std::vector<std::string> const& words() const noexcept;

private:
    CLI::App& app_;
    command_line& whole_;
};

class command_line {
public:
    command_line(int argc, char** argv, std::string const& description);
    ~command_line();
    command_line(command_line const&) = delete;
    command_line& operator=(command_line const&) = delete;

    void footer(std::string const& text);
    void version(std::string const& text);
    subcommand add(std::string const& name, std::string const& description);

    /// Does what is asked for. @return the exit code; exit_usage where the line is wrong, which has
    /// been printed
    [[nodiscard]] int run();

private:
    friend class subcommand;
    std::vector<std::string> words_;
    std::unique_ptr<CLI::App> app_;
    std::function<int()> chosen_;
};

} // namespace barmap::tool
