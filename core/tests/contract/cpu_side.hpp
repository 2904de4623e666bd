// SPDX-License-Identifier: MIT
#pragma once

#include "contract/numbered.hpp"
#include "shared/peer.hpp"

#include <algorithm>
#include <barmap/counter.hpp>
#include <barmap/ring.hpp>

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <memory>
#include <optional>
#include <span>
#include <stdexcept>
#include <utility>
#include <vector>

/// Rings and counters whose CPU's side is this process, or another one that has opened their
/// descriptors: so that the same tests try both.
namespace barmap::contract {

/// A process without CUDA that does with rings and counters what it is told to.
class other_process : public test::peer {
public:
    enum class action : std::uint64_t {
        open, destroy, push, flush, pop, wait, depth, closed, close, advance, value
    };
    struct request {
        action what;
        std::uint64_t object;
        std::uint64_t argument = 0;
        std::uint64_t second = 0; ///< of messages, the bytes; of a wait for a number, nanoseconds
    };

    /// Call before anything of CUDA has run.
    other_process();
    ~other_process();

    /// The one that tests use; null: their own.
    static inline other_process* in_use = nullptr;

    /// @param kind a barmap_signal_kind @return a name for it
    std::uint64_t open(std::uint64_t kind, int descriptor);
    /// Throws if the process has ended.
    std::uint64_t ask(request of, void const* sent = nullptr, void* answered = nullptr);

private:
    std::uint64_t opened_ = 0;
};

/// What is common to those below: the object, and a name of it in the other process.
template <class Signal, barmap_signal_kind Kind>
class two_sided {
public:
    template <class... Arguments>
    explicit two_sided(Arguments const&... arguments) : own_(arguments...) {
        attach();
    }
    two_sided(two_sided const&) = delete;
    two_sided& operator=(two_sided const&) = delete;
    ~two_sided() {
        if (other_)
            ask(other_process::action::destroy);
    }
    [[nodiscard]] auto handle_for_thread() const { return own_.handle_for_thread(); }

protected:
    using action = other_process::action;
    struct from_first {};
    two_sided(from_first, arena const& memory, std::size_t slots, std::uint64_t first)
        : own_(detail::first_number::of<Signal>(memory, slots, first)) {
        attach();
    }
    void attach() {
        other_ = other_process::in_use;
        if (other_)
            name_ = other_->open(static_cast<std::uint64_t>(Kind), os::fd(own_.share()).get());
    }
    std::uint64_t ask(action what, std::uint64_t argument = 0, std::uint64_t bytes = 0,
                      void const* sent = nullptr, void* answered = nullptr) const {
        return other_->ask({what, name_, argument, bytes}, sent, answered);
    }
    static std::uint64_t count_of(std::chrono::nanoseconds time) {
        return static_cast<std::uint64_t>(time.count());
    }

    Signal own_;
    other_process* other_ = nullptr;
    std::uint64_t name_ = 0;
};

/// The same of rings.
template <class Ring, barmap_signal_kind Kind>
class two_sided_ring : public two_sided<Ring, Kind> {
protected:
    using typename two_sided<Ring, Kind>::action;

public:
    using two_sided<Ring, Kind>::two_sided;
    bool wait_for(std::chrono::nanoseconds time) {
        return this->other_ ? this->ask(action::wait, this->count_of(time)) != 0
                            : this->own_.wait_for(time);
    }
    std::size_t depth() const {
        return this->other_ ? this->ask(action::depth) : this->own_.depth();
    }
    bool closed() const {
        return this->other_ ? this->ask(action::closed) != 0 : this->own_.closed();
    }
    void close() { this->other_ ? void(this->ask(action::close)) : this->own_.close(); }
};

template <class Signal>
class cpu_side;

template <class Message>
class cpu_side<ring_to_gpu<Message>>
    : public two_sided_ring<ring_to_gpu<Message>, BARMAP_RING_TO_GPU> {
    using base = two_sided_ring<ring_to_gpu<Message>, BARMAP_RING_TO_GPU>;
    using typename base::action;

public:
    using base::base;
    static cpu_side from(arena const& memory, std::size_t slots, std::uint64_t first) {
        return cpu_side(typename base::from_first(), memory, slots, first);
    }

    bool try_push(Message const& message) { return push_many({&message, 1}) == 1; }
    std::size_t push_many(std::span<Message const> messages) {
        return this->other_ ? this->ask(action::push, 0, messages.size_bytes(), messages.data())
                            : this->own_.push_many(messages);
    }
    void flush() { this->other_ ? void(this->ask(action::flush)) : this->own_.flush(); }
};

template <class Message>
class cpu_side<ring_to_cpu<Message>>
    : public two_sided_ring<ring_to_cpu<Message>, BARMAP_RING_TO_CPU> {
    using base = two_sided_ring<ring_to_cpu<Message>, BARMAP_RING_TO_CPU>;
    using typename base::action;

public:
    using base::base;
    static cpu_side from(arena const& memory, std::size_t slots, std::uint64_t first) {
        return cpu_side(typename base::from_first(), memory, slots, first);
    }

    std::optional<Message> try_pop() {
        if (!this->other_)
            return this->own_.try_pop();
        Message message;
        return pop_many({&message, 1}) == 1 ? std::optional(message) : std::nullopt;
    }
    std::size_t pop_many(std::span<Message> messages) {
        if (!this->other_)
            return this->own_.pop_many(messages);
        std::vector<Message> found(messages.size());
        std::size_t const count =
            this->ask(action::pop, 0, messages.size_bytes(), nullptr, found.data());
        std::copy_n(found.begin(), std::min(count, messages.size()), messages.begin());
        return count;
    }
};

template <>
class cpu_side<counter_to_gpu> : public two_sided<counter_to_gpu, BARMAP_COUNTER_TO_GPU> {
public:
    using two_sided::two_sided;
    void advance(std::uint64_t to) {
        other_ ? void(ask(action::advance, to)) : own_.advance(to);
    }
    std::uint64_t value() const { return other_ ? ask(action::value) : own_.value(); }
    void wait(void* stream, std::uint64_t at_least) const { own_.wait(stream, at_least); }
};

template <>
class cpu_side<counter_to_cpu> : public two_sided<counter_to_cpu, BARMAP_COUNTER_TO_CPU> {
public:
    using two_sided::two_sided;
    std::uint64_t value() const { return other_ ? ask(action::value) : own_.value(); }
    bool is_at_least(std::uint64_t number) const {
        return static_cast<std::int64_t>(value() - number) >= 0;
    }
    bool wait_for(std::uint64_t at_least, std::chrono::nanoseconds time) const {
        return other_ ? ask(action::wait, at_least, count_of(time)) != 0
                      : own_.wait_for(at_least, time);
    }
    void record(void* stream, std::uint64_t value) const { own_.record(stream, value); }
};

/// Forks the other process where the way says so.
template <class Fixture>
class with_either_side : public Fixture {
protected:
    void SetUp() override {
        if (this->GetParam().in_other_process)
            other_process::in_use = &other_.emplace();
        Fixture::SetUp();
    }
    void TearDown() override {
        other_process::in_use = nullptr;
        other_.reset();
        Fixture::TearDown();
    }

private:
    std::optional<other_process> other_;
};

#define BARMAP_OVER_SIDES(suite)                                                                   \
    INSTANTIATE_TEST_SUITE_P(ways, suite, over(ways_of_each_side()),                               \
                             [](auto const& info) { return name_of(info.param); })

} // namespace barmap::contract
