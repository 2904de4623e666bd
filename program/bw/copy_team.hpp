// SPDX-License-Identifier: MIT
#pragma once

#include "measure/compared_copies.hpp"

#include <atomic>
#include <cstddef>
#include <thread>
#include <vector>

namespace barmap::tool {

/// Threads that do one transfer together, each its own part of one mapping. The calling thread is
/// one of them. Thread rule: one caller.
class copy_team {
public:
    copy_team(unsigned threads, window whole);
    copy_team(copy_team const&) = delete;
    copy_team& operator=(copy_team const&) = delete;
    ~copy_team();

    /// Transfers that many bytes that many times. @return nanoseconds per transfer
    double transfer(copy_direction way, std::size_t bytes, unsigned times);

    /// Bytes of each thread's part: whole lines.
    [[nodiscard]] std::size_t share(std::size_t bytes) const;

private:
    struct order {
        copy_direction way;
        std::size_t bytes;
        unsigned times;
    };
    void work(unsigned member);
    void do_part(unsigned member);

    window whole_;
    std::vector<std::byte> host_;
    unsigned members_;
    order order_{};
    std::atomic<unsigned> round_{0}; ///< goes up when there is an order
    std::atomic<unsigned> busy_{0};  ///< members that have not finished it
    std::atomic<bool> ending_{false};
    std::vector<std::thread> threads_;
};

} // namespace barmap::tool
