// SPDX-License-Identifier: MIT
#pragma once

#include "system/fd.hpp"
#include "system/process.hpp"
#include "system/thread.hpp"

#include <cstddef>
#include <memory>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

namespace barmap::nixl {

/// Short messages between agents of one machine: each agent has a socket of datagrams with an
/// abstract name, and a thread that empties it. A forked child has the socket but not the thread:
/// there the destructor only closes the socket.
/// Thread rule: every member may be called at once.
class notices {
public:
    /// Where an agent gets its messages.
    struct address {
        std::string socket; ///< its abstract name
        std::string key;    ///< without which the agent takes no message
    };
    /// The sender, and the text.
    using notice = std::pair<std::string, std::string>;

    /// @param agent that sends and gets them. @throws std::system_error
    explicit notices(std::string agent);
    notices(notices const&) = delete;
    notices& operator=(notices const&) = delete;
    ~notices();

    [[nodiscard]] address const& own() const noexcept { return own_; }

    /// Waits for a second at most, where the other one has no room.
    /// @throws std::system_error: std::errc::connection_refused if the agent is gone,
    ///         std::errc::message_size above some 200 KiB
    void send(address const& to, std::string const& text) const;

    /// Whether the agent still gets messages.
    [[nodiscard]] static bool is_there(address const& agent) noexcept;

    /// The notices that have arrived, in their order, each once.
    [[nodiscard]] std::vector<notice> take();

private:
    void receive() noexcept;
    /// Takes the next message, which is for this agent. @throws std::bad_alloc; then it stays
    void keep(std::size_t name_bytes, std::size_t text_bytes);

    std::string agent_;
    address own_;
    os::fd socket_;
    std::mutex lock_; ///< of arrived_
    std::vector<notice> arrived_;
    os::process_id owner_ = os::this_process();
    std::unique_ptr<os::thread> receiver_;
};

} // namespace barmap::nixl
