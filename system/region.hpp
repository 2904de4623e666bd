// SPDX-License-Identifier: MIT
#pragma once

#include "system/process.hpp"

#include <cstddef>
#include <sys/types.h>

namespace barmap::os {

/// Owns a range of addresses of this process, into which files are placed adjacent to each other,
/// so that several become one range. A forked child does not inherit it (MADV_DONTFORK), and its
/// destructor does nothing there.
class region {
public:
    region() noexcept = default;
    region(region&& other) noexcept;
    region& operator=(region&& other) noexcept;
    ~region();

    /// A region of whole pages, whose addresses the first place() determines.
    [[nodiscard]] static region for_files(std::size_t bytes) noexcept;

    /// Addresses that fault on every access, at once. @throws error with errno
    [[nodiscard]] static region reserve(std::size_t bytes);

    /// Zeroed memory, readable and writable. Unlike all else a forked child inherits it: the
    /// same bytes, which no write of either process moves, as a device may know their address.
    /// @param file whose memory it is, from its begin; -1: no file's
    /// @throws error with errno
    [[nodiscard]] static region shared_memory(std::size_t bytes, int file = -1);

    /// The same with a file's memory, for reading only; its descriptor need not be open for
    /// writing.
    [[nodiscard]] static region read_only(std::size_t bytes, int file);

    /// Maps [file_offset, file_offset + bytes) of a file at `at` bytes into the region, readable,
    /// writable and shared. All three are multiples of the page size. A file that fills a region
    /// without addresses gives it some; the others are placed into a reservation. fork() waits
    /// while it runs, so that no child inherits a mapping that MADV_DONTFORK has not reached yet.
    /// @throws error with errno
    void place(std::size_t at, std::size_t bytes, int fd, off_t file_offset);

    /// Puts zeroed memory of the process's own there, readable and writable. @throws error with
    /// errno
    void place_zeros(std::size_t at, std::size_t bytes);

    /// Puts addresses that fault on every access in the place of all that is mapped there, so that
    /// it can be placed again later. @return false if the addresses were lost
    bool vacate() noexcept;
    /// Whether none has been lost.
    [[nodiscard]] bool is_whole() const noexcept { return lost_from_ == lost_to_; }

    /// Call this after any mmap with MAP_FIXED has failed in a part of the region: kernels such as
    /// Linux 6.1 have by then unmapped what was there, and another thread may have got the
    /// addresses. Reserves the part again, or gives it up and never unmaps it.
    void reclaim(std::size_t at, std::size_t bytes) noexcept;

    [[nodiscard]] std::byte* data() const noexcept { return data_; }
    [[nodiscard]] std::size_t size() const noexcept { return size_; }

private:
    void swap(region& other) noexcept;
    static region mapped(std::size_t bytes, int protection, int file);

    std::byte* data_ = nullptr;
    std::size_t size_ = 0;
    std::size_t lost_from_ = 0, lost_to_ = 0; ///< a part that is no longer ours
    process_id owner_;
};

/// Bytes in a page of this system.
[[nodiscard]] std::size_t page_size() noexcept;

} // namespace barmap::os
