// SPDX-License-Identifier: MIT
#pragma once

#include "driver/rm/client.hpp"
#include "transfer/engine/engine.hpp"

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

/// Which of a GPU's copy engines channels use.
namespace barmap::engine {

/// RM's description of one copy engine.
struct copy_engine_caps {
    std::uint32_t type = 0; ///< an NV2080_ENGINE_TYPE
    std::uint16_t caps = 0; ///< rm::abi::ce_cap_...
    [[nodiscard]] bool has(std::uint16_t all) const noexcept { return (caps & all) == all; }
};

/// All copy engines of the client's GPU that barmap may use: those that neither serve graphics nor
/// decompress, which copy nothing else at that time.
[[nodiscard]] std::vector<copy_engine_caps> usable_engines(rm::client const& client);

/// The best engine for copies in this direction, or between GPU and host without one, of those that
/// the driver does not share: CUDA copies on shared engines, and a copy there waits for the end of
/// CUDA's time slice, 1 ms. NVIDIA's unified memory driver prefers the same capabilities: fast
/// reads of host memory for copies to the GPU, fast writes for those to the CPU, NVLink among GPUs,
/// and elsewhere engines that are not needed for NVLink. Of equal ones the first.
/// @throws error errc::backend_absent if the GPU has none
[[nodiscard]] std::uint32_t own_engine_type(std::span<copy_engine_caps const> usable,
                                            std::optional<direction> which);

/// The engines that CUDA also uses, two at most.
[[nodiscard]] std::vector<std::uint32_t>
shared_engine_types(std::span<copy_engine_caps const> usable);

} // namespace barmap::engine
