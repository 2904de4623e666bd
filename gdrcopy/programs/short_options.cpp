// SPDX-License-Identifier: MIT
#include "gdrcopy/programs/short_options.hpp"

#include "gdrcopy/programs/gdrapi_library.hpp"

#include <CLI/CLI.hpp>

#include <array>
#include <cstdlib>
#include <filesystem>

namespace barmap::tool::gdrcopy {
namespace {

struct named_flag {
    char const* name;
    gdr_map_flags_t flag;
};

constexpr std::array<named_flag, 4> mapping_types{{
    {"default", GDR_MAP_FLAG_DEFAULT},
    {"wc", GDR_MAP_FLAG_REQ_WC_MAPPING},
    {"cache", GDR_MAP_FLAG_REQ_CACHE_MAPPING},
    {"device", GDR_MAP_FLAG_REQ_DEVICE_MAPPING},
}};

constexpr char const* about_the_library =
    "The functions are those of libgdrapi.so.2: barmap's, from the lib directory beside this "
    "program.\n"
    "LD_LIBRARY_PATH=DIRECTORY makes the same program use another one, such as gdrcopy's own.\n"
    "This program is `barmap` under another name. Exit codes: 0 done, 1 failed, or an option is "
    "wrong.";

std::string dashed(char letter) {
    return std::string("-") + letter;
}

} // namespace

short_options::short_options(std::string description)
    : app_(std::make_unique<CLI::App>(std::move(description))) {
    app_->set_help_flag("-h,--help", "print this text");
    // Set before any option is added, which takes it over.
    app_->option_defaults()->multi_option_policy(CLI::MultiOptionPolicy::TakeLast);
    footer("");
}

short_options::~short_options() = default;

void short_options::flag(char letter, bool& value, std::string const& help) {
    app_->add_flag(dashed(letter), value, help);
}

void short_options::number(char letter, std::uint64_t& value, std::string const& help,
                           std::uint64_t least) {
    auto* const option =
        app_->add_option(dashed(letter), value, help)->type_name("NUMBER")->capture_default_str();
    if (least)
        option->check([least](std::string const& text) {
            return std::strtoull(text.c_str(), nullptr, 0) < least
                       ? "must be at least " + std::to_string(least)
                       : std::string();
        });
}

void short_options::choice(char letter, std::string& value, std::vector<std::string> const& choices,
                           std::string const& help) {
    app_->add_option(dashed(letter), value, help)
        ->check(CLI::IsMember(choices))
        ->type_name("NAME")
        ->capture_default_str();
}

void short_options::words(char letter, std::vector<std::string>& values, std::string const& help) {
    app_->add_option(dashed(letter), values, help)
        ->multi_option_policy(CLI::MultiOptionPolicy::TakeAll)
        ->expected(1)
        ->type_name("NAME");
}

void short_options::device(int& ordinal) {
    app_->add_option("-d", ordinal, "CUDA ordinal of the GPU")
        ->check(CLI::NonNegativeNumber)
        ->type_name("NUMBER")
        ->capture_default_str();
}

void short_options::allocation(std::string& function) {
    choice('a', function, {"cuMemAlloc", "cuMemCreate"}, "what allocates the GPU memory");
}

void short_options::mapping_type(std::string& name) {
    std::vector<std::string> names;
    for (named_flag const& type : mapping_types)
        names.emplace_back(type.name);
    choice('M', name, names, "mapping type to request");
}

void short_options::footer(std::string const& text) {
    app_->footer(text + (text.empty() ? "" : "\n\n") + about_the_library);
}

int short_options::run(int argc, char** argv, std::function<int()> const& program) {
    app_->name(std::filesystem::path(argv[0]).filename().string());
    try {
        app_->parse(argc, argv);
    } catch (CLI::Success const& help) {
        return app_->exit(help);
    } catch (CLI::ParseError const& wrong) {
        app_->exit(wrong);
        return 1;
    }
    return program();
}

int map_flags(std::string const& mapping_type) {
    for (named_flag const& type : mapping_types)
        if (mapping_type == type.name)
            return type.flag;
    return GDR_MAP_FLAG_DEFAULT;
}

} // namespace barmap::tool::gdrcopy
