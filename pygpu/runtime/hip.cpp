// SPDX-License-Identifier: MIT
// AMD's HIP runtime, which has the CUDA runtime's meaning already.
#include "pygpu/runtime/hip_api.hpp"
#include "pygpu/runtime/runtime.hpp"

#include "cuda/driver_lifetime.hpp"
#include "system/library.hpp"

#include <barmap/error.hpp>
#include <barmap/report.hpp>

#include <cstring>
#include <vector>

namespace barmap::runtime {
namespace from_hip { // the other vendor's functions have the same names
namespace {

hip::api library; // filled before the table is given out

status describe_device(device_facts* facts, int device) {
    char name[256] = "";
    hip::uuid uuid{};
    if (status const failed = library.device_get_name(name, sizeof name, device))
        return failed;
    if (status const failed = library.device_total_mem(&facts->total_memory, device))
        return failed;
    // Older cards have none; the other facts are worth having.
    if (library.device_get_uuid(&uuid, device) != success)
        library.get_last_error();
    facts->name = name;
    std::memcpy(facts->uuid, uuid.bytes, sizeof facts->uuid);
    int integrated = 0;
    struct {
        hip::attribute_id attribute;
        int* to;
    } const wanted[] = {
        {hip::attribute_pci_domain_id, &facts->pci_domain},
        {hip::attribute_pci_bus_id, &facts->pci_bus},
        {hip::attribute_pci_device_id, &facts->pci_device},
        {hip::attribute_compute_capability_major, &facts->major},
        {hip::attribute_compute_capability_minor, &facts->minor},
        {hip::attribute_multiprocessor_count, &facts->multiprocessors},
        {hip::attribute_warp_size, &facts->warp_size},
        {hip::attribute_max_threads_per_block, &facts->max_threads_per_block},
        {hip::attribute_integrated, &integrated},
    };
    for (auto const& each : wanted)
        if (status const failed = library.device_get_attribute(each.to, each.attribute, device))
            return failed;
    facts->integrated = integrated != 0;
    return success;
}

status allocate(void** pointer, std::size_t bytes) {
    *pointer = nullptr;
    return bytes ? library.malloc(pointer, bytes) : success;
}

status free_memory(void* pointer) {
    return pointer ? library.free(pointer) : success;
}

status pin_host(void* memory, std::size_t bytes) {
    return library.host_register(memory, bytes, hip::host_register_portable);
}

/// A copy on the device may still run when the call returns. Other libraries cannot be asked to
/// wait for the default stream (the stream of __cuda_array_interface__ has no value for HIP's), so
/// it is waited for here.
status settled(status answer, memcpy_kind which) {
    if (answer != success || which != memcpy_kind::on_device)
        return answer;
    return library.stream_synchronize(nullptr);
}

status copy(void* to, void const* from, std::size_t bytes, memcpy_kind which) {
    if (bytes == 0)
        return success;
    return settled(library.memcpy(to, from, bytes, static_cast<hip::copy_kind>(which)), which);
}

status copy_rows(void* to, std::size_t to_pitch, void const* from, std::size_t from_pitch,
                 std::size_t width, std::size_t rows, memcpy_kind which) {
    if (width == 0 || rows == 0)
        return success;
    return settled(library.memcpy_2d(to, to_pitch, from, from_pitch, width, rows,
                                     static_cast<hip::copy_kind>(which)),
                   which);
}

status create_stream(void** stream, unsigned flags, int priority) {
    *stream = nullptr;
    return library.stream_create_with_priority(stream, flags, priority);
}

status create_event(void** event, unsigned flags) {
    *event = nullptr;
    return library.event_create_with_flags(event, flags);
}

status wait_for_event(void* stream, void* event) {
    return library.stream_wait_event(stream, event, 0);
}

function_table make_table() {
    function_table result{};
    result.vendor = "hip";
    result.nothing_to_wait_for = nullptr; // barmap maps no memory of AMD's
    result.current_context = nullptr;
    result.use_context = nullptr;
    result.device_of = nullptr; // its structure differs between ROCm 5 and 6
    result.device_count = library.get_device_count;
    result.set_device = library.set_device;
    result.get_device = library.get_device;
    result.synchronize_device = library.device_synchronize;
    result.reset_device = library.device_reset;
    result.describe_device = &describe_device;
    result.memory_info = library.mem_get_info;
    result.last_error = library.get_last_error;
    result.peek_at_last_error = library.peek_at_last_error;
    result.error_name = library.get_error_name;
    result.error_string = library.get_error_string;
    result.allocate = &allocate;
    result.free = &free_memory;
    result.pin_host = &pin_host;
    result.unpin_host = library.host_unregister;
    result.address_range = library.mem_get_address_range;
    result.copy = &copy;
    result.copy_rows = &copy_rows;
    result.create_stream = &create_stream;
    result.destroy_stream = library.stream_destroy;
    result.synchronize_stream = library.stream_synchronize;
    result.query_stream = library.stream_query;
    result.wait_for_event = &wait_for_event;
    result.create_event = &create_event;
    result.destroy_event = library.event_destroy;
    result.record_event = library.event_record;
    result.synchronize_event = library.event_synchronize;
    result.query_event = library.event_query;
    result.elapsed_time = library.event_elapsed_time;
    return result;
}

template <class Function>
void bind_symbol(Function& member, os::library const& from, char const* symbol,
                 std::string& missing) {
    member = reinterpret_cast<Function>(from.symbol(symbol));
    if (!member)
        missing = symbol;
}

/// Beside the simulated driver; or that itself, since a wheel has one library for both vendors.
std::vector<std::string> simulated_names() {
    if (auto const forced = setting("BARMAP_SIM_HIP_LIBRARY"))
        return {std::string(*forced)};
    std::vector<std::string> names, of_both;
    for (std::size_t i = 0; char const* const name = barmap_driver_file(i); ++i) {
        std::string const& file = of_both.emplace_back(name);
        names.push_back(file.substr(0, file.rfind('/') + 1) + "libamdhip64.so.6");
    }
    names.insert(names.end(), of_both.begin(), of_both.end());
    return names;
}

vendor_table load() {
    vendor_table result;
    try {
        expect_settings(); // BARMAP_SIM misspelt is no reason to use a real GPU
    } catch (error const& refusal) {
        result.answer = initialization_error;
        result.why = refusal.what();
        return result;
    }
    bool const simulated = setting("BARMAP_SIM") == "1";
    std::vector<std::string> names{"libamdhip64.so.6", "libamdhip64.so.5", "libamdhip64.so"};
    if (simulated)
        names = simulated_names();
    std::string why;
    os::library loaded = os::library::open(names, why);
    if (!loaded) {
        result.why = (simulated ? "the simulated HIP runtime cannot be loaded: "
                                : "AMD's HIP runtime cannot be loaded: ") +
                     why;
        return result;
    }
    std::string missing;
#define BARMAP_HIP_BIND(member, symbol, parameters)                                                \
    bind_symbol(library.member, loaded, #symbol, missing);
    BARMAP_HIP_FUNCTIONS(BARMAP_HIP_BIND)
#undef BARMAP_HIP_BIND
    bind_symbol(library.get_error_name, loaded, "hipGetErrorName", missing);
    bind_symbol(library.get_error_string, loaded, "hipGetErrorString", missing);
    loaded.abandon(); // its threads may run until the process ends
    if (!missing.empty()) {
        result.why = "this HIP runtime has no " + missing + ": install ROCm 5 or newer";
        return result;
    }
    // Without a GPU each function has its own answer, as that there is no current device.
    int count = 0;
    status const answer = library.get_device_count(&count);
    if (answer != success || count == 0) {
        result.answer = answer != success ? answer : no_device;
        result.why = std::string("AMD's HIP runtime finds no GPU: ") +
                     library.get_error_string(result.answer);
        library.get_last_error();
        return result;
    }
    static function_table const functions = make_table();
    cuda::watch_exit();
    result.functions = &functions;
    return result;
}

} // namespace
} // namespace from_hip

vendor_table const& hip_table() {
    static auto const* const instance = new vendor_table(from_hip::load());
    return *instance;
}

} // namespace barmap::runtime
