// SPDX-License-Identifier: MIT
#include <barmap/mailbox.hpp>

#include "signal/words.hpp"

#include <barmap/error.hpp>

#include <algorithm>
#include <cstring>
#include <string>

namespace barmap::inline BARMAP_INLINE_NAMESPACE {
namespace {

/// @return the size
std::size_t checked_value(std::size_t value_bytes) {
    constexpr std::size_t most = std::size_t{1} << 20;
    if (value_bytes == 0 || value_bytes > most)
        throw error(errc::invalid_argument,
                    "make a mailbox for values of " + std::to_string(value_bytes) + " bytes", "",
                    "give values of 1 byte to 1 MiB");
    return value_bytes;
}

} // namespace

byte_mailbox_to_gpu::byte_mailbox_to_gpu(arena const& memory, std::size_t value_bytes,
                                         std::uint64_t first)
    : value_bytes_(checked_value(value_bytes)), slots_(memory, gpu::mailbox_slots, value_bytes),
      version_(first), first_(first) {
    for (unsigned i = 0; i < gpu::mailbox_slots; ++i)
        slots_.clear((first - i) % gpu::mailbox_slots, first - i);
    slots_.flush();
}
byte_mailbox_to_gpu::~byte_mailbox_to_gpu() = default;

gpu::mailbox_handle byte_mailbox_to_gpu::handle() const noexcept {
    return {slots_.on_gpu(), nullptr, first_};
}
gpu::mailbox_handle byte_mailbox_to_gpu::handle_for_thread() const noexcept {
    return {slots_.on_cpu(), nullptr, first_};
}

byte_mailbox_to_cpu::byte_mailbox_to_cpu(arena const& memory, std::size_t value_bytes,
                                         std::uint64_t first)
    : value_bytes_(checked_value(value_bytes)),
      slot_words_(detail::slot_to_cpu_bytes(value_bytes) / sizeof(gpu::word)),
      slots_(memory.take_host(gpu::mailbox_slots * slot_words_ * sizeof(gpu::word))),
      latest_(memory, 1), version_(first) {
    std::memset(slots_.data(), 0, slots_.size());
    for (unsigned i = 0; i < gpu::mailbox_slots; ++i)
        gpu::store_release(slot_of(first - i) + slot_words_ - 1, first - i);
    latest_.publish(0, first);
}
byte_mailbox_to_cpu::~byte_mailbox_to_cpu() = default;

gpu::mailbox_handle byte_mailbox_to_cpu::handle() const noexcept {
    return {word_at(slots_.gpu_address()), word_at(latest_.gpu_address()), 0};
}
gpu::mailbox_handle byte_mailbox_to_cpu::handle_for_thread() const noexcept {
    return {slot_of(0), latest_.word(0), 0};
}

gpu::word* byte_mailbox_to_cpu::slot_of(std::uint64_t version) const noexcept {
    return reinterpret_cast<gpu::word*>(slots_.data()) + version % gpu::mailbox_slots * slot_words_;
}

std::uint64_t byte_mailbox_to_cpu::commit_of(std::uint64_t version) const noexcept {
    return gpu::load_acquire(slot_of(version) + slot_words_ - 1);
}

std::uint64_t byte_mailbox_to_cpu::latest() const noexcept {
    std::uint64_t newest = version_;
    for (unsigned i = 0; i < gpu::mailbox_slots; ++i)
        if (std::uint64_t const found = commit_of(i); static_cast<std::int64_t>(found - newest) > 0)
            newest = found;
    return newest;
}

/// Whether the next version in the slot of this one may have begun to arrive.
bool byte_mailbox_to_cpu::was_overwritten(std::uint64_t version) const noexcept {
    std::uint64_t const last = version + gpu::mailbox_slots - 1;
    return static_cast<std::int64_t>(commit_of(last) - last) >= 0;
}

bool byte_mailbox_to_cpu::read(std::span<std::byte> value) noexcept {
    assert(value.size() == value_bytes_);
    constexpr int tries = 16;
    for (int i = 0; i < tries; ++i) {
        std::uint64_t const newest = latest();
        if (newest == version_)
            return false;
        for (std::size_t at = 0; at < value_bytes_; at += sizeof(gpu::word)) {
            // In order, before the next look.
            gpu::word const bytes = gpu::load_acquire(slot_of(newest) + at / sizeof(gpu::word));
            std::memcpy(value.data() + at, &bytes, std::min(sizeof bytes, value_bytes_ - at));
        }
        if (was_overwritten(newest))
            continue;
        version_ = newest;
        return true;
    }
    return false;
}

} // namespace barmap::inline BARMAP_INLINE_NAMESPACE
