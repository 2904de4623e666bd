// SPDX-License-Identifier: MIT
#pragma once

#include "gdrcopy/programs/gdrapi_library.hpp"

#include "nvidia/cuda.hpp"

#include <cstddef>
#include <optional>

namespace barmap::tool::gdrcopy {

/// An open gdr_t, closed by the destructor if it has not been before.
class session {
public:
    session(); ///< @throws std::runtime_error where gdr_open() gives none
    session(session const&) = delete;
    session& operator=(session const&) = delete;
    ~session();
    [[nodiscard]] gdr_t get() const noexcept { return handle_; }
    void close(); ///< @throws call_failed

private:
    gdr_t handle_;
};

/// GPU memory that is pinned, and mapped between map() and unmap(). The destructor undoes what has
/// not been undone. Every call throws call_failed.
class mapped_range {
public:
    /// Pins. The session must outlive this. @param by_v2 flags for gdr_pin_buffer_v2(), if by that
    mapped_range(session const& through, CUdeviceptr address, std::size_t size,
                 std::optional<gdr_pin_flags_t> by_v2 = {});
    mapped_range(mapped_range const&) = delete;
    mapped_range& operator=(mapped_range const&) = delete;
    ~mapped_range();

    /// Maps; flags other than GDR_MAP_FLAG_DEFAULT go through gdr_map_v2().
    void map(int flags = GDR_MAP_FLAG_DEFAULT);
    void unmap();
    void unpin();
    void undo(); ///< unmap() and unpin()
    /// The session has been closed, which has undone everything, or shall do so.
    void forget() noexcept { handle_ = {}; }

    [[nodiscard]] gdr_info_t info() const;
    [[nodiscard]] gdr_mh_t handle() const noexcept { return handle_; }
    [[nodiscard]] void* start() const noexcept { return start_; } ///< what gdr_map() gave
    /// The CPU address of the GPU address that was pinned.
    [[nodiscard]] std::byte* data() const noexcept { return data_; }
    [[nodiscard]] std::size_t size() const noexcept { return size_; }

    void write(std::size_t at, void const* from, std::size_t bytes) const;
    void read(void* to, std::size_t at, std::size_t bytes) const;

private:
    gdrapi_library const& gdr_ = gdrapi();
    gdr_t through_;
    CUdeviceptr address_;
    std::size_t size_;
    gdr_mh_t handle_{};
    void* start_ = nullptr;
    std::byte* data_ = nullptr;
};

/// Tells where a mapping lies and what libgdrapi says of it, as the measuring programs do.
void say_mapping(mapped_range const& range, CUdeviceptr address, char const* pointer_label);
/// Undoes the mapping and closes the session, telling each step. @throws call_failed
void say_end(mapped_range& range, session& through);

} // namespace barmap::tool::gdrcopy
