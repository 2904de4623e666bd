// SPDX-License-Identifier: MIT
#include "world.hpp"

using namespace barmap::cuda;
using namespace barmap::sim;

namespace {
constexpr unsigned blocking_sync = 1;
constexpr unsigned disable_timing = 2;
constexpr unsigned interprocess = 4; // only without timing

CUresult elapsed(float* milliseconds, CUevent start, CUevent end) {
    auto const from = the_world().events.get(start);
    auto const to = the_world().events.get(end);
    require(from->timed && to->timed && from->recorded && to->recorded, error_invalid_handle);
    if (!from->recorded->done || !to->recorded->done)
        return error_not_ready;
    std::chrono::duration<float, std::milli> const between =
        to->recorded->when - from->recorded->when;
    out(milliseconds) = between.count();
    return success;
}

CUresult record(CUevent handle, CUstream stream) {
    auto const recorded = the_world().events.get(handle);
    recorded->recorded = the_world().work.submit(get_stream(stream), nullptr);
    return success;
}
} // namespace

BARMAP_SIM_ENTRY cuEventCreate(CUevent* handle, unsigned flags) {
    return call("cuEventCreate", [&](world_lock&) {
        (void)current_context();
        require((flags & ~(blocking_sync | disable_timing | interprocess)) == 0);
        require(!(flags & interprocess) || (flags & disable_timing));
        auto made = std::make_shared<event>();
        made->timed = !(flags & disable_timing);
        out(handle) = the_world().events.add(made);
    });
}

BARMAP_SIM_ENTRY cuEventDestroy_v2(CUevent handle) {
    return call("cuEventDestroy", [&](world_lock&) { the_world().events.take(handle); });
}

BARMAP_SIM_ENTRY cuEventRecord(CUevent handle, CUstream stream) {
    return call("cuEventRecord", [&](world_lock&) { return record(handle, stream); });
}

BARMAP_SIM_ENTRY cuEventRecordWithFlags(CUevent handle, CUstream stream, unsigned) {
    return call("cuEventRecordWithFlags", [&](world_lock&) { return record(handle, stream); });
}

BARMAP_SIM_ENTRY cuEventQuery(CUevent handle) {
    return call("cuEventQuery", [&](world_lock&) {
        auto const recorded = the_world().events.get(handle)->recorded;
        return !recorded || recorded->done ? success : error_not_ready;
    });
}

BARMAP_SIM_ENTRY cuEventSynchronize(CUevent handle) {
    return call("cuEventSynchronize", [&](world_lock& lock) {
        if (auto const recorded = the_world().events.get(handle)->recorded)
            wait_for({recorded}, lock);
    });
}

BARMAP_SIM_ENTRY cuEventElapsedTime(float* milliseconds, CUevent start, CUevent end) {
    return call("cuEventElapsedTime",
                [&](world_lock&) { return elapsed(milliseconds, start, end); });
}

BARMAP_SIM_ENTRY cuEventElapsedTime_v2(float* milliseconds, CUevent start, CUevent end) {
    return call("cuEventElapsedTime",
                [&](world_lock&) { return elapsed(milliseconds, start, end); });
}
