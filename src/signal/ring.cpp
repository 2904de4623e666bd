// SPDX-License-Identifier: MIT
#include <barmap/byte_ring.hpp>

#include <barmap/error.hpp>

#include <bit>
#include <cstring>
#include <string>

namespace barmap::inline BARMAP_INLINE_NAMESPACE {
namespace {

using words = gpu::ring_words;

/// @return the number of slots
std::size_t checked(std::size_t message_bytes, std::size_t slots) {
    constexpr std::size_t most_bytes = std::size_t{1} << 20, most_slots = std::size_t{1} << 32;
    auto const refuse = [&](char const* advice) {
        throw error(errc::invalid_argument,
                    "make a ring of " + std::to_string(slots) + " slots for messages of " +
                        std::to_string(message_bytes) + " bytes",
                    "", advice);
    };
    if (!std::has_single_bit(slots) || slots > most_slots)
        refuse("give a power of two, up to 2^32, as the number of slots");
    if (message_bytes == 0 || message_bytes > most_bytes)
        refuse("give messages 1 byte to 1 MiB");
    return slots;
}

std::size_t slot_to_gpu_bytes(std::size_t message_bytes) {
    return detail::lines_to_gpu::of(message_bytes) * detail::lines_to_gpu::bytes;
}

gpu::ring_handle handle_at(std::uintptr_t slots, std::uintptr_t control, std::uintptr_t credits,
                           std::uint64_t mask) {
    return {reinterpret_cast<gpu::word*>(slots), reinterpret_cast<gpu::word*>(control),
            reinterpret_cast<gpu::word*>(credits), mask};
}

std::uintptr_t address_of(void const* data) {
    return reinterpret_cast<std::uintptr_t>(data);
}

constexpr std::size_t count_of_words = words::bytes / sizeof(gpu::word);

} // namespace

byte_ring_to_gpu::byte_ring_to_gpu(arena const& memory, std::size_t message_bytes,
                                   std::size_t slots, std::uint64_t first)
    : message_bytes_(message_bytes),
      slots_(memory.take_gpu(checked(message_bytes, slots) * slot_to_gpu_bytes(message_bytes))),
      credits_(memory.take_host(words::bytes)), control_(memory, count_of_words),
      window_(slots_.window()), mask_(slots - 1), next_(first), read_(first),
      how_(detail::publication_for(window_, memory.kind())) {
    fill(window_, std::byte{0});
    for (std::uint64_t i = 0; i < slots; ++i) // as a lap before
        for (std::size_t line = 0; line < lines::of(message_bytes); ++line)
            commit(place(first + i, line, message_bytes), first + i + 1 - slots);
    control_.publish(words::cursor, first);
    std::memset(credits_.data(), 0, credits_.size());
    gpu::store_release(credit(words::read), first);
}

byte_ring_to_gpu::byte_ring_to_gpu(device const& gpu, std::size_t message_bytes, std::size_t slots)
    : byte_ring_to_gpu(arena(gpu,
                             checked(message_bytes, slots) * slot_to_gpu_bytes(message_bytes) +
                                 2 * arena::alignment,
                             arena::alignment),
                       message_bytes, slots) {}

byte_ring_to_gpu::~byte_ring_to_gpu() = default;

gpu::ring_handle byte_ring_to_gpu::handle() const noexcept {
    return handle_at(slots_.gpu_address(), control_.gpu_address(), credits_.gpu_address(), mask_);
}

gpu::ring_handle byte_ring_to_gpu::handle_for_thread() const noexcept {
    return handle_at(address_of(slots_.data()), address_of(control_.word(0)),
                     address_of(credits_.data()), mask_);
}

byte_ring_to_cpu::byte_ring_to_cpu(arena const& memory, std::size_t message_bytes,
                                   std::size_t slots, std::uint64_t first)
    : message_bytes_(message_bytes), slot_bytes_(detail::slot_to_cpu_bytes(message_bytes)),
      slots_(memory.take_host(checked(message_bytes, slots) * slot_bytes_)),
      control_(memory.take_host(words::bytes)), credits_(memory, count_of_words), mask_(slots - 1),
      next_(first), returned_(first) {
    std::memset(slots_.data(), 0, slots_.size());
    for (std::uint64_t i = 0; i < slots; ++i) // as a lap before
        gpu::store_release(const_cast<gpu::word*>(commit_of(first + i)), first + i + 1 - slots);
    std::memset(control_.data(), 0, control_.size());
    credits_.store(words::read, first);
    credits_.publish(words::next, first);
}

byte_ring_to_cpu::byte_ring_to_cpu(device const& gpu, std::size_t message_bytes, std::size_t slots)
    : byte_ring_to_cpu(arena(gpu, arena::alignment,
                             checked(message_bytes, slots) *
                                     detail::slot_to_cpu_bytes(message_bytes) +
                                 2 * arena::alignment),
                       message_bytes, slots) {}

byte_ring_to_cpu::~byte_ring_to_cpu() = default;

gpu::ring_handle byte_ring_to_cpu::handle() const noexcept {
    return handle_at(slots_.gpu_address(), control_.gpu_address(),
                     credits_.gpu_address(), mask_);
}

gpu::ring_handle byte_ring_to_cpu::handle_for_thread() const noexcept {
    return handle_at(address_of(slots_.data()), address_of(control_.data()),
                     address_of(credits_.word(0)), mask_);
}

} // namespace barmap::inline BARMAP_INLINE_NAMESPACE
