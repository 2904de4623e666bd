// SPDX-License-Identifier: MIT
#pragma once

#include "fake/kernel.hpp"

#include <cstdint>
#include <map>
#include <set>

namespace barmap::fake {

/// The gdrdrv module, of any version from 2.0 to 2.6 or barmap's own, with the simulated GPU's
/// memory behind it. Strict as the module is, and more: ranges must be whole GPU pages, a handle
/// can be mapped once at a time, and what a version does not know is a violation.
class gdrdrv_driver final : public device_driver {
public:
    struct behaviour {
        unsigned minor = 6; ///< version 2.minor
        unsigned major = 2;
        unsigned mapping_type = 1;     ///< 1 write-combining, 2 cached, 3 device (from 2.4 on)
        bool persistent = true;        ///< false: callback mode
        bool force_pcie = false;       ///< offers the flag
        bool events = false;           ///< barmap's: has features, and in callback mode events
        std::size_t max_user_pins = 0; ///< 0: no limit
    };

    explicit gdrdrv_driver(kernel& kernel) : gdrdrv_driver(kernel, behaviour{}) {}
    gdrdrv_driver(kernel& kernel, behaviour how) : kernel_(kernel), how_(how) {}

    [[nodiscard]] bool serves(std::string_view path) const override;
    int open(std::string_view path, std::shared_ptr<open_file>& file) override;

    /// Pinned ranges that are alive.
    [[nodiscard]] std::size_t objects() const;

    /// From now on says of every pin that the GPU driver called back, if in callback mode; and
    /// puts an event for each into its file, last pinned first.
    void take_away();

    /// The same of the one pin that begins there.
    void take_away(std::uint64_t address);

    /// Puts an event for each pin into its file, of a kind that a later module may have.
    void tell_unknown();

    /// Puts the first half of an event into each file.
    void tell_half();

    /// Puts a record into each file, of so many events that were lost.
    void lose(std::uint64_t events);

    /// What the latest pin asked for.
    [[nodiscard]] std::uint64_t last_token() const;
    [[nodiscard]] std::uint32_t last_va_space() const;
    [[nodiscard]] std::uint32_t last_flags() const;

private:
    class file;
    kernel& kernel_;
    behaviour how_;
    std::set<file*> files_; ///< open ones
    std::size_t pins_ = 0;  ///< under the kernel's lock, like all below
    bool revoked_ = false;
    std::uint64_t last_token_ = 0;
    std::uint32_t last_va_space_ = 0, last_flags_ = 0;
};

} // namespace barmap::fake
