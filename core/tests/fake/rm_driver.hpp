// SPDX-License-Identifier: MIT
#pragma once

#include "fake/copy_engine.hpp"
#include "fake/cuda_space.hpp"
#include "fake/kernel.hpp"
#include "fake/rm_channel.hpp"
#include "fake/rm_objects.hpp"

#include <atomic>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace barmap::fake::rm {
class uvm_file;
}

namespace barmap::fake {

/// NVIDIA's kernel driver as far as barmap's rm backend and its channel of a copy engine speak to
/// it, with the simulated GPU's memory behind it. It knows no other call, class, command, size or
/// flag: those are violations, and are answered with an error too. RM's object rules are kept
/// strictly, and its one leniency as well: importing or duplicating under the wrong GPU succeeds
/// and reaches the wrong memory.
class rm_driver final : public device_driver {
public:
    /// How this driver differs from an ordinary one.
    struct behaviour {
        unsigned series = 580;               ///< whose sizes it has
        bool maps_other_memory = false;      ///< every duplicate is of some other memory
        bool maps_other_doorbell = false;    ///< what UVM maps is of some other memory
        std::optional<std::uint64_t> bar1{}; ///< instead of what the simulated GPU says
        bool confidential = false;           ///< maps nothing for the CPU
        std::string_view chip = "GH100";
        std::vector<std::uint16_t>
            engines{};                   ///< capabilities of its copy engines; empty: the usual
        bool all_engines_shared = false; ///< of the copy engines
        bool one_engine_shared = false;  ///< instead of two, of those that serve no graphics
        std::string version{};           ///< in words; empty: one of the series
        bool cuda_has_uvm = true;        ///< CUDA has /dev/nvidia-uvm open
        bool self_hosted = false;        ///< the CPU reaches the GPU by a coherent link
        /// So many bytes longer than its series' are the parameters of its classes and of UVM.
        std::size_t grown = 0;
    };

    explicit rm_driver(kernel& kernel) : rm_driver(kernel, behaviour{}) {}
    rm_driver(kernel& kernel, behaviour how);

    [[nodiscard]] bool serves(std::string_view path) const override;
    int open(std::string_view path, std::shared_ptr<open_file>& file) override;
    void shut_down() override { copy_engine_.end(); }

    /// RM objects that are alive, clients included, what is mapped of memory, for the CPU and for
    /// the GPU, and channels that are registered with UVM.
    [[nodiscard]] std::size_t objects() const;
    [[nodiscard]] std::uint64_t bar1_used(int ordinal) const;

    // A GPU has a number of its own in each name space, so that none is taken for another.
    [[nodiscard]] static constexpr std::uint32_t minor_number(int ordinal) noexcept {
        return static_cast<std::uint32_t>(ordinal) + 3;
    }
    [[nodiscard]] static constexpr std::uint32_t device_instance(int ordinal) noexcept {
        return static_cast<std::uint32_t>(ordinal) + 8;
    }

    /// Of the latest mapping.
    [[nodiscard]] std::uint32_t last_map_flags() const noexcept { return last_map_flags_; }

    /// What executes the channels, and how a test disturbs it.
    [[nodiscard]] gpu::copy_engine& copy_engine() noexcept { return copy_engine_; }
    [[nodiscard]] std::string version() const;

    /// From now on RM refuses to free channel groups, or frees them again: for a test.
    void keep_channels(bool whether) noexcept { keeps_channels_.store(whether); }
    [[nodiscard]] bool keeps_channels() const noexcept { return keeps_channels_.load(); }
    /// How often it has refused so.
    [[nodiscard]] unsigned kept_channels() const noexcept { return kept_channels_.load(); }

    // For the driver's own files, with the kernel's lock held.
    void note_kept_channel() noexcept { ++kept_channels_; }
    void note_map_flags(std::uint32_t flags) noexcept { last_map_flags_ = flags; }
    [[nodiscard]] kernel& host() noexcept { return kernel_; }
    [[nodiscard]] behaviour const& how() const noexcept { return how_; }
    [[nodiscard]] rm::object_table& table() noexcept { return table_; }
    [[nodiscard]] rm::channel_objects& channel_objects() noexcept { return channel_objects_; }
    [[nodiscard]] std::shared_ptr<gpu::mapped_objects> const& mapped_by_uvm() const noexcept {
        return mapped_by_uvm_;
    }
    [[nodiscard]] std::uint64_t bar1_total(int ordinal) const;
    std::uint64_t new_linear_address() noexcept { return next_linear_address_ += 0x10000000; }
    /// Records a violation and answers what the caller is to answer.
    template <class Code>
    Code refuse(std::string what, Code code) {
        kernel_.violation("rm: " + std::move(what));
        return code;
    }

private:
    kernel& kernel_;
    behaviour how_;
    rm::object_table table_;
    std::uint32_t last_map_flags_ = 0;
    std::atomic<bool> keeps_channels_{false};
    std::atomic<unsigned> kept_channels_{0};
    std::uint64_t next_linear_address_ = 0x7000'0000'0000;
    rm::channel_objects channel_objects_;
    std::shared_ptr<rm::uvm_file> uvm_;
    std::shared_ptr<gpu::mapped_objects> const mapped_by_uvm_ =
        std::make_shared<gpu::mapped_objects>();
    gpu::copy_engine copy_engine_; // goes first: its thread
};

} // namespace barmap::fake
