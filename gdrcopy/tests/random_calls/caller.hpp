// SPDX-License-Identifier: MIT
#pragma once

#include "count.hpp"
#include "random.hpp"
#include "turns.hpp"

#include <atomic>
#include <cstddef>
#include <gdrapi.h>
#include <memory>
#include <mutex>
#include <unordered_set>
#include <vector>

namespace barmap::dropin {

/// GPU memory that a pin may ask for.
struct target {
    std::uint64_t address;
    std::uint64_t size;
};

/// What the threads call the library with. They read and replace it at any time, so that one thread
/// maps a handle that another unpins, or whose session a third closes. Only a copy never meets a
/// call that may unmap: that would be the program's error.
class playground {
public:
    explicit playground(std::vector<target> targets) : targets_(std::move(targets)) {}

    /// Closes every session that was ever opened.
    /// @return how many of them could still be used after that
    unsigned close_all();

private:
    friend class caller;
    struct slot {
        std::atomic<unsigned long> handle{0};
        std::atomic<gdr_t> session{nullptr};
        std::atomic<void*> va{nullptr};
        std::atomic<std::uint64_t> size{0};
    };

    std::vector<target> const targets_;
    std::array<std::atomic<gdr_t>, 5> sessions_{};
    std::array<slot, 24> slots_;
    std::array<std::atomic<unsigned long>, 64> former_handles_{};
    turns turns_;
    std::mutex mutex_;
    std::unordered_set<gdr_t> ever_opened_;
};

/// Makes random calls on one thread.
class caller {
public:
    caller(playground& common, counts& counted, std::uint64_t seed);

    /// One or two calls of the library. An answer that is neither 0 nor an errno, and a wrong value
    /// with an answer of 0, end the process.
    void call_something();

private:
    using slot = playground::slot;

    int counted(call which, int answer);
    /// The same for a call that may unmap what others copy through.
    template <class Call>
    int unmapping(call which, Call call_it) {
        turns::turn const mine(common_.turns_, turns::unmapping);
        return counted(which, call_it());
    }
    gdr_t session_for(slot const& from);
    gdr_mh_t handle_of(slot const& from);
    void* address_in(slot const& mapped, std::size_t& size);
    std::size_t size_near(std::uint64_t right);
    template <class T>
    T* or_null(T& object) {
        return random_.percent(4) ? nullptr : &object;
    }

    void open();
    void close();
    void pin();
    void unpin();
    void callback_flag();
    void info_v1();
    void info_v2();
    void map();
    void unmap();
    void copy();
    void versions();
    void attribute();
    void type_string();

    playground& common_;
    counts& counts_;
    random random_;
    std::unique_ptr<std::byte[]> buffer_;
};

} // namespace barmap::dropin
