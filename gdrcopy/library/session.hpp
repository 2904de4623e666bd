// SPDX-License-Identifier: MIT
#pragma once

#include "gdrapi.h"
#include "probe.hpp"

#include "system/fd.hpp"
#include "system/process.hpp"

#include <barmap/barmap.hpp>

#include <memory>
#include <mutex>
#include <optional>
#include <string_view>
#include <sys/types.h>
#include <unistd.h>
#include <unordered_map>
#include <utility>
#include <vector>

/// The target of a gdr_t. It begins with the descriptor of /dev/gdrdrv, or -1 if gdrdrv is not
/// used: programs read it. The rest is there because gdrcopy's own tests copy a struct of its size.
/// It is never freed, so that no later gdr_t has its address.
struct gdr {
    int fd = -1;
    char unused[44] = {};
};

namespace barmap::gdrapi {

/// One range pinned through a session, under its handle.
struct buffer {
    explicit buffer(device of) : gpu(std::move(of)) {}

    device const gpu;
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
class session {
public:
    /// Finds the backends of this machine; without cuInit, unless the program has called that
    /// already or names a backend. @throws error if there is none
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
    /// In a forked child: closes the descriptor of gdrdrv. All else stays as it is for good,
    /// since another thread may have been in the midst of changing it when the process forked.
    void forget() noexcept;

    /// Where it is used, all pins that it can serve go through it.
    [[nodiscard]] std::optional<kernel_module> const& module() const noexcept { return module_; }
    /// -1 where gdrdrv is not used.
    [[nodiscard]] int module_fd() const noexcept { return module_fd_.get(); }
    [[nodiscard]] bool in_own_process() const noexcept { return os::is_this_process(owner_); }

    gdr* shown = nullptr; ///< what the program has; set once, before anyone can find it

private:
    /// The first backend that can be tried; where the thread has a context, one that is self-tested
    /// on its GPU. @throws error if there is none
    [[nodiscard]] backend_report first_backend();
    /// Keeps the GPU open, so that it is self-tested only once.
    void keep(device const& gpu);
    /// The backend that all pins must use, or empty.
    [[nodiscard]] std::string_view only_backend(device const& gpu) const;

    os::process_id owner_ = os::this_process();
    std::optional<kernel_module> module_;
    os::fd module_fd_;
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
/// Starts and measures, once per GPU, what large copies go by: programs time their copies, not
/// gdr_map. A failure is that of the copies. @pre it is mapped
void prepare_large_copies(buffer const& what) noexcept;
void unmap(buffer& what) noexcept;

} // namespace barmap::gdrapi
