// SPDX-License-Identifier: MIT
#include "batch/batch_lane.hpp"

#include <algorithm>
#include <thread>

namespace barmap::tool {

batch_lane::batch_lane(batch_bench const& bench, batch_pools const& pools, std::string_view method,
                       copy_direction way, batch_order order, batch_shape const& shape)
    : bench_(bench), way_(way), bytes_(shape.bytes()) {
    constexpr std::size_t most_turns = 4;
    cuda::context_scope const scope = bench.gpu.enter();
    piece_picker picker(shape.size, pools.size(), order, bench.values.seed);
    std::size_t const room = pools.size() / piece_picker::stride(shape.size, order);
    std::size_t const turns = std::clamp<std::size_t>(room / shape.pieces, 1, most_turns);
    places_ = picker.pick(turns * shape.pieces); // disjoint, to verify all of them
    pieces_ = pools.pieces(way, places_);
    std::vector<left_out> missing; // already reported
    for (std::size_t i = 0; i < turns; ++i) {
        methods_.push_back(make_batch_method(method, bench.gpu, bench.kernels, missing));
        methods_.back()->prepare(std::span(pieces_).subspan(i * shape.pieces, shape.pieces));
    }
}

void batch_lane::run(std::atomic<unsigned>& waiting, std::atomic<bool> const& stop) {
    try {
        --waiting;
        while (waiting > 0 && !stop)
            std::this_thread::yield();
        cuda::context_scope const scope = bench_.gpu.enter();
        clock::time_point const begin = clock::now();
        for (std::size_t i = 0; !stop || i < methods_.size(); ++i) {
            batch_method& next = *methods_[i % methods_.size()];
            next.submit();
            next.wait();
            ++batches_;
        }
        seconds_ = seconds_since(begin);
    } catch (...) {
        failure_ = std::current_exception();
    }
}

double batch_lane::gigabytes_per_second() const {
    if (failure_)
        std::rethrow_exception(failure_);
    return static_cast<double>(batches_ * bytes_) / seconds_ / 1e9;
}

lanes_found run_lanes(std::span<std::unique_ptr<batch_lane> const> lanes, batch_pools& pools,
                      std::function<void()> const& work) {
    for (auto const& each : lanes)
        pools.clear(each->way(), pools.size());
    {
        struct running {
            std::atomic<unsigned> waiting{0};
            std::atomic<bool> stop{false};
            std::vector<std::thread> threads{};
            ~running() {
                stop = true;
                for (std::thread& each : threads)
                    each.join();
            }
        } state{static_cast<unsigned>(lanes.size())};
        for (auto const& each : lanes)
            state.threads.emplace_back([&] { each->run(state.waiting, state.stop); });
        while (state.waiting > 0)
            std::this_thread::yield();
        work();
    }
    lanes_found found;
    for (auto const& each : lanes) {
        found.rates.push_back(each->gigabytes_per_second());
        found.faults += pools.compare(each->way(), each->places(), pools.size());
    }
    return found;
}

} // namespace barmap::tool
