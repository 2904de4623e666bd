// SPDX-License-Identifier: MIT
#include <barmap/device.hpp>

#include "cuda/driver_api.hpp"
#include "device_state.hpp"
#include "log.hpp"

#include <algorithm>
#include <array>
#include <cstdio>
#include <map>

namespace barmap {
namespace {

std::uint32_t attribute(CUdevice device, int which) {
    int value = 0;
    cuda::check(cuda::api().device_get_attribute(&value, which, device),
                "read an attribute of the GPU");
    return static_cast<std::uint32_t>(value);
}

backend::gpu identify(int ordinal) {
    cuda::driver_api const& cu = cuda::api();
    int count = 0;
    cuda::check(cu.device_get_count(&count), "count the GPUs");
    if (ordinal < 0 || ordinal >= count)
        throw error(errc::no_device, "open GPU " + std::to_string(ordinal), "",
                    count == 0 ? "CUDA shows no GPU to this process: see CUDA_VISIBLE_DEVICES"
                               : "CUDA shows the GPUs 0 to " + std::to_string(count - 1));
    backend::gpu gpu;
    gpu.ordinal = ordinal;
    cuda::check(cu.device_get(&gpu.handle, ordinal), "open the GPU");
    std::array<char, 256> name{};
    cuda::check(cu.device_get_name(name.data(), static_cast<int>(name.size()) - 1, gpu.handle),
                "read the GPU's name");
    gpu.name = name.data();
    cuda::check(cu.device_get_uuid(&gpu.uuid, gpu.handle), "read the GPU's UUID");
    gpu.pci_domain = attribute(gpu.handle, cuda::attribute_pci_domain_id);
    gpu.pci_bus = attribute(gpu.handle, cuda::attribute_pci_bus_id);
    gpu.pci_slot = attribute(gpu.handle, cuda::attribute_pci_device_id);
    std::array<char, 32> pci{};
    std::snprintf(pci.data(), pci.size(), "%04x:%02x:%02x.0", gpu.pci_domain, gpu.pci_bus,
                  gpu.pci_slot);
    gpu.pci_address = pci.data();
    gpu.driver_version = cu.version;
    gpu.simulated = cu.simulated;
    // CUDA names a MIG slice after its profile: "NVIDIA A100-SXM4-40GB MIG 1g.5gb".
    gpu.mig = gpu.name.find(" MIG ") != std::string::npos;
    gpu.coherent = attribute(gpu.handle, cuda::attribute_integrated) != 0;
    return gpu;
}

/// Live devices by ordinal, so that opening one twice gives the same one. Never destroyed: at
/// process exit a device may outlive any order of static destruction.
struct open_devices {
    std::mutex lock;
    std::map<int, std::weak_ptr<device_state>> by_ordinal;
};

open_devices& registry() {
    static auto* const instance = new open_devices;
    return *instance;
}

[[noreturn]] void refuse_memory(cuda::memory const& memory, std::string_view backend) {
    throw error(errc::unsupported_memory, "map " + std::string(to_string(memory.kind)),
                std::string(backend), std::string(cuda::advice_for(memory.kind)));
}

bool can_adopt(backend_slot const& slot, cuda::memory const& memory) {
    return slot.can().can_adopt(memory.kind);
}

/// What tells an allocation from a later one at the same address.
unsigned long long id_of(CUdeviceptr address) {
    unsigned long long id = 0;
    cuda::check(cuda::api().pointer_get_attribute(&id, cuda::pointer_buffer_id, address),
                "identify an allocation");
    return id;
}

/// Why each of the backends that could do it is not usable; empty if there is none.
struct unusable {
    std::string text;
    errc code = errc::backend_absent;
};

template <class Could>
unusable why_unusable(std::vector<backend_slot*> const& candidates, Could could) {
    unusable result;
    for (backend_slot* slot : candidates) {
        if (!could(*slot))
            continue;
        backend_report const& report = slot->report();
        if (report.state == backend_state::broken)
            result.code = errc::backend_broken;
        result.text += (result.text.empty() ? "" : "; ") + report.name + " " + report.reason +
                       ", " + report.advice;
    }
    if (!result.text.empty())
        result.text = "every backend that could is unusable here: " + result.text;
    return result;
}

/// The name of the backend that was asked for, if one was.
std::string name_of_only(std::vector<backend_slot*> const& candidates) {
    return std::string(candidates.size() == 1 ? candidates.front()->name() : "");
}

/// No backend took the memory: says whether none can, or those that could are not usable here.
[[noreturn]] void refuse_without_backend(cuda::memory const& memory,
                                         std::vector<backend_slot*> const& candidates) {
    unusable const why =
        why_unusable(candidates, [&](backend_slot const& slot) { return can_adopt(slot, memory); });
    std::string const only = name_of_only(candidates);
    // For memory that only some rare backend could map, other memory is the better advice.
    bool const commonly_mapped =
        memory.kind == memory_kind::device || memory.kind == memory_kind::virtual_exportable;
    if (why.text.empty() || !commonly_mapped)
        refuse_memory(memory, only);
    throw error(why.code, "map " + std::string(to_string(memory.kind)), only, why.text);
}

/// Where what is wanted of the allocation itself ends.
CUdeviceptr last_wanted(cuda::memory const& memory) {
    cuda::chunk const& chunk = memory.chunks.back();
    return chunk.base + chunk.offset + chunk.length;
}

/// If the range lies in memory that barmap allocated, adds what other backends can import it by.
void find_own_allocation(device_state& state, cuda::memory& memory) {
    if (memory.kind != memory_kind::imported)
        return;
    unsigned long long const id = id_of(memory.address);
    std::lock_guard const guard(state.allocations_lock);
    std::erase_if(state.allocations, [](auto const& entry) { return entry.exported.expired(); });
    for (device_state::allocation const& entry : state.allocations) {
        if (entry.id != id || memory.address < entry.address ||
            last_wanted(memory) > entry.address + entry.size)
            continue;
        memory.exported = entry.exported.lock();
        memory.kind = memory_kind::allocated;
        CUdeviceptr const last = std::min(memory.address + memory.size, entry.address + entry.size);
        std::size_t const length = last - memory.address;
        memory.chunks = {{entry.address, entry.size,
                          static_cast<std::size_t>(memory.address - entry.address), length, 0,
                          memory.size - length}};
        return;
    }
}

void expect_offered(backend_report const& backend, pin_options const& how) {
    if (how.force_pcie && !backend.forces_pcie)
        throw error(errc::unsupported_operation, "force the way through PCIe", backend.name,
                    "pin without force_pcie");
    if (how.events && !backend.events)
        throw error(errc::unsupported_operation, "be told when the GPU driver takes memory away",
                    backend.name,
                    "pin without events; only barmap's own kernel module gdrdrv tells of them, if "
                    "it was loaded with use_persistent_mapping=0");
}

bool is_out_of_memory(std::error_code const& code) {
    return code.category() == cuda_category() && code.value() == cuda::error_out_of_memory;
}

/// Memory for an empty pin of its size: the backend makes it, or adopts VMM memory made here.
void make_memory(pin_state& state) {
    backend::backend& backend = state.slot->get();
    if (!state.slot->can().allocates) {
        state.block = std::make_unique<cuda::virtual_block>(state.device->gpu.handle, state.size,
                                                            state.slot->name());
        state.address = state.block->address();
        state.pinned = backend.pin(cuda::describe(state.address, state.size));
        return;
    }
    state.pinned = backend.allocate(state.size);
    state.address = state.pinned->allocated_address();
    if (std::shared_ptr<os::fd const> exported = state.pinned->exported()) {
        std::lock_guard const guard(state.device->allocations_lock);
        state.device->allocations.push_back(
            {state.address, state.size, id_of(state.address), exported});
    }
}

[[noreturn]] void refuse_mig() {
    throw error(errc::unsupported_memory, "map memory of a MIG device", "",
                "barmap maps memory of whole GPUs only: switch MIG off, or use cudaMemcpy");
}

cuda::memory query_memory(device_state& state, CUdeviceptr address, std::size_t bytes,
                     bool whole_pages) {
    cuda::memory memory =
        whole_pages ? cuda::describe_pages(address, bytes) : cuda::describe(address, bytes);
    switch (memory.kind) {
    case memory_kind::unknown:
    case memory_kind::host:
    case memory_kind::managed:
        refuse_memory(memory, "");
    default:
        break;
    }
    if (memory.ordinal != state.gpu.ordinal)
        throw error(errc::wrong_device,
                    "map memory of GPU " + std::to_string(memory.ordinal) + " through GPU " +
                        std::to_string(state.gpu.ordinal),
                    "", "open the GPU that owns it: device::from_pointer(pointer) does");
    if (state.gpu.mig)
        refuse_mig();
    find_own_allocation(state, memory);
    return memory;
}

} // namespace

device::device(std::shared_ptr<device_state> state) noexcept : state_(std::move(state)) {}

int device::count() noexcept {
    std::string why;
    cuda::driver_api const* cu = cuda::try_api(why);
    int count = 0;
    return cu && cu->device_get_count(&count) == cuda::success ? count : 0;
}

device device::open(int ordinal) {
    open_devices& open = registry();
    std::lock_guard const guard(open.lock);
    std::weak_ptr<device_state>& known = open.by_ordinal[ordinal];
    if (std::shared_ptr<device_state> state = known.lock()) {
        state->expect_own_process("open GPU " + std::to_string(ordinal));
        return device(std::move(state));
    }
    auto state = std::make_shared<device_state>(identify(ordinal));
    known = state;
    return device(std::move(state));
}

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

device device::from_pointer(void const* gpu_pointer) {
    return open_owner(cuda::describe(reinterpret_cast<std::uintptr_t>(gpu_pointer), 1));
}

device device::from_pages(std::uintptr_t gpu_address, std::size_t bytes) {
    return open_owner(cuda::describe_pages(gpu_address, bytes));
}

std::vector<backend_report> device::probe(int ordinal) {
    backend::gpu const gpu = identify(ordinal);
    std::string_view const forced = forced_backend();
    std::vector<backend_report> reports;
    for (backend::registration const& entry : backend::registry()) {
        bool const quick = entry.make(gpu)->can().quick_start;
        if (forced.empty() ? quick : entry.name == forced)
            reports.push_back(backend_slot::probe(entry, gpu));
    }
    return reports;
}

pin device::pin(void const* gpu_pointer, std::size_t bytes, std::string_view backend) const {
    return pin(reinterpret_cast<std::uintptr_t>(gpu_pointer), bytes, backend);
}

pin device::pin(std::uintptr_t gpu_address, std::size_t bytes, std::string_view backend) const {
    pin_options how;
    how.backend = backend;
    return pin(gpu_address, bytes, how);
}

pin device::pin(std::uintptr_t gpu_address, std::size_t bytes, pin_options const& how) const {
    state_->expect_own_process("pin GPU memory");
    cuda::memory const memory = query_memory(*state_, gpu_address, bytes, how.whole_pages);
    std::vector<backend_slot*> const candidates = state_->candidates(how.backend);
    std::exception_ptr first_failure;
    for (backend_slot* slot : candidates) {
        if (!can_adopt(*slot, memory) || !slot->usable())
            continue;
        try {
            expect_offered(slot->report(), how);
            auto state = std::make_shared<pin_state>();
            state->device = state_;
            state->slot = slot;
            state->address = memory.address;
            state->size = memory.size;
            state->memory = memory.kind;
            state->pinned =
                slot->get().pin(memory, {how.force_pcie, how.events, how.p2p_token, how.va_space});
            log::debug(std::to_string(bytes) + " bytes of " + std::string(to_string(memory.kind)) +
                       " pinned by " + std::string(slot->name()));
            return barmap::pin(std::move(state));
        } catch (error const& failure) {
            log::info(failure.what());
            if (!first_failure)
                first_failure = std::current_exception();
        }
    }
    if (first_failure)
        std::rethrow_exception(first_failure);
    refuse_without_backend(memory, candidates);
}

pin device::allocate(std::size_t bytes, std::string_view backend) const {
    if (bytes == 0)
        throw error(errc::invalid_argument, "allocate 0 bytes of GPU memory", std::string(backend),
                    "give a size greater than 0");
    state_->expect_own_process("allocate GPU memory");
    if (state_->gpu.mig)
        refuse_mig();
    std::vector<backend_slot*> const candidates = state_->candidates(backend);
    std::exception_ptr first_failure;
    for (backend_slot* slot : candidates) {
        if (!slot->can().can_allocate() || !slot->usable())
            continue;
        try {
            auto state = std::make_shared<pin_state>();
            state->device = state_;
            state->slot = slot;
            state->size = bytes;
            state->memory = memory_kind::allocated;
            make_memory(*state);
            log::debug(std::to_string(bytes) + " bytes allocated by " + std::string(slot->name()));
            return barmap::pin(std::move(state));
        } catch (error const& failure) {
            log::info(failure.what());
            if (is_out_of_memory(failure.code())) // no other backend would find more
                throw;
            if (!first_failure)
                first_failure = std::current_exception();
        }
    }
    if (first_failure)
        std::rethrow_exception(first_failure);
    unusable const why = why_unusable(
        candidates, [](backend_slot const& slot) { return slot.can().can_allocate(); });
    if (why.text.empty())
        throw error(errc::unsupported_operation, "allocate GPU memory", name_of_only(candidates),
                    "this backend only adopts memory: name another one, or allocate with "
                    "cudaMalloc and pin it");
    throw error(why.code, "allocate GPU memory", name_of_only(candidates), why.text);
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
    for (std::unique_ptr<backend_slot> const& slot : state_->slots) {
        if (!slot->can().quick_start || !slot->usable())
            continue;
        if (std::optional<bar1_info> const size = slot->get().bar1())
            return *size;
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

std::vector<backend_report> device::backends() const {
    std::vector<backend_report> reports;
    for (std::unique_ptr<backend_slot> const& slot : state_->slots)
        reports.push_back(slot->report());
    return reports;
}

} // namespace barmap
