// SPDX-License-Identifier: MIT
#include "kernels.hpp"

#include "kernel_parameters.hpp"

#include <algorithm>
#include <atomic>
#include <cstring>
#include <sched.h>
#include <vector>

namespace barmap::sim {
namespace {

template <class T>
T load(T const* from) noexcept {
    return std::atomic_ref(*const_cast<T*>(from)).load(std::memory_order_acquire);
}

template <class T>
void store(T* to, T value) noexcept {
    std::atomic_ref(*to).store(value, std::memory_order_release);
}

/// Polls for a while, then lets other threads run in between: there may be few processors.
template <class Condition>
void spin_until(Condition condition) {
    for (unsigned tries = 0; !condition(); ++tries)
        if (tries >= 1000)
            sched_yield();
}

// barmap_pingpong(uint64 const* doorbell, uint64* answer, uint64 rounds)
// for i in 1..rounds: waits until *doorbell == i, then *answer = i.
std::function<void()> pingpong(void** parameters, unsigned) {
    auto const* const doorbell = pointer<std::uint64_t>(parameters, 0, 1);
    auto* const answer = pointer<std::uint64_t>(parameters, 1, 1);
    auto const rounds = parameter<std::uint64_t>(parameters, 2);
    return [=] {
        for (std::uint64_t round = 1; round <= rounds; ++round) {
            spin_until([&] { return load(doorbell) == round; });
            store(answer, round);
        }
    };
}

/// The simulated GPU's clock.
constexpr std::uint64_t cycles_per_ns = 3;

void let_pass(std::uint64_t wait_ns) {
    std::uint64_t const begin = nanoseconds();
    spin_until([&] { return nanoseconds() - begin >= wait_ns; });
}

template <class Word>
void count_words(std::byte* counter, std::uint64_t bytes, std::uint64_t last,
                 std::uint32_t const* stop, std::uint64_t pace_ns) {
    auto* const words = reinterpret_cast<Word*>(counter);
    for (std::uint64_t i = 1; i <= last && !(stop && load(stop) != 0); ++i) {
        for (std::uint64_t k = 0; k < bytes / sizeof(Word); ++k)
            store(words + k, static_cast<Word>(i));
        if (pace_ns > 0)
            let_pass(pace_ns);
    }
}

// barmap_count(void* counter, uint32 bytes, uint64 last, uint32 const* stop, uint32 pace)
// for i in 1..last, until *stop != 0: every word of the buffer becomes i, at least `pace` cycles
// after it became i - 1. A word has 8 bytes, or as many as the buffer if that has 4, 2 or 1. `stop`
// may be null.
std::function<void()> count(void** parameters, unsigned) {
    auto const bytes = parameter<std::uint32_t>(parameters, 1);
    auto const last = parameter<std::uint64_t>(parameters, 2);
    auto const pace = parameter<std::uint32_t>(parameters, 4);
    std::uint32_t const* stop = nullptr;
    if (parameter<CUdeviceptr>(parameters, 3) != 0)
        stop = pointer<std::uint32_t>(parameters, 3, 1);
    require(bytes >= 8 || bytes == 4 || bytes == 2 || bytes == 1);
    std::byte* const counter = pointer<std::byte>(parameters, 0, bytes);
    require(reinterpret_cast<std::uintptr_t>(counter) % std::min(bytes, 8u) == 0);
    auto* const run = bytes >= 8   ? &count_words<std::uint64_t>
                      : bytes == 4 ? &count_words<std::uint32_t>
                      : bytes == 2 ? &count_words<std::uint16_t>
                                   : &count_words<std::uint8_t>;
    std::uint64_t const pace_ns = (std::uint64_t{pace} + cycles_per_ns - 1) / cycles_per_ns;
    return [=] { run(counter, bytes, last, stop, pace_ns); };
}

// barmap_fill(uint8* p, uint64 n, uint64 seed): p[k] = (k * 131 + seed * 29 + (k >> 8)) & 0xff
std::function<void()> fill(void** parameters, unsigned) {
    auto const bytes = parameter<std::uint64_t>(parameters, 1);
    auto const seed = parameter<std::uint64_t>(parameters, 2);
    if (!bytes)
        return [] {};
    auto* const to = pointer<std::uint8_t>(parameters, 0, bytes);
    return [=] {
        for (std::uint64_t k = 0; k < bytes; ++k)
            to[k] = static_cast<std::uint8_t>(k * 131 + seed * 29 + (k >> 8));
    };
}

/// The flags that barmap_consume and barmap_produce share with the CPU.
struct shared_flags {
    std::uint32_t const* gpu_flag;
    std::uint32_t* cpu_flags; ///< one for each block
    unsigned blocks;
    std::uint32_t rounds;
    std::uint32_t* data;
    std::uint64_t words;

    shared_flags(void** parameters, unsigned blocks)
        : gpu_flag(pointer<std::uint32_t>(parameters, 0, 1)),
          cpu_flags(pointer<std::uint32_t>(parameters, 1, blocks)), blocks(blocks),
          rounds(parameter<std::uint32_t>(parameters, 2)), data(nullptr),
          words(parameter<std::uint64_t>(parameters, 4)) {
        if (words)
            data = pointer<std::uint32_t>(parameters, 3, words);
    }

    /// False if the CPU has set the top bit instead, which ends the kernel.
    [[nodiscard]] bool wait_for(std::uint32_t round) const {
        std::uint32_t seen = 0;
        spin_until([&] {
            seen = load(gpu_flag);
            return seen == round || seen >> 31 != 0;
        });
        return seen == round;
    }

    void answer(std::uint32_t value) const {
        for (unsigned block = 0; block < blocks; ++block)
            store(cpu_flags + block, value);
    }
};

// barmap_consume(uint32 const* gpu_flag, uint32* cpu_flags, uint32 rounds, uint32 const* data,
//                uint64 words)
// cpu_flags = 1, then for i in 1..rounds: waits until *gpu_flag == i, then cpu_flags = i + 1, with
// the top bit set unless every word of the data is i & 1.
std::function<void()> consume(void** parameters, unsigned blocks) {
    shared_flags const with(parameters, blocks);
    return [with] {
        with.answer(1);
        for (std::uint32_t round = 1; round <= with.rounds && with.wait_for(round); ++round) {
            bool const right =
                std::all_of(with.data, with.data + with.words,
                            [&](auto const& word) { return load(&word) == (round & 1); });
            with.answer(right ? round + 1 : (round + 1) | 1u << 31);
        }
    };
}

// barmap_produce(uint32 const* gpu_flag, uint32* cpu_flags, uint32 rounds, uint32* data,
//                uint64 words, uint64 (*times)[2])
// for i in 1..rounds+1: every word of the data becomes i & 1, but not in the first round; then
// cpu_flags = i; then waits until *gpu_flag == i. times[block] = ends of the first and last round.
std::function<void()> produce(void** parameters, unsigned blocks) {
    shared_flags const with(parameters, blocks);
    auto* const times = pointer<std::uint64_t>(parameters, 5, std::uint64_t{blocks} * 2);
    return [=] {
        std::uint64_t begin = 0;
        for (std::uint32_t round = 1; round <= with.rounds + 1; ++round) {
            for (std::uint64_t k = 0; round > 1 && k < with.words; ++k)
                store(with.data + k, round & 1);
            with.answer(round);
            if (!with.wait_for(round))
                return;
            if (round == 1)
                begin = nanoseconds();
        }
        for (unsigned block = 0; block < with.blocks; ++block) {
            times[2 * block] = begin;
            times[2 * block + 1] = nanoseconds();
        }
    };
}

// barmap_add(float const* a, float const* b, float* sum, uint64 n): sum[k] = a[k] + b[k]
std::function<void()> add(void** parameters, unsigned) {
    auto const count = parameter<std::uint64_t>(parameters, 3);
    if (!count)
        return [] {};
    auto const* const a = pointer<float>(parameters, 0, count);
    auto const* const b = pointer<float>(parameters, 1, count);
    auto* const sum = pointer<float>(parameters, 2, count);
    return [=] {
        for (std::uint64_t k = 0; k < count; ++k)
            sum[k] = a[k] + b[k];
    };
}

// barmap_copy_pieces(uint64 const (*pieces)[3], uint32 count): copies to pieces[i][0] from
// pieces[i][1] pieces[i][2] bytes.
std::function<void()> copy_pieces(void** parameters, unsigned) {
    auto const count = parameter<std::uint32_t>(parameters, 1);
    struct piece {
        std::byte *to, *from;
        std::uint64_t bytes;
    };
    std::vector<piece> pieces;
    auto const* const words = pointer<std::uint64_t>(parameters, 0, std::uint64_t{3} * count);
    address_map& addresses = the_world().addresses;
    for (std::uint32_t i = 0; i < count; ++i) {
        auto const* const one = words + std::size_t{3} * i;
        pieces.push_back(
            {addresses.resolve(one[0], one[2]), addresses.resolve(one[1], one[2]), one[2]});
        require(pieces.back().to && pieces.back().from);
    }
    return [=] {
        for (piece const& one : pieces)
            std::memcpy(one.to, one.from, one.bytes);
    };
}

// barmap_spin(uint64* time, uint64 ns): waits that long, then *time = the time
std::function<void()> spin(void** parameters, unsigned) {
    auto* const time = pointer<std::uint64_t>(parameters, 0, 1);
    auto const wait_ns = parameter<std::uint64_t>(parameters, 1);
    return [=] {
        let_pass(wait_ns);
        store(time, nanoseconds());
    };
}

// barmap_write_words(uint32* source, uint32* host, uint32* back, uint32 words, uint32 value,
//                    uint64 ns)
// source = ~value, host = back = 0; after that many nanoseconds source = value.
std::function<void()> write_words(void** parameters, unsigned) {
    auto const words = parameter<std::uint32_t>(parameters, 3);
    auto const value = parameter<std::uint32_t>(parameters, 4);
    auto const wait_ns = parameter<std::uint64_t>(parameters, 5);
    auto* const source = pointer<std::uint32_t>(parameters, 0, words);
    auto* const host = pointer<std::uint32_t>(parameters, 1, words);
    auto* const back = pointer<std::uint32_t>(parameters, 2, words);
    return [=] {
        for (std::uint32_t k = 0; k < words; ++k) {
            store(source + k, ~value);
            store(host + k, std::uint32_t{0});
            store(back + k, std::uint32_t{0});
        }
        let_pass(wait_ns);
        for (std::uint32_t k = 0; k < words; ++k)
            store(source + k, value);
    };
}

// barmap_check_words(uint32 const* back, uint32 words, uint32 value, uint64 counts[2])
// counts[0] += the words that are ~value, counts[1] += the others that are not value.
std::function<void()> check_words(void** parameters, unsigned) {
    auto const words = parameter<std::uint32_t>(parameters, 1);
    auto const value = parameter<std::uint32_t>(parameters, 2);
    auto const* const back = pointer<std::uint32_t>(parameters, 0, words);
    auto* const counts = pointer<std::uint64_t>(parameters, 3, 2);
    return [=] {
        for (std::uint32_t k = 0; k < words; ++k)
            if (std::uint32_t const found = load(back + k); found != value)
                ++counts[found == ~value ? 0 : 1];
    };
}

constexpr kernel kernels[] = {
    {"barmap_pingpong", pingpong},
    {"barmap_count", count},
    {"barmap_fill", fill},
    {"barmap_add", add},
    {"barmap_consume", consume},
    {"barmap_produce", produce},
    {"barmap_copy_pieces", copy_pieces},
    {"barmap_spin", spin},
    {"barmap_write_words", write_words},
    {"barmap_check_words", check_words},
};

} // namespace

kernel const* find_routine(std::string_view name) noexcept {
    for (auto const some : {std::span<kernel const>(kernels), ring_routines(), step_routines()})
        for (kernel const& known : some)
            if (name == known.name)
                return &known;
    return nullptr;
}

} // namespace barmap::sim
