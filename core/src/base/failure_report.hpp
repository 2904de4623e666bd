// SPDX-License-Identifier: MIT
#pragma once

#include <barmap/error.hpp>
#include <barmap/report.hpp>

#include <exception>
#include <new>

namespace barmap {

/// Fills a report with the state, reason and advice of a failed start. Call it in a catch block.
/// @tparam Report backend_report or engine_report
/// @throws std::bad_alloc where that is the failure: it says nothing of what was started, and the
///         next call may start it
template <class Report>
void record_failure(Report& report) {
    try {
        throw;
    } catch (error const& failure) {
        report.state =
            failure.code() == errc::backend_absent ? backend_state::absent : backend_state::broken;
        report.reason = "cannot " + failure.operation();
        // These two codes only repeat the state.
        if (failure.code() != errc::backend_absent && failure.code() != errc::backend_broken)
            report.reason += ": " + failure.code().message();
        report.advice = failure.advice();
    } catch (std::bad_alloc const&) {
        throw;
    } catch (std::exception const& failure) {
        report.state = backend_state::broken;
        report.reason = failure.what();
    }
}

} // namespace barmap
