// SPDX-License-Identifier: MIT
#include "system/region.hpp"

#include "system/calls.hpp"

#include <barmap/error.hpp>

#include <algorithm>
#include <cassert>
#include <cerrno>
#include <sys/mman.h>
#include <unistd.h>
#include <utility>

namespace barmap::os {
namespace {

constexpr int reservation = MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE;

[[noreturn]] void fail(int code, char const* operation) {
    char const* advice = "see the system's documentation of this error";
    if (code == ENOMEM)
        advice = "the process has too many mappings or too little address space: see "
                 "/proc/sys/vm/max_map_count and ulimit -v";
    throw error({code, std::system_category()}, operation, "", advice);
}

} // namespace

std::size_t page_size() noexcept {
    static std::size_t const bytes = static_cast<std::size_t>(::sysconf(_SC_PAGESIZE));
    return bytes;
}

region region::for_files(std::size_t bytes) noexcept {
    region result;
    result.size_ = bytes;
    result.owner_ = this_process();
    return result;
}

region region::reserve(std::size_t bytes) {
    region result = for_files(bytes);
    void* at = current().mmap(nullptr, bytes, PROT_NONE, reservation, -1, 0);
    if (at == MAP_FAILED)
        fail(errno, "reserve an address range");
    result.data_ = static_cast<std::byte*>(at);
    return result;
}

region region::shared_memory(std::size_t bytes, int file) {
    return mapped(bytes, PROT_READ | PROT_WRITE, file);
}

region region::read_only(std::size_t bytes, int file) {
    return mapped(bytes, PROT_READ, file);
}

region region::mapped(std::size_t bytes, int protection, int file) {
    region result = for_files(bytes);
    int const of = file < 0 ? MAP_ANONYMOUS : 0;
    void* at = current().mmap(nullptr, bytes, protection, MAP_SHARED | of, file, 0);
    if (at == MAP_FAILED)
        fail(errno, "allocate memory");
    result.data_ = static_cast<std::byte*>(at);
    return result;
}

void region::place(std::size_t at, std::size_t bytes, int fd, off_t file_offset) {
    assert(at <= size_ && bytes <= size_ - at);
    bool const whole = !data_ && bytes == size_;
    if (!data_ && !whole)
        *this = reserve(size_);
    int const where = whole ? 0 : MAP_FIXED;
    // Not PROT_NONE first, although a child could then inherit nothing that it can touch: on x86
    // processors with L1TF only CAP_SYS_ADMIN may map device memory so (pfn_modify_allowed() in
    // Linux), and to change each page's protection afterwards costs more than the mmap itself.
    int refused = 0, inherited = 0;
    {
        no_fork const until_it_is_private;
        void* const mapped =
            current().mmap(whole ? nullptr : data_ + at, bytes, PROT_READ | PROT_WRITE,
                           MAP_SHARED | where, fd, file_offset);
        if (mapped == MAP_FAILED)
            refused = errno;
        else if (whole)
            data_ = static_cast<std::byte*>(mapped);
        if (!refused && current().madvise(mapped, bytes, MADV_DONTFORK) != 0)
            inherited = errno;
    }
    if (refused && !whole)
        reclaim(at, bytes);
    if (refused)
        fail(refused, "mmap GPU memory");
    if (inherited)
        fail(inherited, "keep a mapping out of forked children");
}

void region::place_zeros(std::size_t at, std::size_t bytes) {
    assert(at <= size_ && bytes <= size_ - at);
    if (!data_)
        *this = reserve(size_);
    std::byte* const where = data_ + at;
    if (current().mmap(where, bytes, PROT_READ | PROT_WRITE,
                       MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0) == MAP_FAILED) {
        int const code = errno;
        reclaim(at, bytes);
        fail(code, "allocate memory");
    }
    if (current().madvise(where, bytes, MADV_DONTFORK) != 0)
        fail(errno, "keep a mapping out of forked children");
}

bool region::vacate() noexcept {
    if (!data_ || !is_whole())
        return !data_;
    if (current().mmap(data_, size_, PROT_NONE, reservation | MAP_FIXED, -1, 0) == MAP_FAILED) {
        current().munmap(data_, size_);
        reclaim(0, size_);
    }
    return is_whole();
}

void region::reclaim(std::size_t at, std::size_t bytes) noexcept {
    // An intact reservation, or what another thread has put there: the system does not say which.
    void* const again =
        current().mmap(data_ + at, bytes, PROT_NONE, reservation | MAP_FIXED_NOREPLACE, -1, 0);
    if (again == data_ + at)
        return;
    if (again != MAP_FAILED) // before Linux 4.17 the flag is not known
        current().munmap(again, bytes);
    lost_from_ = lost_from_ == lost_to_ ? at : std::min(lost_from_, at);
    lost_to_ = std::max(lost_to_, at + bytes);
}

region::region(region&& other) noexcept {
    swap(other);
}

region& region::operator=(region&& other) noexcept {
    region taken(std::move(other));
    swap(taken);
    return *this;
}

void region::swap(region& other) noexcept {
    std::swap(data_, other.data_);
    std::swap(size_, other.size_);
    std::swap(lost_from_, other.lost_from_);
    std::swap(lost_to_, other.lost_to_);
    std::swap(owner_, other.owner_);
}

region::~region() {
    if (!data_ || !is_this_process(owner_))
        return;
    if (lost_from_ == lost_to_) {
        current().munmap(data_, size_);
        return;
    }
    if (lost_from_ > 0)
        current().munmap(data_, lost_from_);
    if (lost_to_ < size_)
        current().munmap(data_ + lost_to_, size_ - lost_to_);
}

} // namespace barmap::os
