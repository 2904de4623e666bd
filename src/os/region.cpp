// SPDX-License-Identifier: MIT
#include "os/region.hpp"

#include "os/calls.hpp"

#include <barmap/error.hpp>

#include <cassert>
#include <cerrno>
#include <sys/mman.h>
#include <unistd.h>
#include <utility>

namespace barmap::os {
namespace {

[[noreturn]] void fail(int code, char const* operation, std::string_view backend) {
    char const* advice = "see the system's documentation of this error";
    if (code == ENOMEM)
        advice = "the process has too many mappings or too little address space: see "
                 "/proc/sys/vm/max_map_count and ulimit -v";
    throw error({code, std::system_category()}, operation, std::string(backend), advice);
}

} // namespace

std::size_t page_size() noexcept {
    static std::size_t const bytes = static_cast<std::size_t>(::sysconf(_SC_PAGESIZE));
    return bytes;
}

bool is_this_process(pid_t owner) noexcept {
    return ::getpid() == owner;
}

region region::reserve(std::size_t bytes, std::string_view backend) {
    void* at = current().mmap(nullptr, bytes, PROT_NONE,
                              MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (at == MAP_FAILED)
        fail(errno, "reserve an address range", backend);
    region result;
    result.data_ = static_cast<std::byte*>(at);
    result.size_ = bytes;
    result.owner_ = ::getpid();
    return result;
}

region region::shared_memory(std::size_t bytes, std::string_view backend) {
    void* at =
        current().mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (at == MAP_FAILED)
        fail(errno, "allocate memory", backend);
    region result;
    result.data_ = static_cast<std::byte*>(at);
    result.size_ = bytes;
    result.owner_ = ::getpid();
    return result;
}

void region::place(std::size_t at, std::size_t bytes, int fd, off_t file_offset,
                   std::string_view backend) {
    assert(at <= size_ && bytes <= size_ - at);
    std::byte* const where = data_ + at;
    if (current().mmap(where, bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_FIXED, fd,
                       file_offset) == MAP_FAILED)
        fail(errno, "mmap GPU memory", backend);
    if (current().madvise(where, bytes, MADV_DONTFORK) != 0)
        fail(errno, "keep a mapping out of forked children", backend);
}

region::region(region&& other) noexcept
    : data_(std::exchange(other.data_, nullptr)), size_(std::exchange(other.size_, 0)),
      owner_(other.owner_) {}

region& region::operator=(region&& other) noexcept {
    std::swap(data_, other.data_);
    std::swap(size_, other.size_);
    std::swap(owner_, other.owner_);
    return *this;
}

region::~region() {
    if (data_ && is_this_process(owner_))
        current().munmap(data_, size_);
}

} // namespace barmap::os
