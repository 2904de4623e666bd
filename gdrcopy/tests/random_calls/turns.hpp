// SPDX-License-Identifier: MIT
#pragma once

#include <array>
#include <condition_variable>
#include <mutex>

namespace barmap::dropin {

/// Two kinds of calls that a program keeps apart: copies, and what may unmap their mapping. Calls
/// of one kind run at once; while both kinds wait, they take turns.
class turns {
public:
    enum kind : unsigned { copying, unmapping };

    /// Holds a turn while it lives.
    class turn {
    public:
        turn(turns& all, kind mine) : all_(all), mine_(mine) {
            std::unique_lock lock(all_.mutex_);
            kind const other = mine == copying ? unmapping : copying;
            ++all_.waiting_[mine];
            all_.left_.wait(lock, [&] {
                return all_.inside_[other] == 0 &&
                       (all_.waiting_[other] == 0 || all_.last_ == other);
            });
            --all_.waiting_[mine];
            ++all_.inside_[mine];
            all_.last_ = mine;
        }
        ~turn() {
            std::lock_guard const lock(all_.mutex_);
            --all_.inside_[mine_];
            all_.left_.notify_all();
        }
        turn(turn const&) = delete;
        turn& operator=(turn const&) = delete;

    private:
        turns& all_;
        kind mine_;
    };

private:
    std::mutex mutex_;
    std::condition_variable left_;
    std::array<unsigned, 2> waiting_{}, inside_{};
    kind last_ = copying;
};

} // namespace barmap::dropin
