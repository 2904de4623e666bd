// SPDX-License-Identifier: MIT
#pragma once

#include "measure/gpu_kernels.hpp"
#include "measure/opened_gpu.hpp"
#include "measure/reached_memory.hpp"

#include <barmap/error.hpp>
#include <barmap/report.hpp>

#include <cstddef>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace barmap::tool {

/// The engines that are usable and that BARMAP_ENGINE allows, in order. Starts them, except for the
/// one that it names, which has been started when the GPU was opened.
[[nodiscard]] std::vector<std::string> usable_engines(opened_gpu const& gpu);

/// The same as reach(), and one engine makes all copies of the mapping. Where it cannot hold memory
/// of the kind that the options ask for, the memory is of device::allocate().
/// @throws error
[[nodiscard]] reached_memory reach_for(std::string_view engine, opened_gpu const& gpu,
                                       options const& values, std::size_t bytes);

/// Does work that copies by one engine; from its beginning again if a copy fails, by the engine
/// that takes the place of that one.
/// @param late counts failed copies
/// @throws error, also if too many copies fail
template <class Work>
auto with_next_engine(mapping& through, std::string_view engine, unsigned& late, Work&& work) {
    constexpr unsigned most_late = 3;
    for (;;) {
        try {
            return work();
        } catch (error const& failure) {
            if (failure.code() != errc::backend_broken || ++late > most_late)
                throw;
            through.use_engine(engine); // or says why there is none
        }
    }
}

inline constexpr host_memory_kind both_kinds[] = {host_memory_kind::pageable,
                                                  host_memory_kind::pinned};

/// Touched host memory of one kind.
class touched_host {
public:
    /// Pinned memory needs the GPU's context. @throws error
    touched_host(host_memory_kind kind, std::size_t bytes);
    [[nodiscard]] std::span<std::byte> bytes() const noexcept { return bytes_; }

private:
    std::vector<std::byte> pageable_;
    std::unique_ptr<pinned_host> pinned_;
    std::span<std::byte> bytes_;
};

} // namespace barmap::tool
