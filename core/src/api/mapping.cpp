// SPDX-License-Identifier: MIT
#include <barmap/mapping.hpp>

#include "api/adaptive.hpp"
#include "api/pin_state.hpp"
#include "transfer/cpu/plan.hpp"

#include <utility>

namespace barmap {

mapping::mapping() noexcept = default;
mapping::mapping(mapping&& other) noexcept
    : state_(std::move(other.state_)), whole_(std::exchange(other.whole_, {})),
      contest_from_(other.contest_from_) {}
mapping& mapping::operator=(mapping&& other) noexcept {
    whole_ = std::exchange(other.whole_, {});
    state_ = std::move(other.state_);
    contest_from_ = other.contest_from_;
    return *this;
}
mapping::~mapping() = default;
mapping::mapping(std::unique_ptr<mapping_state> state) noexcept
    : state_(std::move(state)), whole_{state_->data, state_->pin->size, &state_->plan},
      contest_from_{least_for_engines(copy_direction::to_gpu),
                    least_for_engines(copy_direction::to_cpu)} {}

std::byte* mapping::data() const noexcept {
    return whole_.data;
}

std::size_t mapping::size() const noexcept {
    return whole_.size;
}

cache_kind mapping::kind() const noexcept {
    return state_ ? state_->kind : cache_kind::write_combining;
}

std::string_view mapping::backend() const noexcept {
    return state_ ? state_->pin->slot->name() : std::string_view{};
}

window mapping::window() const& noexcept {
    return whole_;
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

[[noreturn]] void refuse_range(mapping const& whole, std::size_t offset, std::size_t bytes) {
    throw error(errc::out_of_range,
                "copy " + std::to_string(bytes) + " bytes at offset " + std::to_string(offset) +
                    " of a mapping of " + std::to_string(whole.size()),
                std::string(whole.backend()), "stay inside the mapping");
}

} // namespace

void mapping::copy_much_to_gpu(std::size_t offset, std::span<std::byte const> bytes) const {
    if (!holds(offset, bytes.size()))
        refuse_range(*this, offset, bytes.size());
    copy_adaptively(*state_, copy_direction::to_gpu, offset, const_cast<std::byte*>(bytes.data()),
                    bytes.size()); // which is only read
}

void mapping::copy_much_to_cpu(std::span<std::byte> bytes, std::size_t offset) const {
    if (!holds(offset, bytes.size()))
        refuse_range(*this, offset, bytes.size());
    copy_adaptively(*state_, copy_direction::to_cpu, offset, bytes.data(), bytes.size());
}

std::string_view mapping::store_routine(std::size_t bytes) const noexcept {
    return state_ ? state_->plan.store[copy::size_class(bytes)]->name : std::string_view{};
}

std::string_view mapping::load_routine(std::size_t bytes) const noexcept {
    return state_ ? state_->plan.load[copy::size_class(bytes)]->name : std::string_view{};
}

window mapping::window_by(std::string_view routine) const& {
    copy::copy_routine const& by = copy::find_routine(routine);
    return {whole_.data, whole_.size,
            state_ ? &copy::kept_plan_of_one(by, state_->kind) : nullptr};
}

void mapping::use_copy_routine(std::string_view name) {
    copy::copy_routine const& routine = copy::find_routine(name);
    if (state_)
        state_->plan = copy::plan_of_one(routine, state_->kind);
}

} // namespace barmap
