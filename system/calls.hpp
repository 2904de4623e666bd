// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <cstdint>
#include <sys/socket.h>
#include <sys/types.h>

/// The one seam below barmap: every system call and dlopen of the library goes through this table,
/// so that a test can stand in for the kernel and make any call fail. Set-up path only; the hot
/// path makes no call.
namespace barmap::os {

struct calls {
    int (*open)(char const* path, int flags);
    int (*access)(char const* path, int mode);
    int (*close)(int fd);
    int (*duplicate)(int fd); ///< with close-on-exec
    int (*ioctl)(int fd, unsigned long request, void* argument);
    ssize_t (*read)(int fd, void* to, std::size_t bytes);
    ssize_t (*readlink)(char const* path, char* to, std::size_t bytes);
    off_t (*lseek)(int fd, off_t offset, int whence);
    long (*file_system)(int fd); ///< its type, as fstatfs tells it; 0 if that fails
    std::uint64_t (*allocated_bytes)(int fd); ///< of a file, as fstat tells them; 0 if that fails
    /// A file of zeroed memory, sealed against any change of its size, with close-on-exec.
    int (*memory_file)(std::size_t bytes);
    int (*seals)(int fd); ///< those of a file of memory, as fcntl tells them
    void* (*mmap)(void* at, std::size_t bytes, int protection, int flags, int fd, off_t offset);
    int (*munmap)(void* at, std::size_t bytes);
    int (*mprotect)(void* at, std::size_t bytes, int protection);
    int (*madvise)(void* at, std::size_t bytes, int advice);
    void* (*dlopen)(char const* name, int flags);
    void* (*dlsym)(void* library, char const* symbol);
    int (*dlclose)(void* library);
    int (*socket_pair)(int ends[2]); ///< of datagrams in their order, with close-on-exec
    ssize_t (*send_message)(int socket, msghdr const* message);
    ssize_t (*peek_message)(int socket, msghdr* message); ///< never waits; with close-on-exec
    ssize_t (*getrandom)(void* to, std::size_t bytes, unsigned flags);
    /// Nanoseconds of the monotonic clock. A fake device answers with the time for which it has
    /// run, so that a busy machine makes no device late.
    std::int64_t (*device_time)();
};

/// The real ones.
[[nodiscard]] calls const& linux_calls() noexcept;

/// The table in force.
[[nodiscard]] calls const& current() noexcept;

/// Puts another table in force, for a test; null restores the real one. Not while calls run.
void replace(calls const* table) noexcept;

} // namespace barmap::os
