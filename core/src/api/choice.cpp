// SPDX-License-Identifier: MIT
#include "api/choice.hpp"

#include "base/log_lines.hpp"
#include "cuda/driver_api.hpp"

#include <bit>
#include <exception>
#include <string>

namespace barmap {
namespace {

using candidate_list = std::vector<backend_slot*>;

/// Lets the first candidate that could, and is usable, make the pin. Where one fails the next is
/// tried, unless the failure is final. @return null if no candidate was tried
/// @throws error the first failure
template <class Could, class Make, class Final>
std::shared_ptr<pin_state const> first_that_can(std::shared_ptr<device_state> const& device,
                                                candidate_list const& candidates, Could could,
                                                Make make, Final is_final) {
    std::exception_ptr first_failure;
    for (backend_slot* slot : candidates) {
        if (!could(*slot) || !slot->usable())
            continue;
        try {
            auto state = std::make_shared<pin_state>();
            state->device = device;
            state->slot = slot;
            slot->named([&] { make(*state); });
            log::debug(std::to_string(state->size) + " bytes of " +
                       std::string(to_string(state->memory)) + " pinned by " +
                       std::string(slot->name()));
            return state;
        } catch (error const& failure) {
            log::info(failure.what());
            if (is_final(failure))
                throw;
            if (!first_failure)
                first_failure = std::current_exception();
        }
    }
    if (first_failure)
        std::rethrow_exception(first_failure);
    return nullptr;
}

/// Why each of the backends that could do it is not usable, a line for each; empty if there is
/// none.
struct unusable {
    std::string text;
    errc code = errc::backend_absent;
};

template <class Could>
unusable why_unusable(candidate_list const& candidates, Could could) {
    unusable result;
    for (backend_slot* slot : candidates) {
        if (!could(*slot))
            continue;
        backend_report const& report = slot->report();
        if (report.state == backend_state::broken)
            result.code = errc::backend_broken;
        result.text += "\n  " + report.name + ": " + report.reason +
                       (report.advice.empty() ? "" : "; " + report.advice);
    }
    if (!result.text.empty())
        result.text = "none of the backends that could do this is usable here:" + result.text;
    return result;
}

/// The name of the backend that was asked for, if one was.
std::string name_of_only(candidate_list const& candidates) {
    return std::string(candidates.size() == 1 ? candidates.front()->name() : "");
}

/// No backend took the memory: says whether none can, or those that could are not usable here.
template <class Could>
[[noreturn]] void refuse_without_backend(cuda::memory const& memory,
                                         candidate_list const& candidates, Could could) {
    unusable const why = why_unusable(candidates, could);
    std::string const only = name_of_only(candidates);
    // For memory that only some rare backend could map, other memory is the better advice.
    bool const commonly_mapped = memory.kind == memory_kind::device ||
                                 memory.kind == memory_kind::virtual_exportable ||
                                 memory.ipc_handle;
    if (why.text.empty() || !commonly_mapped)
        refuse_memory(memory,
                      memory.ipc_handle ? "pin memory of another process"
                                        : "pin " + cuda::range_text(memory.address, memory.size),
                      only);
    throw error(why.code, "map " + std::string(to_string(memory.kind)), only, why.text);
}

[[noreturn]] void refuse_mig() {
    throw error(errc::unsupported_memory, "map memory of a MIG device", "",
                "barmap maps memory of whole GPUs only: switch MIG off, or use cudaMemcpy");
}

cuda::memory query_memory(device_state& device, CUdeviceptr address, std::size_t bytes,
                          bool whole_pages) {
    cuda::memory memory =
        whole_pages ? cuda::describe_pages(address, bytes) : cuda::describe(address, bytes);
    switch (memory.kind) {
    case memory_kind::unknown:
    case memory_kind::host:
    case memory_kind::managed:
        refuse_memory(memory, "pin " + cuda::range_text(address, bytes), "");
    default:
        break;
    }
    if (memory.ordinal != device.gpu.ordinal)
        throw error(errc::wrong_device,
                    "map memory of GPU " + std::to_string(memory.ordinal) + " through GPU " +
                        std::to_string(device.gpu.ordinal),
                    "", "open the GPU that owns it: device::from_pointer(pointer) does");
    if (device.gpu.mig)
        refuse_mig();
    device.allocations.find(memory);
    return memory;
}

void expect_offered(backend_properties const& backend, pin_options const& how) {
    if (how.force_pcie && !backend.forces_pcie)
        throw error(
            errc::unsupported_operation, "force the PCIe path", "",
            "pin without force_pcie: this backend maps a GPU with a coherent link by that link "
            "only (rm with NVIDIA's driver R595 or later, or one that barmap does not know)");
    if (how.events && !backend.events)
        throw error(errc::unsupported_operation, "report when the GPU driver revokes memory", "",
                    "pin without events; only barmap's own kernel module gdrdrv reports them, if "
                    "it was loaded with use_persistent_mapping=0");
}

bool is_out_of_memory(error const& failure) {
    return failure.code().category() == cuda_category() &&
           failure.code().value() == cuda::error_out_of_memory;
}

/// The backend allocates, or registers VMM memory that is made here.
void make_memory(pin_state& state) {
    backend::backend& backend = state.slot->get();
    if (!state.slot->capabilities().allocates) {
        state.slot->expect_usable(memory_kind::virtual_exportable);
        state.block = std::make_unique<cuda::virtual_block>(state.device->gpu.handle, state.size);
        state.address = state.block->address();
        cuda::memory const memory = cuda::describe(state.address, state.size);
        state.pinned = backend.pin(memory);
        state.engines.describe(memory, state.pinned->objects(), engine_reach::owner::barmap);
        return;
    }
    state.pinned = backend.allocate(state.size);
    state.address = state.pinned->allocated_address();
    if (std::shared_ptr<os::fd const> const exported = state.pinned->exported())
        state.device->allocations.add(state.address, state.size, exported);
    cuda::memory memory = cuda::describe(state.address, state.size);
    state.device->allocations.find(memory);
    state.engines.describe(memory, state.pinned->objects(), engine_reach::owner::barmap);
}

/// Lets the first backend that can pin the memory.
std::shared_ptr<pin_state const> pin_described(std::shared_ptr<device_state> const& device,
                                               cuda::memory const& memory, pin_options const& how) {
    candidate_list const candidates = device->candidates(how.backend);
    auto const could = [&](backend_slot const& slot) {
        return slot.capabilities().can_register(memory.kind);
    };
    auto const make = [&](pin_state& state) {
        state.slot->expect_usable(memory.kind);
        expect_offered(state.slot->report(), how);
        state.address = memory.address;
        state.size = memory.size;
        state.memory = memory.kind;
        state.how = how;
        state.pinned = state.slot->get().pin(memory, how);
        state.engines.describe(memory, state.pinned->objects(), engine_reach::owner::program);
    };
    if (auto state =
            first_that_can(device, candidates, could, make, [](error const&) { return false; }))
        return state;
    refuse_without_backend(memory, candidates, could);
}

} // namespace

void refuse_memory(cuda::memory const& memory, std::string const& operation,
                   std::string_view backend) {
    std::string_view const advice = memory.ipc_handle
                                        ? "see `barmap info`: another backend may work"
                                        : cuda::advice_for(memory.kind);
    throw error(errc::unsupported_memory, operation + ", " + std::string(to_string(memory.kind)),
                std::string(backend), std::string(advice));
}

std::shared_ptr<pin_state const> pin_memory(std::shared_ptr<device_state> const& device,
                                            CUdeviceptr address, std::size_t bytes,
                                            pin_options const& how) {
    checkpoint::pass const here = device->enter("pin GPU memory", device_state::look::always);
    return pin_described(device, query_memory(*device, address, bytes, how.whole_pages), how);
}

std::shared_ptr<pin_state const> pin_ipc_memory(std::shared_ptr<device_state> const& device,
                                                ipc_handle const& handle, std::size_t offset,
                                                std::size_t bytes, pin_options const& how) {
    constexpr char operation[] = "pin memory of another process";
    checkpoint::pass const here = device->enter(operation, device_state::look::always);
    if (bytes == 0 || offset + bytes < offset)
        throw error(errc::invalid_argument, operation, "",
                    "give a size greater than 0 that does not wrap around");
    if (how.whole_pages)
        throw error(errc::unsupported_operation, operation, "", "pin without whole_pages");
    if (device->gpu.mig)
        refuse_mig();
    cuda::memory memory;
    memory.kind = memory_kind::imported;
    memory.size = bytes;
    memory.ordinal = device->gpu.ordinal;
    memory.ipc_handle = std::bit_cast<CUipcMemHandle>(handle.bytes);
    memory.chunks = {{0, offset + bytes, offset, bytes}};
    return pin_described(device, memory, how);
}

std::shared_ptr<pin_state const> allocate_memory(std::shared_ptr<device_state> const& device,
                                                 std::size_t bytes, std::string_view backend) {
    if (bytes == 0)
        throw error(errc::invalid_argument, "allocate 0 bytes of GPU memory", std::string(backend),
                    "give a size greater than 0");
    checkpoint::pass const here = device->enter("allocate GPU memory", device_state::look::always);
    if (device->gpu.mig)
        refuse_mig();
    candidate_list const candidates = device->candidates(backend);
    auto const could = [](backend_slot const& slot) { return slot.capabilities().can_allocate(); };
    auto const make = [&](pin_state& state) {
        state.size = bytes;
        state.memory = memory_kind::allocated;
        make_memory(state);
    };
    // No other backend would find more memory.
    if (auto state = first_that_can(device, candidates, could, make, is_out_of_memory))
        return state;
    unusable const why = why_unusable(candidates, could);
    if (why.text.empty())
        throw error(errc::unsupported_operation, "allocate GPU memory", name_of_only(candidates),
                    "this backend only registers memory: name another one, or allocate with "
                    "cudaMalloc and pin it");
    throw error(why.code, "allocate GPU memory", name_of_only(candidates), why.text);
}

} // namespace barmap
