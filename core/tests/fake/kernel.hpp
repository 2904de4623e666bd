// SPDX-License-Identifier: MIT
#pragma once

#include "system/calls.hpp"

#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <sys/types.h>
#include <vector>

/// A stand-in for the operating system under the library: device files are served by fakes, all
/// else by the real system.
namespace barmap::fake {

/// Where the memory behind a fake device's mmap really lies.
struct placement {
    int fd = -1; ///< borrowed
    off_t offset = 0;
    std::shared_ptr<void> hold; ///< dropped when the mapping goes
};

/// An open file of a fake device. Goes with its last descriptor and its last mapping.
/// Called with the kernel's lock held.
class open_file {
public:
    virtual ~open_file() = default;
    /// @return 0 or an errno
    virtual int ioctl(unsigned long request, void* argument) = 0;
    /// @return 0 or an errno
    virtual int map(std::size_t bytes, off_t offset, placement& where) = 0;
    /// A new descriptor to open the file with: a real one, so that numbers, limits, leaks and
    /// read are the system's own. -1: one of /dev/null.
    [[nodiscard]] virtual int descriptor() { return -1; }
    /// Whether the request gives something back, so that no fault is put into it.
    [[nodiscard]] virtual bool gives_back(unsigned long request) const = 0;
};

/// A kernel driver that a test stands in for.
class device_driver {
public:
    virtual ~device_driver() = default;
    [[nodiscard]] virtual bool serves(std::string_view path) const = 0;
    /// @return 0 or an errno
    virtual int open(std::string_view path, std::shared_ptr<open_file>& file) = 0;
    /// Ends its threads: the kernel goes, which may be before the driver does.
    virtual void shut_down() {}
};

/// While it lives, it is what the library's system calls reach. One at a time.
/// A forked child that reaches a fake device by ioctl or mmap ends at once with status
/// `reached_by_child`: on a real system it would have reached into its parent's objects.
/// Thread rule: every member may be called at once.
class kernel {
public:
    static constexpr int reached_by_child = 86;

    kernel();
    kernel(kernel const&) = delete;
    kernel& operator=(kernel const&) = delete;
    ~kernel();

    void add(std::shared_ptr<device_driver> driver);

    /// A descriptor that CUDA has open: it is there for readlink of /proc/self/fd and for ioctl,
    /// and only duplicates of it may be closed. Goes with the kernel.
    void open_for_cuda(std::string path, std::shared_ptr<open_file> file);

    /// Open descriptors of fake devices but CUDA's, and mappings that the library made and has not
    /// unmapped.
    [[nodiscard]] std::size_t descriptors() const;
    [[nodiscard]] std::size_t mappings() const;

    /// What no correct client of the drivers would do. A test ends with none.
    void violation(std::string what);
    [[nodiscard]] std::vector<std::string> violations() const;

    /// The open file behind a descriptor, or null. For drivers, with the lock held.
    [[nodiscard]] std::shared_ptr<open_file> file(int fd) const;

    /// Adds to the time for which the fake devices have run; until the first call the monotonic
    /// clock is theirs.
    void run_for(std::chrono::nanoseconds time) noexcept;

    /// The lock that drivers are called with, for what they tell the test.
    [[nodiscard]] std::recursive_mutex& lock() const noexcept { return lock_; }

private:
    struct descriptor {
        std::shared_ptr<open_file> file;
        std::string path;
        bool of_cuda = false;
    };
    struct mapping {
        std::size_t bytes = 0;
        std::shared_ptr<open_file> file;
        std::shared_ptr<void> hold;
    };
    /// A file that has been sent, and may be received.
    struct traveller {
        std::shared_ptr<open_file> file;
        std::string path;
        int other_end; ///< of the pipe that travels in its place
    };
    struct entry_points; // the functions of the table
    static void in_forked_child();
    void forget(std::uintptr_t start, std::size_t bytes);
    void end_travels();
    void expect_own_process() const;

    mutable std::recursive_mutex lock_;
    std::vector<std::string> violations_; // outlives the files, which may still complain
    std::vector<std::shared_ptr<device_driver>> drivers_;
    std::map<int, descriptor> files_;
    std::map<std::uintptr_t, mapping> mappings_;
    std::vector<traveller> travelling_;
    std::atomic<std::int64_t> device_time_{0}; ///< 0: the monotonic clock's
    pid_t owner_;
};

} // namespace barmap::fake
