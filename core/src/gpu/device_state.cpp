// SPDX-License-Identifier: MIT
#include "gpu/device_state.hpp"

#include "base/config.hpp"
#include "base/forked_child.hpp"
#include "cuda/driver_api.hpp"
#include "system/region.hpp"

#include <algorithm>

namespace barmap {
namespace {

std::string list_of_backends() {
    std::string names;
    for (backend::registration const& each : backend::registry())
        names.append(names.empty() ? "" : ", ").append(each.name);
    return names;
}

[[noreturn]] void refuse_name(std::string_view unknown) {
    throw error(errc::invalid_argument, "use backend " + std::string(unknown), "",
                "the backends are " + list_of_backends());
}

} // namespace

std::string_view forced_backend() {
    std::string const& wanted = config::current().backend;
    if (wanted.empty())
        return {};
    for (backend::registration const& entry : backend::registry())
        if (entry.name == wanted)
            return wanted;
    refuse_name(wanted);
}

std::string_view forced_engine() {
    std::string const& wanted = config::current().engine;
    if (wanted.empty() || wanted == "none")
        return wanted;
    std::string names;
    for (engine::copy_registration const& entry : engine::registry()) {
        if (entry.name == wanted)
            return wanted;
        names += std::string(entry.name) + ", ";
    }
    throw error(errc::invalid_argument, "use copy engine " + wanted, "",
                "the copy engines are " + names + "and none");
}

device_state::device_state(backend::gpu which) : gpu(std::move(which)) {
    std::lock_guard const until_all_is_there(names_lock_);
    config::expect_valid();
    (void)copy::routine_forced_by_environment(); // which may be a name that there is not
    std::string_view const engine_wanted = forced_engine();
    for (backend::registration const& entry : backend::registry())
        slots.push_back(std::make_unique<backend_slot>(entry, gpu));
    engines = engine_slots(gpu, engine::lane::held);
    if (gpu.without_cuda)
        return;
    CUcontext current = nullptr;
    CUdevice current_device = -1;
    cuda::driver_api const& cu = cuda::api();
    bool const has_context = cu.ctx_get_current(&current) == cuda::success && current &&
                             cu.ctx_get_device(&current_device) == cuda::success &&
                             current_device == gpu.handle;
    if (!has_context)
        keep_alive = cuda::primary_context::retain(gpu.handle);

    // Nothing that takes long is started before it is needed, unless it is asked for by name.
    std::string_view const forced = forced_backend();
    if (!forced.empty())
        (void)candidates(forced);
    for (std::unique_ptr<backend_slot> const& slot : slots)
        if (forced.empty() && slot->capabilities().quick_start)
            slot->report();
    for (std::string const& name : config::current().require)
        slot(name).require();
    for (std::unique_ptr<engine_slot> const& each : engines)
        if (each->name() == engine_wanted)
            each->require();
    names_ = names_now();
}

std::vector<engine_slot*> device_state::usable_engines() {
    std::string_view const wanted = forced_engine();
    std::vector<engine_slot*> result;
    for (std::unique_ptr<engine_slot> const& each : engines) {
        if (wanted.empty() ? each->get() != nullptr : each->name() == wanted) {
            each->require();
            result.push_back(each.get());
        }
    }
    return result;
}

std::vector<engine_slot*> device_state::engines_to_measure() {
    std::string_view const wanted = forced_engine();
    if (!wanted.empty())
        return usable_engines();
    for (std::unique_ptr<engine_slot> const& each : engines)
        if (each->get())
            return {each.get()};
    return {};
}

void device_state::expect_own_process(std::string_view operation) const {
    if (!os::is_this_process(owner))
        throw error(errc::forked_child, std::string(operation), "",
                    gpu.without_cuda
                        ? "give this process the descriptor, and call barmap::open_shared() in it"
                        : std::string("use barmap in the process that opened the device; ") +
                              left_to_forked_children);
}

checkpoint::pass device_state::enter(std::string_view operation, look when) {
    expect_own_process(operation);
    checkpoint::pass result(operation);
    if ((when == look::always || (when == look::seldom && looks_.is_due())) && is_overtaken())
        checkpoint::refuse_overtaken(operation);
    return result;
}

backend_slot const* device_state::slot_of_cuda_memory() const {
    for (std::unique_ptr<backend_slot> const& each : slots)
        if (each->cuda_memory() != 0)
            return each.get();
    return nullptr;
}

std::optional<cuda::memory_names> device_state::names_now() const {
    backend_slot const* const of = slot_of_cuda_memory();
    return of ? cuda::memory_names::of(gpu.handle, of->cuda_memory()) : std::nullopt;
}

// Other names are a suspicion only: a driver that is not known may put something else there.
bool device_state::is_overtaken() {
    std::lock_guard const hold(names_lock_);
    auto const now = names_now();
    if (now && names_ && now->are_later_than(*names_) &&
        !slot_of_cuda_memory()->still_reaches_memory())
        return true;
    names_ = now ? now : names_;
    return false;
}

void device_state::release() {
    pinned.release();
    for (std::unique_ptr<engine_slot> const& each : engines)
        each->release();
    for (std::unique_ptr<backend_slot> const& each : slots)
        each->release();
}

void device_state::restore() {
    for (std::unique_ptr<backend_slot> const& each : slots)
        each->restore();
    std::lock_guard const hold(names_lock_);
    names_ = names_now();
}

backend_slot& device_state::slot(std::string_view name) {
    for (std::unique_ptr<backend_slot> const& each : slots)
        if (each->name() == name)
            return *each;
    refuse_name(name);
}

std::vector<backend_slot*> device_state::candidates(std::string_view wanted) {
    std::string_view const forced = forced_backend();
    if (wanted.empty())
        wanted = forced;
    else if (!forced.empty() && forced != wanted)
        throw error(errc::backend_absent, "use backend " + std::string(wanted), std::string(wanted),
                    "BARMAP_BACKEND allows only " + std::string(forced));
    if (!wanted.empty()) {
        backend_slot& only = slot(wanted);
        only.require();
        return {&only};
    }
    std::vector<backend_slot*> all;
    for (std::unique_ptr<backend_slot> const& each : slots)
        all.push_back(each.get());
    return all;
}

} // namespace barmap
