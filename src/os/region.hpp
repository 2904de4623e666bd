// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <string_view>
#include <sys/types.h>

namespace barmap::os {

/// Owns a range of addresses of this process. It starts as a reservation that faults on every
/// access; files are then placed into it side by side, so that several become one range.
/// A forked child does not inherit it (MADV_DONTFORK), and its destructor does nothing there.
class region {
public:
    region() noexcept = default;
    region(region&& other) noexcept;
    region& operator=(region&& other) noexcept;
    ~region();

    /// Reserves whole pages. @throws error with errno
    [[nodiscard]] static region reserve(std::size_t bytes, std::string_view backend);

    /// Zeroed memory, readable and writable. Unlike all else a forked child has it, too: the same
    /// bytes, which no write of either process moves elsewhere, as a device may know their place.
    /// @throws error with errno
    [[nodiscard]] static region shared_memory(std::size_t bytes, std::string_view backend);

    /// Maps [file_offset, file_offset + bytes) of a file at `at` bytes into the region, readable,
    /// writable and shared. All three are multiples of the page size. @throws error with errno
    void place(std::size_t at, std::size_t bytes, int fd, off_t file_offset,
               std::string_view backend);

    /// Puts zeroed memory of the process's own there, readable and writable. @throws error with
    /// errno
    void place_zeros(std::size_t at, std::size_t bytes, std::string_view backend);

    [[nodiscard]] std::byte* data() const noexcept { return data_; }
    [[nodiscard]] std::size_t size() const noexcept { return size_; }

private:
    std::byte* data_ = nullptr;
    std::size_t size_ = 0;
    pid_t owner_ = 0;
};

/// Bytes in a page of this system.
[[nodiscard]] std::size_t page_size() noexcept;

/// Whether the process with this id is the one that runs: false in a forked child.
[[nodiscard]] bool is_this_process(pid_t owner) noexcept;

} // namespace barmap::os
