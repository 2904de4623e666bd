// SPDX-License-Identifier: MIT
#include <barmap/mapping.hpp>

#include "adaptive.hpp"
#include "copy/plan.hpp"
#include "pin_state.hpp"

namespace barmap {

mapping::mapping() noexcept = default;
mapping::mapping(mapping&&) noexcept = default;
mapping& mapping::operator=(mapping&&) noexcept = default;
mapping::~mapping() = default;
mapping::mapping(std::unique_ptr<mapping_state> state) noexcept : state_(std::move(state)) {}

std::byte* mapping::data() const noexcept {
    return state_ ? state_->mapped->data : nullptr;
}

std::size_t mapping::size() const noexcept {
    return state_ ? state_->pin->size : 0;
}

cache_kind mapping::kind() const noexcept {
    return state_ ? state_->mapped->kind : cache_kind::write_combining;
}

std::string_view mapping::backend() const noexcept {
    return state_ ? state_->pin->slot->name() : std::string_view{};
}

window mapping::window() const& noexcept {
    return state_ ? barmap::window{data(), size(), &state_->plan} : barmap::window{};
}

window mapping::window(std::size_t offset, std::size_t bytes) const& {
    if (offset > size() || bytes > size() - offset)
        throw error(errc::out_of_range,
                    "take " + std::to_string(bytes) + " bytes at offset " + std::to_string(offset) +
                        " of a mapping of " + std::to_string(size()),
                    std::string(backend()), "stay inside the mapping");
    return window().subwindow(offset, bytes);
}

namespace {

void copy_part(mapping const& whole, mapping_state const* state, copy_direction direction,
               std::size_t offset, std::byte* host, std::size_t bytes) {
    if (offset > whole.size() || bytes > whole.size() - offset)
        throw error(errc::out_of_range,
                    "copy " + std::to_string(bytes) + " bytes at offset " + std::to_string(offset) +
                        " of a mapping of " + std::to_string(whole.size()),
                    std::string(whole.backend()), "stay inside the mapping");
    if (bytes >= least_for_engines(direction))
        copy_adaptively(*state, direction, offset, host, bytes);
    else if (bytes > 0)
        copy_by_mapping(*state, direction, offset, host, bytes);
}

} // namespace

void mapping::copy_to_gpu(std::size_t offset, std::span<std::byte const> bytes) const {
    copy_part(*this, state_.get(), copy_direction::to_gpu, offset,
              const_cast<std::byte*>(bytes.data()),
              bytes.size()); // which is only read
}

void mapping::copy_to_cpu(std::span<std::byte> bytes, std::size_t offset) const {
    copy_part(*this, state_.get(), copy_direction::to_cpu, offset, bytes.data(), bytes.size());
}

std::string_view mapping::store_routine(std::size_t bytes) const noexcept {
    return state_ ? state_->plan.store[copy::size_class(bytes)]->name : std::string_view{};
}

std::string_view mapping::load_routine(std::size_t bytes) const noexcept {
    return state_ ? state_->plan.load[copy::size_class(bytes)]->name : std::string_view{};
}

void mapping::use_copy_routine(std::string_view name) {
    copy::copy_routine const& kernel = copy::find_routine(name);
    if (state_)
        state_->plan = copy::plan_of_one(kernel, state_->mapped->kind);
}

} // namespace barmap
