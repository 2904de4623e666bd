// SPDX-License-Identifier: MIT
#include "program/program.hpp"

#include "gdrcopy/programs.hpp"
#include "output/formatted.hpp"
#include "program/exit_codes.hpp"
#include "program/options.hpp"

#include <barmap/error.hpp>
#include <barmap/version.hpp>

#include <cstdio>
#include <exception>

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

int run_or_explain(int argc, char** argv) {
    try {
        if (auto const exit_code = gdrcopy::run_by_name(argc, argv))
            return *exit_code;
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
