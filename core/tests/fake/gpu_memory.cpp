// SPDX-License-Identifier: MIT
#include "fake/gpu_memory.hpp"

#include "fake/rm_objects.hpp"

#include <algorithm>
#include <cstring>
#include <linux/futex.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>
#include <utility>

namespace barmap::fake::gpu {
namespace {

constexpr std::size_t transit_bytes = 64u << 10;

constexpr std::uint64_t first_address = std::uint64_t{1} << 32;
constexpr std::uint64_t last_address = std::uint64_t{1} << 40; // an entry of a GPFIFO has no more
constexpr std::uint64_t video_page = 2u << 20, host_page = 4096;

void* pointer(std::uint64_t address) {
    return reinterpret_cast<void*>(static_cast<std::uintptr_t>(address));
}

// The system calls themselves: libc's functions are watched by the sanitizers.
bool fill_from_process(int file, std::uint64_t address, std::size_t bytes) {
    return ::syscall(SYS_pwrite64, file, pointer(address), bytes, 0L) == static_cast<long>(bytes);
}

bool give_to_process(int file, std::uint64_t address, std::size_t bytes) {
    return ::syscall(SYS_pread64, file, pointer(address), bytes, 0L) == static_cast<long>(bytes);
}

/// Whether a word of the process can be written: by an OR with 0, the only access that changes
/// nothing. A full barrier too.
bool is_writable(std::uint64_t address) {
    constexpr auto operation = static_cast<unsigned>(FUTEX_OP(FUTEX_OP_OR, 0, FUTEX_OP_CMP_EQ, 0));
    return ::syscall(SYS_futex, pointer(address), FUTEX_WAKE_OP, 0, 0, pointer(address),
                     operation) >= 0;
}

__attribute__((no_sanitize("thread"))) void put_word(std::uint64_t address, std::uint32_t word) {
    *static_cast<std::uint32_t volatile*>(pointer(address)) = word;
}

__attribute__((no_sanitize("thread"))) std::uint32_t get_word(std::uint64_t address) {
    return *static_cast<std::uint32_t volatile*>(pointer(address));
}

} // namespace

video_memory::video_memory(std::shared_ptr<rm::memory_file> file, bool with_words)
    : file_(std::move(file)) {
    if (!with_words)
        return;
    void* const at = ::mmap(nullptr, file_->size(), PROT_READ | PROT_WRITE, MAP_SHARED, file_->fd(),
                            static_cast<off_t>(file_->offset()));
    if (at != MAP_FAILED)
        words_ = static_cast<std::byte*>(at);
}

video_memory::~video_memory() {
    if (words_)
        ::munmap(words_, file_->size());
}

std::uint64_t video_memory::size() const {
    return file_->size();
}

bool video_memory::read(std::uint64_t offset, void* to, std::size_t bytes) const {
    return ::pread(file_->fd(), to, bytes, static_cast<off_t>(file_->offset() + offset)) ==
           static_cast<ssize_t>(bytes);
}

bool video_memory::write(std::uint64_t offset, void const* from, std::size_t bytes) {
    return ::pwrite(file_->fd(), from, bytes, static_cast<off_t>(file_->offset() + offset)) ==
           static_cast<ssize_t>(bytes);
}

bool video_memory::store(std::uint64_t offset, std::uint32_t word) {
    if (!words_)
        return write(offset, &word, sizeof word);
    __atomic_store_n(word_at(offset), word, __ATOMIC_RELEASE);
    return true;
}

bool video_memory::fetch(std::uint64_t offset, std::uint32_t& word) const {
    if (!words_)
        return read(offset, &word, sizeof word);
    word = load(offset);
    return true;
}

std::uint32_t video_memory::load(std::uint64_t offset) const {
    return __atomic_load_n(word_at(offset), __ATOMIC_ACQUIRE);
}

std::uint32_t video_memory::exchange(std::uint64_t offset, std::uint32_t word) {
    return __atomic_exchange_n(word_at(offset), word, __ATOMIC_ACQ_REL);
}

std::uint32_t* video_memory::word_at(std::uint64_t offset) const {
    return reinterpret_cast<std::uint32_t*>(words_ + offset);
}

process_memory::process_memory()
    : transit_(::memfd_create("between a process and the fake GPU", MFD_CLOEXEC)) {}

process_memory::~process_memory() {
    ::close(transit_);
}

bool process_memory::read(std::uint64_t address, void* to, std::size_t bytes) const {
    for (std::size_t done = 0; done < bytes;) {
        std::size_t const part = std::min(bytes - done, transit_bytes);
        if (!fill_from_process(transit_, address + done, part) ||
            ::pread(transit_, static_cast<std::byte*>(to) + done, part, 0) !=
                static_cast<ssize_t>(part))
            return false;
        done += part;
    }
    return true;
}

bool process_memory::write(std::uint64_t address, void const* from, std::size_t bytes) const {
    for (std::size_t done = 0; done < bytes;) {
        std::size_t const part = std::min(bytes - done, transit_bytes);
        if (::pwrite(transit_, static_cast<std::byte const*>(from) + done, part, 0) !=
                static_cast<ssize_t>(part) ||
            !give_to_process(transit_, address + done, part))
            return false;
        done += part;
    }
    return true;
}

// Not by read and write: the kernel may copy a word byte by byte.
bool process_memory::store(std::uint64_t address, std::uint32_t word) {
    if (!is_writable(address))
        return false;
    put_word(address, word);
    return true;
}

bool process_memory::fetch(std::uint64_t address, std::uint32_t& word) {
    if (!is_writable(address))
        return false;
    word = get_word(address);
    return true;
}

std::uint64_t address_space::map(std::shared_ptr<memory> of, std::uint64_t offset,
                                 std::uint64_t length) {
    std::uint64_t const page = of->of_host() ? host_page : video_page;
    std::uint64_t at = std::max(next_, first_address);
    for (bool again = true; again;) {
        at = (at + page - 1) / page * page;
        if (at + length > last_address)
            at = first_address;
        again = false;
        for (auto const& [address, each] : mapped_)
            if (address < at + length + page && at < address + each.bytes + page) {
                at = address + each.bytes + page;
                again = true;
            }
    }
    next_ = at + length + page; // a page between two
    mapped_[at] = {std::move(of), offset, length};
    return at;
}

address_space::place address_space::find(std::uint64_t address, std::uint64_t bytes) const {
    auto at = mapped_.upper_bound(address);
    if (at == mapped_.begin())
        return {};
    --at;
    std::uint64_t const inside = address - at->first;
    if (inside > at->second.bytes || bytes > at->second.bytes - inside)
        return {};
    return {at->second.of, at->second.offset + inside, at->second.bytes - inside};
}

} // namespace barmap::fake::gpu
