// SPDX-License-Identifier: MIT
#include "world.hpp"

#include <utility>
#include <vector>

namespace barmap::sim {
namespace {

// Static objects of a program still call at its end, when the main thread's own objects are gone:
// from then on the stack is a new one.
std::vector<CUcontext>& thread_stack() {
    thread_local std::vector<CUcontext>* stack = nullptr;
    struct owner {
        ~owner() { delete std::exchange(stack, nullptr); }
    };
    thread_local owner with_the_thread;
    (void)with_the_thread;
    if (!stack)
        stack = new std::vector<CUcontext>;
    return *stack;
}

std::shared_ptr<context> make_context(device& of) {
    auto made = std::make_shared<context>();
    made->device = &of;
    made->null_stream = std::make_shared<stream>();
    made->self = the_world().contexts.add(made);
    made->null_stream->owner = made->self;
    made->null_stream->given_up = made->given_up;
    return made;
}

// A destroyed context can still be made current; using it is what fails (driver 580.159.04).
void check_issued(CUcontext handle) {
    require(the_world().contexts.issued(handle), cuda::error_invalid_context);
}

/// Ends a context: waits for its work, frees what belongs to it.
void end(context& of, world_lock& lock) {
    of.alive = false; // nobody submits any more
    drain_or_give_up(of, lock);
    release_memory(of);
    of.peers.clear();
    world& all = the_world();
    all.streams.erase_if([&](stream const& one) { return one.owner == of.self; });
    of.thread_streams.clear();
    all.modules.erase_if([&](module const& one) { return one.owner == of.self; });
    all.functions.erase_if([&](function const& one) { return !all.modules.find(one.owner); });
}

void end_primary(device& of, world_lock& lock) {
    auto const primary = the_world().contexts.get(of.primary, cuda::error_invalid_context);
    primary->retains = 0;
    if (primary->alive)
        end(*primary, lock);
}

} // namespace

context& live_context(CUcontext handle) {
    auto const& contexts = the_world().contexts;
    auto const found = contexts.find(handle);
    if (!found)
        refuse(contexts.issued(handle) ? cuda::error_context_is_destroyed
                                       : cuda::error_invalid_context);
    require(found->alive, cuda::error_context_is_destroyed);
    return *found;
}

bool is_mapped(allocation const& one, int ordinal) {
    switch (one.kind) {
    case kind::managed:
    case kind::host:
        return true;
    case kind::registered:
        return one.ordinal == ordinal || (one.flags & cuda::mem_host_register_portable) != 0;
    case kind::chunk:
        return one.granted.contains(ordinal);
    case kind::pooled:
        return one.ordinal == ordinal || one.from_pool->granted.contains(ordinal);
    case kind::external:
        return one.ordinal == ordinal;
    case kind::device:
    case kind::ipc: // where it was opened
        break;
    }
    for (auto const& [handle, each] : the_world().contexts)
        if (each->alive && each->device->ordinal == ordinal &&
            (handle == one.context || each->peers.contains(one.context)))
            return true;
    return false;
}

bool is_mapped_here(allocation const& one) {
    auto const& stack = thread_stack();
    auto const here = stack.empty() ? nullptr : the_world().contexts.find(stack.back());
    return !here || is_mapped(one, here->device->ordinal);
}

context& current_context() {
    auto const& stack = thread_stack();
    require(!stack.empty() && stack.back(), cuda::error_invalid_context);
    return live_context(stack.back());
}

} // namespace barmap::sim

using namespace barmap::cuda;
using namespace barmap::sim;

namespace {

CUresult create(CUcontext* handle, unsigned flags, CUdevice ordinal) {
    out(handle) = nullptr;
    auto const made = make_context(the_world().get_device(ordinal));
    made->flags = flags;
    thread_stack().push_back(made->self);
    *handle = made->self;
    return success;
}

} // namespace

BARMAP_SIM_ENTRY cuDevicePrimaryCtxRetain(CUcontext* handle, CUdevice ordinal) {
    return call("cuDevicePrimaryCtxRetain", [&](world_lock&) {
        device& of = the_world().get_device(ordinal);
        CUcontext& told = out(handle);
        if (!of.primary) {
            auto const made = make_context(of);
            made->primary = true;
            of.primary = made->self;
        }
        auto const primary = the_world().contexts.get(of.primary);
        primary->alive = true;
        ++primary->retains;
        told = of.primary;
    });
}

BARMAP_SIM_ENTRY cuDevicePrimaryCtxRelease_v2(CUdevice ordinal) {
    return call("cuDevicePrimaryCtxRelease", [&](world_lock& lock) {
        device& of = the_world().get_device(ordinal);
        auto const primary = the_world().contexts.get(of.primary, error_invalid_context);
        require(primary->retains > 0, error_invalid_context);
        if (primary->retains == 1)
            end_primary(of, lock);
        else
            --primary->retains;
    });
}

BARMAP_SIM_ENTRY cuDevicePrimaryCtxReset_v2(CUdevice ordinal) {
    return call("cuDevicePrimaryCtxReset", [&](world_lock& lock) {
        device& of = the_world().get_device(ordinal);
        if (of.primary)
            end_primary(of, lock);
    });
}

BARMAP_SIM_ENTRY cuDevicePrimaryCtxSetFlags_v2(CUdevice ordinal, unsigned flags) {
    return call("cuDevicePrimaryCtxSetFlags", [&](world_lock&) {
        device& of = the_world().get_device(ordinal);
        if (!of.primary) {
            auto const made = make_context(of);
            made->primary = true;
            made->alive = false;
            of.primary = made->self;
        }
        the_world().contexts.get(of.primary)->flags = flags;
    });
}

BARMAP_SIM_ENTRY cuDevicePrimaryCtxGetState(CUdevice ordinal, unsigned* flags, int* active) {
    return call("cuDevicePrimaryCtxGetState", [&](world_lock&) {
        device& of = the_world().get_device(ordinal);
        auto const primary = the_world().contexts.find(of.primary);
        out(flags) = primary ? primary->flags : 0;
        out(active) = primary && primary->alive;
    });
}

BARMAP_SIM_ENTRY cuCtxCreate_v2(CUcontext* handle, unsigned flags, CUdevice ordinal) {
    return call("cuCtxCreate", [&](world_lock&) { return create(handle, flags, ordinal); });
}

BARMAP_SIM_ENTRY cuCtxCreate_v3(CUcontext* handle, void*, int, unsigned flags, CUdevice ordinal) {
    return call("cuCtxCreate", [&](world_lock&) { return create(handle, flags, ordinal); });
}

BARMAP_SIM_ENTRY cuCtxCreate_v4(CUcontext* handle, void*, unsigned flags, CUdevice ordinal) {
    return call("cuCtxCreate", [&](world_lock&) { return create(handle, flags, ordinal); });
}

BARMAP_SIM_ENTRY cuCtxDestroy_v2(CUcontext handle) {
    return call("cuCtxDestroy", [&](world_lock& lock) {
        require(!live_context(handle).primary, error_invalid_context);
        auto const gone = the_world().contexts.get(handle);
        end(*gone, lock);
        the_world().contexts.take(handle);
        if (auto& stack = thread_stack(); !stack.empty() && stack.back() == handle)
            stack.pop_back();
    });
}

BARMAP_SIM_ENTRY cuCtxGetCurrent(CUcontext* handle) {
    return call("cuCtxGetCurrent", [&](world_lock&) {
        out(handle) = thread_stack().empty() ? nullptr : thread_stack().back();
    });
}

BARMAP_SIM_ENTRY cuCtxSetCurrent(CUcontext handle) {
    return call("cuCtxSetCurrent", [&](world_lock&) {
        auto& stack = thread_stack();
        if (handle)
            check_issued(handle);
        if (!stack.empty())
            stack.pop_back();
        if (handle)
            stack.push_back(handle);
    });
}

BARMAP_SIM_ENTRY cuCtxPushCurrent_v2(CUcontext handle) {
    return call("cuCtxPushCurrent", [&](world_lock&) {
        check_issued(handle);
        thread_stack().push_back(handle);
    });
}

BARMAP_SIM_ENTRY cuCtxPopCurrent_v2(CUcontext* handle) {
    return call("cuCtxPopCurrent", [&](world_lock&) {
        auto& stack = thread_stack();
        require(!stack.empty(), error_invalid_context);
        if (handle)
            *handle = stack.back();
        stack.pop_back();
    });
}

BARMAP_SIM_ENTRY cuCtxGetDevice(CUdevice* ordinal) {
    return call("cuCtxGetDevice",
                [&](world_lock&) { out(ordinal) = current_context().device->ordinal; });
}

BARMAP_SIM_ENTRY cuCtxGetFlags(unsigned* flags) {
    return call("cuCtxGetFlags", [&](world_lock&) { out(flags) = current_context().flags; });
}

BARMAP_SIM_ENTRY cuCtxGetApiVersion(CUcontext handle, unsigned* version) {
    return call("cuCtxGetApiVersion", [&](world_lock&) {
        (void)(handle ? live_context(handle) : current_context());
        out(version) = 3020; // what drivers answer for a context made through the _v2 functions
    });
}

BARMAP_SIM_ENTRY cuCtxGetStreamPriorityRange(int* least, int* greatest) {
    return call("cuCtxGetStreamPriorityRange", [&](world_lock&) {
        (void)current_context();
        if (least)
            *least = 0;
        if (greatest)
            *greatest = 0;
    });
}

BARMAP_SIM_ENTRY cuCtxSynchronize() {
    return call("cuCtxSynchronize", [&](world_lock& lock) { drain(current_context(), lock); });
}

BARMAP_SIM_ENTRY cuCtxEnablePeerAccess(CUcontext peer, unsigned flags) {
    return call("cuCtxEnablePeerAccess", [&](world_lock&) {
        context& here = current_context();
        require(flags == 0);
        require(live_context(peer).device != here.device, error_peer_unsupported);
        require(here.peers.insert(peer).second, error_peer_already_enabled);
    });
}

BARMAP_SIM_ENTRY cuCtxDisablePeerAccess(CUcontext peer) {
    return call("cuCtxDisablePeerAccess", [&](world_lock&) {
        context& here = current_context();
        (void)live_context(peer);
        require(here.peers.erase(peer) == 1, error_peer_not_enabled);
    });
}
