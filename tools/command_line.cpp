// SPDX-License-Identifier: MIT
#include "command_line.hpp"

#include "exit_codes.hpp"

#include <CLI/CLI.hpp>

#include <cstddef>
#include <cstdint>
#include <utility>

namespace barmap::tool {

option& option::with_default() {
    made_->capture_default_str();
    return *this;
}

option& option::not_negative() {
    made_->check(CLI::NonNegativeNumber);
    return *this;
}

option& option::positive() {
    made_->check(CLI::PositiveNumber);
    return *this;
}

option& option::between(unsigned least, unsigned most) {
    made_->check(CLI::Range(least, most));
    return *this;
}

option& option::one_of(std::vector<std::string> const& names) {
    made_->check(CLI::IsMember(names));
    return *this;
}

option& option::bytes() {
    made_->transform(CLI::AsSizeValue(false))->type_name("SIZE");
    return *this;
}

option& option::list() {
    made_->delimiter(',');
    return *this;
}

option& option::required() {
    made_->required();
    return *this;
}

option& option::named(std::string const& value) {
    made_->type_name(value);
    return *this;
}

void subcommand::flag(std::string const& name, bool& value, std::string const& help) {
    app_.add_flag(name, value, help);
}

void subcommand::hidden_flag(std::string const& name, bool& value, std::string const& help) {
    app_.add_flag(name, value, help)->group("");
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

void subcommand::footer(std::string const& text) {
    app_.footer(text);
}

void subcommand::runs(std::function<int()> run) {
    app_.callback([&whole = whole_, run = std::move(run)] { whole.chosen_ = run; });
}

std::vector<std::string> const& subcommand::words() const noexcept {
    return whole_.words_;
}

command_line::command_line(int argc, char** argv, std::string const& description)
    : argc_(argc), argv_(argv), words_(argv, argv + argc),
      app_(std::make_unique<CLI::App>(description)) {
    app_->require_subcommand(1);
}

command_line::~command_line() = default;

void command_line::footer(std::string const& text) {
    app_->footer(text);
}

void command_line::version(std::string const& text) {
    app_->set_version_flag("--version", text);
}

subcommand command_line::add(std::string const& name, std::string const& description) {
    return {*app_->add_subcommand(name, description), *this};
}

int command_line::run() {
    try {
        app_->parse(argc_, argv_);
    } catch (CLI::Success const& help_or_version) {
        return app_->exit(help_or_version);
    } catch (CLI::ParseError const& wrong) {
        app_->exit(wrong);
        return exit_usage;
    }
    return chosen_();
}

} // namespace barmap::tool
