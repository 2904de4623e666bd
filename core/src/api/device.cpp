// SPDX-License-Identifier: MIT
#include "api/choice.hpp"
#include "api/handles.hpp"
#include "base/c_options.hpp"
#include "base/lists.hpp"
#include "base/log_lines.hpp"
#include "cuda/current_gpu.hpp"
#include "cuda/driver_api.hpp"
#include "gpu/gpu_identity.hpp"
#include "gpu/open_devices.hpp"

#include <cstring>
#include <limits>
#include <new>
#include <string_view>

namespace barmap {
namespace {

using c::attempt;
using c::expect;
using c::make;
using c::make_list;

constexpr char opening[] = "open a GPU", finding[] = "find the GPU that owns";

std::unique_ptr<barmap_device> open_gpu(int ordinal) {
    checkpoint::pass const here(opening);
    auto state = open_device(ordinal);
    checkpoint::pass const looked = state->enter(opening, device_state::look::always);
    return std::make_unique<barmap_device>(std::move(state));
}

// In the memory's own context, so that a thread without one neither makes nor needs another.
std::unique_ptr<barmap_device> open_owner(cuda::memory const& memory, CUdeviceptr address,
                                          std::size_t bytes) {
    if (memory.kind == memory_kind::unknown || memory.kind == memory_kind::host)
        refuse_memory(memory, std::string(finding) + " " + cuda::range_text(address, bytes), "");
    if (!memory.context)
        return open_gpu(memory.ordinal);
    cuda::context_scope const scope(memory.context);
    return open_gpu(memory.ordinal);
}

int current_ordinal() noexcept {
    os::no_cancellation const uncancelled;
    try {
        return cuda::current_ordinal().value_or(0);
    } catch (std::bad_alloc const&) {
        return 0; // the driver is loaded by the next call
    }
}

pin_options options_of(barmap_pin_options const* or_null) {
    constexpr char what[] = "use the options of a pin";
    barmap_pin_options const options =
        c::known(or_null, BARMAP_PIN_WHOLE_PAGES | BARMAP_PIN_FORCE_PCIE | BARMAP_PIN_EVENTS, what,
                 "set their size to sizeof(barmap_pin_options)");
    if (options.va_space > std::numeric_limits<std::uint32_t>::max())
        throw error(errc::invalid_argument, what, "", "give a va_space of 32 bits");
    pin_options how;
    how.backend = options.backend ? options.backend : "";
    how.whole_pages = options.flags & BARMAP_PIN_WHOLE_PAGES;
    how.force_pcie = options.flags & BARMAP_PIN_FORCE_PCIE;
    how.events = options.flags & BARMAP_PIN_EVENTS;
    how.p2p_token = options.p2p_token;
    how.va_space = static_cast<std::uint32_t>(options.va_space);
    return how;
}

std::unique_ptr<barmap_pin> handle_of(std::shared_ptr<pin_state const> state) {
    return std::make_unique<barmap_pin>(barmap_pin{std::move(state)});
}

std::vector<backend_report> probe(int ordinal) {
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

bar1_info bar1_of(device_state& state, char const* operation) {
    checkpoint::pass const here = state.enter(operation, device_state::look::never);
    for (std::unique_ptr<backend_slot> const& slot : state.slots) {
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

} // namespace
} // namespace barmap

using namespace barmap;

int barmap_device_count(void) {
    os::no_cancellation const uncancelled;
    try {
        std::string why;
        cuda::driver_api const* cu = cuda::try_api(why);
        int count = 0;
        return cu && cu->device_get_count(&count) == cuda::success ? count : 0;
    } catch (std::bad_alloc const&) {
        return 0; // the driver is loaded by the next call
    }
}

int barmap_device_current(void) {
    return current_ordinal();
}

int barmap_device_create(int ordinal, barmap_device** out) {
    return make(out, opening, [&] { return open_gpu(ordinal); });
}

int barmap_device_create_current(barmap_device** out) {
    return make(out, opening, [] {
        checkpoint::pass const here(opening); // before CUDA is asked, which may be locked
        return open_gpu(current_ordinal());
    });
}

int barmap_device_create_from_pointer(std::uint64_t gpu_address, barmap_device** out) {
    return make(out, opening, [&] {
        checkpoint::pass const here(opening);
        expect_first_process(opening); // before CUDA is asked, which a child cannot
        return open_owner(cuda::describe(gpu_address, 1, finding), gpu_address, 1);
    });
}

int barmap_device_create_from_pages(std::uint64_t gpu_address, std::size_t bytes,
                                    barmap_device** out) {
    return make(out, opening, [&] {
        checkpoint::pass const here(opening);
        expect_first_process(opening);
        return open_owner(cuda::describe_pages(gpu_address, bytes, finding), gpu_address, bytes);
    });
}

barmap_device* barmap_device_retain(barmap_device* device) {
    return c::retain(device);
}

void barmap_device_destroy(barmap_device* device) {
    c::release(device);
}

char const* barmap_device_name(barmap_device const* device) {
    return device->state->gpu.name.c_str();
}

int barmap_device_ordinal(barmap_device const* device) {
    return device->state->gpu.ordinal;
}

char const* barmap_device_pci_address(barmap_device const* device) {
    return device->state->gpu.pci_address.c_str();
}

int barmap_device_driver_version(barmap_device const* device) {
    return device->state->gpu.driver_version;
}

int barmap_device_simulated(barmap_device const* device) {
    return device->state->gpu.simulated ? 1 : 0;
}

int barmap_device_bar1(barmap_device const* device, std::uint64_t* total,
                       std::uint64_t* available) {
    static constexpr char operation[] = "read the size of BAR1";
    return attempt([&] {
        for (std::uint64_t* const each : {total, available})
            if (each)
                *each = 0;
        (void)expect(total, operation, "pass pointers for both sizes, not NULL");
        (void)expect(available, operation, "pass pointers for both sizes, not NULL");
        bar1_info const found = bar1_of(*state_of(device, operation), operation);
        *total = found.total;
        *available = found.available;
    });
}

int barmap_list_probed_backends(int ordinal, barmap_list** out) {
    return make_list(out, "probe a GPU", [&] { return probe(ordinal); });
}

int barmap_device_list_backends(barmap_device const* device, int start, barmap_list** out) {
    static constexpr char operation[] = "start the backends";
    return make_list(out, operation, [&] {
        device_state& state = *state_of(device, operation);
        std::vector<backend_report> reports;
        if (!start) {
            for (std::unique_ptr<backend_slot> const& slot : state.slots)
                if (slot->is_started())
                    reports.push_back(slot->report());
            return reports;
        }
        checkpoint::pass const here = state.enter(operation, device_state::look::never);
        for (std::unique_ptr<backend_slot> const& slot : state.slots)
            reports.push_back(slot->report());
        return reports;
    });
}

int barmap_device_list_engines(barmap_device const* device, int start, barmap_list** out) {
    static constexpr char operation[] = "start the copy engines";
    return make_list(out, operation, [&] {
        device_state& state = *state_of(device, operation);
        if (!start)
            return known_reports(state.engines);
        checkpoint::pass const here = state.enter(operation, device_state::look::never);
        std::vector<engine_report> reports;
        for (std::unique_ptr<engine_slot> const& slot : state.engines)
            reports.push_back(slot->report());
        return reports;
    });
}

int barmap_device_list_crossovers(barmap_device const* device, char const* backend,
                                  barmap_list** out) {
    static constexpr char operation[] = "measure copies";
    return make_list(out, operation, [&] {
        device_state& state = *state_of(device, operation);
        checkpoint::pass const here = state.enter(operation, device_state::look::never);
        backend_slot& slot = state.slot(&expect(backend, operation, "name a backend, not NULL"));
        slot.require();
        return slot.named([&] { return slot.methods(state.engines_to_measure()).crossovers(); });
    });
}

int barmap_pin_create(barmap_device* device, std::uint64_t gpu_address, std::size_t bytes,
                      barmap_pin_options const* or_null, barmap_pin** out) {
    return make(out, "pin GPU memory", [&] {
        return handle_of(pin_memory(state_of(device, "pin GPU memory"), gpu_address, bytes,
                                    options_of(or_null)));
    });
}

int barmap_pin_create_ipc(barmap_device* device, void const* handle, std::size_t offset,
                          std::size_t bytes, barmap_pin_options const* or_null, barmap_pin** out) {
    static constexpr char operation[] = "pin memory of another process";
    return make(out, operation, [&] {
        auto const& state = state_of(device, operation);
        ipc_handle told;
        std::memcpy(told.bytes.data(),
                    &expect(static_cast<std::byte const*>(handle), operation,
                            "give the 64 bytes of a CUDA IPC handle"),
                    told.bytes.size());
        return handle_of(pin_ipc_memory(state, told, offset, bytes, options_of(or_null)));
    });
}

int barmap_pin_allocate(barmap_device* device, std::size_t bytes, char const* backend,
                        barmap_pin** out) {
    static constexpr char operation[] = "allocate GPU memory";
    return make(out, operation, [&] {
        return handle_of(
            allocate_memory(state_of(device, operation), bytes, backend ? backend : ""));
    });
}

int barmap_batch_queue_create(barmap_device* device, barmap_batch_queue** out) {
    return make(out, "create a batch queue", [&] {
        device_state& state = *state_of(device, "create a batch queue");
        checkpoint::pass const here = state.enter("copy batches", device_state::look::always);
        std::lock_guard const hold(state.batches_lock);
        std::shared_ptr<batch_queue_state> batches = state.batches.lock();
        if (!batches) {
            batches = std::make_shared<batch_queue_state>(device->state);
            (void)batches->get();
            state.batches = batches;
        }
        batches->start_short();
        return std::make_unique<barmap_batch_queue>(std::move(batches));
    });
}
