// SPDX-License-Identifier: MIT
#include "command/command_line.hpp"

#include "output/fold.hpp"
#include "output/formatted.hpp"
#include "output/units.hpp"
#include "command/exit_codes.hpp"

#include "system/nearest.hpp"

#include <CLI/CLI.hpp>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

namespace barmap::tool {
namespace {

// More than any machine measures in a lifetime; rounds and their sums stay far below 2^64.
constexpr std::uint64_t largest_count = 1'000'000'000'000;

/// All of the text as a whole number.
std::optional<std::uint64_t> number(std::string_view text) {
    std::uint64_t value = 0;
    auto const [end, problem] = std::from_chars(text.data(), text.data() + text.size(), value);
    if (problem != std::errc() || end != text.data() + text.size())
        return std::nullopt;
    return value;
}

/// All of the text as a decimal number. Not by std::from_chars, which libc++ has for whole numbers
/// only up to its version 19.
std::optional<double> decimal_number(std::string const& text) {
    if (text.empty() || text.find_first_not_of("0123456789.eE+-") != std::string::npos)
        return std::nullopt;
    char* end = nullptr;
    double const value = std::strtod(text.c_str(), &end);
    if (end != text.c_str() + text.size())
        return std::nullopt;
    return value;
}

std::string whole_number(std::string const& text, std::uint64_t least, std::uint64_t most) {
    auto const value = number(text);
    if (value && *value >= least && *value <= most)
        return {};
    return formatted("{} is not a whole number from {} to {}", text, least, most);
}

/// "; did you mean X?", or nothing.
std::string guess(std::string_view typed, std::vector<std::string> const& names,
                  char const* dashes = "") {
    std::vector<std::string_view> const views(names.begin(), names.end());
    std::string_view const meant = os::nearest(typed, views);
    return meant.empty() ? "" : formatted("; did you mean {}{}?", dashes, meant);
}

/// Explains an argument that is not recognised. @param app whose options it is not one of
std::string explain_word(CLI::App const& app, std::string const& word) {
    if (word.size() < 2 || word.front() != '-')
        return "unexpected argument " + word;
    std::vector<std::string> names;
    for (CLI::Option const* each : app.get_options())
        if (!each->get_group().empty())
            names.insert(names.end(), each->get_lnames().begin(), each->get_lnames().end());
    std::string_view const option = std::string_view(word).substr(0, word.find('='));
    std::string_view const name = option.substr(std::min(option.find_first_not_of('-'), option.size()));
    return formatted("unknown option {}{}", option, guess(name, names, "--"));
}

/// The mistake in an option's value, in users' words: CLI11 says "--output: 1 required FILE missing".
std::string explain_value(CLI::ParseError const& wrong) {
    std::string const said = wrong.what();
    std::size_t const name_end = said.find(": "), type = said.find(" required ");
    constexpr std::string_view missing = " missing";
    if (!dynamic_cast<CLI::ArgumentMismatch const*>(&wrong) || name_end == said.npos || type == said.npos ||
        !said.ends_with(missing))
        return said;
    std::size_t const begin = type + std::string_view(" required ").size();
    return formatted("{} needs a value: {} {}", said.substr(0, name_end), said.substr(0, name_end),
                     said.substr(begin, said.size() - missing.size() - begin));
}

/// The words of the line behind the program's name, where `help` and `version` stand for the
/// options: `help lat` for `lat --help`, `help help` for `--help`.
std::vector<std::string> with_options(std::vector<std::string> const& line) {
    std::vector<std::string> words(line.begin() + std::min<std::size_t>(line.size(), 1), line.end());
    if (words.empty())
        return words;
    if (words.front() == "help") {
        auto const is_a_subcommand = [](std::string const& word) {
            return word != "help" && word != "version";
        };
        words.erase(words.begin(), std::ranges::find_if(words, is_a_subcommand));
        words.emplace_back("--help");
    } else if (words.front() == "version") {
        words.front() = "--version";
    }
    return words;
}

/// The mistake in the line, in a sentence with the command that helps.
std::string explain(CLI::App const& app, CLI::ParseError const& wrong) {
    std::vector<CLI::App*> const chosen = app.get_subcommands();
    std::vector<std::string> const words = app.remaining(true);
    if (!chosen.empty()) {
        CLI::App const& subcommand = *chosen.front();
        std::string const name = subcommand.get_name();
        // Words may also remain beside another mistake.
        bool const is_a_word = dynamic_cast<CLI::ExtrasError const*>(&wrong) && !words.empty();
        return formatted("{}: {}; see barmap {} --help", name,
                         is_a_word ? explain_word(subcommand, words.front()) : explain_value(wrong), name);
    }
    if (!words.empty() && words.front().starts_with('-'))
        return explain_word(app, words.front()) + "; see barmap --help";
    std::vector<std::string> names;
    std::string list;
    for (CLI::App const* each : app.get_subcommands([](CLI::App const*) { return true; })) {
        names.push_back(each->get_name());
        list += (list.empty() ? "" : ", ") + each->get_name();
    }
    return (words.empty() ? "give a subcommand"
                          : "unknown subcommand " + words.front() + guess(words.front(), names)) +
           "; the subcommands are " + list;
}

/// Whether the line begins with a word that is no subcommand, which CLI11 ignores where help is
/// asked for.
bool has_unknown_subcommand(CLI::App const& app) {
    std::vector<std::string> const words = app.remaining(true);
    return app.get_subcommands().empty() && !words.empty() && !words.front().starts_with('-');
}

int refuse(CLI::App const& app, CLI::ParseError const& wrong) {
    std::fputs(formatted("barmap: {}\n", explain(app, wrong)).c_str(), stderr);
    return exit_usage;
}

} // namespace

option& option::with_default() {
    made_->capture_default_str();
    return *this;
}

option& option::with_default(std::string const& text) {
    made_->default_str(text);
    return *this;
}

option& option::between(std::uint64_t least, std::uint64_t most) {
    made_->type_name("N")->check(
        [least, most](std::string const& text) { return whole_number(text, least, most); });
    return *this;
}

option& option::positive() {
    return between(1, largest_count);
}

option& option::seconds() {
    made_->type_name("SECONDS")->check([](std::string const& text) {
        auto const value = decimal_number(text);
        bool const good = value && *value > 0 && std::isfinite(*value);
        return good ? std::string() : text + " is not a time in seconds above 0";
    });
    return *this;
}

option& option::one_of(std::vector<std::string> const& names) {
    made_->check(CLI::IsMember(names));
    return *this;
}

option& option::some_of(std::vector<std::string> const& names) {
    return one_of(names).list().named("NAME,...");
}

option& option::one_of_this_machine(std::vector<std::string> const& names) {
    made_->check(CLI::IsMember(names).description(""));
    return *this;
}

option& option::bytes() {
    auto const in_bytes = [](std::string& text) -> std::string {
        auto const value = parse_size(text);
        if (!value)
            return text + " is not a size from 1 to 256T, such as 512, 4K or 1M";
        text = std::to_string(*value);
        return {};
    };
    made_->type_name("SIZE")->transform(CLI::Validator(in_bytes, ""));
    return *this;
}

option& option::list() {
    made_->delimiter(',');
    return *this;
}

option& option::repeated() {
    made_->allow_extra_args(false);
    return *this;
}

option& option::required() {
    made_->required();
    return *this;
}

option& option::hidden() {
    made_->group("");
    return *this;
}

option& option::named(std::string const& value) {
    made_->type_name(value);
    return *this;
}

option subcommand::flag(std::string const& name, bool& value, std::string const& help) {
    return option(app_.add_flag(name, value, help));
}

template <class Value>
option subcommand::add(std::string const& name, Value& value, std::string const& help) {
    return option(app_.add_option(name, value, help));
}
template option subcommand::add(std::string const&, int&, std::string const&);
template option subcommand::add(std::string const&, unsigned&, std::string const&);
template option subcommand::add(std::string const&, std::uint64_t&, std::string const&);
template option subcommand::add(std::string const&, double&, std::string const&);
template option subcommand::add(std::string const&, std::string&, std::string const&);
template option subcommand::add(std::string const&, std::vector<std::string>&, std::string const&);
template option subcommand::add(std::string const&, std::vector<std::size_t>&, std::string const&);

void subcommand::arguments_at_end() {
    app_.positionals_at_end();
}

void subcommand::footer(help_end const& end) {
    std::string text = end.remark;
    auto const list = [&text](char const* title, std::vector<std::string> const& lines) {
        text += (text.empty() ? "" : "\n\n") + std::string(title);
        for (std::string const& line : lines)
            text += "\n  " + line;
    };
    list("Exit codes:", end.exit_codes);
    list("Examples:", end.examples);
    app_.footer(text);
}

void subcommand::runs(std::function<int()> run) {
    app_.callback([&whole = whole_, run = std::move(run)] { whole.chosen_ = run; });
}

std::vector<std::string> const& subcommand::words() const noexcept {
    return whole_.words_;
}

command_line::command_line(int argc, char** argv, std::string const& description)
    : words_(argv, argv + argc), app_(std::make_unique<CLI::App>(description, "barmap")) {
    app_->require_subcommand(1);
    app_->set_help_flag("-h,--help", "print this help");
}

command_line::~command_line() = default;

void command_line::footer(std::string const& text) {
    app_->footer(text);
}

void command_line::version(std::string const& text) {
    app_->set_version_flag("--version", text, "print the version");
}

subcommand command_line::add(std::string const& name, std::string const& description) {
    return {*app_->add_subcommand(name, description), *this};
}

int command_line::run() {
    try {
        std::vector<std::string> words = with_options(words_);
        std::reverse(words.begin(), words.end()); // as CLI11 takes them
        app_->parse(std::move(words));
    } catch (CLI::CallForHelp const& asked) {
        if (has_unknown_subcommand(*app_))
            return refuse(*app_, asked);
        std::fputs(fold(app_->help()).c_str(), stdout);
        return exit_ok;
    } catch (CLI::Success const& version) {
        return app_->exit(version);
    } catch (CLI::ParseError const& wrong) {
        return refuse(*app_, wrong);
    }
    return chosen_();
}

} // namespace barmap::tool
