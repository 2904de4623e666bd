// SPDX-License-Identifier: MIT
#pragma once

#include "notices.hpp"
#include "place.hpp"
#include "system/process.hpp"

#include <barmap/batch_queue.hpp>
#include <barmap/device.hpp>

#include <backend/backend_engine.h>

#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <utility>

namespace barmap::nixl {

/// To stderr.
void say(char const* what) noexcept;

/// One agent's back-end: a transfer is a batch of copies. NIXL's interface gives the signatures and
/// its rules; no exception leaves a member, and what is refused is said on stderr.
/// Thread rule: every member may be called at once, but one request by one thread at a time.
class backend_engine final : public nixlBackendEngine {
public:
    /// Parameter "gpu": CUDA's ordinal of the GPU that pins host memory and copies where neither
    /// side is on a GPU; by default the one that is current in the calling thread. Makes no
    /// context.
    /// @throws error
    explicit backend_engine(nixlBackendInitParams const* parameters);

    bool supportsRemote() const override { return true; }
    bool supportsLocal() const override { return true; }
    bool supportsNotif() const override { return true; }
    nixl_mem_list_t getSupportedMems() const override { return {DRAM_SEG, VRAM_SEG}; }

    nixl_status_t registerMem(nixlBlobDesc const& range, nixl_mem_t const& kind,
                              nixlBackendMD*& out) override;
    nixl_status_t deregisterMem(nixlBackendMD* known) override;
    nixl_status_t getPublicData(nixlBackendMD const* known, std::string& out) const override;
    nixl_status_t loadLocalMD(nixlBackendMD* known, nixlBackendMD*& out) override;
    nixl_status_t loadRemoteMD(nixlBlobDesc const& range, nixl_mem_t const& kind,
                               std::string const& agent, nixlBackendMD*& out) override;
    nixl_status_t unloadMD(nixlBackendMD* known) override;

    nixl_status_t getConnInfo(std::string& out) const override;
    nixl_status_t loadRemoteConnInfo(std::string const& agent, std::string const& info) override;
    nixl_status_t connect(std::string const& agent) override;
    nixl_status_t disconnect(std::string const& agent) override;

    nixl_status_t prepXfer(nixl_xfer_op_t const& operation, nixl_meta_dlist_t const& local,
                           nixl_meta_dlist_t const& remote, std::string const& agent,
                           nixlBackendReqH*& out, nixl_opt_b_args_t const* options) const override;
    nixl_status_t postXfer(nixl_xfer_op_t const& operation, nixl_meta_dlist_t const& local,
                           nixl_meta_dlist_t const& remote, std::string const& agent,
                           nixlBackendReqH*& prepared,
                           nixl_opt_b_args_t const* options) const override;
    nixl_status_t checkXfer(nixlBackendReqH* posted) const override;
    /// Waits for what is in flight, which ends or fails by itself: a batch cannot be called back.
    nixl_status_t releaseReqH(nixlBackendReqH* request) const override;

    nixl_status_t getNotifs(notif_list_t& out) override;
    nixl_status_t genNotif(std::string const& agent, std::string const& text) const override;

private:
    /// The GPU for host memory.
    [[nodiscard]] int gpu() const noexcept { return gpu_ ? *gpu_ : device::current_ordinal(); }
    [[nodiscard]] batch_queue queue_of(int gpu) const;
    /// @throws std::runtime_error if nobody has told it
    [[nodiscard]] std::optional<notices::address> address_of(std::string const& agent) const;

    /// Tells why a transfer with this agent finds a place closed.
    /// @throws error, std::system_error if the agent has ended
    [[noreturn]] void refuse_closed(std::string const& agent) const;
    void send(std::string const& agent, std::string const& text) const;

    /// Of a forked child, which leaves what it has copies of: another thread of the parent may
    /// have held a lock at the fork.
    [[nodiscard]] bool is_copy() const noexcept { return !os::is_this_process(owner_); }

    os::process_id owner_ = os::this_process();
    std::optional<int> gpu_; ///< the parameter
    notices notices_;
    mutable std::mutex lock_; ///< of the next two
    mutable std::map<int, batch_queue> queues_;
    /// Itself, and whom it has met; without an address if they are on other machines.
    std::map<std::string, std::optional<notices::address>> agents_;
};

} // namespace barmap::nixl
