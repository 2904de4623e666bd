// SPDX-License-Identifier: MIT
#include "transfer/engine/engine_reach.hpp"

#include "base/leave_to_exit.hpp"

#include <barmap/error.hpp>

#include <algorithm>
#include <utility>

namespace barmap {

void engine_reach::describe(cuda::memory const& memory, std::vector<rm::held_object> held,
                            owner whose) {
    memory_ = memory;
    held_ = std::move(held);
    owner_ = whose;
    ids_.clear();
    for (cuda::allocation_part const& chunk : memory.chunks)
        ids_.push_back(cuda::allocation_id(chunk.base));
}

bool engine_reach::has_changed() const noexcept {
    for (std::size_t i = 0; i < ids_.size(); ++i)
        if (ids_[i] != 0 && cuda::allocation_id(memory_.chunks[i].base) != ids_[i])
            return true;
    return false;
}

bool engine_reach::is_unchanged() const noexcept {
    return !ids_.empty() && std::ranges::find(ids_, 0u) == ids_.end() && !has_changed();
}

/// @return null if the engine cannot reach the memory; a mapping still can
std::unique_ptr<engine::reachable const> engine_reach::reach(engine::copy_engine& by) const {
    try {
        if (!held_.empty())
            if (auto memory = by.reach_held(held_))
                return memory;
        if (!is_unchanged())
            return nullptr;
        auto memory = by.hold(memory_);
        if (!memory && owner_ == owner::barmap)
            memory = by.reach(memory_);
        return is_unchanged() ? std::move(memory) : nullptr; // freed meanwhile
    } catch (error const&) {
        return nullptr;
    }
}

std::shared_ptr<engine_reach::reached const> engine_reach::find(engine_slot& slot) const {
    std::lock_guard const hold(lock_);
    for (std::shared_ptr<reached const> const& each : reached_)
        if (each->slot == &slot && !each->worker->is_retired())
            return each;
    std::shared_ptr<engine::worker> const worker = slot.get();
    if (!worker)
        return nullptr;
    std::shared_ptr<engine::reachable const> const memory = reach(worker->engine());
    std::erase_if(reached_, [](auto const& each) { return each->worker->is_retired(); });
    return reached_.emplace_back(std::make_shared<reached>(reached{&slot, worker, memory}));
}

bool engine_reach::retire(std::shared_ptr<reached const> const& by) {
    bool const has_stopped = by->slot->retire(by->worker);
    if (!has_stopped)
        leave_to_exit(by);
    return has_stopped;
}

} // namespace barmap
