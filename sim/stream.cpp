// SPDX-License-Identifier: MIT
#include "stream.hpp"

#include "world.hpp"

#include <algorithm>
#include <cstdint>
#include <system_error>
#include <thread>

namespace barmap::sim {

std::shared_ptr<completion> scheduler::submit(std::shared_ptr<stream> const& to,
                                              std::function<void()> run,
                                              std::shared_ptr<completion> extra) {
    operation added{predecessors(*to), std::move(run), std::make_shared<completion>()};
    if (extra)
        added.after.push_back(std::move(extra));
    auto const done = added.done;
    to->queue.push_back(std::move(added));
    to->last = done;
    if (!to->served) {
        to->served = true;
        waiting_.push_back(to);
        if (waiting_.size() > idle_)
            std::thread([this] { serve(); }).detach();
        the_world().changed.notify_all();
    }
    return done;
}

void scheduler::serve() {
    world_lock lock(world_mutex());
    for (;;) {
        while (!waiting_.empty()) {
            auto const next = waiting_.front();
            waiting_.pop_front();
            drain_queue(*next, lock);
            next->served = false;
        }
        if (idle_ == idle_limit)
            return;
        ++idle_;
        the_world().changed.wait(lock, [&] { return !waiting_.empty(); });
        --idle_;
    }
}

void scheduler::drain_queue(stream& of, world_lock& lock) {
    while (!of.queue.empty()) {
        operation next = std::move(of.queue.front());
        of.queue.pop_front();
        for (auto const& before : next.after)
            wait_for(before, lock);
        next.after.clear();
        if (next.run && !*of.given_up) {
            lock.unlock();
            next.run();
            next.run = nullptr;
            lock.lock();
        }
        next.done->done = true;
        next.done->when = std::chrono::steady_clock::now();
        the_world().changed.notify_all();
    }
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
    world& all = the_world();
    auto const owner = all.contexts.find(of.owner);
    if (!owner)
        return result;
    if (owner->null_stream.get() != &of) {
        add(owner->null_stream->last);
        return result;
    }
    for (auto const& [handle, other] : all.streams)
        if (other->owner == of.owner && other->blocking)
            add(other->last);
    for (auto const& last : owner->departed)
        add(last);
    return result;
}

void wait_for(std::shared_ptr<completion> const& what, world_lock& lock) {
    if (what)
        the_world().changed.wait(lock, [&] { return what->done; });
}

void run_now(context& in, world_lock& lock, std::function<void()> const& body) {
    for (auto const& before : predecessors(*in.null_stream))
        wait_for(before, lock);
    lock.unlock();
    body();
    lock.lock();
}

namespace {

std::vector<std::shared_ptr<completion>> last_work(context const& of) {
    std::vector<std::shared_ptr<completion>> pending = of.departed;
    auto const add = [&](std::shared_ptr<completion> const& last) {
        if (last)
            pending.push_back(last);
    };
    add(of.null_stream->last);
    for (auto const& [handle, other] : the_world().streams)
        if (other->owner == of.self)
            add(other->last);
    return pending;
}

} // namespace

void drain(context& of, world_lock& lock) {
    for (auto const& last : last_work(of))
        wait_for(last, lock);
    std::erase_if(of.departed, [](auto const& last) { return last->done; });
}

void drain_or_give_up(context& of, world_lock& lock) {
    constexpr auto patience = std::chrono::seconds(1);
    auto const pending = last_work(of);
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

std::shared_ptr<stream> get_stream(CUstream handle) {
    auto const value = reinterpret_cast<std::uintptr_t>(handle);
    if (value <= 2)
        return current_context().null_stream;
    auto const found = the_world().streams.get(handle);
    (void)live_context(found->owner);
    return found;
}

} // namespace barmap::sim

using namespace barmap::cuda;
using namespace barmap::sim;

namespace {

constexpr unsigned non_blocking = 1;

CUresult create(char const* name, CUstream* handle, unsigned flags, int priority) {
    return call(name, [&](world_lock&) {
        context& owner = current_context();
        require((flags & ~non_blocking) == 0);
        auto made = std::make_shared<stream>();
        made->owner = owner.self;
        made->given_up = owner.given_up;
        made->blocking = !(flags & non_blocking);
        made->flags = flags;
        made->priority = priority;
        out(handle) = the_world().streams.add(made);
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
        auto const waited = get_stream(handle);
        // The legacy default stream's work includes what it waits for.
        for (auto const& before : predecessors(*waited))
            wait_for(before, lock);
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
