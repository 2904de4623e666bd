// SPDX-License-Identifier: MIT
#include <barmap/log.h>
#include <barmap/log.hpp>
#include <barmap/waits.hpp>

#include "c/c_boundary.hpp"

#include <bit>
#include <cstddef>
#include <span>

struct barmap_log {
    barmap::log_ring log;
};

namespace {

using barmap::c::attempt;
using barmap::c::expect;

// C's structures are those of C++.
using c_record = barmap_log_record;
using c_handle = barmap_log_handle;
using record = barmap::log_record;
using handle_type = barmap::gpu::log_ring;
static_assert(sizeof(c_record) == sizeof(record) &&
              offsetof(c_record, time) == offsetof(record, time) &&
              offsetof(c_record, number) == offsetof(record, number) &&
              offsetof(c_record, id) == offsetof(record, id) &&
              offsetof(c_record, a) == offsetof(record, a) &&
              offsetof(c_record, b) == offsetof(record, b) &&
              offsetof(c_record, c) == offsetof(record, c));
static_assert(sizeof(c_handle) == sizeof(handle_type) &&
              offsetof(c_handle, records) == offsetof(handle_type, records) &&
              offsetof(c_handle, next) == offsetof(handle_type, next) &&
              offsetof(c_handle, mask) == offsetof(handle_type, mask) &&
              offsetof(c_handle, shift) == offsetof(handle_type, shift));

} // namespace

int barmap_log_create(barmap_device* device, std::size_t slots, barmap_log_handle* handle,
                      barmap_log** out) {
    static constexpr char operation[] = "make a log";
    int const result = barmap::c::make(out, operation, [&] {
        return barmap_log{
            {expect(device, operation, "open a device first, not NULL").device, slots}};
    });
    if (result == BARMAP_OK && handle)
        *handle = std::bit_cast<barmap_log_handle>((*out)->log.handle());
    return result;
}

int barmap_log_share(barmap_log const* log, int* descriptor) {
    static constexpr char operation[] = "share a log with another process";
    return attempt([&] {
        expect(descriptor, operation, "pass a pointer for the descriptor, not NULL") = -1;
        *descriptor = expect(log, operation, "create one first, not NULL").log.share();
    });
}

int barmap_log_open_shared(int descriptor, barmap_log** out) {
    return barmap::c::make(out, "open a log",
                           [&] { return barmap_log{barmap::log_ring::open_shared(descriptor)}; });
}

void barmap_log_destroy(barmap_log* log) {
    barmap::c::free_handle(log);
}

std::size_t barmap_log_read(barmap_log* log, barmap_log_record* records, std::size_t count) {
    return log->log.read({reinterpret_cast<record*>(records), count});
}

int barmap_log_wait(barmap_log* log, uint64_t nanoseconds) {
    return log->log.wait_for(barmap::detail::wait_of_ns(nanoseconds)) ? 1 : 0;
}

uint64_t barmap_log_lost(barmap_log const* log) {
    return log->log.lost();
}
