// SPDX-License-Identifier: MIT
#include <barmap/barmap.h>
#include <barmap/barmap.hpp>
#include <barmap/waits.hpp>

#include "c/c_boundary.hpp"
#include "transfer/cpu/transfer.hpp"

#include <algorithm>
#include <array>
#include <cassert>
#include <cstddef>
#include <cstring>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>

struct barmap_pin {
    barmap::pin pin;
    std::string backend; ///< with its NUL
};

struct barmap_mapping {
    barmap::window window; ///< all of it, so that the hot path has it in one step
    barmap::mapping mapping;
};

struct barmap_batch_queue {
    barmap::batch_queue queue;
};

namespace {

using barmap::errc;
using barmap::error;
using barmap::c::attempt;
using barmap::c::expect;
using barmap::c::free_handle;
using barmap::c::make;
using barmap::detail::wait_of_ns;

barmap_pin handle_of(barmap::pin pin) {
    std::string backend(pin.backend());
    return {std::move(pin), std::move(backend)};
}

/// Options as this library knows them: members that the caller's lack are 0, and those that only
/// the caller knows must be.
template <class Options>
Options known(Options const* or_null, std::uint64_t flags, char const* operation,
              char const* advice) {
    auto const refuse = [&](char const* why) {
        throw error(errc::invalid_argument, operation, "", why);
    };
    Options options{};
    if (!or_null)
        return options;
    constexpr std::size_t most = 4096, member = 8;
    std::size_t const size = or_null->size;
    if (size < member || size % member != 0 || size > most)
        refuse(advice);
    std::memcpy(&options, or_null, std::min(size, sizeof options));
    auto const* const bytes = reinterpret_cast<unsigned char const*>(or_null);
    if (size > sizeof options &&
        std::any_of(bytes + sizeof options, bytes + size, [](auto byte) { return byte; }))
        refuse("a member that this version does not know is set: use a newer libbarmap");
    if (options.flags & ~flags)
        refuse("a flag that this version does not know is set: use a newer libbarmap");
    return options;
}

barmap::pin_options options_of(barmap_pin_options const* or_null) {
    barmap_pin_options const options =
        known(or_null, BARMAP_PIN_WHOLE_PAGES | BARMAP_PIN_FORCE_PCIE, "use the options of a pin",
              "set their size to sizeof(barmap_pin_options)");
    barmap::pin_options how;
    how.backend = options.backend ? options.backend : "";
    how.whole_pages = options.flags & BARMAP_PIN_WHOLE_PAGES;
    how.force_pcie = options.flags & BARMAP_PIN_FORCE_PCIE;
    return how;
}

// The core takes the caller's list as it is.
using c_piece = barmap_copy_piece;
using piece = barmap::copy_piece;
static_assert(sizeof(c_piece) == sizeof(piece) && offsetof(c_piece, to) == offsetof(piece, to) &&
              offsetof(c_piece, from) == offsetof(piece, from) &&
              offsetof(c_piece, bytes) == offsetof(piece, bytes) && sizeof(std::uintptr_t) == 8 &&
              sizeof(std::size_t) == 8);

/// Asks whether a batch is done, for the caller.
template <class Ask>
int tell_whether_done(barmap_batch_queue const* queue, int* done, Ask ask) noexcept {
    static constexpr char operation[] = "ask whether a batch is done";
    return attempt([&] {
        expect(done, operation, "pass a pointer for the answer, not NULL") = 0;
        *done = ask(expect(queue, operation, "create a batch queue first").queue) ? 1 : 0;
    });
}

/// The caller's host memory, for a copy of that many bytes.
template <class Byte, class Void>
std::span<Byte> host_bytes(Void* data, std::size_t bytes, char const* operation) {
    if (!data && bytes > 0)
        throw error(errc::invalid_argument, operation, "", "pass host memory, not NULL");
    return {static_cast<Byte*>(data), bytes};
}

barmap::window at(barmap_mapping const* mapping, std::size_t offset) noexcept {
    return mapping->window.subwindow(offset);
}

} // namespace

char const* barmap_version(void) {
    return barmap::version().data(); // a literal
}

int barmap_device_count(void) {
    barmap::os::no_cancellation const uncancelled;
    return barmap::device::count();
}

int barmap_device_create(int ordinal, barmap_device** out) {
    return make(out, "open a GPU", [&] { return barmap_device{barmap::device::open(ordinal)}; });
}

int barmap_device_create_from_pointer(std::uint64_t gpu_address, barmap_device** out) {
    return make(out, "open a GPU", [&] {
        return barmap_device{barmap::device::from_pointer(
            reinterpret_cast<void const*>(static_cast<std::uintptr_t>(gpu_address)))};
    });
}

char const* barmap_device_name(barmap_device const* device) {
    return device->device.name().c_str();
}

void barmap_device_destroy(barmap_device* device) {
    free_handle(device);
}

int barmap_pin_allocate(barmap_device* device, std::size_t bytes, barmap_pin** out) {
    static constexpr char operation[] = "allocate GPU memory";
    return make(out, operation, [&] {
        return handle_of(expect(device, operation, "create a device first").device.allocate(bytes));
    });
}

int barmap_pin_create(barmap_device* device, std::uint64_t gpu_address, std::size_t bytes,
                      barmap_pin_options const* or_null, barmap_pin** out) {
    static constexpr char operation[] = "pin GPU memory";
    return make(out, operation, [&] {
        barmap::device const& gpu = expect(device, operation, "create a device first").device;
        return handle_of(
            gpu.pin(static_cast<std::uintptr_t>(gpu_address), bytes, options_of(or_null)));
    });
}

int barmap_pin_create_ipc(barmap_device* device, void const* handle, std::size_t offset,
                          std::size_t bytes, barmap_pin_options const* or_null, barmap_pin** out) {
    static constexpr char operation[] = "pin memory of another process";
    return make(out, operation, [&] {
        barmap::device const& gpu = expect(device, operation, "create a device first").device;
        barmap::ipc_handle told;
        std::memcpy(told.bytes.data(),
                    &expect(static_cast<std::byte const*>(handle), operation,
                            "give the 64 bytes of a CUDA IPC handle"),
                    told.bytes.size());
        return handle_of(gpu.pin(told, offset, bytes, options_of(or_null)));
    });
}

int barmap_pin_share(barmap_pin const* pin, int* descriptor) {
    static constexpr char operation[] = "share pinned memory with another process";
    return attempt([&] {
        expect(descriptor, operation, "pass a pointer for the descriptor, not NULL") = -1;
        *descriptor = expect(pin, operation, "pin some memory first").pin.share();
    });
}

int barmap_pin_open_shared(int descriptor, barmap_pin** out) {
    return make(out, "open shared memory",
                [&] { return handle_of(barmap::open_shared(descriptor)); });
}

std::uint64_t barmap_pin_gpu_address(barmap_pin const* pin) {
    return pin->pin.gpu_address();
}

std::size_t barmap_pin_size(barmap_pin const* pin) {
    return pin->pin.size();
}

char const* barmap_pin_backend(barmap_pin const* pin) {
    return pin->backend.c_str();
}

void barmap_pin_destroy(barmap_pin* pin) {
    free_handle(pin);
}

int barmap_mapping_create(barmap_pin* pin, barmap_mapping** out) {
    static constexpr char operation[] = "map GPU memory";
    return make(out, operation, [&] {
        barmap::mapping mapping = expect(pin, operation, "pin some memory first").pin.map();
        barmap::window const window = mapping.window();
        return barmap_mapping{window, std::move(mapping)};
    });
}

void* barmap_mapping_data(barmap_mapping const* mapping) {
    return mapping->window.data;
}

std::size_t barmap_mapping_size(barmap_mapping const* mapping) {
    return mapping->window.size;
}

int barmap_mapping_kind(barmap_mapping const* mapping) {
    switch (mapping->mapping.kind()) {
    case barmap::cache_kind::write_combining:
        return BARMAP_WRITE_COMBINING;
    case barmap::cache_kind::cached:
        return BARMAP_CACHED;
    case barmap::cache_kind::uncached:
        break;
    }
    return BARMAP_UNCACHED;
}

void barmap_mapping_destroy(barmap_mapping* mapping) {
    free_handle(mapping);
}

int barmap_mapping_copy_to_gpu(barmap_mapping const* mapping, std::size_t offset, void const* data,
                               std::size_t bytes) {
    static constexpr char operation[] = "copy to GPU memory";
    return attempt([&] {
        expect(mapping, operation, "map some memory first")
            .mapping.copy_to_gpu(offset, host_bytes<std::byte const>(data, bytes, operation));
    });
}

int barmap_mapping_copy_to_cpu(barmap_mapping const* mapping, void* data, std::size_t offset,
                               std::size_t bytes) {
    static constexpr char operation[] = "copy from GPU memory";
    return attempt([&] {
        expect(mapping, operation, "map some memory first")
            .mapping.copy_to_cpu(host_bytes<std::byte>(data, bytes, operation), offset);
    });
}

int barmap_batch_queue_create(barmap_device* device, barmap_batch_queue** out) {
    static constexpr char operation[] = "create a batch queue";
    return make(out, operation, [&] {
        return barmap_batch_queue{
            expect(device, operation, "create a device first").device.batch_queue()};
    });
}

char const* barmap_batch_queue_engine(barmap_batch_queue const* queue) {
    char const* name = "";
    (void)attempt([&] { name = queue->queue.engine().data(); }); // a literal
    return name;
}

int barmap_batch_queue_open(barmap_batch_queue* queue) {
    static constexpr char operation[] = "open the queues of batches";
    return attempt(
        [&] { (void)expect(queue, operation, "create a batch queue first").queue.open_queues(); });
}

int barmap_batch_queue_submit(barmap_batch_queue* queue, barmap_copy_piece const* pieces,
                              std::size_t count, barmap_batch_options const* or_null,
                              std::uint64_t* ticket) {
    static constexpr char operation[] = "copy a batch";
    bool is_started = true;
    int const status = attempt([&] {
        if (ticket)
            *ticket = 0;
        barmap::batch_queue& through = expect(queue, operation, "create a batch queue first").queue;
        if (!pieces && count > 0)
            throw error(errc::invalid_argument, operation, "", "pass the pieces, not NULL");
        barmap_batch_options const options =
            known(or_null, BARMAP_BATCH_AFTER | BARMAP_BATCH_THEN | BARMAP_BATCH_STARTED,
                  "use the options of a batch", "set their size to sizeof(barmap_batch_options)");
        std::optional<barmap::batch_queue::after> begin;
        if (options.flags & BARMAP_BATCH_AFTER) {
            begin.emplace().stream = options.after;
            if (options.at_most_ns != 0)
                begin->at_most = wait_of_ns(options.at_most_ns);
        }
        std::optional<barmap::batch_queue::then> end;
        if (options.flags & BARMAP_BATCH_THEN)
            end.emplace().stream = options.then;
        std::span const list(reinterpret_cast<barmap::copy_piece const*>(pieces), count);
        std::optional<barmap::batch_ticket> const given =
            options.flags & BARMAP_BATCH_STARTED ? through.submit_started(list, begin, end)
                                                 : through.submit(list, begin, end);
        is_started = given.has_value();
        if (ticket && given)
            *ticket = static_cast<std::uint64_t>(*given);
    });
    if (status == BARMAP_OK && !is_started)
        return barmap::c::refuse(BARMAP_ERROR_NOT_STARTED, operation, "no copy engine is at work",
                                 "call barmap_batch_queue_open() in a thread that may wait");
    return status;
}

int barmap_batch_queue_done(barmap_batch_queue const* queue, std::uint64_t ticket, int* done) {
    return tell_whether_done(queue, done, [&](barmap::batch_queue const& of) {
        return of.done(barmap::batch_ticket{ticket});
    });
}

int barmap_batch_queue_wait(barmap_batch_queue const* queue, std::uint64_t ticket,
                            std::uint64_t nanoseconds, int* done) {
    return tell_whether_done(queue, done, [&](barmap::batch_queue const& of) {
        return of.wait(barmap::batch_ticket{ticket}, wait_of_ns(nanoseconds));
    });
}

void barmap_batch_queue_destroy(barmap_batch_queue* queue) {
    free_handle(queue);
}

void barmap_mapping_write(barmap_mapping const* mapping, std::size_t offset, void const* from,
                          std::size_t bytes) {
    barmap::window const to = at(mapping, offset);
    assert(bytes <= to.size);
    barmap::copy::write_bytes(to.data, static_cast<std::byte const*>(from), bytes, *to.plan);
}

void barmap_mapping_read(barmap_mapping const* mapping, void* to, std::size_t offset,
                         std::size_t bytes) {
    barmap::window const from = at(mapping, offset);
    assert(bytes <= from.size);
    barmap::copy::read_bytes(static_cast<std::byte*>(to), from.data, bytes, *from.plan);
}

void barmap_mapping_post32(barmap_mapping const* mapping, std::size_t offset, std::uint32_t value) {
    barmap::post(at(mapping, offset), value);
}

void barmap_mapping_post64(barmap_mapping const* mapping, std::size_t offset, std::uint64_t value) {
    barmap::post(at(mapping, offset), value);
}

void barmap_mapping_post_line(barmap_mapping const* mapping, std::size_t offset, void const* line) {
    barmap::post_line(at(mapping, offset),
                      std::span<std::byte const, 64>(static_cast<std::byte const*>(line), 64));
}

void barmap_flush_stores(void) {
    barmap::copy::flush_wc_stores();
}

void barmap_order_loads(void) {
    barmap::copy::order_device_loads();
}
