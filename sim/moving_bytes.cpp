// SPDX-License-Identifier: MIT
#include "moving_bytes.hpp"

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <cstring>
#include <sys/uio.h>
#include <unistd.h>

namespace barmap::sim {
namespace {

template <class Word>
void store(std::byte* to, Word value) noexcept {
    std::atomic_ref(*reinterpret_cast<Word*>(to)).store(value, std::memory_order_relaxed);
}

template <class Word>
Word load(std::byte const* from) noexcept {
    auto* const word = reinterpret_cast<Word*>(const_cast<std::byte*>(from));
    return std::atomic_ref(*word).load(std::memory_order_relaxed);
}

constexpr std::size_t word_size = sizeof(std::uint64_t);

std::size_t misalignment(void const* pointer) noexcept {
    return reinterpret_cast<std::uintptr_t>(pointer) % word_size;
}

/// Calls one(offset) for every byte before and after the aligned words, word(offset) for those.
template <class One, class Word>
void walk(std::byte const* to, std::size_t bytes, One one, Word word) noexcept {
    std::size_t const head = std::min(bytes, (word_size - misalignment(to)) % word_size);
    std::size_t at = 0;
    for (; at < head; ++at)
        one(at);
    for (; at + word_size <= bytes; at += word_size)
        word(at);
    for (; at < bytes; ++at)
        one(at);
}

} // namespace

void move_bytes(std::byte* to, std::byte const* from, std::size_t bytes) noexcept {
    bool const apart = to + bytes <= from || from + bytes <= to;
    if (misalignment(to) != misalignment(from) || !apart) {
        std::memmove(to, from, bytes);
        return;
    }
    walk(
        to, bytes, [=](std::size_t at) { store(to + at, load<std::uint8_t>(from + at)); },
        [=](std::size_t at) { store(to + at, load<std::uint64_t>(from + at)); });
    std::atomic_thread_fence(std::memory_order_release);
}

void fill_bytes(std::byte* to, std::uint64_t word, std::size_t bytes) noexcept {
    std::size_t const shift = misalignment(to);
    std::uint8_t pattern[word_size];
    std::memcpy(pattern, &word, sizeof pattern);
    walk(
        to, bytes, [&](std::size_t at) { store(to + at, pattern[(shift + at) % word_size]); },
        [=](std::size_t at) { store(to + at, word); });
    std::atomic_thread_fence(std::memory_order_release);
}

bool is_there(std::byte* byte) noexcept {
    std::byte seen{};
    iovec const here{&seen, 1}, there{byte, 1};
    return process_vm_readv(getpid(), &here, 1, &there, 1, 0) == 1 || errno != EFAULT;
}

} // namespace barmap::sim
