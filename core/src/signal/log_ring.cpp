// SPDX-License-Identifier: MIT
#include <barmap/log.hpp>

#include "base/c_boundary.hpp"
#include "cuda/driver_api.hpp"
#include "cuda/host_registration.hpp"
#include "signal/log_slot.hpp"
#include "system/fd.hpp"
#include "system/region.hpp"

#include <barmap/error.hpp>
#include <barmap/log.h>
#include <barmap/waits.hpp>

#include <algorithm>
#include <array>
#include <bit>
#include <cstring>
#include <optional>
#include <string>
#include <utility>

namespace barmap {
namespace {

using log_clock = std::chrono::steady_clock;

/// The head of a log's file; the records follow.
struct alignas(64) log_header {
    std::array<char, 8> magic;
    std::uint64_t version, slots;
};
constexpr std::array<char, 8> log_magic{'b', 'a', 'r', 'm', 'a', 'p', 'l', 'g'};
constexpr std::uint64_t log_version = 1;
constexpr std::size_t most_slots_of_a_log = std::size_t{1} << 32;

/// A missing record is skipped once two looks, this far apart, have seen a later one.
constexpr std::chrono::milliseconds between_looks{100};

/// How many slots one such look reads, twice: a large ring takes many looks.
constexpr std::uint64_t most_slots_in_a_look = std::uint64_t{1} << 14;

/// For one record. Two are enough, unless kernels are much faster than the reader.
constexpr int most_looks = 64;

std::size_t bytes_of_log(std::size_t slots) {
    std::size_t const page = os::page_size();
    std::size_t const bytes = sizeof(log_header) + slots * gpu::log_record_words::bytes;
    return (bytes + page - 1) / page * page;
}

std::size_t checked_slots_of_log(std::size_t slots) {
    if (!std::has_single_bit(slots) || slots > most_slots_of_a_log)
        throw error(errc::invalid_argument, "make a log of " + std::to_string(slots) + " slots", "",
                    "give a power of two, up to 2^32, as the number of slots");
    return slots;
}

} // namespace

/// A log that this process has made, or another one; and what has been read of it.
struct log_state {
    log_state(arena const& memory, std::size_t slots, std::uint64_t first);
    explicit log_state(int descriptor);

    [[nodiscard]] gpu::log_ring at(std::uintptr_t records, gpu::word* next_number) const noexcept {
        return {detail::word_at(records), next_number, slots - 1, shift()};
    }
    /// Finds the next record to be read. @return whether there is one
    [[nodiscard]] bool find_next(log_record& to) noexcept;
    void pass_next() noexcept {
        ++next;
        has_skipped_ = false;
    }

    os::fd file;
    os::region host;
    std::size_t slots;
    // Only in the process that has made the log:
    std::optional<cuda::host_registration> registration; ///< goes before host
    std::optional<detail::words_to_gpu> next_number;
    std::uintptr_t gpu_address = 0; ///< of the file's first byte

    std::uint64_t next = 0, lost = 0; ///< the record to be read, and how many were not

private:
    [[nodiscard]] unsigned shift() const noexcept {
        return static_cast<unsigned>(std::countr_zero(slots));
    }
    [[nodiscard]] gpu::word* words_of(std::uint64_t number) const noexcept {
        return reinterpret_cast<gpu::word*>(host.data() + sizeof(log_header)) +
               (number & (slots - 1)) * gpu::log_record_words::words;
    }
    /// The upper halves of the second words of the record with this number.
    [[nodiscard]] std::uint32_t round_of(std::uint64_t number) const noexcept {
        return static_cast<std::uint32_t>(number >> shift()) + 1;
    }
    /// How many rounds a slot is ahead of the record of this number, by the later of its pairs.
    [[nodiscard]] std::int32_t rounds_ahead(std::uint64_t number) const noexcept;
    /// The newest record, if none is missing between it and this one, which is there.
    [[nodiscard]] std::uint64_t newest_from(std::uint64_t number) const noexcept;
    /// Continues with the oldest record that is there. @param newer is in the slot of the next one
    void skip_to_oldest(std::uint64_t newer) noexcept;
    /// The distance from the next record to the first written one at or after `from`.
    /// @return nothing if no slot that one look reads is written
    [[nodiscard]] std::optional<std::uint64_t> first_behind(std::uint64_t from) const noexcept;
    /// Gives up the next record where one behind it has been there for long enough. @return whether
    /// there is one now
    [[nodiscard]] bool skip_unwritten() noexcept;

    bool has_skipped_ = false; ///< and read nothing since
    std::optional<std::uint64_t> awaited_;
    std::uint64_t behind_ = 0; ///< how far a record that is there is behind the awaited one, or 0
    std::uint64_t look_from_ = 1; ///< so far behind it, besides the nearest ones
    log_clock::time_point look_behind_at_;
};

log_state::log_state(arena const& memory, std::size_t count, std::uint64_t first)
    : file(os::memory_file(bytes_of_log(checked_slots_of_log(count)))),
      host(os::region::shared_memory(bytes_of_log(count), file.get())), slots(count), next(first) {
    registration.emplace(cuda::device_with(memory.gpu().ordinal()),
                         std::span(host.data(), host.size()), "it can have no logs");
    gpu_address = registration->gpu_address();
    next_number.emplace(memory, 1);
    next_number->publish(0, first);
    for (std::uint64_t i = 0; first != 0 && i != slots; ++i) { // no record, of rounds before
        gpu::word* const slot = words_of(first + i);
        slot[gpu::log_record_words::id] = gpu::word{round_of(first + i - slots)} << 32;
        slot[gpu::log_record_words::c] = gpu::word{round_of(first + i - 2 * slots)} << 32;
    }
    log_header const header{log_magic, log_version, slots};
    std::memcpy(host.data(), &header, sizeof header);
}

log_state::log_state(int descriptor) : slots(0) {
    constexpr char open_log[] = "open a log";
    auto const refuse = [&] {
        throw error(errc::invalid_argument, open_log, "",
                    "give a descriptor that share() of a log made");
    };
    if (!os::is_lasting_memory(descriptor))
        refuse();
    file = os::duplicate(descriptor);
    // Read the size only now: the file can no longer shrink.
    std::size_t const bytes = os::file_size(file.get()).value_or(0);
    if (bytes < sizeof(log_header))
        refuse();
    host = os::region::read_only(bytes, file.get());
    log_header header;
    std::memcpy(&header, host.data(), sizeof header);
    if (header.magic != log_magic)
        refuse();
    if (header.version != log_version)
        throw error(errc::unsupported_operation, open_log, "",
                    "another version of barmap made it: use one version in both processes");
    if (!std::has_single_bit(header.slots) || header.slots > most_slots_of_a_log ||
        bytes != bytes_of_log(header.slots))
        refuse();
    // CUDA has pinned a log's memory. Of a file with holes, a reader would allocate what it looks
    // at.
    if (!os::is_allocated(file.get(), bytes))
        throw error(errc::invalid_argument, open_log, "",
                    "the file has holes: give a descriptor that share() of a log made");
    slots = header.slots;
    if (auto const rounds = static_cast<std::uint32_t>(rounds_ahead(0)); rounds != ~0u) {
        std::uint64_t const newest = newest_from(rounds * std::uint64_t{slots});
        if (newest >= slots)
            next = lost = newest + 1 - slots;
    }
}

std::int32_t log_state::rounds_ahead(std::uint64_t number) const noexcept {
    gpu::word const* const words = words_of(number);
    auto const ahead = [&](unsigned second_word) {
        return barmap::rounds_ahead(gpu::load_acquire(words + second_word), round_of(number));
    };
    return std::max(ahead(gpu::log_record_words::id), ahead(gpu::log_record_words::c));
}

std::uint64_t log_state::newest_from(std::uint64_t number) const noexcept {
    std::uint64_t there = 0, not_there = slots;
    while (not_there - there > 1) {
        std::uint64_t const middle = there + (not_there - there) / 2;
        (rounds_ahead(number + middle) >= 0 ? there : not_there) = middle;
    }
    return number + there;
}

void log_state::skip_to_oldest(std::uint64_t newer) noexcept {
    // Where that was overwritten before it was read, kernels are faster than this: keep away from
    // them.
    std::uint64_t const kept = has_skipped_ ? std::max<std::uint64_t>(1, slots / 2) : slots;
    std::uint64_t const oldest = newest_from(newer) + 1 - kept;
    lost += oldest - next;
    next = oldest;
    has_skipped_ = true;
}

std::optional<std::uint64_t> log_state::first_behind(std::uint64_t from) const noexcept {
    std::uint64_t const end = std::min<std::uint64_t>(slots, from + most_slots_in_a_look);
    for (std::uint64_t behind = from; behind < end; ++behind)
        if (rounds_ahead(next + behind) >= 0)
            return behind;
    return std::nullopt;
}

bool log_state::skip_unwritten() noexcept {
    auto const now = log_clock::now();
    if (awaited_ != next) {
        awaited_ = next;
        behind_ = 0;
        look_from_ = 1;
        look_behind_at_ = now + between_looks;
    }
    if (now < look_behind_at_)
        return false;
    if (behind_ == 0) {
        look_behind_at_ = now + between_looks;
        look_from_ += most_slots_in_a_look;
        if (look_from_ >= slots)
            look_from_ = 1;
        auto const near = first_behind(1);
        behind_ = near ? *near : first_behind(look_from_).value_or(0);
        return false;
    }
    // A later record has been there for long enough: the missing ones before it count as lost.
    std::uint64_t const most = std::min(behind_, most_slots_in_a_look);
    std::uint64_t const given_up = std::min(most, first_behind(1).value_or(most));
    lost += given_up;
    next += given_up;
    behind_ -= given_up;
    awaited_ = next;
    return rounds_ahead(next) >= 0;
}

bool log_state::find_next(log_record& to) noexcept {
    // Not forever: a process that has the descriptor may write anything.
    for (int looks = 0; looks != most_looks; ++looks) {
        to.number = next;
        switch (read_slot(words_of(next), round_of(next), to)) {
        case slot_state::whole:
            return true;
        case slot_state::gone:
            if (std::int32_t const rounds = rounds_ahead(next); rounds > 0)
                skip_to_oldest(next + static_cast<std::uint64_t>(rounds) * slots);
            break;
        case slot_state::not_yet:
            if (!skip_unwritten())
                return false;
        }
    }
    return false;
}

} // namespace barmap

using namespace barmap;
using c::attempt;
using c::expect;

struct barmap_log : log_state {
    using log_state::log_state;
};

namespace {

// C's structures are those of C++.
using c_record = barmap_log_record;
using c_handle = barmap_log_handle;
using record = barmap::log_record;
using handle_type = barmap::gpu::log_ring;
static_assert(sizeof(c_record) == sizeof(record) &&
              offsetof(c_record, time) == offsetof(record, time) &&
              offsetof(c_record, number) == offsetof(record, number) &&
              offsetof(c_record, id) == offsetof(record, id) &&
              offsetof(c_record, a) == offsetof(record, a) &&
              offsetof(c_record, b) == offsetof(record, b) &&
              offsetof(c_record, c) == offsetof(record, c));
static_assert(sizeof(c_handle) == sizeof(handle_type) &&
              offsetof(c_handle, records) == offsetof(handle_type, records) &&
              offsetof(c_handle, next) == offsetof(handle_type, next) &&
              offsetof(c_handle, mask) == offsetof(handle_type, mask) &&
              offsetof(c_handle, shift) == offsetof(handle_type, shift));

gpu::log_ring handle_of(barmap_log const& log, bool for_thread) noexcept {
    if (!log.next_number)
        return log.at(0, nullptr);
    if (for_thread)
        return log.at(reinterpret_cast<std::uintptr_t>(log.host.data()) + sizeof(log_header),
                      log.next_number->word(0));
    return log.at(log.gpu_address + sizeof(log_header),
                  detail::word_at(log.next_number->gpu_address()));
}

/// Makes a log, and fills in what kernels take of it.
template <class Memory>
int make_log(std::size_t slots, std::uint64_t first, barmap_log_handle* handle, barmap_log** out,
             char const* operation, Memory memory) noexcept {
    int const result = c::make(
        out, operation, [&] { return std::make_unique<barmap_log>(memory(), slots, first); });
    if (result == BARMAP_OK && handle)
        *handle = std::bit_cast<barmap_log_handle>(handle_of(**out, false));
    return result;
}

constexpr char make_log_text[] = "make a log";

} // namespace

int barmap_log_create(barmap_device* device, std::size_t slots, barmap_log_handle* handle,
                      barmap_log** out) {
    return make_log(slots, 0, handle, out, make_log_text, [&] {
        barmap_device* const of = &expect(device, make_log_text, "open a device first, not NULL");
        return arena(barmap::device(barmap_device_retain(of)), arena::alignment, 0);
    });
}

int barmap_log_create_in(barmap_arena* memory, std::size_t slots, std::uint64_t first,
                         barmap_log_handle* handle, barmap_log** out) {
    return make_log(slots, first, handle, out, make_log_text, [&] {
        return arena(
            barmap_arena_retain(&expect(memory, make_log_text, "make an arena first, not NULL")));
    });
}

void barmap_log_get_handle(barmap_log const* log, int for_thread, barmap_log_handle* handle) {
    *handle = std::bit_cast<barmap_log_handle>(handle_of(*log, for_thread != 0));
}

int barmap_log_share(barmap_log const* log, int* descriptor) {
    static constexpr char operation[] = "share a log with another process";
    return attempt([&] {
        expect(descriptor, operation, "pass a pointer for the descriptor, not NULL") = -1;
        *descriptor =
            os::duplicate(expect(log, operation, "create one first, not NULL").file.get()).release();
    });
}

int barmap_log_open_shared(int descriptor, barmap_log** out) {
    return c::make(out, "open a log", [&] { return std::make_unique<barmap_log>(descriptor); });
}

void barmap_log_destroy(barmap_log* log) {
    c::free_handle(log);
}

std::size_t barmap_log_read(barmap_log* log, barmap_log_record* records, std::size_t count) {
    auto* const to = reinterpret_cast<log_record*>(records);
    std::size_t read = 0;
    for (; read != count && log->find_next(to[read]); ++read)
        log->pass_next();
    return read;
}

int barmap_log_wait(barmap_log* log, std::uint64_t nanoseconds) {
    log_record next;
    return detail::look_until([&] { return log->find_next(next); }, detail::wait_of_ns(nanoseconds));
}

std::uint64_t barmap_log_lost(barmap_log const* log) {
    return log->lost;
}
