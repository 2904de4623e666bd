// SPDX-License-Identifier: MIT
#include "command/program.hpp"

#include "command/exit_codes.hpp"
#include "command/options.hpp"
#include "command/other_programs.hpp"
#include "output/formatted.hpp"

#include <barmap/error.hpp>
#include <barmap/version.hpp>

#include <algorithm>
#include <cstdio>
#include <exception>
#include <string_view>

namespace barmap::tool {
namespace {

int run(int argc, char** argv) {
    command_line program(argc, argv, "CPU pointers to GPU memory: inspect, verify and measure.");
    program.footer(exit_code_help());
    program.version(std::string(barmap::version()));
    for (auto* add : {add_info, add_demo, add_check, add_lat, add_bw, add_api, add_batch,
                      add_pingpong, add_ring, add_fresh, add_stress, add_log, add_run, add_sim, add_plot})
        add(program);
    return program.run();
}

int fail(char const* what, int code) {
    std::fputs(formatted("barmap: {}\n", what).c_str(), stderr);
    return code;
}

/// Everything that was printed must have arrived: /dev/full, a full disk and a closed stdout fail
/// here.
int check_output(int exit_code) {
    bool const whole = std::fflush(stdout) == 0 && std::ferror(stdout) == 0;
    if (whole)
        return exit_code;
    int const because = fail("the output could not be written to stdout", exit_unavailable);
    return exit_code == exit_ok ? because : exit_code;
}

/// The one that argv[0] names, or null.
other_program const* other_program_of(int argc, char** argv) {
    if (argc < 1)
        return nullptr;
    std::string_view const path = argv[0];
    std::string_view const name = path.substr(path.rfind('/') + 1); // npos + 1 is 0
    auto const found = std::ranges::find(other_programs(), name, &other_program::name);
    return found == other_programs().end() ? nullptr : &*found;
}

int run_other(other_program const& other, int argc, char** argv) {
    try {
        return other.run(argc, argv);
    } catch (std::exception const& failure) {
        std::fflush(stdout);
        std::fputs(formatted("{}: {}\n", other.name, failure.what()).c_str(), stderr);
        return 1;
    }
}

int run_or_explain(int argc, char** argv) {
    try {
        if (other_program const* other = other_program_of(argc, argv))
            return run_other(*other, argc, argv);
        return run(argc, argv);
    } catch (usage_error const& wrong) {
        return fail(wrong.what(), exit_usage);
    } catch (gpu_timeout const& late) {
        return fail(late.what(), exit_timed_out);
    } catch (barmap::error const& refused) {
        return fail(refused.what(), exit_unavailable);
    } catch (std::exception const& failure) {
        return fail(failure.what(), exit_unavailable);
    }
}

} // namespace

int run_program(int argc, char** argv) {
    return check_output(run_or_explain(argc, argv));
}

} // namespace barmap::tool
