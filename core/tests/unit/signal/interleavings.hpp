// SPDX-License-Identifier: MIT
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstring>
#include <initializer_list>
#include <string>
#include <string_view>
#include <type_traits>
#include <unordered_set>
#include <utility>
#include <vector>

/// What the models of protocols share: a walk through all interleavings, and stores that are under
/// way for as long as they like.
namespace barmap::model {

/// Goes through all states that a model reaches, each once.
/// @tparam State bytes only, all of which count
template <class State>
class interleavings {
    static_assert(std::has_unique_object_representations_v<State>);

public:
    /// @param first where it begins
    /// @param step called with a state and this, to which it tells what may come next
    /// @param is_end whether it is right that nothing comes after a state
    /// @return what goes wrong in some interleaving, or nothing
    template <class Step, class IsEnd>
    std::string run(State const& first, Step const& step, IsEnd const& is_end) {
        bool has_ended = false;
        add(first);
        while (!todo_.empty() && failure_.empty()) {
            State const now = todo_.back();
            todo_.pop_back();
            now_ = &now;
            goes_on_ = false;
            step(now, *this);
            has_ended = has_ended || is_end(now);
            if (!goes_on_ && !is_end(now))
                fail("nothing goes on");
        }
        if (failure_.empty() && !has_ended)
            fail("no interleaving ends");
        return failure_;
    }
    /// A state that may come next.
    void add(State const& next) {
        if (now_ != nullptr && are_equal(next, *now_))
            return;
        goes_on_ = true;
        if (seen_.insert(next).second)
            todo_.push_back(next);
    }
    void fail(std::string what) {
        if (failure_.empty())
            failure_ = std::move(what);
    }
    [[nodiscard]] std::size_t states() const { return seen_.size(); }

private:
    static bool are_equal(State const& one, State const& other) {
        return std::memcmp(&one, &other, sizeof one) == 0;
    }
    struct hash {
        std::size_t operator()(State const& of) const {
            return std::hash<std::string_view>{}({reinterpret_cast<char const*>(&of), sizeof of});
        }
    };
    struct equal {
        bool operator()(State const& one, State const& other) const {
            return are_equal(one, other);
        }
    };

    std::unordered_set<State, hash, equal> seen_;
    std::vector<State> todo_;
    std::string failure_;
    State const* now_ = nullptr;
    bool goes_on_ = false;
};

/// Stores of one side that have not arrived. They arrive in any order, but for those to the same
/// place and those that a fence has parted.
/// @tparam Most stores, each of which is of up to `Words` adjacent words
template <unsigned Most, unsigned Words>
class posted_stores {
public:
    [[nodiscard]] bool is_empty() const { return count_ == 0; }
    [[nodiscard]] bool has_room_for(unsigned number) const { return count_ + number <= Most; }

    void store(unsigned at, std::initializer_list<unsigned> values) {
        one& next = stores_[count_++];
        next = {epoch_, std::uint8_t(at), std::uint8_t(values.size()), {}};
        std::copy(values.begin(), values.end(), next.values.begin());
    }
    /// What is stored later arrives later.
    void fence() {
        if (count_ != 0)
            epoch_ = std::uint8_t(stores_[count_ - 1].epoch + 1);
    }

    /// Calls `arrives(which)` for each store that may be the next one.
    template <class Arrives>
    void each_next(Arrives const& arrives) const {
        for (unsigned i = 0; i < count_ && stores_[i].epoch == stores_[0].epoch; ++i)
            if (std::none_of(stores_.begin(), stores_.begin() + i,
                             [&](one const& before) { return overlap(before, stores_[i]); }))
                arrives(i);
    }
    template <class Memory>
    void arrive(unsigned which, Memory& memory) {
        one const& now = stores_[which];
        std::copy_n(now.values.begin(), now.count, memory.begin() + now.at);
        std::copy(stores_.begin() + which + 1, stores_.begin() + count_, stores_.begin() + which);
        stores_[--count_] = {};
        // Equal states are to be equal bytes.
        std::uint8_t const least = count_ == 0 ? epoch_ : stores_[0].epoch;
        for (unsigned i = 0; i < count_; ++i)
            stores_[i].epoch = std::uint8_t(stores_[i].epoch - least);
        epoch_ = std::uint8_t(epoch_ - least);
    }

private:
    struct one {
        std::uint8_t epoch, at, count;
        std::array<std::uint8_t, Words> values;
    };
    static bool overlap(one const& a, one const& b) {
        return a.at < b.at + b.count && b.at < a.at + a.count;
    }
    std::array<one, Most> stores_{}; ///< in the order of their issue
    std::uint8_t count_ = 0, epoch_ = 0;
};

/// What may come next if a store arrives.
template <class State, class Stores, class Memory>
void let_arrive(State const& now, Stores State::*stores, Memory State::*memory,
                interleavings<State>& to) {
    (now.*stores).each_next([&](unsigned which) {
        State next = now;
        (next.*stores).arrive(which, next.*memory);
        to.add(next);
    });
}

} // namespace barmap::model
