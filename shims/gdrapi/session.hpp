// SPDX-License-Identifier: MIT
#pragma once

#include "gdrapi.h"

#include "os/fd.hpp"
#include "os/process.hpp"

#include <barmap/barmap.hpp>

#include <memory>
#include <mutex>
#include <optional>
#include <string_view>
#include <sys/types.h>
#include <unistd.h>
#include <unordered_map>
#include <vector>

/// What a gdr_t points to. It begins with the descriptor of /dev/gdrdrv, or -1 where gdrdrv is not
/// used: programs look at that.
struct gdr {
    int fd = -1;
};

namespace barmap::gdrapi {

/// One range pinned through a session, under its handle.
struct buffer {
    unsigned long handle = 0;
    std::uintptr_t address = 0; ///< that was pinned, inside the pin's first page
    std::size_t size = 0;       ///< bytes from there to the end of the last page
    std::mutex lock;            ///< for all below
    barmap::pin pinned;
    barmap::mapping mapped;
    bool alive = true;

    /// CPU address of the pinned address. @pre it is mapped
    [[nodiscard]] std::byte* data() const noexcept {
        return mapped.data() + (address - pinned.gpu_address());
    }
};

/// One gdr_open().
/// Thread rule: every member may be called at once.
class session : public gdr {
public:
    /// Finds out what is offered here. @throws error if nothing is
    session();
    session(session const&) = delete;
    session& operator=(session const&) = delete;
    ~session();

    [[nodiscard]] std::shared_ptr<buffer> pin(std::uintptr_t address, std::size_t bytes,
                                              pin_options options);
    [[nodiscard]] std::shared_ptr<buffer> find(unsigned long handle);
    /// @return whether it was there
    bool unpin(unsigned long handle);
    /// Unpins all; nothing can be pinned afterwards.
    void close();
    /// In a forked child: closes the descriptor that fd shows. All else stays as it is for good,
    /// since another thread may have been in the midst of changing it when the process forked.
    void forget() noexcept;

    /// What the backend that is asked first says of itself.
    [[nodiscard]] backend_report const& backend() const noexcept { return backend_; }
    [[nodiscard]] bool in_own_process() const noexcept { return os::is_this_process(owner_); }

private:
    /// Refuses the session if the GPU of the thread's context turns out not to be reachable.
    void prove_current_gpu();
    /// Keeps the GPU open, so that it is proved only once.
    void keep(device const& gpu);
    /// The backend that all pins must use, or empty.
    [[nodiscard]] std::string_view only_backend(device const& gpu) const;

    os::process_id owner_ = os::this_process();
    backend_report backend_;
    os::fd module_;   ///< what fd shows
    std::mutex lock_; ///< for all below
    bool closed_ = false;
    std::vector<device> devices_;
    std::unordered_map<unsigned long, std::shared_ptr<buffer>> buffers_; ///< by handle
};

/// The open session that this pointer is, or null.
[[nodiscard]] std::shared_ptr<session> find_session(gdr_t pointer);
/// @throws error if nothing is offered here
[[nodiscard]] gdr_t open_session();
/// The session, which no pointer finds any more, or null.
[[nodiscard]] std::shared_ptr<session> remove_session(gdr_t pointer);

/// Maps and unmaps; the caller holds the buffer's lock.
void map(buffer& what, std::optional<cache_kind> kind);
void unmap(buffer& what) noexcept;

} // namespace barmap::gdrapi
