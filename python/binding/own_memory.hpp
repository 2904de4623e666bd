// SPDX-License-Identifier: MIT
#pragma once

#include <barmap/device.hpp>
#include <barmap/mapping.hpp>
#include <barmap/pin.hpp>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <string>

namespace barmap::python {

/// Opens a GPU and keeps it open until the process ends: opening starts its backends and measures
/// copy routines, milliseconds that a program would else pay whenever its last mapping has gone.
/// @throws error errc::forked_child in a child of a process that uses a GPU; as device::open
[[nodiscard]] device const& opened_device(int ordinal);
/// As device::current_ordinal(), for what is opened next. The GIL is held.
/// @throws error errc::forked_child
[[nodiscard]] int current_ordinal();
/// The same for the GPU that owns an address.
[[nodiscard]] device const& device_that_owns(std::uintptr_t address);

/// Whether another process used a GPU, and this one was forked from it afterwards: what it made is
/// not to be touched, locks included.
[[nodiscard]] bool is_forked_child() noexcept;
/// @throws error errc::forked_child in such a process
void expect_not_forked(char const* operation);

/// GPU memory that barmap allocated. All that maps a part of it shares one mapping of the whole,
/// which is made when it is first asked for.
/// Thread rule: members may be called at once. None needs the GIL; calls may wait for the driver.
class own_memory {
public:
    /// @throws error as device::allocate
    [[nodiscard]] static std::shared_ptr<own_memory> allocate(std::size_t bytes, int ordinal,
                                                              std::string const& backend);
    /// The memory that holds this whole range, or null.
    [[nodiscard]] static std::shared_ptr<own_memory> holding(std::uintptr_t address,
                                                             std::size_t bytes) noexcept;
    ~own_memory();
    own_memory(own_memory const&) = delete;
    own_memory& operator=(own_memory const&) = delete;

    [[nodiscard]] std::uintptr_t address() const noexcept { return pin_.gpu_address(); }
    [[nodiscard]] std::size_t size() const noexcept { return pin_.size(); }
    [[nodiscard]] int ordinal() const noexcept { return ordinal_; }
    [[nodiscard]] std::string_view backend() const noexcept { return pin_.backend(); }
    /// @throws error as pin::map
    [[nodiscard]] mapping const& mapped();

private:
    own_memory(pin memory, int ordinal) noexcept : pin_(std::move(memory)), ordinal_(ordinal) {}

    pin pin_;
    int ordinal_;
    std::mutex mapping_lock_;
    mapping mapping_;
};

} // namespace barmap::python
