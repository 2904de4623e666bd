// SPDX-License-Identifier: MIT
#pragma once

#include "measure/gpu_memory.hpp"
#include "measure/opened_gpu.hpp"
#include "output/progress.hpp"
#include "output/report.hpp"
#include "command/options.hpp"

#include <barmap/error.hpp>
#include <barmap/mapping.hpp>
#include <barmap/report.hpp>

#include <cstddef>
#include <cstdint>
#include <optional>
#include <set>
#include <string>
#include <string_view>

namespace barmap::tool {

struct check_options : options {
    std::size_t max_size = 0; ///< larger allocations are skipped
    bool all_devices = false;
    std::string require; ///< backends that must not be skipped, comma-separated
};

/// Collects what was checked and prints it line by line. A skip of a required backend is a failure.
class checklist {
public:
    checklist(check_options const& values, report& out);

    void about(int gpu); ///< what follows is about this one
    void passed(std::string_view memory, std::string_view backend, std::string_view detail);
    void failed(std::string_view memory, std::string_view backend, std::string_view why);
    void skipped(std::string_view memory, std::string_view backend, std::string_view why);
    /// Failed if there is a problem, else passed.
    void verdict(std::string_view memory, std::string_view backend,
                 std::optional<std::string> const& problem, std::string_view detail);

    /// The same of what work() returns; failed if it throws error.
    template <class Work>
    void attempt(std::string_view memory, std::string_view backend, std::string_view detail,
                 Work&& work) {
        try {
            verdict(memory, backend, work(), detail);
        } catch (error const& failure) {
            failed(memory, backend, failure.what());
        }
    }

    /// A backend or engine that is not usable: skipped where it is absent, failed where it is
    /// broken.
    template <class Report>
    void unusable(std::string_view memory, Report const& found) {
        std::string const why = found.reason + (found.advice.empty() ? "" : "; " + found.advice);
        if (found.state == backend_state::absent)
            skipped(memory, found.name, "absent: " + why);
        else
            failed(memory, found.name, "broken: " + why);
    }

    [[nodiscard]] bool requires_backend(std::string_view name) const;
    [[nodiscard]] std::size_t failures() const { return failures_; }
    void tell_sums();

private:
    void line(std::string_view memory, std::string_view backend, std::string_view result,
              std::string_view detail);

    report& out_;
    progress bar_{1};
    std::set<std::string, std::less<>> required_;
    int gpu_ = 0;
    std::size_t passes_ = 0, failures_ = 0, skips_ = 0;
};

/// The part of an allocation that is mapped.
struct checked_range {
    CUdeviceptr start; ///< of the allocation
    std::size_t size;
    std::size_t offset; ///< of the mapped part in it
    std::size_t length;
    [[nodiscard]] CUdeviceptr address() const { return start + offset; }
};

/// Verifies a mapping against the driver, over its whole length and in both directions: fills it by
/// cuMemcpy and reads it through the mapping, and the other way round; then many small transfers;
/// and checks that no byte around it has changed.
/// @return what is wrong, or nothing
[[nodiscard]] std::optional<std::string> verify(checked_range const& range, mapping const& through,
                                                std::uint64_t seed);

/// The halves of that verification, for several mappings at once.
void write_through(mapping const& through, std::uint64_t seed);
[[nodiscard]] std::optional<std::string> verify_by_driver(CUdeviceptr address, std::size_t bytes,
                                                          std::uint64_t seed);
void fill_by_driver(CUdeviceptr address, std::size_t bytes, std::uint64_t seed);
[[nodiscard]] std::optional<std::string> verify_by_cpu(mapping const& through, std::uint64_t seed);

/// Tries to pin what must be refused with that code, and advice.
/// @param backend empty: any. @param if_pinned what is wrong where it is not refused
[[nodiscard]] std::optional<std::string> verify_refusal(opened_gpu const& gpu, CUdeviceptr address,
                                                        std::size_t bytes,
                                                        std::string const& backend, errc expected,
                                                        std::string_view if_pinned);
inline constexpr std::string_view rightly_refused = "refused, as it should be";

/// Every kind of memory by one usable backend.
void check_memory(opened_gpu const& gpu, backend_report const& found, check_options const& values,
                  checklist& results);
/// Every copy engine with every kind of host memory.
void check_engines(opened_gpu const& gpu, check_options const& values, checklist& results);
/// mapping::copy_to_gpu() and copy_to_cpu() through the mappings of one usable backend.
void check_adaptive(opened_gpu const& gpu, std::string const& backend, checklist& results);
/// Memory that every backend must refuse.
void check_refusals(opened_gpu const& gpu, checklist& results);
/// Mappings on all GPUs at once.
void check_devices(check_options const& values, checklist& results);

/// Names of the backends that this check is about: --backend or BARMAP_BACKEND, else all.
[[nodiscard]] bool concerns(check_options const& values, std::string_view backend);

} // namespace barmap::tool
