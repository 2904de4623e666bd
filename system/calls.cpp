// SPDX-License-Identifier: MIT
#include "system/calls.hpp"

#include <atomic>
#include <cerrno>
#include <chrono>
#include <dlfcn.h>
#include <fcntl.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/random.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/vfs.h>
#include <unistd.h>

namespace barmap::os {
namespace {

int open_file(char const* path, int flags) {
    int fd;
    do {
        fd = ::open(path, flags | O_CLOEXEC);
    } while (fd < 0 && errno == EINTR);
    return fd;
}

int duplicate(int fd) {
    return ::fcntl(fd, F_DUPFD_CLOEXEC, 0);
}

int control(int fd, unsigned long request, void* argument) {
    int result;
    do {
        result = ::ioctl(fd, request, argument);
    } while (result < 0 && errno == EINTR);
    return result;
}

ssize_t read_file(int fd, void* to, std::size_t bytes) {
    ssize_t done;
    do {
        done = ::read(fd, to, bytes);
    } while (done < 0 && errno == EINTR);
    return done;
}

long file_system(int fd) {
    struct statfs about {};
    return ::fstatfs(fd, &about) == 0 ? static_cast<long>(about.f_type) : 0;
}

std::uint64_t allocated_bytes(int fd) {
    constexpr std::uint64_t block = 512; // of st_blocks, whatever the file system's are
    struct stat about {};
    return ::fstat(fd, &about) == 0 ? static_cast<std::uint64_t>(about.st_blocks) * block : 0;
}

int memory_file(std::size_t bytes) {
    rlimit most{};
    if (::getrlimit(RLIMIT_FSIZE, &most) == 0 && bytes > most.rlim_cur) {
        errno = EFBIG; // without the signal that ftruncate() sends
        return -1;
    }
    constexpr unsigned not_executable = 8; // MFD_NOEXEC_SEAL, since Linux 6.3
    constexpr unsigned flags = MFD_CLOEXEC | MFD_ALLOW_SEALING;
    int fd = ::memfd_create("barmap_host", flags | not_executable);
    if (fd < 0 && errno == EINVAL)
        fd = ::memfd_create("barmap_host", flags);
    if (fd < 0)
        return fd;
    if (::ftruncate(fd, static_cast<off_t>(bytes)) == 0 &&
        ::fcntl(fd, F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL) == 0)
        return fd;
    int const code = errno;
    ::close(fd);
    errno = code;
    return -1;
}

int seals(int fd) {
    return ::fcntl(fd, F_GET_SEALS);
}

int socket_pair(int ends[2]) {
    return ::socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends);
}

ssize_t send_message(int socket, msghdr const* message) {
    return ::sendmsg(socket, message, MSG_DONTWAIT | MSG_NOSIGNAL);
}

ssize_t peek_message(int socket, msghdr* message) {
    return ::recvmsg(socket, message, MSG_PEEK | MSG_DONTWAIT | MSG_CMSG_CLOEXEC);
}

std::int64_t monotonic_time() {
    return std::chrono::nanoseconds(std::chrono::steady_clock::now().time_since_epoch()).count();
}

constexpr calls real{open_file,    ::access,     ::close,     duplicate,     control,
                     read_file,    ::readlink,   ::lseek,     file_system,   allocated_bytes,
                     memory_file,  seals,        ::mmap,      ::munmap,      ::mprotect,
                     ::madvise,    ::dlopen,     ::dlsym,     ::dlclose,     socket_pair,
                     send_message, peek_message, ::getrandom, monotonic_time};

std::atomic<calls const*> in_force{&real};

} // namespace

calls const& linux_calls() noexcept {
    return real;
}

calls const& current() noexcept {
    return *in_force.load(std::memory_order_acquire);
}

void replace(calls const* table) noexcept {
    in_force.store(table ? table : &real, std::memory_order_release);
}

} // namespace barmap::os
