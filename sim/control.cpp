// SPDX-License-Identifier: MIT
#include "control.hpp"

#include "world.hpp"

#include <atomic>
#include <csignal>
#include <cstring>
#include <pthread.h>
#include <sys/stat.h>

#define BARMAP_SIM_CONTROL extern "C" __attribute__((visibility("default")))

namespace barmap::sim {
namespace {

std::atomic<unsigned> calls{0};
std::atomic<unsigned> fail_at{0}; ///< the value of `calls` that fails; 0 is off
std::atomic<CUresult> fail_with{0};
std::atomic<bool> initialised{false};
std::atomic<bool> forked{false};
std::atomic<bool> has_refused{false}; ///< a call of this forked child

} // namespace

CUresult admit(char const* function, admitted when) noexcept {
    planned_failure const& plan = the_world().failing; // never changes
    unsigned const number = calls.fetch_add(1) + 1;
    if (number == fail_at.load())
        return fail_with.load();
    if (plan.strikes(function))
        return plan.code;
    if (when == admitted::always)
        return cuda::success;
    if (forked.load()) {
        has_refused.store(true);
        return cuda::error_not_initialized;
    }
    switch (when) {
    case admitted::always:
    case admitted::before_init:
        return cuda::success;
    case admitted::after_init:
        if (process_state().load() != 0)
            return error_illegal_state;
        break;
    case admitted::during_checkpoint:
        break;
    }
    return initialised.load() ? cuda::success : cuda::error_not_initialized;
}

bool passes_over_a_batch() noexcept {
    if (!forked.load())
        return false;
    if (has_refused.load())
        std::raise(SIGSEGV);
    return true;
}

CUresult call_body(char const* function, admitted when,
                   CUresult (*body)(void const* closure, world_lock&),
                   void const* closure) noexcept {
    if (CUresult const refused = admit(function, when))
        return refused;
    return guarded([&] {
        world_lock lock(world_mutex());
        struct end_of_call {
            ~end_of_call() { the_world().addresses.forget_uses(); }
        } const at_end;
        return body(closure, lock);
    });
}

std::atomic<int>& process_state() noexcept {
    static std::atomic<int> state{0};
    return state;
}

void mark_initialised() {
    if (!initialised.exchange(true))
        pthread_atfork(nullptr, nullptr, [] { forked.store(true); });
}

std::mutex& world_mutex() noexcept {
    static std::mutex& mutex = *new std::mutex;
    return mutex;
}

world& the_world() noexcept {
    static world& everything = *new world;
    return everything;
}

} // namespace barmap::sim

using namespace barmap::sim;

namespace {

physical* object_of(int fd) {
    struct stat about {};
    if (fstat(fd, &about) != 0)
        return nullptr;
    for (auto const& [number, object] : the_world().objects)
        if (object->inode() == about.st_ino)
            return object;
    return nullptr;
}

/// Null for no such device.
device const* device_at(int ordinal) {
    auto const& devices = the_world().devices;
    bool const is_one = ordinal >= 0 && std::size_t(ordinal) < devices.size();
    return is_one ? devices[std::size_t(ordinal)].get() : nullptr;
}

template <class T>
void tell(T* where, T value) {
    if (where)
        *where = value;
}

} // namespace

BARMAP_SIM_CONTROL int barmap_sim_object(std::uint32_t client, std::uint32_t memory, int* fd,
                                         std::uint64_t* offset, std::uint64_t* size, int* ordinal) {
    world_lock lock(world_mutex());
    auto const& objects = the_world().objects;
    auto const at = objects.find(memory);
    if (client != the_world().client || at == objects.end())
        return -1;
    tell(fd, at->second->fd());
    tell(offset, at->second->offset());
    tell(size, at->second->size());
    tell(ordinal, at->second->ordinal());
    return 0;
}

BARMAP_SIM_CONTROL int barmap_sim_fd_layout(int fd, std::uint64_t* offset, std::uint64_t* size) {
    world_lock lock(world_mutex());
    physical const* const object = object_of(fd);
    if (!object)
        return -1;
    tell(offset, object->offset());
    tell(size, object->size());
    return 0;
}

BARMAP_SIM_CONTROL int barmap_sim_fd_device(int fd) {
    return ordinal_of_file(fd);
}

BARMAP_SIM_CONTROL int barmap_sim_address(CUdeviceptr address, int* fd, std::uint64_t* offset,
                                          std::uint64_t* contiguous, int* ordinal) {
    world_lock lock(world_mutex());
    allocation const* const found = the_world().addresses.find(address);
    if (!found || !found->on_device())
        return -1;
    backing const behind = found->backing_at(address - found->base);
    tell(fd, behind.memory->fd());
    tell(offset, behind.memory->offset() + behind.offset);
    tell(contiguous, behind.contiguous);
    tell(ordinal, found->ordinal);
    return 0;
}

BARMAP_SIM_CONTROL int barmap_sim_reach(int ordinal, CUdeviceptr address,
                                        int (*use)(void* argument, int fd, std::uint64_t offset,
                                                   void* view, std::uint64_t contiguous),
                                        void* argument) {
    world_lock lock(world_mutex());
    allocation const* const found = the_world().addresses.find(address);
    if (!found || found->kind == kind::managed || !is_mapped(*found, ordinal))
        return -1;
    std::uint64_t const inside = address - found->base;
    if (!found->memory)
        return use(argument, -1, 0, found->view + inside, found->size - inside);
    backing const behind = found->backing_at(inside);
    return use(argument, behind.memory->fd(), behind.memory->offset() + behind.offset,
               found->view + inside, behind.contiguous);
}

BARMAP_SIM_CONTROL void barmap_sim_fail(unsigned call_number, CUresult code) {
    fail_with.store(code);
    fail_at.store(call_number ? calls.load() + call_number : 0);
}

BARMAP_SIM_CONTROL unsigned barmap_sim_calls() {
    return calls.load();
}

BARMAP_SIM_CONTROL std::size_t barmap_sim_live() {
    world_lock lock(world_mutex());
    world& all = the_world();
    std::size_t live = all.addresses.all().size() + all.reserved.size() + all.streams.size() +
                       all.events.size() + all.modules.size() + all.externals.size();
    for (auto const& [handle, one] : all.handles)
        live += one->references > 0;
    for (auto const& [handle, one] : all.pools)
        live += !one->is_default;
    for (auto const& [handle, one] : all.contexts) {
        live += one->primary ? one->retains : 1;
        live -= one->thread_streams.size(); // not created by the program
    }
    return live;
}

BARMAP_SIM_CONTROL std::uint64_t barmap_sim_bar1_total(int ordinal) {
    world_lock lock(world_mutex());
    device const* const found = device_at(ordinal);
    return found ? found->bar1_info : 0;
}

BARMAP_SIM_CONTROL char const* barmap_sim_problem() {
    std::string const& trouble = the_world().trouble; // never changes
    return trouble.empty() ? nullptr : trouble.c_str();
}

BARMAP_SIM_CONTROL std::uint32_t barmap_sim_client() {
    world_lock lock(world_mutex());
    return the_world().client;
}

BARMAP_SIM_CONTROL std::uint32_t barmap_sim_gpu_id(int ordinal) {
    world_lock lock(world_mutex());
    device const* const found = device_at(ordinal);
    return found ? found->gpu_id() : 0;
}

BARMAP_SIM_CONTROL int barmap_sim_uuid(int ordinal, CUuuid* uuid) {
    world_lock lock(world_mutex());
    device const* const found = device_at(ordinal);
    if (!found)
        return -1;
    tell(uuid, found->uuid);
    return 0;
}
