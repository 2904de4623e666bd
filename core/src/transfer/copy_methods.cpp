// SPDX-License-Identifier: MIT
#include "transfer/copy_methods.hpp"

#include "base/config.hpp"
#include "base/log_lines.hpp"
#include "transfer/contest.hpp"
#include "transfer/engine/held_memory.hpp"

#include <barmap/copy.hpp>
#include <barmap/error.hpp>

#include <cstring>
#include <limits>

namespace barmap {
namespace {

using engine::copy_outcome;
using engine::direction;

constexpr direction as_engine(copy_direction which) noexcept {
    return which == copy_direction::to_gpu ? direction::to_gpu : direction::to_cpu;
}

constexpr std::size_t largest = policy::engine_contest_end;
constexpr std::int64_t budget = policy::engine_contest * 1000; ///< ns of each of two measurements

/// One method: an engine, or with none the mapping.
class method {
public:
    /// @param slot null: the mapping
    method(engine_slot* slot, window gpu, engine_reach const& reached) : slot_(slot), mapped_(gpu) {
        if (slot)
            gpu_ = reached.find(*slot);
    }
    [[nodiscard]] engine_slot* slot() const noexcept { return slot_; }
    [[nodiscard]] bool competes() const noexcept { return !slot_ || (gpu_ && gpu_->memory); }

    /// @return whether the copy was made
    bool copy(copy_direction which, host_memory_kind kind, std::span<std::byte> host) {
        if (!slot_) {
            if (which == copy_direction::to_gpu)
                write(mapped_, std::span<std::byte const>(host));
            else
                read(host, mapped_);
            return true;
        }
        if (!gpu_ || !gpu_->memory->is_unchanged())
            return false;
        engine::worker& by = *gpu_->worker;
        copy_outcome const result =
            kind == host_memory_kind::pinned
                ? by.copy_pinned(as_engine(which), *gpu_->memory, host.size())
                : by.copy_staged(as_engine(which), *gpu_->memory, 0, host.data(), host.size());
        if (result == copy_outcome::done)
            return true;
        engine_reach::retire(gpu_);
        gpu_.reset();
        return false;
    }

private:
    engine_slot* slot_;
    window mapped_;
    std::shared_ptr<engine_reach::reached const> gpu_;
};

std::string name_of(engine_slot const* slot) {
    return slot ? std::string(slot->name()) : "mapping";
}

} // namespace

copy_methods measure_methods(std::span<engine_slot* const> engines, window gpu,
                             engine_reach const& reached) {
    copy_methods result;
    bool const forced = !config::current().engine.empty();
    if (forced) { // for every copy that is not too small for any
        for (copy_direction const which : {copy_direction::to_gpu, copy_direction::to_cpu})
            for (auto& by_size : result.chosen[static_cast<std::size_t>(which)])
                if (!engines.empty())
                    by_size.push_back({least_for_engines(which), engines.front()});
        return result;
    }
    std::vector<std::unique_ptr<method>> all;
    all.push_back(std::make_unique<method>(nullptr, gpu, reached));
    for (engine_slot* const slot : engines)
        if (auto one = std::make_unique<method>(slot, gpu, reached); one->competes())
            all.push_back(std::move(one));
    if (all.size() == 1)
        return result;
    os::region const pageable = os::region::shared_memory(largest),
                     pinned = os::region::shared_memory(largest);
    struct part {
        copy_methods::by_size& chosen;
        contest among;
    };
    std::vector<part> parts;
    for (copy_direction const which : {copy_direction::to_gpu, copy_direction::to_cpu})
        for (host_memory_kind const kind : {host_memory_kind::pageable, host_memory_kind::pinned}) {
            std::byte* const host = (kind == host_memory_kind::pinned ? pinned : pageable).data();
            std::memset(host, 0x5a, largest); // page faults
            auto const time = [&all, which, kind, host](std::size_t candidate, std::size_t bytes,
                                                        unsigned repeats) {
                std::int64_t const begin = steady_nanoseconds();
                for (unsigned i = 0; i < repeats; ++i)
                    if (!all[candidate]->copy(which, kind, {host, bytes}))
                        return std::numeric_limits<double>::infinity();
                return static_cast<double>(steady_nanoseconds() - begin);
            };
            parts.push_back(
                {result.chosen[static_cast<std::size_t>(which)][static_cast<std::size_t>(kind)],
                 contest(all.size(), least_for_engines(which), largest, time)});
        }
    for (int twice = 0; twice < 2; ++twice)
        for (part& each : parts)
            each.among.measure(budget);
    for (part const& each : parts) {
        each.chosen.clear();
        for (auto const& [from, winner] : each.among.winners_by_size())
            each.chosen.push_back({from, all[winner]->slot()});
    }
    for (copy_crossover const& each : result.crossovers())
        log::info(std::string(to_string(each.direction)) + ", " +
                  std::string(to_string(each.host)) + " memory, from " +
                  std::to_string(each.from_bytes) + " bytes on: " + each.method);
    return result;
}

std::vector<copy_crossover> copy_methods::crossovers() const {
    std::vector<copy_crossover> result;
    for (copy_direction const which : {copy_direction::to_gpu, copy_direction::to_cpu})
        for (host_memory_kind const host : {host_memory_kind::pageable, host_memory_kind::pinned})
            for (choice const& each : all(which, host))
                result.push_back({which, host, each.from_bytes, name_of(each.by),
                                  engine::holds_cuda_malloc(name_of(each.by))});
    return result;
}

} // namespace barmap
