// SPDX-License-Identifier: MIT
#pragma once

#include "gpu_access.hpp"
#include "pinned_range.hpp"

#include <backend/backend_engine.h>

#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

namespace barmap::nixl {

/// A registered range of memory, as copies of this process reach it.
/// Thread rule: every member may be called at once.
class place {
public:
    static constexpr int host = -1; ///< in the place of a GPU

    /// Of this process. Host memory is pinned, by this GPU, for as long as the place lives.
    /// @throws error for memory that no batch takes
    place(nixlBasicDesc const& range, nixl_mem_t kind, int gpu_that_pins);

    /// Of another agent on this machine. @param published by the agent that has it
    /// @throws error for what is not understood
    place(nixlBasicDesc const& range, nixl_mem_t kind, int gpu_that_pins,
          std::string const& published);

    /// Of an agent that is out of reach.
    explicit place(std::string why) : unreachable_(std::move(why)) {}

    /// What other agents need to reach it.
    [[nodiscard]] std::string publish() const;

    /// CUDA's ordinal of the GPU that has it; `host` also for a GPU that this process does not see.
    [[nodiscard]] int gpu() const noexcept { return gpu_; }

    /// What a copy of this GPU adds to the addresses of descriptors.
    /// @throws error if it cannot reach the memory
    [[nodiscard]] std::uintptr_t offset_for(int gpu) const;

    /// How many bytes from an address on one piece of a batch may have.
    [[nodiscard]] std::size_t bytes_in_one_piece(std::uintptr_t address) const noexcept;

private:
    void find_in_this_process(nixlBasicDesc const& range, nixl_mem_t kind, int gpu_that_pins);

    int gpu_ = host;
    std::unique_ptr<pinned_range const> pinned_;
    std::optional<CUipcMemHandle> handle_; ///< that opens it in other processes
    std::uintptr_t in_opened_ = 0;         ///< where it begins in what the handle opens
    std::string unreachable_;              ///< why it is; empty: it is not

    std::optional<std::uintptr_t> begin_elsewhere_; ///< if another process has it
    mutable std::mutex lock_;                       ///< of the next one
    mutable std::map<int, opened_memory> opened_;   ///< by the GPU that it was opened for
};

/// The form in which NIXL keeps it for a descriptor.
struct known_place final : nixlBackendMD {
    explicit known_place(std::shared_ptr<place const> there)
        : nixlBackendMD(true), at(std::move(there)) {}
    std::shared_ptr<place const> at;
};

} // namespace barmap::nixl
