// SPDX-License-Identifier: MIT
#include "own_memory.hpp"

#include "driver_use.hpp"
#include "system/process.hpp"

#include <barmap/error.hpp>

#include <atomic>
#include <map>
#include <optional>

namespace barmap::python {
namespace {

/// The process that used a GPU first.
std::atomic<os::process_id> first_user{};

void note_use() {
    os::process_id nobody{};
    first_user.compare_exchange_strong(nobody, os::this_process());
    driver_is_used = true;
}

// Never destroyed: what is alive when the process ends is left to the kernel.
struct kept_devices {
    std::mutex lock;
    std::map<int, device> opened;

    device const& keep(device const& gpu) {
        std::lock_guard const guard(lock);
        return opened.try_emplace(gpu.ordinal(), gpu).first->second;
    }
};
kept_devices& devices() {
    static auto* const all = new kept_devices;
    return *all;
}

struct live_memory {
    std::mutex lock;
    std::map<std::uintptr_t, std::weak_ptr<own_memory>> by_address;
};
live_memory& live() {
    static auto* const all = new live_memory;
    return *all;
}

} // namespace

bool is_forked_child() noexcept {
    os::process_id const user = first_user;
    return user != os::process_id{} && !os::is_this_process(user);
}

void expect_not_forked(char const* operation) {
    if (is_forked_child()) [[unlikely]]
        throw error(errc::forked_child, operation, "",
                    "start processes that use the GPU with spawn instead of fork");
}

device const& opened_device(int ordinal) {
    expect_not_forked("open a GPU");
    note_use();
    return devices().keep(device::open(ordinal));
}

int current_ordinal() {
    expect_not_forked("open a GPU");
    note_use();
    return without_gil([] { return device::current_ordinal(); });
}

device const& device_that_owns(std::uintptr_t address) {
    expect_not_forked("map GPU memory");
    note_use();
    return devices().keep(device::from_pointer(reinterpret_cast<void const*>(address)));
}

std::shared_ptr<own_memory> own_memory::allocate(std::size_t bytes, int ordinal,
                                                 std::string const& backend) {
    pin memory = opened_device(ordinal).allocate(bytes, backend);
    std::shared_ptr<own_memory> const made(new own_memory(std::move(memory), ordinal));
    std::lock_guard const guard(live().lock);
    live().by_address.insert_or_assign(made->address(), made);
    return made;
}

std::shared_ptr<own_memory> own_memory::holding(std::uintptr_t address,
                                                std::size_t bytes) noexcept {
    std::shared_ptr<own_memory> found; // released without the lock, which its destructor takes
    std::lock_guard const guard(live().lock);
    auto next = live().by_address.upper_bound(address);
    if (next == live().by_address.begin())
        return nullptr;
    found = std::prev(next)->second.lock();
    if (!found || address - found->address() > found->size() ||
        bytes > found->size() - (address - found->address()))
        return nullptr;
    return found;
}

own_memory::~own_memory() {
    if (is_forked_child())
        return;
    std::lock_guard const guard(live().lock);
    // Another allocation may have got the addresses since the last reference went.
    auto const entry = live().by_address.find(address());
    if (entry != live().by_address.end() && entry->second.expired())
        live().by_address.erase(entry);
}

mapping const& own_memory::mapped() {
    expect_not_forked("map GPU memory");
    std::lock_guard const guard(mapping_lock_);
    if (mapping_.size() == 0)
        mapping_ = pin_.map();
    return mapping_;
}

} // namespace barmap::python
