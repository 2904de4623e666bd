// SPDX-License-Identifier: MIT
#include "transfer/copy_methods.hpp"

#include "base/config.hpp"
#include "base/log.hpp"
#include "transfer/cpu/measure.hpp"

#include <barmap/error.hpp>
#include <barmap/copy.hpp>

#include <algorithm>
#include <limits>

namespace barmap {
namespace {

using engine::direction;
using engine::outcome;

constexpr direction as_engine(copy_direction which) noexcept {
    return which == copy_direction::to_gpu ? direction::to_gpu : direction::to_cpu;
}

constexpr std::size_t largest = std::size_t{1} << 20; ///< beyond it, the choice stays
constexpr std::size_t rounds = 9;
constexpr double hopeless = 3; ///< times the best

/// The memory of the contest.
struct arena {
    window gpu;
    std::uint64_t address;
    std::function<bool()> const& is_still_there;
    os::region pageable = os::region::shared_memory(largest);
    os::region pinned = os::region::shared_memory(largest);
};

/// One method: an engine, or with none the mapping.
class contestant {
public:
    contestant(arena& where, engine_slot* slot) : where_(where), slot_(slot) {
        if (!slot)
            return;
        worker_ = slot->get();
        if (!worker_)
            return;
        try {
            gpu_ = worker_->engine().reach(cuda::describe(where.address, where.gpu.size));
            if (!where.is_still_there()) // but perhaps other memory at its address
                worker_.reset();
        } catch (error const&) {
            worker_.reset();
        }
    }
    [[nodiscard]] engine_slot* slot() const noexcept { return slot_; }
    [[nodiscard]] bool competes() const noexcept { return !slot_ || worker_; }

    /// Microseconds of one copy; infinity for one that does not end.
    double time(copy_direction which, host_memory_kind host, std::size_t bytes) {
        std::int64_t const begin = copy::steady_nanoseconds();
        if (!copy(which, host, bytes))
            return std::numeric_limits<double>::infinity();
        return static_cast<double>(copy::steady_nanoseconds() - begin) / 1000;
    }

private:
    bool copy(copy_direction which, host_memory_kind host, std::size_t bytes) {
        std::byte* const data =
            (host == host_memory_kind::pinned ? where_.pinned : where_.pageable).data();
        if (!slot_) {
            if (which == copy_direction::to_gpu)
                write(where_.gpu, std::span<std::byte const>(data, bytes));
            else
                read(std::span(data, bytes), where_.gpu);
            return true;
        }
        if (!worker_)
            return false;
        if (!gpu_->is_unchanged())
            return false;
        outcome const result = host == host_memory_kind::pinned
                                   ? worker_->copy_pinned(as_engine(which), *gpu_, bytes)
                                   : worker_->copy_staged(as_engine(which), *gpu_, 0, data, bytes);
        if (result == outcome::done)
            return true;
        slot_->retire(worker_);
        worker_.reset();
        return false;
    }

    arena& where_;
    engine_slot* slot_;
    std::shared_ptr<engine::worker> worker_;
    std::unique_ptr<engine::reachable> gpu_; // goes before the worker
};

/// Size after size, all of them in turn, round after round, so that what disturbs one disturbs all.
void compete(std::vector<std::unique_ptr<contestant>> const& all, copy_direction which,
             host_memory_kind host, copy_methods::by_size& chosen) {
    std::vector<contestant*> still;
    for (std::unique_ptr<contestant> const& each : all)
        still.push_back(each.get());
    engine_slot* winner = nullptr;
    for (std::size_t bytes = least_for_engines(which); bytes <= largest; bytes *= 2) {
        std::vector<std::array<double, rounds>> times(still.size());
        for (contestant* each : still)
            (void)each->time(which, host, bytes); // page faults, and what else comes once
        for (std::size_t round = 0; round < rounds; ++round)
            for (std::size_t i = 0; i < still.size(); ++i)
                times[i][round] = still[i]->time(which, host, bytes);
        std::vector<double> typical;
        for (std::array<double, rounds>& samples : times) {
            // The lower quartile: what disturbs a sample only ever makes it longer.
            auto const quartile = samples.begin() + rounds / 4;
            std::nth_element(samples.begin(), quartile, samples.end());
            typical.push_back(*quartile);
        }
        winner = still[copy::prefer(typical)]->slot();
        chosen[copy::size_class(bytes)] = winner;
        // An engine's own cost matters less and less; loads through BAR1 only get worse.
        double const best = *std::min_element(typical.begin(), typical.end());
        if (!still.front()->slot() && typical.front() > hopeless * best)
            still.erase(still.begin());
    }
    for (std::size_t i = copy::size_class(largest) + 1; i < chosen.size(); ++i)
        chosen[i] = winner;
}

std::string name_of(engine_slot const* slot) {
    return slot ? std::string(slot->name()) : "mapping";
}

} // namespace

copy_methods measure_methods(std::span<engine_slot* const> engines, window gpu, std::uint64_t at,
                             std::function<bool()> const& is_still_there) {
    copy_methods result;
    bool const forced = !config::current().engine.empty();
    if (forced) { // for every copy that is not too small for any
        for (copy_direction const which : {copy_direction::to_gpu, copy_direction::to_cpu})
            for (auto& by_size : result.chosen[static_cast<std::size_t>(which)])
                for (std::size_t i = copy::size_class(least_for_engines(which)); i < by_size.size();
                     ++i)
                    by_size[i] = engines.empty() ? nullptr : engines.front();
        return result;
    }
    arena where{gpu, at, is_still_there};
    std::vector<std::unique_ptr<contestant>> all;
    all.push_back(std::make_unique<contestant>(where, nullptr));
    for (engine_slot* const slot : engines)
        if (auto one = std::make_unique<contestant>(where, slot); one->competes())
            all.push_back(std::move(one));
    if (all.size() == 1)
        return result;
    for (copy_direction const which : {copy_direction::to_gpu, copy_direction::to_cpu})
        for (host_memory_kind const host : {host_memory_kind::pageable, host_memory_kind::pinned})
            compete(all, which, host,
                    result.chosen[static_cast<std::size_t>(which)][static_cast<std::size_t>(host)]);
    for (copy_crossover const& each : result.crossovers())
        log::info(std::string(to_string(each.direction)) + ", " +
                  std::string(to_string(each.host)) + " memory, from " +
                  std::to_string(each.from_bytes) + " bytes on: " + each.method);
    return result;
}

std::vector<copy_crossover> copy_methods::crossovers() const {
    std::vector<copy_crossover> result;
    for (copy_direction const which : {copy_direction::to_gpu, copy_direction::to_cpu})
        for (host_memory_kind const host : {host_memory_kind::pageable, host_memory_kind::pinned}) {
            by_size const& by =
                chosen[static_cast<std::size_t>(which)][static_cast<std::size_t>(host)];
            result.push_back({which, host, 0, name_of(by[0])});
            for (std::size_t i = 1; i < by.size(); ++i) {
                if (by[i] == by[i - 1])
                    continue;
                // The least size of which of() looks into this class.
                std::size_t from = (std::size_t{1} << (i - 1)) * 2 / 3;
                while (copy::size_class(from + from / 2 - 1) < i)
                    ++from;
                result.push_back({which, host, from, name_of(by[i])});
            }
        }
    return result;
}

} // namespace barmap
