// SPDX-License-Identifier: MIT
#include "world.hpp"

#include <thread>
#include <utility>

namespace barmap::sim_hip {
namespace {

/// Works a stream's queue off, in a thread of its own that ends with it.
void serve(std::shared_ptr<stream> const& of) {
    world_lock lock(the_world().mutex);
    while (!of->queue.empty()) {
        operation next = std::move(of->queue.front());
        of->queue.pop_front();
        wait_for(next.after, lock);
        if (next.run) {
            lock.unlock();
            next.run();
            lock.lock();
        }
        next.done->done = true;
        next.done->when = std::chrono::steady_clock::now();
        the_world().changed.notify_all();
    }
    of->served = false;
}

} // namespace

std::shared_ptr<completion> submit(std::shared_ptr<stream> const& to, std::function<void()> run,
                                   std::shared_ptr<completion> extra) {
    operation added{predecessors(*to), std::move(run), std::make_shared<completion>()};
    if (extra)
        added.after.push_back(std::move(extra));
    to->last = added.done;
    to->queue.push_back(std::move(added));
    if (!std::exchange(to->served, true))
        std::thread([to] { serve(to); }).detach();
    return to->last;
}

std::vector<std::shared_ptr<completion>> predecessors(stream const& of) {
    std::vector<std::shared_ptr<completion>> result;
    auto const add = [&](std::shared_ptr<completion> const& last) {
        if (last && !last->done)
            result.push_back(last);
    };
    add(of.last);
    if (!of.blocking)
        return result;
    device& owner = the_world().get_device(of.device);
    if (owner.default_stream.get() != &of) {
        add(owner.default_stream->last);
        return result;
    }
    for (auto const& [handle, other] : the_world().streams)
        if (other->device == of.device && other->blocking)
            add(other->last);
    for (auto const& last : owner.departed)
        add(last);
    return result;
}

void wait_for(std::vector<std::shared_ptr<completion>> const& what, world_lock& lock) {
    for (auto const& each : what)
        the_world().changed.wait(lock, [&] { return each->done; });
}

void drain(int ordinal, world_lock& lock) {
    device& of = the_world().get_device(ordinal);
    auto pending = predecessors(*of.default_stream);
    for (auto const& [handle, other] : the_world().streams)
        if (other->device == ordinal && other->last)
            pending.push_back(other->last);
    wait_for(pending, lock);
    std::erase_if(of.departed, [](auto const& last) { return last->done; });
}

std::shared_ptr<stream> get_stream(hip::stream handle) {
    world& all = the_world();
    if (!handle)
        return all.get_device(current_device()).default_stream;
    auto const found = all.streams.find(handle);
    require(found != all.streams.end(), invalid_handle);
    return found->second;
}

namespace {

std::shared_ptr<event> get_event(hip::event handle) {
    auto const& events = the_world().events;
    auto const found = events.find(handle);
    require(found != events.end(), invalid_handle);
    return found->second;
}

} // namespace
} // namespace barmap::sim_hip

using namespace barmap;
using namespace barmap::sim_hip;

BARMAP_SIM_HIP hipStreamCreateWithPriority(hip::stream* handle, unsigned flags, int) {
    return call("hipStreamCreateWithPriority", [&](world_lock&) {
        (void)the_world().get_device(current_device());
        require((flags & ~hip::stream_non_blocking) == 0);
        auto made = std::make_shared<stream>();
        made->device = current_device();
        made->blocking = flags == 0;
        out(handle) = the_world().new_handle();
        the_world().streams[*handle] = std::move(made);
    });
}

BARMAP_SIM_HIP hipStreamDestroy(hip::stream handle) {
    return call("hipStreamDestroy", [&](world_lock&) {
        require(handle != nullptr, invalid_handle);
        auto const gone = get_stream(handle);
        if (gone->blocking && gone->last && !gone->last->done)
            the_world().get_device(gone->device).departed.push_back(gone->last);
        the_world().streams.erase(handle);
    });
}

BARMAP_SIM_HIP hipStreamSynchronize(hip::stream handle) {
    return call("hipStreamSynchronize",
                [&](world_lock& lock) { wait_for(predecessors(*get_stream(handle)), lock); });
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
        if (auto const awaited = get_event(event)->recorded)
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
        out(handle) = the_world().new_handle();
        the_world().events[*handle] = std::move(made);
    });
}

BARMAP_SIM_HIP hipEventDestroy(hip::event handle) {
    return call("hipEventDestroy", [&](world_lock&) {
        (void)get_event(handle);
        the_world().events.erase(handle);
    });
}

BARMAP_SIM_HIP hipEventRecord(hip::event handle, hip::stream stream) {
    return call("hipEventRecord", [&](world_lock&) {
        auto const recorded = get_event(handle);
        auto const on = get_stream(stream);
        require(on->device == recorded->device, invalid_handle);
        recorded->recorded = submit(on, nullptr);
    });
}

BARMAP_SIM_HIP hipEventSynchronize(hip::event handle) {
    return call("hipEventSynchronize", [&](world_lock& lock) {
        if (auto const recorded = get_event(handle)->recorded)
            wait_for({recorded}, lock);
    });
}

BARMAP_SIM_HIP hipEventQuery(hip::event handle) {
    return call("hipEventQuery", [&](world_lock&) {
        auto const recorded = get_event(handle)->recorded;
        require(!recorded || recorded->done, not_ready);
    });
}

BARMAP_SIM_HIP hipEventElapsedTime(float* milliseconds, hip::event start, hip::event end) {
    return call("hipEventElapsedTime", [&](world_lock&) {
        auto const from = get_event(start);
        auto const to = get_event(end);
        require(from->timed && to->timed && from->recorded && to->recorded, invalid_handle);
        require(from->recorded->done && to->recorded->done, not_ready);
        std::chrono::duration<float, std::milli> const between =
            to->recorded->when - from->recorded->when;
        out(milliseconds) = between.count();
    });
}
