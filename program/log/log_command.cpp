// SPDX-License-Identifier: MIT
#include "command/exit_codes.hpp"
#include "command/options.hpp"
#include "output/formatted.hpp"
#include "system/fd.hpp"

#include <barmap/error.hpp>
#include <barmap/log.hpp>

#include <algorithm>
#include <array>
#include <chrono>
#include <cstdio>
#include <fcntl.h>
#include <filesystem>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <system_error>
#include <thread>
#include <vector>

namespace barmap::tool {
namespace {

namespace fs = std::filesystem;
using namespace std::chrono_literals;

struct log_options : options {
    std::size_t process = 0;
    std::vector<std::size_t> descriptor; ///< none: all logs of the process
    std::string newest_of;
    bool follow = false;
};

constexpr std::array fields{"id", "a", "b", "c"};
using record_member = std::uint32_t log_record::*;
constexpr std::array<record_member, 4> members{&log_record::id, &log_record::a, &log_record::b,
                                               &log_record::c};

/// Of a member, whose newest records are shown.
constexpr std::size_t most_values = 100'000;

/// A log of another process, as it is shown.
class shown_log {
public:
    shown_log(std::string path, std::string where, int descriptor)
        : path_(std::move(path)), where_(std::move(where)),
          log_(log_ring::open_shared(descriptor)) {}

    void show_heading() const {
        print(formatted("{}: {} slots\n{:>12} {:>12} {:>10} {:>10} {:>10} {:>10}\n", where_,
                        log_.slots(), "seconds", "number", "id", "a", "b", "c"));
    }
    /// Shows the records that have arrived. @return how many
    std::size_t show_arrived() {
        std::array<log_record, 256> records;
        std::size_t const count = log_.read(records);
        for (log_record const& each : std::span(records).first(count))
            show(each);
        return count;
    }
    /// Whether a record can be read, at once or soon: one that has not come holds up later ones for
    /// less time than this waits.
    [[nodiscard]] bool has_more() { return log_.wait_for(300ms); }
    /// As many as there are slots, or of them the newest one of each value of a member.
    void show_all(std::optional<record_member> newest_of) {
        std::map<std::uint32_t, log_record> newest;
        bool is_one_left_out = false;
        std::array<log_record, 256> records;
        for (std::size_t left = log_.slots(); left != 0 && has_more();) {
            std::size_t const count =
                log_.read(std::span(records).first(std::min(left, records.size())));
            left -= count;
            for (log_record const& each : std::span(records).first(count)) {
                if (!newest_of)
                    show(each);
                else if (newest.size() < most_values || newest.contains(each.**newest_of))
                    newest.insert_or_assign(each.**newest_of, each);
                else
                    is_one_left_out = true;
            }
        }
        for (auto const& [value, each] : newest)
            show(each);
        if (is_one_left_out)
            print(formatted("only the first {} values are shown\n", most_values));
    }
    /// Whether the process still has it.
    [[nodiscard]] bool is_there() const {
        std::error_code ignored;
        return fs::exists(path_, ignored);
    }
    void show_lost() const { print(formatted("{} records were lost\n", log_.lost())); }

private:
    static void print(std::string const& text) { std::fputs(text.c_str(), stdout); }
    void show(log_record const& it) {
        if (!first_time_)
            first_time_ = it.time;
        auto const since = static_cast<std::int64_t>(it.time - *first_time_);
        print(formatted("{:>12.6f} {:>12} {:>10} {:>10} {:>10} {:>10}\n",
                        static_cast<double>(since) * 1e-9, it.number, it.id, it.a, it.b, it.c));
    }

    std::string path_, where_;
    log_ring log_;
    std::optional<std::uint64_t> first_time_;
};

/// Opens one, or nothing if it is of no log. @throws error if it cannot be opened
std::unique_ptr<shown_log> open_log(std::string const& path, std::string where) {
    // It may be a pipe, for whose writer this would wait, or a terminal.
    os::fd const file = os::open_file(path, O_RDONLY | O_NONBLOCK | O_NOCTTY);
    try {
        return std::make_unique<shown_log>(path, std::move(where), file.get());
    } catch (error const& refused) {
        if (refused.code() != make_error_code(errc::invalid_argument))
            throw;
        return nullptr;
    }
}

bool is_shared_memory(fs::path const& descriptor) {
    std::error_code ignored;
    return fs::read_symlink(descriptor, ignored).string().starts_with("/memfd:barmap_host");
}

/// The logs that a process holds, each once. @throws error if it may not be looked at
std::vector<std::unique_ptr<shown_log>> logs_of(std::size_t process) {
    std::string const folder = formatted("/proc/{}/fd", process);
    std::vector<std::unique_ptr<shown_log>> result;
    std::vector<fs::path> seen;
    std::error_code failure;
    fs::directory_iterator at(folder, failure);
    if (failure)
        throw error(failure, formatted("read the descriptors of process {}", process), "",
                    "give a running process of this user, or run as root");
    for (; at != fs::directory_iterator(); at.increment(failure)) { // if that fails, it is the end
        fs::path const& path = at->path();
        std::error_code ignored;
        bool const is_new =
            is_shared_memory(path) && std::ranges::none_of(seen, [&](auto const& other) {
                return fs::equivalent(path, other, ignored);
            });
        if (!is_new)
            continue;
        seen.push_back(path);
        std::string const where =
            formatted("log of process {}, descriptor {}", process, path.filename().string());
        try {
            if (auto log = open_log(path, where))
                result.push_back(std::move(log));
        } catch (error const& refused) {
            if (refused.code() == make_error_code(errc::unsupported_operation))
                std::fputs(formatted("barmap: {}: {}\n", where, refused.what()).c_str(), stderr);
            else if (refused.code() != std::errc::no_such_file_or_directory) // closed meanwhile
                throw;
        }
    }
    return result;
}

int show_logs(log_options const& values) {
    if (values.follow && !values.newest_of.empty())
        throw usage_error("--follow and --newest-of cannot be combined");
    std::vector<std::unique_ptr<shown_log>> logs;
    for (std::size_t const number : values.descriptor) {
        auto log = open_log(formatted("/proc/{}/fd/{}", values.process, number),
                            formatted("log of process {}, descriptor {}", values.process, number));
        if (!log)
            throw error(errc::invalid_argument,
                        formatted("read descriptor {} of process {}", number, values.process), "",
                        "it belongs to no log: leave out --fd to see all logs of the process");
        logs.push_back(std::move(log));
    }
    if (values.descriptor.empty())
        logs = logs_of(values.process);
    if (logs.empty())
        throw error(errc::invalid_argument, formatted("find a log of process {}", values.process),
                    "", "it has none now: a log exists as long as its barmap::log_ring");
    if (!values.follow) {
        auto const newest_of = std::ranges::find(fields, values.newest_of);
        for (auto const& each : logs) {
            each->show_heading();
            each->show_all(
                newest_of == fields.end()
                    ? std::nullopt
                    : std::optional(members[static_cast<std::size_t>(newest_of - fields.begin())]));
            each->show_lost();
        }
        return exit_ok;
    }
    if (logs.size() != 1)
        throw usage_error(
            formatted("process {} has {} logs: choose one with --fd", values.process, logs.size()));
    shown_log& log = *logs.front();
    log.show_heading();
    for (;;) {
        bool const is_over = !log.is_there(); // asked first: what was logged before is read below
        if (log.show_arrived() != 0)
            continue;
        std::fflush(stdout);
        if (!is_over)
            std::this_thread::sleep_for(10ms);
        else if (!log.has_more())
            break;
    }
    log.show_lost();
    return exit_ok;
}

} // namespace

void add_log(command_line& program) {
    subcommand app = program.add("log", "Show what running kernels of a process have logged");
    auto values = std::make_shared<log_options>();
    app.add("PID", values->process, "the process that made the log").positive().required();
    app.add("--fd", values->descriptor,
            "the log of this descriptor of the process; by default all of its logs")
        .named("NUMBER")
        .repeated();
    app.add("--newest-of", values->newest_of,
            "show only the newest record of each value of id, a, b or c")
        .one_of({fields.begin(), fields.end()})
        .named("FIELD");
    app.flag("--follow", values->follow, "continue until the process or the log ends");
    app.footer(
        {.remark = "Shows the records that a barmap::log_ring holds, the oldest first, also while "
                   "kernels run or hang. Seconds count from the first record "
                   "that is shown, by the GPU's clock. It needs no GPU, and changes nothing: other "
                   "readers see all records as well.",
         .exit_codes = {"0 done", "2 an option or argument is wrong",
                        "3 there is no such process, it has no log, or this user may not read it"},
         .examples = {"# Where does each block stand, if each logs its number as a?",
                      "barmap log --newest-of a 4711", "# New records as they come",
                      "barmap log --follow 4711"}});
    when_chosen(app, values, show_logs);
}

} // namespace barmap::tool
