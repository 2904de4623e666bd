// SPDX-License-Identifier: MIT
#include "report.hpp"

#include "exit_codes.hpp"
#include "machine.hpp"

#include <barmap/version.hpp>

#include <cstdio>
#include <fstream>

namespace barmap::tool {

report::report(options const& values) : json_(values.json), output_(values.output) {
    document_["barmap"] = version();
    document_["command"] = values.command;
    document_["machine"] = describe_machine(nullptr, {});
    document_["results"] = json::array();
}

void report::about(device const& gpu, std::string_view backend) {
    document_["machine"] = describe_machine(&gpu, backend);
}

void report::say(std::string_view text) const {
    if (json_)
        return;
    std::fwrite(text.data(), 1, text.size(), stdout);
    std::fflush(stdout);
}

void report::add(json row) {
    document_["results"].push_back(std::move(row));
}

void report::finish() {
    std::string const text = document_.dump(2, ' ', false, json::error_handler_t::replace) + "\n";
    if (json_)
        std::fputs(text.c_str(), stdout);
    if (output_.empty())
        return;
    std::ofstream file(output_);
    file << text;
    if (!file.flush())
        throw usage_error("cannot write " + output_ + ": give --output a file that can be written");
}

} // namespace barmap::tool
