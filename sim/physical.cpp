// SPDX-License-Identifier: MIT
#include "physical.hpp"

#include "world.hpp"

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fcntl.h>
#include <string_view>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>
#include <vector>

namespace barmap::sim {
namespace {

/// Below are the handles of CUDA's other objects, such as its address spaces.
constexpr std::uint32_t first_number = 0x5c000400;

// The header of the files in which lavapipe, the software Vulkan device, shares memory; read off
// files that Mesa 22.3.6 (Debian 12) exports. It maps `file_bytes` of such a file and takes the
// bytes at `data_offset` for the memory.
struct vulkan_header {
    std::uint64_t file_bytes;
    std::uint64_t data_offset;
    std::array<unsigned char, 16> driver; ///< must be its own, or the import is refused
};

// Of Mesa 22.3.6 with LLVM 15.0.6; another build has another one (BARMAP_SIM_VULKAN_DRIVER).
constexpr std::array<unsigned char, 16> debian_12_driver{
    0x6c, 0xb9, 0xee, 0x07, 0x4a, 0x0b, 0xad, 0x7b, 0x01, 0x2e, 0x1b, 0xe9, 0x69, 0x7e, 0x53, 0x0f};

constexpr std::uint64_t header_bytes = 64 << 10; ///< whole pages on every system

std::array<unsigned char, 16> vulkan_driver() {
    std::array<unsigned char, 16> id = debian_12_driver;
    if (the_world().has_vulkan_driver)
        std::copy_n(the_world().vulkan_driver, id.size(), id.begin());
    return id;
}

constexpr char file_name[] = "barmap simulated GPU "; ///< and the ordinal

int make_file(int ordinal, std::uint64_t bytes) {
    int const fd = memfd_create((file_name + std::to_string(ordinal)).c_str(), MFD_CLOEXEC);
    if (fd < 0)
        refuse(cuda::error_out_of_memory);
    if (ftruncate(fd, off_t(bytes)) != 0) {
        close(fd);
        refuse(cuda::error_out_of_memory);
    }
    return fd;
}

/// Copies the pages that there are: memory is mostly holes. @return whether all went well
bool copy_what_is_there(int from, std::uint64_t start, int to, std::uint64_t bytes) {
    std::vector<char> page(64 << 10);
    for (std::uint64_t at = 0; at < bytes;) {
        off_t const data = lseek(from, off_t(start + at), SEEK_DATA);
        if (data < 0)
            return errno == ENXIO; // nothing up to the end
        at = std::uint64_t(data) - start;
        std::size_t const some = std::size_t(std::min<std::uint64_t>(page.size(), bytes - at));
        if (pread(from, page.data(), some, data) != ssize_t(some) ||
            pwrite(to, page.data(), some, off_t(at)) != ssize_t(some))
            return false;
        at += some;
    }
    return true;
}

std::uint64_t inode_of(int fd) {
    struct stat about {};
    return fstat(fd, &about) == 0 ? about.st_ino : 0;
}

} // namespace

physical::physical(device& owner, int fd, std::uint64_t offset, std::uint64_t bytes,
                   std::uint64_t counted)
    : fd_(fd), offset_(offset), size_(bytes), counted_(counted), inode_(inode_of(fd)),
      number_(first_number + the_world().next_number++), ordinal_(owner.ordinal) {
    owner.memory_used += counted_;
    the_world().objects.emplace(number_, this);
}

physical::~physical() {
    world& all = the_world();
    all.objects.erase(number_);
    all.devices[std::size_t(ordinal_)]->memory_used -= counted_;
    close(fd_);
}

std::shared_ptr<physical> physical::make(device& owner, std::uint64_t bytes, bool vulkan) {
    require(bytes <= owner.memory_size - owner.memory_used, cuda::error_out_of_memory);
    std::uint64_t const offset = vulkan ? header_bytes : 0;
    int const fd = make_file(owner.ordinal, offset + bytes);
    if (vulkan) {
        vulkan_header const header{offset + bytes, offset, vulkan_driver()};
        // Mesa looks for the offset a second time, right before the data, when it frees an import.
        if (pwrite(fd, &header, sizeof header, 0) != ssize_t(sizeof header) ||
            pwrite(fd, &offset, sizeof offset, off_t(offset - sizeof offset)) !=
                ssize_t(sizeof offset)) {
            close(fd);
            refuse(cuda::error_out_of_memory);
        }
    }
    return std::shared_ptr<physical>(new physical(owner, fd, offset, bytes, bytes));
}

std::shared_ptr<physical> physical::make_uncounted(device& owner, std::uint64_t bytes) {
    return std::shared_ptr<physical>(
        new physical(owner, make_file(owner.ordinal, bytes), 0, bytes, 0));
}

std::shared_ptr<physical> physical::adopt(device& owner, int fd, std::uint64_t offset,
                                          std::uint64_t bytes) {
    auto made = std::shared_ptr<physical>(new physical(owner, fd, offset, bytes, 0));
    made->exported_ = true;
    made->own_ = false;
    return made;
}

std::shared_ptr<physical> physical::from_shared(void* shared, bool header) {
    int const theirs = int(reinterpret_cast<std::intptr_t>(shared));
    int const ordinal = ordinal_of_file(theirs);
    struct stat about {};
    require(ordinal >= 0 && fstat(theirs, &about) == 0);
    device& owner = the_world().get_device(ordinal);
    int const fd = fcntl(theirs, F_DUPFD_CLOEXEC, 0);
    require(fd >= 0);
    std::uint64_t const offset = header ? data_offset_of(fd) : 0;
    return adopt(owner, fd, offset, std::uint64_t(about.st_size) - offset);
}

int physical::export_fd() {
    // A separate file, not a duplicate of the descriptor: duplicates share their position, which
    // lavapipe moves when it imports one, so that two imports at once would disturb each other.
    char path[32];
    std::snprintf(path, sizeof path, "/proc/self/fd/%d", fd_);
    int copy = open(path, O_RDWR | O_CLOEXEC);
    if (copy < 0) // where /proc is not mounted
        copy = fcntl(fd_, F_DUPFD_CLOEXEC, 0);
    require(copy >= 0, error_operating_system); // out of descriptors
    exported_ = true;
    return copy;
}

void physical::drop_header() {
    if (offset_ != 0)
        move_from(offset_);
}

void physical::renew() {
    move_from(0);
    world& all = the_world();
    all.objects.erase(number_);
    number_ = first_number + all.next_number++;
    all.objects.emplace(number_, this);
}

void physical::move_from(std::uint64_t start) {
    std::uint64_t const size = offset_ + size_ - start;
    int const fd = make_file(ordinal_, size);
    if (!copy_what_is_there(fd_, start, fd, size)) {
        close(fd);
        refuse(cuda::error_out_of_memory);
    }
    close(fd_);
    fd_ = fd;
    offset_ -= start;
    inode_ = inode_of(fd);
}

std::uint64_t data_offset_of(int fd) noexcept {
    vulkan_header header{};
    struct stat about {};
    if (fstat(fd, &about) != 0 || pread(fd, &header, sizeof header, 0) != ssize_t(sizeof header))
        return 0;
    auto const page = std::uint64_t(sysconf(_SC_PAGESIZE));
    bool const sane = header.file_bytes == std::uint64_t(about.st_size) &&
                      header.data_offset % page == 0 && header.data_offset >= sizeof header &&
                      header.data_offset < header.file_bytes;
    return sane ? header.data_offset : 0;
}

int ordinal_of_file(int fd) noexcept {
    char path[32];
    char target[64] = {};
    std::snprintf(path, sizeof path, "/proc/self/fd/%d", fd);
    if (readlink(path, target, sizeof target - 1) < 0)
        return -1;
    std::string_view const name(target);
    constexpr std::string_view prefix = "/memfd:barmap simulated GPU ";
    return name.starts_with(prefix) ? std::atoi(target + prefix.size()) : -1;
}

} // namespace barmap::sim
