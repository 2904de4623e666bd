// SPDX-License-Identifier: MIT
#include "fake/copy_engine.hpp"
#include "fake/rm_channel.hpp"
#include "fake/rm_driver.hpp"

#include <cstring>
#include <utility>
#include <vector>

/// What is done with the objects of a channel: mapping for the GPU, and control commands.
namespace barmap::fake::rm {
template <class Parameters>
std::uint32_t channel_objects::map_dma(client& owner, Parameters& request) {
    object const* const device = owner.find(request.device, abi::class_device);
    object const* const dma = owner.find(request.dma, abi::class_virtual_memory);
    auto const found = owner.objects.find(request.memory);
    bool const is_memory =
        found != owner.objects.end() && (found->second.object_class == abi::class_local_memory ||
                                         found->second.object_class == abi::class_os_descriptor);
    if (!device || !dma || !is_memory || dma->parent != request.device ||
        found->second.parent != request.device)
        return driver_.refuse("a mapping for the GPU of what is no memory of the device",
                              err_object_not_found);
    object& memory = found->second;
    if (!memory.reached)
        memory.reached = std::make_shared<gpu::video_memory>(memory.memory, false);
    bool as_known = request.flags == (memory.reached->of_host() ? abi::map_dma_flags_host : 0) &&
                    request.address == 0;
    if constexpr (requires { request.flags2; })
        as_known = as_known && request.flags2 == 0 && request.kind_override == 0;
    if (!as_known)
        return driver_.refuse("a mapping for the GPU with unknown flags", err_invalid_argument);
    std::uint64_t const size = memory.reached->size();
    if (request.offset % small_page || request.length % small_page || request.length == 0 ||
        request.offset > size || request.length > size - request.offset)
        return driver_.refuse("a mapping for the GPU that leaves its object", err_invalid_limit);
    request.address = dma->space->map(memory.reached, request.offset, request.length);
    owner.dma_views.try_emplace({request.dma, request.address}, request.memory, dma->space,
                                request.address);
    return abi::ok;
}

template <class Parameters>
std::uint32_t channel_objects::unmap_dma(client& owner, Parameters const& request) {
    auto const found = owner.dma_views.find({request.dma, request.address});
    bool as_known = request.flags == 0 && owner.find(request.device, abi::class_device);
    if constexpr (requires { request.size; })
        as_known = as_known && request.size == 0;
    if (found == owner.dma_views.end() || found->second.memory != request.memory || !as_known)
        return driver_.refuse("unmapping of what is not mapped for the GPU", err_invalid_argument);
    owner.dma_views.erase(found);
    return abi::ok;
}

template std::uint32_t channel_objects::map_dma(client&, abi::map_dma_parameters&);
template std::uint32_t channel_objects::map_dma(client&, abi::map_dma_parameters_535&);
template std::uint32_t channel_objects::unmap_dma(client&, abi::unmap_dma_parameters const&);
template std::uint32_t channel_objects::unmap_dma(client&, abi::unmap_dma_parameters_535 const&);

std::optional<std::uint32_t> channel_objects::control(client& owner,
                                                      abi::control_parameters const& request) {
    auto const found = owner.objects.find(request.object);
    object const none{};
    object const& on = found == owner.objects.end() ? none : found->second;
    auto const wrong_object = [&] {
        return driver_.refuse("control command " + std::to_string(request.command) +
                                  " of the wrong object",
                              err_object_not_found);
    };
    switch (request.command) {
    case abi::cmd_gpu_get_class_list:
        return on.object_class == abi::class_device
                   ? class_list(parameters_of<abi::class_list_parameters>(request))
                   : wrong_object();
    case abi::cmd_ce_get_caps:
        return on.object_class == abi::class_subdevice
                   ? ce_caps(parameters_of<abi::ce_caps_parameters>(request))
                   : wrong_object();
    case abi::cmd_set_time_slice:
        return on.object_class == abi::class_channel_group
                   ? time_slice(parameters_of<abi::time_slice_parameters>(request))
                   : wrong_object();
    case abi::cmd_schedule:
        return on.channel ? schedule(on, request) : wrong_object();
    case abi::cmd_get_submit_token:
        return on.channel ? submit_token(on, parameters_of<abi::submit_token_parameters>(request))
                          : wrong_object();
    default:
        return std::nullopt;
    }
}

std::uint32_t channel_objects::class_list(abi::class_list_parameters* asked) {
    std::vector<std::uint32_t> classes{abi::class_address_space, abi::class_channel_group, 0xa0b5};
    for (std::uint32_t const each : chip_called(driver_.how().chip).classes)
        if (each != 0)
            classes.push_back(each);
    if (asked->list != 0 && asked->count < classes.size())
        return driver_.refuse("a class list without room", err_invalid_argument);
    if (asked->list == 0 && asked->count != 0)
        return driver_.refuse("a class list with room and no place", err_invalid_argument);
    asked->count = static_cast<std::uint32_t>(classes.size());
    if (asked->list != 0)
        std::memcpy(reinterpret_cast<void*>(asked->list), classes.data(),
                    classes.size() * sizeof classes.front());
    return abi::ok;
}

std::optional<std::uint16_t> channel_objects::caps_of(std::uint32_t engine_type) const {
    constexpr std::uint16_t shared = abi::ce_cap_shared, graphics = abi::ce_cap_graphics;
    static std::vector<std::uint16_t> const usual{graphics | shared, graphics | shared, shared,
                                                  shared, 0};
    auto const& caps = driver_.how().engines.empty() ? usual : driver_.how().engines;
    auto const which = number_of_engine(engine_type);
    if (!which || *which >= caps.size())
        return std::nullopt;
    if (driver_.how().one_engine_shared && *which == 3)
        return graphics | shared;
    return static_cast<std::uint16_t>(caps[*which] |
                                      (driver_.how().all_engines_shared ? shared : 0));
}

std::optional<std::uint32_t> channel_objects::number_of_engine(std::uint32_t engine_type) const {
    unsigned const series = driver_.how().series;
    std::uint32_t number = 0;
    for (auto const& [first, last] :
         {std::pair{"NV2080_ENGINE_TYPE_COPY0", "NV2080_ENGINE_TYPE_COPY9"},
          {"NV2080_ENGINE_TYPE_COPY10", "NV2080_ENGINE_TYPE_COPY19"}}) {
        std::uint32_t const from = number_of(first, series), to = number_of(last, series);
        if (from != 0 && engine_type >= from && engine_type <= to)
            return number + engine_type - from;
        number += to - from + 1;
    }
    return std::nullopt;
}

std::uint32_t channel_objects::ce_caps(abi::ce_caps_parameters* asked) {
    if (!number_of_engine(asked->engine_type))
        return driver_.refuse("caps of what is no copy engine", err_invalid_argument);
    auto const caps = caps_of(asked->engine_type);
    if (!caps)
        return err_invalid_class; // there are fewer of them
    asked->caps[0] = static_cast<std::uint8_t>(*caps);
    asked->caps[1] = static_cast<std::uint8_t>(*caps >> 8);
    return abi::ok;
}

std::uint32_t channel_objects::schedule(object const& channel,
                                        abi::control_parameters const& request) {
    // The third member of some series is behind the two of all.
    auto const& asked = *parameters_of<abi::schedule_parameters_535>(request);
    auto const& longest = *parameters_of<abi::schedule_parameters>(request);
    bool const has_third = request.parameters_size >= sizeof longest;
    bool const as_known =
        asked.enable == 1 && asked.skip_submit == 0 && (!has_third || longest.skip_enable == 0);
    if (!as_known)
        return driver_.refuse("scheduling with other flags", err_invalid_argument);
    // Those that serve graphics are kept from an address space with faults that nobody would take.
    auto const caps = caps_of(channel.channel->engine_type());
    if (channel.channel->in_space_of_cuda() && !channel.channel->registered() && caps &&
        (*caps & abi::ce_cap_graphics) != 0)
        return err_invalid_state;
    channel.channel->schedule();
    driver_.copy_engine().start();
    return abi::ok;
}

std::uint32_t channel_objects::submit_token(object const& channel,
                                            abi::submit_token_parameters* asked) {
    asked->token = channel.channel->token();
    return abi::ok;
}

std::uint32_t channel_objects::time_slice(abi::time_slice_parameters const* wanted) {
    if (wanted->microseconds == 0)
        return driver_.refuse("a time slice of no time", abi::err_invalid_param_struct);
    return abi::ok;
}

} // namespace barmap::fake::rm
