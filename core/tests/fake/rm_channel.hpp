// SPDX-License-Identifier: MIT
#pragma once

#include "fake/rm_objects.hpp"
#include "fake/rm_tables.hpp"

#include <array>
#include <optional>

namespace barmap::fake {
class rm_driver;
}

namespace barmap::fake::rm {

constexpr std::uint64_t small_page = 4096;

/// The part of the fake RM that a channel on a copy engine is made of. Answers with an NV_STATUS.
/// Called with the kernel's lock held.
class channel_objects {
public:
    explicit channel_objects(rm_driver& driver);

    /// A class that a channel needs, with RM's copy of its parameters; err_invalid_class for any
    /// other.
    std::uint32_t alloc(client& owner, abi::alloc_parameters& request);
    /// Pages of this process.
    std::uint32_t alloc_os_descriptor(client& owner, int ordinal,
                                      abi::os_descriptor_parameters const& request);
    /// A control command that a channel needs, or nothing for any other.
    std::optional<std::uint32_t> control(client& owner, abi::control_parameters const& request);

    template <class Parameters>
    std::uint32_t map_dma(client& owner, Parameters& request);
    template <class Parameters>
    std::uint32_t unmap_dma(client& owner, Parameters const& request);

private:
    std::uint32_t address_space(client& owner, abi::alloc_parameters& request);
    std::uint32_t virtual_memory(client& owner, abi::alloc_parameters& request);
    std::uint32_t local_memory(client& owner, abi::alloc_parameters& request);
    std::uint32_t usermode(client& owner, abi::alloc_parameters& request);
    std::uint32_t group(client& owner, abi::alloc_parameters& request);
    std::uint32_t channel(client& owner, abi::alloc_parameters& request);
    template <class Parameters>
    std::uint32_t channel_of(client& owner, abi::alloc_parameters& request);
    std::uint32_t copy_object(client& owner, abi::alloc_parameters& request);

    std::uint32_t class_list(abi::class_list_parameters* asked);
    std::uint32_t ce_caps(abi::ce_caps_parameters* asked);
    std::uint32_t schedule(object const& channel, abi::control_parameters const& request);
    std::uint32_t submit_token(object const& channel, abi::submit_token_parameters* asked);
    std::uint32_t time_slice(abi::time_slice_parameters const* wanted);

    std::uint32_t add(client& owner, abi::alloc_parameters& request, object added);
    [[nodiscard]] std::optional<std::uint16_t> caps_of(std::uint32_t engine_type) const;
    /// 0 for COPY0 and so on, as far as the series has such numbers.
    [[nodiscard]] std::optional<std::uint32_t> number_of_engine(std::uint32_t engine_type) const;

    rm_driver& driver_;
    channel_classes classes_;
};

extern template std::uint32_t channel_objects::map_dma(client&, abi::map_dma_parameters&);
extern template std::uint32_t channel_objects::map_dma(client&, abi::map_dma_parameters_535&);
extern template std::uint32_t channel_objects::unmap_dma(client&, abi::unmap_dma_parameters const&);
extern template std::uint32_t channel_objects::unmap_dma(client&,
                                                         abi::unmap_dma_parameters_535 const&);

} // namespace barmap::fake::rm
