// SPDX-License-Identifier: MIT
#include "world.hpp"

#include <thread>
#include <utility>

namespace barmap::sim_hip {

std::shared_ptr<completion> submit(std::shared_ptr<stream> const& to, std::function<void()> run,
                                   std::shared_ptr<completion> extra) {
    auto done = to->append(predecessors(*to), std::move(run), std::move(extra));
    if (!std::exchange(to->served, true)) // in a thread that ends with the work
        std::thread([to] {
            world_lock lock(the_world().mutex);
            work_off(*to, lock, the_world().changed);
        }).detach();
    return done;
}

completions predecessors(stream const& of) {
    world& all = the_world();
    return predecessors(of, &all.get_device(of.owner), all.streams);
}

void wait_for_work(completions const& what, world_lock& lock) {
    wait_for(what, lock, the_world().changed);
}

void drain(int ordinal, world_lock& lock) {
    world& all = the_world();
    device& of = all.get_device(ordinal);
    wait_for_work(last_work(of, all.streams), lock);
    std::erase_if(of.departed, [](auto const& last) { return last->done; });
}

std::shared_ptr<stream> get_stream(hip::stream handle) {
    world& all = the_world();
    return handle ? all.streams.get(handle) : all.get_device(current_device()).null_stream;
}

BARMAP_SIM_HIP hipStreamCreateWithPriority(hip::stream* handle, unsigned flags, int) {
    return call("hipStreamCreateWithPriority", [&](world_lock&) {
        (void)the_world().get_device(current_device());
        require((flags & ~hip::stream_non_blocking) == 0);
        auto made = std::make_shared<stream>();
        made->owner = current_device();
        made->blocking = flags == 0;
        out(handle) = the_world().streams.add(made);
    });
}

BARMAP_SIM_HIP hipStreamDestroy(hip::stream handle) {
    return call("hipStreamDestroy", [&](world_lock&) {
        auto const gone = the_world().streams.take(handle);
        if (gone->blocking && !gone->idle())
            the_world().get_device(gone->owner).departed.push_back(gone->last);
    });
}

BARMAP_SIM_HIP hipStreamSynchronize(hip::stream handle) {
    return call("hipStreamSynchronize",
                [&](world_lock& lock) { wait_for_work(predecessors(*get_stream(handle)), lock); });
}

BARMAP_SIM_HIP hipStreamQuery(hip::stream handle) {
    return call("hipStreamQuery", [&](world_lock&) {
        require(predecessors(*get_stream(handle)).empty(), not_ready);
    });
}

BARMAP_SIM_HIP hipStreamWaitEvent(hip::stream handle, hip::event event, unsigned flags) {
    return call("hipStreamWaitEvent", [&](world_lock&) {
        require(flags == 0);
        auto const to = get_stream(handle);
        if (auto const awaited = the_world().events.get(event)->recorded)
            submit(to, nullptr, awaited);
    });
}

// For tests of order: a function on the host as a piece of work.
BARMAP_SIM_HIP hipLaunchHostFunc(hip::stream handle, void (*function)(void*), void* argument) {
    return call("hipLaunchHostFunc", [&](world_lock&) {
        require(function != nullptr);
        submit(get_stream(handle), [=] { function(argument); });
    });
}

BARMAP_SIM_HIP hipEventCreateWithFlags(hip::event* handle, unsigned flags) {
    return call("hipEventCreateWithFlags", [&](world_lock&) {
        constexpr unsigned known = 0xf0000000u | 7u; // and those for fences
        (void)the_world().get_device(current_device());
        require((flags & ~known) == 0);
        auto made = std::make_shared<event>();
        made->device = current_device();
        made->timed = !(flags & hip::event_disable_timing);
        out(handle) = the_world().events.add(made);
    });
}

BARMAP_SIM_HIP hipEventDestroy(hip::event handle) {
    return call("hipEventDestroy", [&](world_lock&) { the_world().events.take(handle); });
}

BARMAP_SIM_HIP hipEventRecord(hip::event handle, hip::stream stream) {
    return call("hipEventRecord", [&](world_lock&) {
        auto const recorded = the_world().events.get(handle);
        auto const on = get_stream(stream);
        require(on->owner == recorded->device, invalid_handle);
        recorded->recorded = submit(on, nullptr);
    });
}

BARMAP_SIM_HIP hipEventSynchronize(hip::event handle) {
    return call("hipEventSynchronize", [&](world_lock& lock) {
        if (auto const recorded = the_world().events.get(handle)->recorded)
            wait_for_work({recorded}, lock);
    });
}

BARMAP_SIM_HIP hipEventQuery(hip::event handle) {
    return call("hipEventQuery", [&](world_lock&) {
        auto const recorded = the_world().events.get(handle)->recorded;
        require(!recorded || recorded->done, not_ready);
    });
}

BARMAP_SIM_HIP hipEventElapsedTime(float* milliseconds, hip::event start, hip::event end) {
    return call("hipEventElapsedTime", [&](world_lock&) {
        auto const from = the_world().events.get(start);
        auto const to = the_world().events.get(end);
        require(from->timed && to->timed && from->recorded && to->recorded, invalid_handle);
        require(from->recorded->done && to->recorded->done, not_ready);
        std::chrono::duration<float, std::milli> const between =
            to->recorded->when - from->recorded->when;
        out(milliseconds) = between.count();
    });
}

} // namespace barmap::sim_hip
