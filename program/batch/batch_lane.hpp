// SPDX-License-Identifier: MIT
#pragma once

#include "batch/batch.hpp"

#include <atomic>
#include <exception>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

namespace barmap::tool {

/// One direction, on one thread: several batches in turn, all prepared before the measurement.
class batch_lane {
public:
    /// @throws error
    batch_lane(batch_bench const& bench, batch_pools const& pools, std::string_view method,
               copy_direction way, batch_order order, batch_shape const& shape);

    /// Copies every batch at least once, and continues until `stop` is set.
    /// @param waiting number of lanes that are not ready; each subtracts one and waits for 0
    void run(std::atomic<unsigned>& waiting, std::atomic<bool> const& stop);

    /// @throws what the copies threw
    [[nodiscard]] double gigabytes_per_second() const;
    [[nodiscard]] copy_direction way() const { return way_; }
    [[nodiscard]] std::vector<copy_place> const& places() const { return places_; }
    [[nodiscard]] std::string name() const { return methods_.front()->name(); }

private:
    batch_bench const& bench_;
    copy_direction way_;
    std::size_t bytes_;
    std::vector<copy_place> places_;
    std::vector<copy_piece> pieces_;
    std::vector<std::unique_ptr<batch_method>> methods_;
    std::size_t batches_ = 0;
    double seconds_ = 0;
    std::exception_ptr failure_;
};

/// The copies of all lanes together.
struct lanes_found {
    std::vector<double> rates; ///< GB/s of each
    batch_faults faults;
};

/// Runs every lane on its own thread and, once all are ready, work() on this one; then compares
/// every byte. A lane to the CPU must be the first: the check of the other one overwrites its
/// bytes.
/// @throws what work() or a copy throws
[[nodiscard]] lanes_found run_lanes(std::span<std::unique_ptr<batch_lane> const> lanes,
                                    batch_pools& pools, std::function<void()> const& work);

} // namespace barmap::tool
