// SPDX-License-Identifier: MIT
#include "fake/kernel.hpp"

#include "cuda/driver_api.hpp"
#include "fake/faults.hpp"
#include "system/region.hpp"

#include <algorithm>
#include <cerrno>
#include <fcntl.h>
#include <new>
#include <poll.h>
#include <pthread.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>
#include <utility>

namespace barmap::fake {
namespace {

kernel* running = nullptr;

/// True with errno set if this call is to fail.
bool refused(char const* call) {
    int const code = the_faults().next(fault_source::system, call);
    if (code != 0)
        errno = code;
    return code != 0;
}

int fail(int code) {
    errno = code;
    return -1;
}

/// The descriptors in a message.
int* first_of(cmsghdr* header) {
    return reinterpret_cast<int*>(CMSG_DATA(header));
}

int* last_of(cmsghdr* header) {
    return first_of(header) + (header->cmsg_len - CMSG_LEN(0)) / sizeof(int);
}

ino_t inode(int fd) {
    struct stat about {};
    return ::fstat(fd, &about) == 0 ? about.st_ino : 0;
}

} // namespace

struct kernel::entry_points {
    using guard = std::lock_guard<std::recursive_mutex>;

    static int open(char const* path, int flags) {
        if (refused("open"))
            return -1;
        guard const hold(running->lock_);
        for (std::shared_ptr<device_driver> const& driver : running->drivers_) {
            if (!driver->serves(path))
                continue;
            std::shared_ptr<open_file> file;
            if (int const code = driver->open(path, file))
                return fail(code);
            int fd = file->descriptor();
            if (fd < 0)
                fd = ::open("/dev/null", O_RDWR | O_CLOEXEC);
            if (fd >= 0)
                running->files_[fd] = {std::move(file), path};
            return fd;
        }
        return os::linux_calls().open(path, flags);
    }

    static int access(char const* path, int mode) {
        if (refused("access"))
            return -1;
        guard const hold(running->lock_);
        for (std::shared_ptr<device_driver> const& driver : running->drivers_)
            if (driver->serves(path))
                return 0;
        return os::linux_calls().access(path, mode);
    }

    static int close(int fd) {
        guard const hold(running->lock_);
        if (auto const at = running->files_.find(fd); at != running->files_.end()) {
            if (at->second.of_cuda)
                running->violation("a descriptor of CUDA's is closed");
            running->files_.erase(at);
        }
        int const result = ::close(fd);
        running->end_travels();
        return result;
    }

    static int duplicate(int fd) {
        if (refused("duplicate"))
            return -1;
        guard const hold(running->lock_);
        int const copy = os::linux_calls().duplicate(fd);
        if (auto const at = running->files_.find(fd); at != running->files_.end() && copy >= 0)
            running->files_[copy] = {at->second.file, at->second.path};
        return copy;
    }

    static int ioctl(int fd, unsigned long request, void* argument) {
        guard const hold(running->lock_);
        std::shared_ptr<open_file> const file = running->file(fd);
        if (!(file && file->gives_back(request)) && refused("ioctl"))
            return -1;
        if (!file)
            return os::linux_calls().ioctl(fd, request, argument);
        running->expect_own_process();
        int const code = file->ioctl(request, argument);
        return code ? fail(code) : 0;
    }

    static ssize_t read(int fd, void* to, std::size_t bytes) {
        if (refused("read"))
            return -1;
        guard const hold(running->lock_);
        if (running->file(fd))
            running->expect_own_process();
        return os::linux_calls().read(fd, to, bytes);
    }

    // Refused only of a fake device's descriptor: a caller that looks at all of its own may ask for
    // a thousand.
    static ssize_t readlink(char const* path, char* to, std::size_t bytes) {
        constexpr std::string_view own_files = "/proc/self/fd/";
        guard const hold(running->lock_);
        for (auto const& [fd, each] : running->files_)
            if (path == std::string(own_files) + std::to_string(fd))
                return refused("readlink") ? -1 : static_cast<ssize_t>(each.path.copy(to, bytes));
        return os::linux_calls().readlink(path, to, bytes);
    }

    static off_t lseek(int fd, off_t offset, int whence) {
        return refused("lseek") ? -1 : os::linux_calls().lseek(fd, offset, whence);
    }

    static long file_system(int fd) { return os::linux_calls().file_system(fd); }
    static std::uint64_t allocated_bytes(int fd) { return os::linux_calls().allocated_bytes(fd); }
    static int memory_file(std::size_t bytes) {
        return refused("memfd_create") ? -1 : os::linux_calls().memory_file(bytes);
    }
    static int seals(int fd) { return refused("fcntl") ? -1 : os::linux_calls().seals(fd); }

    /// As Linux 6.1, which makes room for a fixed mapping before it asks the driver for it.
    static void* failed_map(void* at, std::size_t bytes, int flags, int code) {
        if (flags & MAP_FIXED)
            munmap(at, bytes);
        errno = code;
        return MAP_FAILED;
    }

    static void* mmap(void* at, std::size_t bytes, int protection, int flags, int fd,
                      off_t offset) {
        if (refused("mmap"))
            return failed_map(at, bytes, flags, errno);
        // An emulator of larger pages would let pages of the host's size pass.
        std::uint64_t const fixed =
            (flags & MAP_FIXED) != 0 ? reinterpret_cast<std::uintptr_t>(at) : 0;
        if ((static_cast<std::uint64_t>(offset) | fixed) % os::page_size() != 0) {
            errno = EINVAL;
            return MAP_FAILED;
        }
        guard const hold(running->lock_);
        mapping made{bytes, running->file(fd), {}};
        placement where{fd, offset, {}};
        if (made.file) {
            running->expect_own_process();
            if (protection != (PROT_READ | PROT_WRITE) || !(flags & MAP_SHARED))
                running->violation("a device is mapped privately or not for reading and writing");
            if (int const code = made.file->map(bytes, offset, where))
                return failed_map(at, bytes, flags, code);
            made.hold = std::move(where.hold);
        }
        void* const result = ::mmap(at, bytes, protection, flags, where.fd, where.offset);
        if (result != MAP_FAILED) {
            auto const start = reinterpret_cast<std::uintptr_t>(result);
            running->forget(start, bytes);
            running->mappings_[start] = std::move(made);
        }
        return result;
    }

    static int munmap(void* at, std::size_t bytes) {
        guard const hold(running->lock_);
        running->forget(reinterpret_cast<std::uintptr_t>(at), bytes);
        return ::munmap(at, bytes);
    }

    static int mprotect(void* at, std::size_t bytes, int protection) {
        return refused("mprotect") ? -1 : ::mprotect(at, bytes, protection);
    }

    static int madvise(void* at, std::size_t bytes, int advice) {
        return refused("madvise") ? -1 : ::madvise(at, bytes, advice);
    }

    static void* dlopen(char const* name, int flags) {
        return refused("dlopen") ? nullptr : os::linux_calls().dlopen(name, flags);
    }

    static void* dlsym(void* library, char const* symbol) {
        return refused("dlsym") ? nullptr : os::linux_calls().dlsym(library, symbol);
    }

    static int dlclose(void* library) { return os::linux_calls().dlclose(library); }

    static int socket_pair(int ends[2]) {
        return refused("socketpair") ? -1 : os::linux_calls().socket_pair(ends);
    }

    // A fake device's file travels as one end of a pipe, so that the other end tells when nobody
    // has it any more.
    static ssize_t send_message(int socket, msghdr const* message) {
        if (refused("sendmsg"))
            return -1;
        guard const hold(running->lock_);
        std::vector<int> own_ends;
        for (cmsghdr* each = CMSG_FIRSTHDR(message); each;
             each = CMSG_NXTHDR(const_cast<msghdr*>(message), each))
            for (int* fd = first_of(each); fd != last_of(each); ++fd) {
                auto const at = running->files_.find(*fd);
                int ends[2];
                if (at == running->files_.end() || ::pipe2(ends, O_CLOEXEC) != 0)
                    continue;
                running->travelling_.push_back({at->second.file, at->second.path, ends[0]});
                *fd = ends[1];
                own_ends.push_back(ends[1]);
            }
        ssize_t const sent = os::linux_calls().send_message(socket, message);
        for (int const each : own_ends)
            ::close(each);
        return sent;
    }

    static ssize_t peek_message(int socket, msghdr* message) {
        if (refused("recvmsg"))
            return -1;
        guard const hold(running->lock_);
        ssize_t const length = os::linux_calls().peek_message(socket, message);
        for (cmsghdr* each = length < 0 ? nullptr : CMSG_FIRSTHDR(message); each;
             each = CMSG_NXTHDR(message, each))
            for (int* fd = first_of(each); fd != last_of(each); ++fd)
                for (traveller const& known : running->travelling_)
                    if (inode(known.other_end) == inode(*fd))
                        running->files_[*fd] = {known.file, known.path};
        return length;
    }

    static ssize_t getrandom(void* to, std::size_t bytes, unsigned flags) {
        return refused("getrandom") ? -1 : os::linux_calls().getrandom(to, bytes, flags);
    }

    static std::int64_t device_time() {
        std::int64_t const run = running->device_time_.load();
        return run != 0 ? run : os::linux_calls().device_time();
    }

    static constexpr os::calls table{
        open,     access,      close,        duplicate,       ioctl,       read,
        readlink, lseek,       file_system,  allocated_bytes, memory_file, seals,
        mmap,     munmap,      mprotect,     madvise,         dlopen,      dlsym,
        dlclose,  socket_pair, send_message, peek_message,    getrandom,   device_time};
};

// A thread of a fake GPU may have held the lock when another one forked.
void kernel::in_forked_child() {
    if (running)
        new (&running->lock_) std::recursive_mutex;
}

kernel::kernel() : owner_(::getpid()) {
    [[maybe_unused]] static int const registered =
        ::pthread_atfork(nullptr, nullptr, in_forked_child);
    running = this;
    os::replace(&entry_points::table);
    cuda::give_simulation_a_kernel_driver(true);
}

kernel::~kernel() {
    for (std::shared_ptr<device_driver> const& each : drivers_)
        each->shut_down();
    for (auto const& [fd, each] : files_)
        if (each.of_cuda)
            ::close(fd);
    for (traveller const& each : travelling_)
        ::close(each.other_end);
    os::replace(nullptr);
    cuda::give_simulation_a_kernel_driver(false);
    running = nullptr;
}

void kernel::run_for(std::chrono::nanoseconds time) noexcept {
    std::int64_t none = 0;
    device_time_.compare_exchange_strong(none, os::linux_calls().device_time());
    device_time_ += time.count();
}

void kernel::add(std::shared_ptr<device_driver> driver) {
    entry_points::guard const hold(lock_);
    drivers_.push_back(std::move(driver));
}

void kernel::open_for_cuda(std::string path, std::shared_ptr<open_file> file) {
    entry_points::guard const hold(lock_);
    if (int const fd = ::open("/dev/null", O_RDWR | O_CLOEXEC); fd >= 0)
        files_[fd] = {std::move(file), std::move(path), true};
}

std::size_t kernel::descriptors() const {
    entry_points::guard const hold(lock_);
    return static_cast<std::size_t>(
        std::ranges::count_if(files_, [](auto const& entry) { return !entry.second.of_cuda; }));
}

std::size_t kernel::mappings() const {
    entry_points::guard const hold(lock_);
    return mappings_.size();
}

void kernel::violation(std::string what) {
    entry_points::guard const hold(lock_);
    violations_.push_back(std::move(what));
}

std::vector<std::string> kernel::violations() const {
    entry_points::guard const hold(lock_);
    return violations_;
}

std::shared_ptr<open_file> kernel::file(int fd) const {
    auto const found = files_.find(fd);
    return found == files_.end() ? nullptr : found->second.file;
}

// Cuts [start, start + bytes) out of what is mapped. A device's mapping goes as a whole.
void kernel::forget(std::uintptr_t start, std::size_t bytes) {
    std::uintptr_t const end = start + bytes;
    auto at = mappings_.upper_bound(start);
    if (at != mappings_.begin())
        --at;
    while (at != mappings_.end() && at->first < end) {
        std::uintptr_t const first = at->first, last = first + at->second.bytes;
        if (last <= start) {
            ++at;
            continue;
        }
        if (at->second.file && (first < start || last > end))
            violation("a part of a device's mapping is unmapped");
        mapping const cut = std::move(at->second);
        at = mappings_.erase(at);
        if (first < start)
            mappings_[first] = {start - first, cut.file, cut.hold};
        if (last > end)
            at = mappings_.insert_or_assign(end, mapping{last - end, cut.file, cut.hold}).first;
    }
}

void kernel::end_travels() {
    std::erase_if(travelling_, [](traveller const& each) {
        pollfd about{each.other_end, 0, 0};
        if (::poll(&about, 1, 0) != 1 || !(about.revents & POLLHUP))
            return false;
        ::close(each.other_end);
        return true;
    });
}

void kernel::expect_own_process() const {
    if (::getpid() != owner_)
        ::_exit(reached_by_child);
}

} // namespace barmap::fake
