// SPDX-License-Identifier: MIT
#include "output/report.hpp"

#include "command/exit_codes.hpp"
#include "output/fold.hpp"
#include "output/formatted.hpp"
#include "output/machine.hpp"
#include "output/progress.hpp"

#include <barmap/version.hpp>

#include <cerrno>
#include <chrono>
#include <cstdio>
#include <cstring>
#include <exception>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

namespace barmap::tool {

namespace {

[[noreturn]] void refuse_output(std::string const& file) {
    throw usage_error("cannot write " + file + ": " + std::strerror(errno) +
                      "; give --output a file that can be written");
}

} // namespace

report::report(options const& values) : json_(values.json), output_(values.output) {
    if (!output_.empty()) {
        file_ = os::fd(::open(output_.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666));
        unfinished_file_ = bool(file_);
        if (!file_)
            file_ = os::fd(::open(output_.c_str(), O_WRONLY | O_CLOEXEC));
        if (!file_)
            refuse_output(output_);
    }
    document_["barmap"] = version();
    document_["command"] = values.command;
    document_["machine"] = describe_machine(nullptr, {});
    document_["results"] = json::array();
    interruption_.emplace([this] { save_results(); });
}

report::~report() {
    interruption_.reset();
    if (unfinished_file_)
        ::unlink(output_.c_str());
}

void report::about(device const& gpu, std::string_view backend) {
    json machine = describe_machine(&gpu, backend);
    std::lock_guard const guard(lock_);
    document_["machine"] = std::move(machine);
}

void report::say(std::string_view text) const {
    if (json_)
        return;
    progress::wipe();
    std::fputs(fold(text).c_str(), stdout);
    std::fflush(stdout);
}

void report::add(json row) {
    std::lock_guard const guard(lock_);
    document_["results"].push_back(std::move(row));
}

void report::set(std::string_view key, json value) {
    std::lock_guard const guard(lock_);
    document_[std::string(key)] = std::move(value);
}

int report::finish(bool good) {
    std::lock_guard const guard(lock_);
    finished_ = true;
    write_document();
    return good ? exit_ok : exit_failed;
}

// In the thread of the interruption.
void report::save_results() noexcept {
    progress::stop();
    try {
        // A thread that has the lock for long is writing all of it, to a reader who does not read.
        std::unique_lock const guard(lock_, std::chrono::seconds(1));
        if (!guard.owns_lock() || finished_)
            return;
        std::size_t const results = document_["results"].size();
        if (results > 0 && (json_ || !output_.empty())) {
            document_["interrupted"] = true;
            write_document();
            std::fflush(stdout);
            std::fputs(formatted("\nbarmap: interrupted: {} has the {} results until then\n",
                                 output_.empty() ? "the JSON" : output_, results)
                           .c_str(),
                       stderr);
        }
    } catch (std::exception const& failure) {
        std::fputs(formatted("\nbarmap: {}\n", failure.what()).c_str(), stderr);
    }
    if (unfinished_file_)
        ::unlink(output_.c_str());
}

// With the lock held.
void report::write_document() {
    std::string const text = document_.dump(2, ' ', false, json::error_handler_t::replace) + "\n";
    if (json_)
        std::fputs(text.c_str(), stdout);
    if (output_.empty())
        return;
    struct stat status {};
    bool good = ::fstat(file_.get(), &status) == 0;
    if (good && S_ISREG(status.st_mode)) // else it has no length: a pipe, a device
        good = ::ftruncate(file_.get(), 0) == 0;
    for (std::string_view rest = text; good && !rest.empty();) {
        ssize_t const written = ::write(file_.get(), rest.data(), rest.size());
        good = written > 0;
        rest.remove_prefix(good ? static_cast<std::size_t>(written) : 0);
    }
    if (!good)
        refuse_output(output_);
    unfinished_file_ = false;
}

std::string title_of(device const& gpu) {
    return gpu.name() + (gpu.simulated() ? " (simulated GPU)" : "");
}

std::string verdict(bool good, std::string const& problem) {
    return good ? "passed" : problem.empty() ? "FAILED" : "FAILED: " + problem;
}

} // namespace barmap::tool
