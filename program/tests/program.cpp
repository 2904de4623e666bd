// SPDX-License-Identifier: MIT
#include "program.hpp"

#include <array>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <sstream>
#include <stdexcept>
#include <sys/wait.h>
#include <unistd.h>

namespace barmap::test {
namespace {

std::string contents(std::filesystem::path const& file) {
    std::ifstream stream(file);
    return {std::istreambuf_iterator<char>(stream), {}};
}

outcome shell(std::string const& command) {
    std::string errors = (std::filesystem::temp_directory_path() / "barmap-tool-XXXXXX").string();
    int const descriptor = mkstemp(errors.data());
    if (descriptor < 0)
        throw std::runtime_error("cannot make a temporary file");
    close(descriptor);
    FILE* const pipe = popen((command + " 2>" + errors).c_str(), "r");
    if (!pipe)
        throw std::runtime_error("cannot start a shell");
    outcome result;
    std::array<char, 4096> block{};
    while (std::size_t const length = std::fread(block.data(), 1, block.size(), pipe))
        result.out.append(block.data(), length);
    int const status = pclose(pipe);
    result.exit_code = WIFEXITED(status) ? WEXITSTATUS(status) : -1;
    result.err = contents(errors);
    std::filesystem::remove(errors);
    return result;
}

} // namespace

outcome barmap(std::string const& arguments, std::string const& environment) {
    return barmap_named("barmap", arguments, environment);
}

outcome barmap_named(std::string const& name, std::string const& arguments,
                     std::string const& environment) {
    std::filesystem::path const program =
        std::filesystem::path(BARMAP_PROGRAM).parent_path() / name;
    return shell("env -u BARMAP_BACKEND -u BARMAP_COPY -u BARMAP_ENGINE -u BARMAP_REQUIRE "
                 "BARMAP_SIM=1 " +
                 environment + " " + program.string() + " " + arguments);
}

outcome barmap_without_gpu(std::string const& arguments) {
    return shell("env -u BARMAP_BACKEND -u BARMAP_COPY -u BARMAP_ENGINE -u BARMAP_REQUIRE "
                 "-u BARMAP_SIM CUDA_VISIBLE_DEVICES= " BARMAP_PROGRAM " " +
                 arguments);
}

std::string unfolded(std::string const& text) {
    std::istringstream words(text);
    std::string all;
    for (std::string word; words >> word;)
        all += (all.empty() ? "" : " ") + word;
    return all;
}

nlohmann::json rows(outcome const& run, std::string const& member, nlohmann::json const& value) {
    nlohmann::json found = nlohmann::json::array();
    nlohmann::json const all = run.json();
    for (nlohmann::json const& row : all.at("results"))
        if (row.value(member, nlohmann::json()) == value)
            found.push_back(row);
    return found;
}

} // namespace barmap::test
