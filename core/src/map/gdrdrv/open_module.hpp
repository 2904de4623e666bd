// SPDX-License-Identifier: MIT
#pragma once

#include "map/backend.hpp"
#include "system/fd.hpp"
#include "system/process.hpp"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>

namespace barmap::backend::gdrdrv {

/// An open /dev/gdrdrv. Its pins are freed with the last descriptor at the latest. A forked child
/// shares the descriptor, so there destructors only close. Thread rule: const members may be called
/// at once.
class open_module {
public:
    /// @throws error with errno if there is none, errc::unknown_layout for an unknown version
    open_module();

    [[nodiscard]] std::uint64_t pin(CUdeviceptr address, std::size_t bytes,
                                    pin_options const& asked) const;
    void unpin(std::uint64_t handle) const noexcept;

    /// The module's mode. Versions before 2.5 do not report it: they had no persistent mappings
    /// and no flag. @pre nothing has been pinned by this descriptor
    [[nodiscard]] backend_properties properties() const;

    /// Whether the memory was revoked.
    [[nodiscard]] bool callback_flag(std::uint64_t handle) const;

    /// The oldest event of any handle, in whole pages. @pre properties().events
    [[nodiscard]] std::optional<pin_event> next_event() const;

    /// How the next mapping of the handle shall be cached.
    void request(std::uint64_t handle, std::optional<cache_kind> wanted) const;

    /// How a mapped handle is cached.
    [[nodiscard]] cache_kind kind(std::uint64_t handle) const;

    [[nodiscard]] int fd() const noexcept { return fd_.get(); }

private:
    template <class Parameters>
    [[nodiscard]] bool succeeds(unsigned long request, Parameters& parameters) const noexcept;
    template <class Parameters>
    void call(unsigned long request, Parameters& parameters, char const* what,
              std::string const& advice) const;
    [[nodiscard]] bool attribute(std::uint32_t which) const;
    [[nodiscard]] bool has_events() const;
    [[nodiscard]] std::string limits() const;
    template <class Parameters>
    std::uint64_t pin_as(unsigned long request, Parameters& parameters) const;

    os::fd fd_;
    os::process_id owner_;
    std::uint32_t version_ = 0;
};

} // namespace barmap::backend::gdrdrv
