// SPDX-License-Identifier: MIT
#pragma once

#include "fake/gpu_channel.hpp"
#include "fake/kernel.hpp"
#include "fake/rm_objects.hpp"
#include "nvidia/uvm.hpp"

#include <map>
#include <memory>
#include <utility>

namespace barmap::fake {
class rm_driver;
}

namespace barmap::fake::rm {

namespace uvm_abi = barmap::rm::uvm_abi;

inline constexpr std::uint32_t err_illegal_action = 0x16;
inline constexpr std::uint32_t err_invalid_channel = 0x21;
inline constexpr std::uint32_t err_invalid_object_handle = 0x33;
inline constexpr std::uint32_t err_other_device_found = 0x5a;

/// An open /dev/nvidia-uvm of CUDA's, as far as channels are registered there.
class uvm_file final : public open_file {
public:
    enum class use {
        tools,         ///< it is /dev/nvidia-uvm-tools, which knows no channels
        none,          ///< it is only held open
        address_space, ///< that CUDA's memory is in
    };
    uvm_file(rm_driver& driver, use what) : driver_(driver), use_(what) {}
    int ioctl(unsigned long request, void* argument) override;
    int map(std::size_t bytes, off_t offset, placement& where) override;
    [[nodiscard]] bool gives_back(unsigned long request) const override {
        return request == uvm_abi::unregister_channel || request == uvm_abi::free_range;
    }
    /// Channels that are registered.
    [[nodiscard]] std::size_t channels() const noexcept { return channels_.size(); }
    /// Ranges that an object of RM is, or may be, mapped in.
    [[nodiscard]] std::size_t ranges() const noexcept { return ranges_.size(); }

private:
    std::uint32_t add(uvm_abi::register_channel_parameters const& asked);
    std::uint32_t remove(handle client, handle channel);
    template <class Parameters>
    void unregister(Parameters& asked);
    std::uint32_t create(std::uint64_t base, std::uint64_t length);
    template <class Parameters>
    std::uint32_t map(Parameters const& asked);
    template <class Parameters>
    void free(Parameters& asked);
    /// The object of a client of that control file; null and a violation if there is none.
    object const* find(std::int32_t control_fd, handle client, handle which);

    struct registration {
        std::weak_ptr<gpu::channel> channel;
        int ordinal;
    };
    rm_driver& driver_;
    use use_;
    std::map<std::pair<handle, handle>, registration> channels_; ///< by client and channel
    std::map<std::uint64_t, std::uint64_t> ranges_;              ///< lengths by address
};

} // namespace barmap::fake::rm
