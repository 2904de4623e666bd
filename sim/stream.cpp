// SPDX-License-Identifier: MIT
#include "stream.hpp"

#include "world.hpp"

#include <algorithm>
#include <cstdint>
#include <thread>

namespace barmap::sim {

std::shared_ptr<completion> scheduler::submit(std::shared_ptr<stream> const& to,
                                              std::function<void()> run,
                                              std::shared_ptr<completion> extra) {
    auto const done = to->append(predecessors(*to), std::move(run), std::move(extra));
    to->queue.back().uses = the_world().addresses.take_uses();
    if (!to->served) {
        to->served = true;
        waiting_.push_back(to);
        if (waiting_.size() > idle_)
            std::thread([this] { serve(); }).detach();
        else
            for_idle_.notify_one();
    }
    return done;
}

void scheduler::serve() {
    world_lock lock(world_mutex());
    for (;;) {
        while (!waiting_.empty()) {
            auto const next = waiting_.front();
            waiting_.pop_front();
            work_off(*next, lock, the_world().changed, next->given_up.get());
        }
        if (idle_ == idle_limit)
            return;
        ++idle_;
        for_idle_.wait(lock, [&] { return !waiting_.empty(); });
        --idle_;
    }
}

completions predecessors(stream const& of) {
    world const& all = the_world();
    return predecessors(of, all.contexts.find(of.owner).get(), all.streams);
}

void wait_for(completions const& what, world_lock& lock) {
    wait_for(what, lock, the_world().changed);
}

void run_now(context& in, world_lock& lock, std::function<void()> const& body) {
    auto uses = the_world().addresses.take_uses();
    wait_for(predecessors(*in.null_stream), lock);
    lock.unlock();
    body();
    lock.lock();
    uses.clear();
    the_world().changed.notify_all();
}

void drain(context& of, world_lock& lock) {
    auto const hold = the_world().contexts.find(of.self); // others may destroy it meanwhile
    wait_for(last_work(of, the_world().streams), lock);
    std::erase_if(of.departed, [](auto const& last) { return last->done; });
}

void drain_or_give_up(context& of, world_lock& lock) {
    constexpr auto patience = std::chrono::seconds(1);
    auto const pending = last_work(of, the_world().streams);
    auto const all_done = [&] {
        return std::ranges::all_of(pending, [](auto const& last) { return last->done; });
    };
    if (!the_world().changed.wait_for(lock, patience, all_done))
        *of.given_up = true;
    drain(of, lock);
    *of.given_up = false; // a primary context may be used again
}

void drain_device(int ordinal, world_lock& lock) {
    std::vector<std::shared_ptr<context>> there;
    for (auto const& [handle, one] : the_world().contexts)
        if (one->alive && one->device->ordinal == ordinal)
            there.push_back(one);
    for (auto const& one : there)
        drain(*one, lock);
}

namespace {

constexpr unsigned non_blocking = 1;

CUstream add_stream(context& owner, unsigned flags, int priority) {
    auto made = std::make_shared<stream>();
    made->owner = owner.self;
    made->given_up = owner.given_up;
    made->blocking = !(flags & non_blocking);
    made->flags = flags;
    made->priority = priority;
    return the_world().streams.add(made);
}

} // namespace

std::shared_ptr<stream> get_stream(CUstream handle) {
    auto const value = reinterpret_cast<std::uintptr_t>(handle);
    constexpr std::uintptr_t legacy = 1, per_thread = 2;
    if (value <= legacy)
        return current_context().null_stream;
    if (value == per_thread) {
        context& owner = current_context();
        CUstream& its = owner.thread_streams[std::this_thread::get_id()];
        if (!its)
            its = add_stream(owner, 0, 0);
        return the_world().streams.get(its);
    }
    auto const found = the_world().streams.get(handle);
    (void)live_context(found->owner);
    return found;
}

} // namespace barmap::sim

using namespace barmap::cuda;
using namespace barmap::sim;

namespace {

CUresult create(char const* name, CUstream* handle, unsigned flags, int priority) {
    return call(name, [&](world_lock&) {
        context& owner = current_context();
        require((flags & ~non_blocking) == 0);
        out(handle) = add_stream(owner, flags, priority);
    });
}

} // namespace

BARMAP_SIM_ENTRY cuStreamCreate(CUstream* handle, unsigned flags) {
    return create("cuStreamCreate", handle, flags, 0);
}

BARMAP_SIM_ENTRY cuStreamCreateWithPriority(CUstream* handle, unsigned flags, int priority) {
    return create("cuStreamCreateWithPriority", handle, flags, priority);
}

BARMAP_SIM_ENTRY cuStreamDestroy_v2(CUstream handle) {
    return call("cuStreamDestroy", [&](world_lock&) {
        auto const gone = the_world().streams.take(handle);
        if (auto const owner = the_world().contexts.find(gone->owner); owner && !gone->idle())
            owner->departed.push_back(gone->last);
    });
}

BARMAP_SIM_ENTRY cuStreamSynchronize(CUstream handle) {
    return call("cuStreamSynchronize", [&](world_lock& lock) {
        // The legacy default stream's work includes what it waits for.
        wait_for(predecessors(*get_stream(handle)), lock);
    });
}

BARMAP_SIM_ENTRY cuStreamQuery(CUstream handle) {
    return call("cuStreamQuery", [&](world_lock&) {
        return predecessors(*get_stream(handle)).empty() ? success : error_not_ready;
    });
}

BARMAP_SIM_ENTRY cuStreamWaitEvent(CUstream handle, CUevent event, unsigned) {
    return call("cuStreamWaitEvent", [&](world_lock&) {
        auto const to = get_stream(handle);
        if (auto const awaited = the_world().events.get(event)->recorded)
            the_world().work.submit(to, nullptr, awaited);
    });
}

BARMAP_SIM_ENTRY cuStreamGetCtx(CUstream handle, CUcontext* owner) {
    return call("cuStreamGetCtx", [&](world_lock&) { out(owner) = get_stream(handle)->owner; });
}

BARMAP_SIM_ENTRY cuStreamGetFlags(CUstream handle, unsigned* flags) {
    return call("cuStreamGetFlags", [&](world_lock&) { out(flags) = get_stream(handle)->flags; });
}

BARMAP_SIM_ENTRY cuStreamGetPriority(CUstream handle, int* priority) {
    return call("cuStreamGetPriority",
                [&](world_lock&) { out(priority) = get_stream(handle)->priority; });
}

BARMAP_SIM_ENTRY cuStreamIsCapturing(CUstream handle, int* status) {
    return call("cuStreamIsCapturing", [&](world_lock&) {
        (void)get_stream(handle);
        out(status) = 0;
    });
}

BARMAP_SIM_ENTRY cuStreamGetCaptureInfo_v2(CUstream handle, int* status, std::uint64_t*, CUgraph*,
                                           CUgraphNode const**, std::size_t*) {
    return call("cuStreamGetCaptureInfo", [&](world_lock&) {
        (void)get_stream(handle);
        out(status) = capture_status_none;
    });
}

// Nothing can be captured here, so that the mode is only kept.
BARMAP_SIM_ENTRY cuThreadExchangeStreamCaptureMode(int* mode) {
    return call("cuThreadExchangeStreamCaptureMode", [&](world_lock&) {
        constexpr int global = 0, relaxed = 2;
        static thread_local int current = global;
        require(out(mode) >= global && *mode <= relaxed);
        std::swap(*mode, current);
    });
}

BARMAP_SIM_ENTRY cuLaunchHostFunc(CUstream handle, void (*function)(void*), void* argument) {
    return call("cuLaunchHostFunc", [&](world_lock&) {
        require(function != nullptr);
        the_world().work.submit(get_stream(handle), [=] { function(argument); });
    });
}
