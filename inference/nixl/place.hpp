// SPDX-License-Identifier: MIT
#pragma once

#include "opened_memory.hpp"
#include "pinned_range.hpp"

#include <backend/backend_engine.h>

#include <atomic>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <utility>

namespace barmap::nixl {

/// A range of memory, as copies of this process reach it.
/// Thread rule: every member may be called at once.
class place {
public:
    static constexpr int host = -1; ///< in the place of a GPU

    /// Registers memory of this process; host memory is pinned, by this GPU.
    /// @throws error for memory that no batch takes
    place(nixlBasicDesc const& range, nixl_mem_t kind, int gpu_that_pins);

    /// Of an agent in another process. @throws error for what is not understood
    place(nixlBasicDesc const& range, nixl_mem_t kind, std::string const& published);

    /// Of an agent that is out of reach.
    explicit place(std::string why) : unreachable_(std::move(why)) {}

    /// The description by which other agents reach it.
    [[nodiscard]] std::string publish() const;

    /// Whether an agent of this process has published it.
    [[nodiscard]] static bool is_of_this_process(std::string const& published);

    /// From now on no transfer may be posted, since other memory may soon be at the same addresses.
    void close() noexcept { is_open_ = false; }
    [[nodiscard]] bool is_open() const noexcept { return is_open_; }

    /// Ends what the registration has pinned. @pre it is closed, and no transfer is in flight
    void unpin() noexcept;

    /// CUDA's ordinal of the GPU that has it; `host` also for a GPU that this process does not see.
    [[nodiscard]] int gpu() const noexcept { return gpu_; }

    /// The offset that a copy of this GPU adds to the addresses of descriptors.
    /// @throws error if it cannot reach the memory
    [[nodiscard]] std::uintptr_t offset_for(int gpu) const;

    /// Null if it is not this process's host memory.
    [[nodiscard]] std::shared_ptr<pinned_range const> pinned() const;

private:
    int gpu_ = host;
    std::optional<CUipcMemHandle> handle_; ///< that opens it in other processes
    std::uintptr_t in_opened_ = 0;         ///< where it begins in what the handle opens
    std::string unreachable_;              ///< why it is; empty: it is not

    std::optional<nixlBasicDesc> elsewhere_; ///< the range, if another process has it
    std::atomic<bool> is_open_{true};
    mutable std::mutex lock_;                     ///< of the next two
    mutable std::map<int, opened_memory> opened_; ///< by the GPU that it was opened for
    std::shared_ptr<pinned_range const> pinned_;
};

/// The form in which NIXL keeps what it registers or loads.
struct known_place final : nixlBackendMD {
    /// @param its the agent that has the memory
    /// @param there null: of an agent of this process, whatever that agent has registered when it
    /// is needed
    known_place(std::string its, nixlBasicDesc const& at, nixl_mem_t of,
                std::shared_ptr<place> there)
        : nixlBackendMD(true), agent(std::move(its)), range(at), kind(of), known(std::move(there)) {
    }

    /// @throws error if the agent has not registered it, or has deregistered it
    [[nodiscard]] std::shared_ptr<place> find() const;

    std::string agent;
    nixlBasicDesc range;
    nixl_mem_t kind;
    std::shared_ptr<place> known;
};

/// The memory that agents of this process have registered, for each other. An agent's memory is
/// found by its name alone: the metadata of another one may claim it.
namespace registered_places {

void add(known_place const& registered);
void remove(known_place const& registered) noexcept;

} // namespace registered_places

} // namespace barmap::nixl
