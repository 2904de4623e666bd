// SPDX-License-Identifier: MIT
#include "api/adaptive.hpp"
#include "api/handles.hpp"
#include "transfer/cpu/fenced_copy.hpp"
#include "transfer/cpu/plan.hpp"

#include <barmap/copy.hpp>

#include <cassert>
#include <limits>
#include <span>
#include <string>

namespace barmap {
namespace {

using c::attempt;
using c::expect;

window at(barmap_mapping const* mapping, std::size_t offset) noexcept {
    return mapping->whole.subwindow(offset);
}

/// @param mapping null: an empty one
void expect_inside(barmap_mapping const* mapping, char const* what, std::size_t offset,
                   std::size_t bytes) {
    std::size_t const size = mapping ? mapping->whole.size : 0;
    if (offset > size || bytes > size - offset)
        throw error(errc::out_of_range,
                    what + std::to_string(bytes) + " bytes at offset " + std::to_string(offset) +
                        " of a mapping of " + std::to_string(size),
                    mapping ? std::string(mapping->state->pin->slot->name()) : std::string(),
                    "stay inside the mapping");
}

std::size_t engines_from(mapping_state const& state, copy_direction way) noexcept {
    if (state.by_mapping)
        return std::numeric_limits<std::size_t>::max();
    return state.by_engine ? 0 : least_for_engines(way);
}

/// @param host memory that the direction reads or writes
void copy_range(barmap_mapping const* mapping, copy_direction way, std::size_t offset,
                std::byte* host, std::size_t bytes, char const* operation) {
    mapping_state const& state = *expect(mapping, operation, "map some memory first").state;
    if (!host && bytes > 0)
        throw error(errc::invalid_argument, operation, "", "pass host memory, not NULL");
    expect_inside(mapping, "copy ", offset, bytes);
    if (bytes == 0 || bytes < engines_from(state, way))
        copy_by_mapping(state, way, offset, host, bytes);
    else
        copy_adaptively(state, way, offset, host, bytes);
}

} // namespace
} // namespace barmap

using namespace barmap;

void* barmap_mapping_data(barmap_mapping const* mapping) {
    return mapping->whole.data;
}

std::size_t barmap_mapping_size(barmap_mapping const* mapping) {
    return mapping->whole.size;
}

int barmap_mapping_kind(barmap_mapping const* mapping) {
    return static_cast<int>(mapping->state->kind);
}

char const* barmap_mapping_backend(barmap_mapping const* mapping) {
    return mapping->state->pin->slot->name().data(); // a literal
}

void barmap_mapping_destroy(barmap_mapping* mapping) {
    c::free_handle(mapping);
}

int barmap_mapping_copy_to_gpu(barmap_mapping const* mapping, std::size_t offset, void const* data,
                               std::size_t bytes) {
    return attempt([&] {
        auto* const host = static_cast<std::byte*>(const_cast<void*>(data)); // which is only read
        copy_range(mapping, copy_direction::to_gpu, offset, host, bytes, "copy to GPU memory");
    });
}

int barmap_mapping_copy_to_cpu(barmap_mapping const* mapping, void* data, std::size_t offset,
                               std::size_t bytes) {
    return attempt([&] {
        copy_range(mapping, copy_direction::to_cpu, offset, static_cast<std::byte*>(data), bytes,
                   "copy from GPU memory");
    });
}

std::size_t barmap_mapping_engines_from(barmap_mapping const* mapping, int direction) {
    return engines_from(*mapping->state, direction == BARMAP_TO_GPU ? copy_direction::to_gpu
                                                                    : copy_direction::to_cpu);
}

int barmap_mapping_use_engine(barmap_mapping* mapping, char const* name) {
    static constexpr char operation[] = "use one copy engine";
    return attempt([&] {
        use_engine(*expect(mapping, operation, "map some memory first").state,
                   &expect(name, operation, "name one, not NULL"));
    });
}

char const* barmap_mapping_routine(barmap_mapping const* mapping, int direction,
                                   std::size_t bytes) {
    copy_plan const& plan = mapping->state->plan;
    auto const& routines = direction == BARMAP_TO_GPU ? plan.store : plan.load;
    return routines[copy::size_class(bytes)]->name.data(); // a literal
}

int barmap_mapping_use_routine(barmap_mapping* mapping, char const* name) {
    static constexpr char operation[] = "use a copy routine";
    return attempt([&] {
        copy::copy_routine const& routine =
            copy::find_routine(&expect(name, operation, "name one, not NULL"));
        if (mapping)
            mapping->state->plan = copy::plan_of_one(routine, mapping->state->kind);
    });
}

int barmap_mapping_part(barmap_mapping const* mapping, std::size_t offset, std::size_t bytes,
                        barmap_window* to) {
    return attempt([&] {
        if (to)
            *to = {};
        expect_inside(mapping, "take ", offset, bytes);
        if (to && mapping)
            *to = {mapping->whole.data + offset, bytes, mapping->whole.plan};
    });
}

void barmap_mapping_window(barmap_mapping const* mapping, barmap_window* to) {
    window const& whole = mapping->whole;
    *to = {whole.data, whole.size, whole.plan};
}

int barmap_mapping_window_by(barmap_mapping const* mapping, char const* name, barmap_window* to) {
    static constexpr char operation[] = "use a copy routine";
    return attempt([&] {
        expect(to, operation, "pass a pointer for the window, not NULL") = {};
        copy::copy_routine const& by =
            copy::find_routine(&expect(name, operation, "name one, not NULL"));
        if (mapping)
            *to = {mapping->whole.data, mapping->whole.size,
                   &copy::kept_plan_of_one(by, mapping->state->kind)};
    });
}

void barmap_mapping_write(barmap_mapping const* mapping, std::size_t offset, void const* from,
                          std::size_t bytes) {
    window const to = at(mapping, offset);
    assert(bytes <= to.size);
    copy::write_bytes(to.data, static_cast<std::byte const*>(from), bytes, *to.plan);
}

void barmap_mapping_read(barmap_mapping const* mapping, void* to, std::size_t offset,
                         std::size_t bytes) {
    window const from = at(mapping, offset);
    assert(bytes <= from.size);
    copy::read_bytes(static_cast<std::byte*>(to), from.data, bytes, *from.plan);
}

void barmap_mapping_post32(barmap_mapping const* mapping, std::size_t offset, std::uint32_t value) {
    post(at(mapping, offset), value);
}

void barmap_mapping_post64(barmap_mapping const* mapping, std::size_t offset, std::uint64_t value) {
    post(at(mapping, offset), value);
}

void barmap_mapping_post_line(barmap_mapping const* mapping, std::size_t offset, void const* line) {
    post_line(at(mapping, offset),
              std::span<std::byte const, 64>(static_cast<std::byte const*>(line), 64));
}
