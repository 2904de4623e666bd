// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>

namespace barmap::sim {

struct device;

/// Bytes in the pages that device memory is made of, and in those that large allocations end with.
inline constexpr std::uint64_t big_page = 2ull << 20;
inline constexpr std::uint64_t small_page = 4 << 10;
/// Bytes in the objects of a pool (driver 580.159.04).
inline constexpr std::uint64_t pool_block = 32ull << 20;

[[nodiscard]] constexpr std::uint64_t round_up(std::uint64_t value, std::uint64_t to) noexcept {
    return (value + to - 1) / to * to;
}

/// Physical device memory: a file without a name. Guarded by the world's mutex.
class physical {
public:
    /// New memory, counted against the device's. Where `vulkan` is set, the file starts with the
    /// header that lets the software Vulkan device import it.
    static std::shared_ptr<physical> make(device& owner, std::uint64_t bytes, bool vulkan);
    /// Address space for memory that is counted when it is handed out: a pool's.
    static std::shared_ptr<physical> make_uncounted(device& owner, std::uint64_t bytes);
    /// Another process's or another driver's memory in a file of which `fd` is a descriptor that
    /// becomes this object's.
    static std::shared_ptr<physical> adopt(device& owner, int fd, std::uint64_t offset,
                                           std::uint64_t bytes);
    /// The memory that a process of this simulation has exported, by its descriptor `shared`.
    /// Refuses with INVALID_VALUE. @param header whether the file may start with one
    static std::shared_ptr<physical> from_shared(void* shared, bool header);

    physical(physical const&) = delete;
    physical& operator=(physical const&) = delete;
    ~physical();

    [[nodiscard]] int fd() const noexcept { return fd_; }
    [[nodiscard]] std::uint64_t offset() const noexcept { return offset_; }
    [[nodiscard]] std::uint64_t size() const noexcept { return size_; }
    [[nodiscard]] std::uint32_t number() const noexcept { return number_; }
    [[nodiscard]] int ordinal() const noexcept { return ordinal_; }
    [[nodiscard]] std::uint64_t inode() const noexcept { return inode_; }

    /// A new descriptor of the file. Its layout is fixed from now on.
    [[nodiscard]] int export_fd();
    [[nodiscard]] bool exported() const noexcept { return exported_; }

    /// Moves the memory to a separate file, with a new number: holders of the old one keep what
    /// was in it. Code that mapped it must map again.
    void renew();
    /// Whether it is of this process, and no import.
    [[nodiscard]] bool is_own() const noexcept { return own_; }

    /// Moves the memory to a file that starts with its first byte. Code that mapped the old one
    /// must map again. Only while !exported().
    void drop_header();

private:
    /// Moves what the file holds from `start` on to a new file.
    void move_from(std::uint64_t start);

    physical(device& owner, int fd, std::uint64_t offset, std::uint64_t bytes,
             std::uint64_t counted);

    int fd_;
    std::uint64_t offset_;
    std::uint64_t size_;
    std::uint64_t counted_;
    std::uint64_t inode_;
    std::uint32_t number_;
    int ordinal_;
    bool exported_ = false;
    bool own_ = true;
};

/// Where the data lies in a file that the software Vulkan device (or this simulation) exported:
/// after its header, or at 0 if the file has none.
[[nodiscard]] std::uint64_t data_offset_of(int fd) noexcept;

/// The device whose memory a file of this simulation, of whichever process, holds; -1 for others.
[[nodiscard]] int ordinal_of_file(int fd) noexcept;

} // namespace barmap::sim
