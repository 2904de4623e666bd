// SPDX-License-Identifier: MIT
#include <barmap/byte_ring.hpp>

#include "base/checkpoint.hpp"

#include <barmap/error.hpp>

#include <bit>
#include <cstring>
#include <string>

namespace barmap {
inline namespace BARMAP_INLINE_NAMESPACE {
namespace detail {

std::size_t checked_slots(std::size_t slots, std::size_t message_bytes) {
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
        refuse("give messages of 1 byte to 1 MiB");
    return slots;
}

namespace {

using words = gpu::ring_words;

std::size_t gpu_bytes(std::size_t slots, std::size_t message_bytes) {
    return slots * slots_to_gpu::lines_of(message_bytes) * slots_to_gpu::line_bytes;
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
      slots_(memory, checked_slots(slots, message_bytes), message_bytes),
      credits_(memory.take_host(words::bytes)), control_(memory, count_of_words), mask_(slots - 1),
      next_(first), read_(first) {
    if (memory.opened())
        go_on();
    else
        begin(first);
}

void byte_ring_to_gpu::begin(std::uint64_t first) noexcept {
    for (std::uint64_t i = 0; i < slots(); ++i) // as a lap before
        slots_.clear(place(first + i), first + i + 1 - slots());
    control_.publish(words::cursor, first);
    std::memset(credits_.data(), 0, credits_.size());
    gpu::store_release(credit(words::read), first);
}

void byte_ring_to_gpu::go_on() noexcept {
    read_ = gpu::load_acquire(credit(words::read));
    // Behind what was read come messages that are whole, as their process wrote them in order.
    std::uint64_t whole = 0, most = slots();
    while (whole < most) {
        std::uint64_t const middle = whole + (most - whole) / 2, number = read_ + middle;
        if (slots_.is_whole(place(number), number + 1))
            whole = middle + 1;
        else
            most = middle;
    }
    next_ = read_ + whole;
    if (whole < slots() && slots_.count_commits(place(next_), next_ + 1) != 0 &&
        slots_.mend(place(next_), next_ + 1, next_ + 1 - slots()))
        ++next_;
}

byte_ring_to_gpu::byte_ring_to_gpu(device const& gpu, std::size_t message_bytes, std::size_t slots)
    : byte_ring_to_gpu(arena(gpu,
                             gpu_bytes(checked_slots(slots, message_bytes), message_bytes) +
                                 2 * arena::alignment,
                             arena::alignment),
                       message_bytes, slots) {}

byte_ring_to_gpu::byte_ring_to_gpu(opened_signal const& shared)
    : byte_ring_to_gpu(shared.memory, shared.is.message_bytes, shared.is.slots) {}
byte_ring_to_gpu::~byte_ring_to_gpu() = default;

int byte_ring_to_gpu::share() {
    flush();
    return shared_signal{signal_kind::ring_to_gpu, message_bytes_, slots()}.share(
        {&slots_.part(), &credits_, &control_.part()});
}

gpu::ring_handle byte_ring_to_gpu::handle() const noexcept {
    return handle_at(address_of(slots_.on_gpu()), control_.gpu_address(), credits_.gpu_address(),
                     mask_);
}

gpu::ring_handle byte_ring_to_gpu::handle_for_thread() const noexcept {
    return handle_at(address_of(slots_.on_cpu()), address_of(control_.word(0)),
                     address_of(credits_.data()), mask_);
}

byte_ring_to_cpu::byte_ring_to_cpu(arena const& memory, std::size_t message_bytes,
                                   std::size_t slots, std::uint64_t first)
    : message_bytes_(message_bytes), slot_bytes_(slot_to_cpu_bytes(message_bytes)),
      slots_(memory.take_host(checked_slots(slots, message_bytes) * slot_bytes_)),
      control_(memory.take_host(words::bytes)), credits_(memory, count_of_words), mask_(slots - 1),
      next_(first), returned_(first) {
    if (memory.opened())
        next_ = returned_ = gpu::load_acquire(credits_.word(words::read));
    else
        begin(first);
}

void byte_ring_to_cpu::begin(std::uint64_t first) noexcept {
    std::memset(slots_.data(), 0, slots_.size());
    for (std::uint64_t i = 0; i < slots(); ++i) // as a lap before
        gpu::store_release(const_cast<gpu::word*>(commit_of(first + i)), first + i + 1 - slots());
    std::memset(control_.data(), 0, control_.size());
    credits_.store(words::read, first);
    credits_.publish(words::next, first);
}

byte_ring_to_cpu::byte_ring_to_cpu(device const& gpu, std::size_t message_bytes, std::size_t slots)
    : byte_ring_to_cpu(
          arena(gpu, arena::alignment,
                checked_slots(slots, message_bytes) * slot_to_cpu_bytes(message_bytes) +
                    2 * arena::alignment),
          message_bytes, slots) {}

byte_ring_to_cpu::byte_ring_to_cpu(opened_signal const& shared)
    : byte_ring_to_cpu(shared.memory, shared.is.message_bytes, shared.is.slots) {}
byte_ring_to_cpu::~byte_ring_to_cpu() {
    if (next_ == returned_ || !slots_.is_of_this_process())
        return;
    try {
        checkpoint::pass const here("return a ring's credits");
        give_credit();
    } catch (std::exception const&) {
        // The process is prepared for a checkpoint, where an access would end it; or memory is
        // short.
    }
}

int byte_ring_to_cpu::share() {
    int const descriptor = shared_signal{signal_kind::ring_to_cpu, message_bytes_, slots()}.share(
        {&slots_, &control_, &credits_.part()});
    if (next_ != returned_) // what is refused touches nothing
        give_credit();
    return descriptor;
}

gpu::ring_handle byte_ring_to_cpu::handle() const noexcept {
    return handle_at(slots_.gpu_address(), control_.gpu_address(), credits_.gpu_address(), mask_);
}

gpu::ring_handle byte_ring_to_cpu::handle_for_thread() const noexcept {
    return handle_at(address_of(slots_.data()), address_of(control_.data()),
                     address_of(credits_.word(0)), mask_);
}

} // namespace detail
} // namespace BARMAP_INLINE_NAMESPACE
} // namespace barmap
