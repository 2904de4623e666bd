// SPDX-License-Identifier: MIT
#include "pygpu/runtime/device_memory.hpp"

#include <barmap/copy.hpp>
#include <barmap/device.hpp>
#include <barmap/error.hpp>
#include <barmap/pin.hpp>
#include <barmap/report.hpp>

#include <algorithm>
#include <map>
#include <string>
#include <unistd.h>

namespace barmap::runtime {
namespace {

std::atomic<bool> mapping_is_used{true};

// A mapping costs some 20 us to make and undo, and 4 us more for each MiB; a small transfer through
// it saves some 4 us. Larger ones than this gain nothing anywhere.
constexpr unsigned transfers_for_mapping = 5;
constexpr std::size_t bytes_for_one_more = 1 << 20;
constexpr std::size_t largest_that_gains = 1 << 20;

/// Part of the free BAR1 that one allocation may take.
constexpr std::uint64_t bar1_share = 4;

/// Opening a GPU takes milliseconds, so each stays open. Never destroyed.
device const& opened(int ordinal) {
    static auto* const lock = new std::mutex;
    static auto* const kept = new std::map<int, barmap::device>;
    std::lock_guard const guard(*lock);
    auto const found = kept->find(ordinal);
    return found != kept->end()
               ? found->second
               : kept->emplace(ordinal, barmap::device::open(ordinal)).first->second;
}

/// From which size on, in one direction, a copy engine is faster than loads and stores through this
/// mapping, with pageable or with pinned host memory: so are the runtime's copies. Where no engine
/// competes, it is the least size with which one would.
std::size_t engines_from(mapping const& memory, barmap::device const& gpu, copy_direction which) {
    std::size_t const least = memory.engines_from(which);
    std::size_t from = 0;
    for (copy_crossover const& each : gpu.copy_crossovers(memory.backend()))
        if (each.direction == which && each.method != "mapping" &&
            (from == 0 || each.from_bytes < from))
            from = each.from_bytes;
    return std::max(from, least);
}

/// @param device whose default stream is asked before the mapping is used
mapping make_mapping(std::uintptr_t address, std::size_t bytes, int device) {
    int const ordinal =
        barmap::device::from_pointer(reinterpret_cast<void const*>(address)).ordinal();
    if (ordinal != device)
        throw error(errc::wrong_device, "map an array", "", "it is copied instead");
    barmap::device const& gpu = opened(ordinal);
    bar1_info const bar1 = gpu.bar1();
    if (bar1.total != 0 && bytes > bar1.available / bar1_share)
        throw error(errc::bar1_exhausted, "map an array", "", "it is copied instead");
    return gpu.pin(address, bytes).map();
}

} // namespace

bool use_mapping(bool on) noexcept {
    return mapping_is_used.exchange(on, std::memory_order_relaxed);
}

device_memory::device_memory(std::size_t bytes) : size_(bytes), owner_(os::this_process()) {
    function_table const& runtime = current();
    void* made = nullptr;
    allocated_ = runtime.get_device(&device_);
    if (allocated_ == success)
        allocated_ = runtime.allocate(&made, bytes);
    address_ = reinterpret_cast<std::uintptr_t>(made);
    resets_ = resets_of(device_);
    own_ = true;
}

device_memory::device_memory(std::uintptr_t address, std::size_t bytes, int device)
    : address_(address), size_(bytes), device_(device), owner_(os::this_process()),
      resets_(resets_of(device)) {}

device_memory::~device_memory() {
    mapping_ = mapping();
    if (!own_ || address_ == 0 || !may_give_back(owner_) || resets_ != resets_of(device_))
        return;
    device_scope const here(device_);
    current().free(reinterpret_cast<void*>(address_));
}

status device_memory::usable() const {
    if (!os::is_this_process(owner_))
        return initialization_error;
    return resets_ == resets_of(device_) ? success : context_is_destroyed;
}

bool device_memory::mapping_serves(std::size_t bytes, std::size_t below) const {
    if (!mapping_is_used.load(std::memory_order_relaxed) ||
        state_.load(std::memory_order_acquire) != mapping_state::made || bytes >= below)
        return false;
    // On another device's default stream there may be nothing to wait for while there is on its
    // own.
    return usable() == success && current_device() == device_ && current().nothing_to_wait_for();
}

bool device_memory::write_now(std::size_t offset, void const* host, std::size_t bytes) {
    if (!mapping_serves(bytes, written_below_))
        return false;
    barmap::write(mapping_.window().subwindow(offset, bytes),
                  {static_cast<std::byte const*>(host), bytes});
    transfers_by_mapping_.fetch_add(1, std::memory_order_relaxed);
    return true;
}

bool device_memory::read_now(void* host, std::size_t offset, std::size_t bytes) {
    if (!mapping_serves(bytes, read_below_))
        return false;
    barmap::read({static_cast<std::byte*>(host), bytes},
                 mapping_.window().subwindow(offset, bytes));
    transfers_by_mapping_.fetch_add(1, std::memory_order_relaxed);
    return true;
}

void device_memory::consider_mapping(std::size_t bytes) {
    if (bytes > largest_that_gains || !mapping_is_used.load(std::memory_order_relaxed) ||
        state_.load(std::memory_order_acquire) != mapping_state::none ||
        !current().nothing_to_wait_for)
        return;
    std::size_t const wanted = transfers_for_mapping + size_ / bytes_for_one_more;
    if (transfers_.fetch_add(1, std::memory_order_relaxed) + 1 < wanted)
        return;
    std::lock_guard const guard(making_);
    if (state_.load(std::memory_order_relaxed) != mapping_state::none)
        return;
    try {
        mapping_ = make_mapping(address_, size_, device_);
        written_below_ = engines_from(mapping_, opened(device_), copy_direction::to_gpu);
        read_below_ = engines_from(mapping_, opened(device_), copy_direction::to_cpu);
        state_.store(mapping_state::made, std::memory_order_release);
    } catch (std::exception const& failure) { // the runtime copies
        state_.store(mapping_state::impossible, std::memory_order_release);
        log_line(log_level::info, "an array of " + std::to_string(size_) +
                  " bytes is not mapped, the runtime copies it: " + failure.what());
    }
}

status device_memory::write(std::size_t offset, void const* host, std::size_t bytes) {
    if (status const failed = usable())
        return failed;
    if (bytes == 0)
        return success;
    device_scope const here(device_);
    consider_mapping(bytes);
    if (write_now(offset, host, bytes))
        return success;
    return current().copy(reinterpret_cast<void*>(address_ + offset), host, bytes,
                          memcpy_kind::to_device);
}

status device_memory::read(void* host, std::size_t offset, std::size_t bytes) {
    if (status const failed = usable())
        return failed;
    if (bytes == 0)
        return success;
    device_scope const here(device_);
    consider_mapping(bytes);
    if (read_now(host, offset, bytes))
        return success;
    return current().copy(host, reinterpret_cast<void const*>(address_ + offset), bytes,
                          memcpy_kind::to_host);
}

status device_memory::write_elements(layout there, layout host, std::vector<std::size_t> shape,
                                     std::size_t element) {
    if (status const failed = usable())
        return failed;
    device_scope const here(device_);
    return copy_elements(std::move(there), std::move(host), std::move(shape), element,
                         memcpy_kind::to_device);
}

status device_memory::read_elements(layout host, layout there, std::vector<std::size_t> shape,
                                    std::size_t element) {
    if (status const failed = usable())
        return failed;
    device_scope const here(device_);
    return copy_elements(std::move(host), std::move(there), std::move(shape), element,
                         memcpy_kind::to_host);
}

pinned_memory::pinned_memory(std::size_t bytes) : size_(bytes), owner_(os::this_process()) {
    allocated_ = current().get_device(&device_);
    if (allocated_ != success || bytes == 0)
        return;
    try {
        memory_ = os::region::shared_memory(bytes);
    } catch (error const& failure) { // of which the runtime has no status
        log_line(log_level::info, failure.what());
        allocated_ = out_of_memory;
        return;
    }
    allocated_ = current().pin_host(memory_.data(), bytes);
    resets_ = resets_of(device_);
    if (allocated_ != success)
        memory_ = os::region();
}

pinned_memory::~pinned_memory() {
    if (!memory_.data() || !may_give_back(owner_) || resets_ != resets_of(device_))
        return;
    device_scope const here(device_);
    current().unpin_host(memory_.data());
}

} // namespace barmap::runtime
