// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <new>
#include <sys/mman.h>
#include <unistd.h>

namespace barmap::copy {

/// Zeroed pages between two that fault. Stands for GPU memory, or for a caller's buffer that ends
/// where its last page does.
class guarded_pages {
public:
    explicit guarded_pages(std::size_t bytes) {
        auto const page = static_cast<std::size_t>(sysconf(_SC_PAGESIZE));
        bytes_ = (bytes + page - 1) / page * page;
        all_ = bytes_ + 2 * page;
        base_ = mmap(nullptr, all_, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
        if (base_ == MAP_FAILED) {
            throw std::bad_alloc();
        }
        begin_ = static_cast<std::byte*>(base_) + page;
        if (mprotect(begin_, bytes_, PROT_READ | PROT_WRITE) != 0) {
            munmap(base_, all_);
            throw std::bad_alloc();
        }
    }
    guarded_pages(guarded_pages const&) = delete;
    guarded_pages& operator=(guarded_pages const&) = delete;
    ~guarded_pages() { munmap(base_, all_); }

    [[nodiscard]] std::byte* begin() const noexcept { return begin_; }
    [[nodiscard]] std::byte* end() const noexcept { return begin_ + bytes_; }
    [[nodiscard]] std::size_t size() const noexcept { return bytes_; }

private:
    void* base_ = nullptr;
    std::size_t all_ = 0, bytes_ = 0;
    std::byte* begin_ = nullptr;
};

} // namespace barmap::copy
