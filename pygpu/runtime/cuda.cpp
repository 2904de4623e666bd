// SPDX-License-Identifier: MIT
// The CUDA runtime's meaning over the driver library, so that no libcudart is needed.
#include "pygpu/runtime/cuda_context.hpp"
#include "pygpu/runtime/runtime.hpp"

#include "cuda/driver_api.hpp"
#include "cuda/driver_lifetime.hpp"

#include <barmap/error.hpp>
#include <barmap/report.hpp>

#include <cstring>

namespace barmap::runtime {
namespace from_cuda { // the other vendor's functions have the same names
namespace {

cuda::driver_api const& cu() {
    return cuda::api(); // it was there when the table was given out
}

CUdeviceptr address_of(void const* pointer) {
    return reinterpret_cast<CUdeviceptr>(pointer);
}

/// Runs a driver call in the thread's context, and remembers its error.
template <class Call>
status in_context(Call call) {
    status const entered = enter();
    return remember(entered != success ? entered : from_driver(call()));
}

bool nothing_to_wait_for() {
    return enter() == success && cu().stream_query(nullptr) == cuda::success;
}

void* current_context() {
    CUcontext now = nullptr;
    return cu().ctx_get_current(&now) == cuda::success ? now : nullptr;
}

status device_of(int* device, void const* inside) {
    return from_driver(
        cu().pointer_get_attribute(device, cuda::pointer_device_ordinal, address_of(inside)));
}

status device_count(int* count) {
    return remember(from_driver(cu().device_get_count(count)));
}

status set_device(int device) {
    return remember(use_device(device));
}

status get_device(int* device) {
    return remember(device_of_thread(*device));
}

status synchronize_device() {
    return in_context([] { return cu().ctx_synchronize(); });
}

status reset_device() {
    return remember(end_device());
}

CUresult describe(device_facts& facts, CUdevice device) {
    char name[256] = "";
    CUuuid uuid{};
    if (CUresult const failed = cu().device_get_name(name, sizeof name, device))
        return failed;
    if (CUresult const failed = cu().device_get_uuid(&uuid, device))
        return failed;
    if (CUresult const failed = cu().device_total_mem(&facts.total_memory, device))
        return failed;
    facts.name = name;
    std::memcpy(facts.uuid, uuid.bytes, sizeof facts.uuid);
    int integrated = 0;
    struct {
        int attribute;
        int* to;
    } const wanted[] = {
        {cuda::attribute_pci_domain_id, &facts.pci_domain},
        {cuda::attribute_pci_bus_id, &facts.pci_bus},
        {cuda::attribute_pci_device_id, &facts.pci_device},
        {cuda::attribute_compute_capability_major, &facts.major},
        {cuda::attribute_compute_capability_minor, &facts.minor},
        {cuda::attribute_multiprocessor_count, &facts.multiprocessors},
        {cuda::attribute_warp_size, &facts.warp_size},
        {cuda::attribute_max_threads_per_block, &facts.max_threads_per_block},
        {cuda::attribute_integrated, &integrated},
    };
    for (auto const& each : wanted)
        if (CUresult const failed = cu().device_get_attribute(each.to, each.attribute, device))
            return failed;
    facts.integrated = integrated != 0;
    return cuda::success;
}

status describe_device(device_facts* facts, int ordinal) {
    int count = 0;
    if (CUresult const failed = cu().device_get_count(&count))
        return remember(from_driver(failed));
    if (ordinal < 0 || ordinal >= count)
        return remember(invalid_device);
    CUdevice device = 0;
    CUresult const failed = cu().device_get(&device, ordinal);
    return remember(from_driver(failed ? failed : describe(*facts, device)));
}

status memory_info(std::size_t* available, std::size_t* total) {
    return in_context([&] { return cu().mem_get_info(available, total); });
}

status take_last_error() {
    status const last = last_error();
    forget_last_error();
    return last;
}

status allocate(void** pointer, std::size_t bytes) {
    *pointer = nullptr;
    return in_context([&] {
        CUdeviceptr made = 0;
        CUresult const answer = bytes ? cu().mem_alloc(&made, bytes) : cuda::success;
        *pointer = reinterpret_cast<void*>(made);
        return answer;
    });
}

status free_memory(void* pointer) {
    return in_context([&] { return pointer ? cu().mem_free(address_of(pointer)) : cuda::success; });
}

status pin_host(void* memory, std::size_t bytes) {
    return in_context(
        [&] { return cu().mem_host_register(memory, bytes, cuda::mem_host_register_portable); });
}

status unpin_host(void* memory) {
    return in_context([&] { return cu().mem_host_unregister(memory); });
}

status address_range(void** base, std::size_t* bytes, void* inside) {
    return in_context([&] {
        CUdeviceptr start = 0;
        CUresult const answer = cu().mem_get_address_range(&start, bytes, address_of(inside));
        *base = reinterpret_cast<void*>(start);
        return answer;
    });
}

status copy(void* to, void const* from, std::size_t bytes, memcpy_kind which) {
    return in_context([&] {
        if (bytes == 0)
            return cuda::success;
        switch (which) {
        case memcpy_kind::host_to_host:
            std::memcpy(to, from, bytes);
            return cuda::success;
        case memcpy_kind::to_device:
            return cu().memcpy_htod(address_of(to), from, bytes);
        case memcpy_kind::to_host:
            return cu().memcpy_dtoh(to, address_of(from), bytes);
        case memcpy_kind::on_device:
            return cu().memcpy_dtod(address_of(to), address_of(from), bytes);
        }
        return cuda::error_invalid_value;
    });
}

status copy_rows(void* to, std::size_t to_pitch, void const* from, std::size_t from_pitch,
                 std::size_t width, std::size_t rows, memcpy_kind which) {
    return in_context([&] {
        if (width == 0 || rows == 0)
            return cuda::success;
        CUDA_MEMCPY2D what{};
        bool const from_host =
            which == memcpy_kind::host_to_host || which == memcpy_kind::to_device;
        bool const to_host = which == memcpy_kind::host_to_host || which == memcpy_kind::to_host;
        what.srcMemoryType = from_host ? cuda::memory_type_host : cuda::memory_type_device;
        what.srcHost = from_host ? from : nullptr;
        what.srcDevice = from_host ? 0 : address_of(from);
        what.srcPitch = from_pitch;
        what.dstMemoryType = to_host ? cuda::memory_type_host : cuda::memory_type_device;
        what.dstHost = to_host ? to : nullptr;
        what.dstDevice = to_host ? 0 : address_of(to);
        what.dstPitch = to_pitch;
        what.WidthInBytes = width;
        what.Height = rows;
        return cu().memcpy_2d_unaligned(&what);
    });
}

status create_stream(void** stream, unsigned flags, int priority) {
    *stream = nullptr;
    return in_context([&] {
        return cu().stream_create_with_priority(reinterpret_cast<CUstream*>(stream), flags,
                                                priority);
    });
}

status create_event(void** event, unsigned flags) {
    *event = nullptr;
    return in_context([&] { return cu().event_create(reinterpret_cast<CUevent*>(event), flags); });
}

status elapsed_time(float* milliseconds, void* start, void* end) {
    return in_context([&] {
        return cu().event_elapsed_time(milliseconds, static_cast<CUevent>(start),
                                       static_cast<CUevent>(end));
    });
}

/// A driver function of one handle, as the runtime's.
template <auto Member, class Handle>
status of_handle(void* handle) {
    return in_context([&] { return (cu().*Member)(static_cast<Handle>(handle)); });
}

status wait_for_event(void* stream, void* event) {
    return in_context([&] {
        return cu().stream_wait_event(static_cast<CUstream>(stream), static_cast<CUevent>(event),
                                      0);
    });
}

status record_event(void* event, void* stream) {
    return in_context([&] {
        return cu().event_record(static_cast<CUevent>(event), static_cast<CUstream>(stream));
    });
}

function_table make_table() {
    using api = cuda::driver_api;
    function_table result{};
    result.vendor = "cuda";
    result.nothing_to_wait_for = &nothing_to_wait_for;
    result.current_context = &current_context;
    result.use_context = &use_context;
    result.device_of = &device_of;
    result.device_count = &device_count;
    result.set_device = &set_device;
    result.get_device = &get_device;
    result.synchronize_device = &synchronize_device;
    result.reset_device = &reset_device;
    result.describe_device = &describe_device;
    result.memory_info = &memory_info;
    result.last_error = &take_last_error;
    result.peek_at_last_error = &last_error;
    result.error_name = &cuda_error_name;
    result.error_string = &cuda_error_string;
    result.allocate = &allocate;
    result.free = &free_memory;
    result.pin_host = &pin_host;
    result.unpin_host = &unpin_host;
    result.address_range = &address_range;
    result.copy = &copy;
    result.copy_rows = &copy_rows;
    result.create_stream = &create_stream;
    result.destroy_stream = &of_handle<&api::stream_destroy, CUstream>;
    result.synchronize_stream = &of_handle<&api::stream_synchronize, CUstream>;
    result.query_stream = &of_handle<&api::stream_query, CUstream>;
    result.wait_for_event = &wait_for_event;
    result.create_event = &create_event;
    result.destroy_event = &of_handle<&api::event_destroy, CUevent>;
    result.record_event = &record_event;
    result.synchronize_event = &of_handle<&api::event_synchronize, CUevent>;
    result.query_event = &of_handle<&api::event_query, CUevent>;
    result.elapsed_time = &elapsed_time;
    return result;
}

vendor_table load() {
    static function_table const functions = make_table();
    vendor_table result;
    if (!cuda::try_api(result.why)) {
        try {
            expect_settings();
        } catch (error const&) { // which `why` says, and not that there is no driver
            result.answer = initialization_error;
            return result;
        }
        if (auto const answer = cuda::result_of_init())
            result.answer = from_driver(*answer);
        return result;
    }
    cuda::watch_exit();
    result.functions = &functions;
    return result;
}

} // namespace
} // namespace from_cuda

vendor_table const& cuda_table() {
    static auto const* const instance = new vendor_table(from_cuda::load());
    return *instance;
}

} // namespace barmap::runtime
