// SPDX-License-Identifier: MIT
#include <barmap/device.hpp>

#include "api/batch_queue_state.hpp"
#include "api/choice.hpp"
#include "api/host_buffer_state.hpp"
#include "base/log.hpp"
#include "cuda/current_gpu.hpp"
#include "cuda/driver_api.hpp"
#include "gpu/gpu_identity.hpp"
#include "gpu/open_devices.hpp"

#include <new>

namespace barmap {
namespace {

// In the memory's own context, so that a thread without one neither makes nor needs another.
device open_owner(cuda::memory const& memory) {
    if (memory.kind == memory_kind::unknown || memory.kind == memory_kind::host)
        refuse_memory(memory, "");
    if (!memory.context)
        return device::open(memory.ordinal);
    cuda::context_scope const scope(memory.context);
    return device::open(memory.ordinal);
}

} // namespace

device::device(std::shared_ptr<device_state> state) noexcept : state_(std::move(state)) {}

int device::count() noexcept try {
    std::string why;
    cuda::driver_api const* cu = cuda::try_api(why);
    int count = 0;
    return cu && cu->device_get_count(&count) == cuda::success ? count : 0;
} catch (std::bad_alloc const&) {
    return 0; // the driver is loaded by the next call
}

int device::current_ordinal() noexcept try {
    return cuda::current_ordinal().value_or(0);
} catch (std::bad_alloc const&) {
    return 0; // the driver is loaded by the next call
}

device device::open(int ordinal) {
    constexpr char what[] = "open a GPU";
    checkpoint::pass const here(what);
    auto state = open_device(ordinal);
    checkpoint::pass const looked = state->enter(what, device_state::look::always);
    return device(std::move(state));
}

device device::open() {
    checkpoint::pass const here("open a GPU"); // before CUDA is asked, which may be locked
    return open(current_ordinal());
}

device device::from_pointer(void const* gpu_pointer) {
    checkpoint::pass const here("open a GPU");
    return open_owner(
        cuda::describe(reinterpret_cast<std::uintptr_t>(gpu_pointer), 1, "find the GPU that owns"));
}

device device::from_pages(std::uintptr_t gpu_address, std::size_t bytes) {
    checkpoint::pass const here("open a GPU");
    return open_owner(cuda::describe_pages(gpu_address, bytes, "find the GPU that owns"));
}

std::vector<backend_report> device::probe(int ordinal) {
    checkpoint::pass const here("probe a GPU");
    backend::gpu const gpu = identify(ordinal);
    std::string_view const forced = forced_backend();
    std::vector<backend_report> reports;
    for (backend::registration const& entry : backend::registry()) {
        bool const quick = entry.make(gpu)->capabilities().quick_start;
        if (forced.empty() ? quick : entry.name == forced)
            reports.push_back(backend_slot::probe(entry, gpu));
    }
    return reports;
}

pin device::pin(void const* gpu_pointer, std::size_t bytes, pin_options const& how) const {
    return pin(reinterpret_cast<std::uintptr_t>(gpu_pointer), bytes, how);
}

pin device::pin(std::uintptr_t gpu_address, std::size_t bytes, pin_options const& how) const {
    return barmap::pin(pin_memory(state_, gpu_address, bytes, how));
}

pin device::pin(ipc_handle const& handle, std::size_t offset, std::size_t bytes,
                pin_options const& how) const {
    return barmap::pin(pin_ipc_memory(state_, handle, offset, bytes, how));
}

pin device::allocate(std::size_t bytes, std::string_view backend) const {
    return barmap::pin(allocate_memory(state_, bytes, backend));
}

host_buffer device::allocate_host(std::size_t bytes) const {
    checkpoint::pass const here = state_->enter("allocate host memory", device_state::look::always);
    return host_buffer(std::make_unique<host_buffer_state>(state_, bytes));
}

batch_queue device::batch_queue() const {
    checkpoint::pass const here = state_->enter("copy batches", device_state::look::always);
    std::lock_guard const hold(state_->batches_lock);
    std::shared_ptr<batch_queue_state> batches = state_->batches.lock();
    if (!batches) {
        batches = std::make_shared<batch_queue_state>(state_);
        (void)batches->get();
        state_->batches = batches;
    }
    batches->start_short();
    return barmap::batch_queue(std::move(batches));
}

int device::ordinal() const noexcept {
    return state_->gpu.ordinal;
}

std::string const& device::name() const noexcept {
    return state_->gpu.name;
}

std::string const& device::pci_address() const noexcept {
    return state_->gpu.pci_address;
}

int device::driver_version() const noexcept {
    return state_->gpu.driver_version;
}

bool device::simulated() const noexcept {
    return state_->gpu.simulated;
}

bar1_info device::bar1() const {
    checkpoint::pass const here = state_->enter("read the size of BAR1", device_state::look::never);
    for (std::unique_ptr<backend_slot> const& slot : state_->slots) {
        if (!slot->capabilities().quick_start || !slot->usable())
            continue;
        try {
            if (auto const size = slot->named([&] { return slot->get().bar1(); }))
                return *size;
        } catch (error const& failure) {
            log::info(failure.what()); // no mapping depends on it
        }
    }
    return {};
}

std::vector<backend_report> device::started_backends() const {
    std::vector<backend_report> reports;
    for (std::unique_ptr<backend_slot> const& slot : state_->slots)
        if (slot->is_started())
            reports.push_back(slot->report());
    return reports;
}

std::vector<engine_report> device::engines() const {
    checkpoint::pass const here =
        state_->enter("start the copy engines", device_state::look::never);
    std::vector<engine_report> reports;
    for (std::unique_ptr<engine_slot> const& slot : state_->engines)
        reports.push_back(slot->report());
    return reports;
}

std::vector<engine_report> device::started_engines() const {
    return known_reports(state_->engines);
}

std::vector<copy_crossover> device::copy_crossovers(std::string_view backend) const {
    checkpoint::pass const here = state_->enter("measure copies", device_state::look::never);
    backend_slot& slot = state_->slot(backend);
    slot.require();
    return slot.named([&] { return slot.methods(state_->engines_to_measure()).crossovers(); });
}

std::vector<backend_report> device::backends() const {
    checkpoint::pass const here = state_->enter("start the backends", device_state::look::never);
    std::vector<backend_report> reports;
    for (std::unique_ptr<backend_slot> const& slot : state_->slots)
        reports.push_back(slot->report());
    return reports;
}

} // namespace barmap
