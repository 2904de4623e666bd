// SPDX-License-Identifier: MIT
#include "world.hpp"

#include <unistd.h>
#include <vector>

/// Checkpoints of the calling process by itself. As with the real driver, all memory comes back at
/// its addresses and in other objects, of another client; references to the old objects continue
/// to reach these. Calls in between, which the real driver holds up, are refused here
/// (ILLEGAL_STATE), so that a test notices them.
using namespace barmap::cuda;
using namespace barmap::sim;

namespace {

/// CUprocessState.
enum class state { running, locked, checkpointed };

void move(state from, state to, int pid) {
    require(pid == getpid());
    require(process_state().load() == int(from), error_illegal_state);
    process_state().store(int(to));
}

void move_all_memory() {
    world& all = the_world();
    std::vector<physical*> own;
    for (auto const& [number, object] : all.objects)
        if (object->is_own())
            own.push_back(object);
    for (physical* each : own) {
        each->renew();
        for (reservation const* where : reservation::all())
            where->place_again(*each);
    }
    all.client += 0x10000;
}

} // namespace

BARMAP_SIM_ENTRY cuCheckpointProcessLock(int pid, void*) {
    return call(
        "cuCheckpointProcessLock", [&](world_lock&) { move(state::running, state::locked, pid); },
        admitted::during_checkpoint);
}

BARMAP_SIM_ENTRY cuCheckpointProcessCheckpoint(int pid, void*) {
    return call(
        "cuCheckpointProcessCheckpoint",
        [&](world_lock& lock) {
            for (auto const& each : the_world().devices)
                drain_device(each->ordinal, lock);
            move(state::locked, state::checkpointed, pid);
        },
        admitted::during_checkpoint);
}

BARMAP_SIM_ENTRY cuCheckpointProcessRestore(int pid, void*) {
    return call(
        "cuCheckpointProcessRestore",
        [&](world_lock&) {
            move(state::checkpointed, state::locked, pid);
            move_all_memory();
        },
        admitted::during_checkpoint);
}

BARMAP_SIM_ENTRY cuCheckpointProcessUnlock(int pid, void*) {
    return call(
        "cuCheckpointProcessUnlock", [&](world_lock&) { move(state::locked, state::running, pid); },
        admitted::during_checkpoint);
}

BARMAP_SIM_ENTRY cuCheckpointProcessGetState(int pid, int* told) {
    return call(
        "cuCheckpointProcessGetState",
        [&](world_lock&) {
            require(pid == getpid());
            out(told) = process_state().load();
        },
        admitted::during_checkpoint);
}
