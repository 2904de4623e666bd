// SPDX-License-Identifier: MIT
#include "fake/rm_channel.hpp"

#include "fake/copy_engine.hpp"
#include "fake/rm_driver.hpp"
#include "fake/rm_parameters.hpp"

#include <bit>
#include <cstring>

namespace barmap::fake::rm {
namespace {

constexpr std::uint64_t huge_page = 2u << 20;
constexpr std::uint64_t userd_alignment = 512;

bool has_extended_base(channel_classes const& of) {
    constexpr std::uint32_t hopper = 0xc86f;
    return of.channel >= hopper;
}

/// RM's copy of a class's parameters.
template <class Parameters>
bool take(abi::alloc_parameters const& request, Parameters& to) {
    auto const* const from = reinterpret_cast<std::byte const*>(request.parameters);
    if (from)
        std::memcpy(&to, from, sizeof to);
    return from != nullptr;
}

template <class Parameters>
bool all_zero(Parameters const& what) {
    return rm::all_zero(reinterpret_cast<std::byte const*>(&what), sizeof what);
}

} // namespace

channel_objects::channel_objects(rm_driver& driver)
    : driver_(driver), classes_(classes_of(driver.how().chip)) {}

std::uint32_t channel_objects::add(client& owner, abi::alloc_parameters& request, object added) {
    added.parent = request.parent;
    added.object_class = request.object_class;
    request.object = driver_.table().add(owner, std::move(added));
    return abi::ok;
}

std::uint32_t channel_objects::alloc(client& owner, abi::alloc_parameters& request) {
    std::uint32_t const wanted = request.object_class;
    if (wanted == classes_.channel)
        return channel(owner, request);
    if (wanted == classes_.copy)
        return copy_object(owner, request);
    if (is_usermode(wanted) && lists(driver_.how().chip, wanted))
        return usermode(owner, request);
    switch (wanted) {
    case abi::class_address_space:
        return address_space(owner, request);
    case abi::class_virtual_memory:
        return virtual_memory(owner, request);
    case abi::class_local_memory:
        return local_memory(owner, request);
    case abi::class_channel_group:
        return group(owner, request);
    default:
        return driver_.refuse("unknown class " + std::to_string(wanted), err_invalid_class);
    }
}

std::uint32_t channel_objects::address_space(client& owner, abi::alloc_parameters& request) {
    object const* const device = owner.find(request.parent, abi::class_device);
    if (!device)
        return driver_.refuse("an address space under no device", err_invalid_object_parent);
    abi::address_space_parameters wanted{};
    if (!take(request, wanted) || !all_zero(wanted))
        return driver_.refuse("an address space's parameters", abi::err_invalid_param_struct);
    object made{0, 0, device->ordinal, nullptr};
    made.space = std::make_shared<gpu::address_space>();
    return add(owner, request, std::move(made));
}

std::uint32_t channel_objects::virtual_memory(client& owner, abi::alloc_parameters& request) {
    abi::virtual_memory_parameters wanted{};
    if (!take(request, wanted) || wanted.offset || wanted.limit)
        return driver_.refuse("virtual memory's parameters", abi::err_invalid_param_struct);
    object const* const space = owner.find(wanted.address_space, abi::class_address_space);
    if (!space || space->parent != request.parent || space->space->is_foreign())
        return driver_.refuse("virtual memory of no address space of its device",
                              err_invalid_object_parent);
    object made{0, 0, space->ordinal, nullptr};
    made.uses = {wanted.address_space};
    made.space = space->space;
    return add(owner, request, std::move(made));
}

std::uint32_t channel_objects::local_memory(client& owner, abi::alloc_parameters& request) {
    object const* const device = owner.find(request.parent, abi::class_device);
    if (!device)
        return driver_.refuse("video memory under no device", err_invalid_object_parent);
    abi::memory_alloc_parameters wanted{};
    if (!take(request, wanted))
        return driver_.refuse("video memory without parameters", abi::err_invalid_param_struct);
    std::uint64_t const size = wanted.size;
    bool const as_known = wanted.flags == abi::alloc_flags_video_memory &&
                          wanted.attributes == abi::attributes_contiguous_huge &&
                          wanted.attributes2 == abi::attributes2_huge_2mb_cacheable &&
                          (wanted.owner == 0 || wanted.owner == request.root) &&
                          (wanted.alignment == 0 || wanted.alignment == huge_page);
    wanted.flags = wanted.attributes = wanted.attributes2 = wanted.owner = 0;
    wanted.size = wanted.alignment = 0;
    if (!as_known || size == 0 || size % huge_page != 0 || !all_zero(wanted))
        return driver_.refuse("video memory of another size or kind", err_invalid_argument);
    object made{0, 0, device->ordinal,
                memory_file::fresh("video memory of the fake RM", size, device->ordinal)};
    made.reached = std::make_shared<gpu::video_memory>(made.memory, true);
    return add(owner, request, std::move(made));
}

std::uint32_t channel_objects::alloc_os_descriptor(client& owner, int ordinal,
                                                   abi::os_descriptor_parameters const& request) {
    object const* const device = owner.find(request.parent, abi::class_device);
    if (!device || device->ordinal != ordinal)
        return driver_.refuse("an OS descriptor under no device of its file",
                              err_invalid_object_parent);
    if (request.object_class != abi::class_os_descriptor)
        return driver_.refuse("memory of another class", err_invalid_class);
    std::uint64_t const size = request.limit + 1;
    if (request.flags != abi::os_descriptor_flags || request.fd != -1 || request.padding != 0 ||
        request.memory == 0 || request.memory % small_page != 0 || size == 0 ||
        size % small_page != 0)
        return driver_.refuse("an OS descriptor of other flags or not of whole pages",
                              err_invalid_argument);
    object made{request.parent, request.object_class, ordinal, nullptr};
    made.reached = std::make_shared<gpu::host_memory>(request.memory, size);
    // Page by page: what is not there cannot be pinned.
    std::byte first{};
    for (std::uint64_t at = 0; at < size; at += small_page)
        if (!made.reached->read(at, &first, 1))
            return err_invalid_address;
    if (request.object == 0 || !driver_.table().add(owner, request.object, std::move(made)))
        return driver_.refuse("an OS descriptor whose handle is 0 or in use",
                              err_insert_duplicate_name);
    return abi::ok;
}

std::uint32_t channel_objects::usermode(client& owner, abi::alloc_parameters& request) {
    object const* const subdevice = owner.find(request.parent, abi::class_subdevice);
    if (!subdevice)
        return driver_.refuse("a user-mode page under no subdevice", err_invalid_object_parent);
    abi::usermode_parameters wanted{};
    bool const as_known =
        structure_of_class(request.object_class).empty()
            ? !request.parameters && !request.parameters_size
            : take(request, wanted) && wanted.bar1_mapping == 1 && wanted.privileged == 0;
    if (!as_known)
        return driver_.refuse("a user-mode page's parameters", abi::err_invalid_param_struct);
    object made{
        0, 0, subdevice->ordinal,
        memory_file::fresh("doorbell of the fake GPU", abi::usermode_bytes, subdevice->ordinal)};
    auto const page = std::make_shared<gpu::video_memory>(made.memory, true);
    made.reached = page;
    driver_.copy_engine().watch(page);
    return add(owner, request, std::move(made));
}

std::uint32_t channel_objects::group(client& owner, abi::alloc_parameters& request) {
    abi::channel_group_parameters wanted{};
    if (!take(request, wanted))
        return driver_.refuse("a channel group's parameters", abi::err_invalid_param_struct);
    object const* const space = owner.find(wanted.address_space, abi::class_address_space);
    if (!space || space->parent != request.parent)
        return driver_.refuse("a channel group of no address space of its device",
                              err_invalid_object_parent);
    if (wanted.error_notifier || wanted.ecc_error_notifier || wanted.is_vgpu_plugin ||
        !caps_of(wanted.engine_type))
        return driver_.refuse("a channel group of no engine, or with other fields",
                              err_invalid_argument);
    object made{0, 0, space->ordinal, nullptr};
    made.uses = {wanted.address_space};
    made.space = space->space;
    made.engine_type = wanted.engine_type;
    return add(owner, request, std::move(made));
}

std::uint32_t channel_objects::channel(client& owner, abi::alloc_parameters& request) {
    return is_size<abi::channel_parameters_610>("NV_CHANNEL_ALLOC_PARAMS", driver_.how().series)
               ? channel_of<abi::channel_parameters_610>(owner, request)
               : channel_of<abi::channel_parameters>(owner, request);
}

template <class Parameters>
std::uint32_t channel_objects::channel_of(client& owner, abi::alloc_parameters& request) {
    object const* const parent = owner.find(request.parent, abi::class_channel_group);
    if (!parent)
        return driver_.refuse("a channel of no group", err_invalid_object_parent);
    for (auto const& [name, each] : owner.objects)
        if (each.parent == request.parent)
            return driver_.refuse("a second channel of a group", err_invalid_argument);
    Parameters wanted{};
    if (!take(request, wanted))
        return driver_.refuse("a channel without parameters", abi::err_invalid_param_struct);
    object const* const notifier = owner.find(wanted.error_notifier, abi::class_os_descriptor);
    object const* const userd = owner.find(wanted.userd_memory[0], abi::class_local_memory);
    auto userd_memory =
        userd ? std::dynamic_pointer_cast<gpu::video_memory>(userd->reached) : nullptr;
    if (userd && (!userd_memory || !userd_memory->has_words())) // a duplicate of CUDA's
        userd_memory = std::make_shared<gpu::video_memory>(userd->memory, true);
    std::uint64_t const userd_offset = wanted.userd_offset[0];
    if (!notifier || !userd_memory || userd_offset % userd_alignment != 0 ||
        userd_offset + userd_alignment > userd_memory->size())
        return driver_.refuse("a channel without an error notifier or USERD", err_invalid_argument);
    // In an address space of another client's RM does not look.
    if (!std::has_single_bit(wanted.gpfifo_entries) || wanted.gpfifo_address % 8 != 0 ||
        (!parent->space->is_foreign() &&
         !parent->space->find(wanted.gpfifo_address, wanted.gpfifo_entries * sizeof(std::uint64_t))
              .of))
        return driver_.refuse("a GPFIFO of another size or at no address of the group's",
                              err_invalid_argument);
    if (wanted.engine_type != parent->engine_type)
        return driver_.refuse("a channel of another engine than its group", err_invalid_argument);
    object made{0, 0, parent->ordinal, nullptr};
    made.uses = {wanted.error_notifier, wanted.userd_memory[0]};
    made.channel = std::make_shared<gpu::channel>(gpu::channel::wiring{
        parent->space, wanted.gpfifo_address, wanted.gpfifo_entries, userd_memory, userd_offset,
        notifier->reached, wanted.engine_type, classes_.copy, driver_.copy_engine().new_token(),
        parent->ordinal, has_extended_base(classes_)});
    wanted.error_notifier = wanted.userd_memory[0] = 0;
    wanted.gpfifo_address = wanted.userd_offset[0] = 0;
    wanted.gpfifo_entries = wanted.engine_type = 0;
    if (!all_zero(wanted))
        return driver_.refuse("a channel with fields that should be 0", err_invalid_argument);
    driver_.copy_engine().watch(std::weak_ptr(made.channel));
    return add(owner, request, std::move(made));
}

std::uint32_t channel_objects::copy_object(client& owner, abi::alloc_parameters& request) {
    object const* const channel = owner.find(request.parent, classes_.channel);
    if (!channel)
        return driver_.refuse("a copy object of no channel", err_invalid_object_parent);
    abi::copy_object_parameters wanted{};
    if (!take(request, wanted) || wanted.version != 1 ||
        wanted.engine_type != channel->channel->engine_type())
        return driver_.refuse("a copy object of another version or engine",
                              abi::err_invalid_param_struct);
    channel->channel->add_copy_object();
    return add(owner, request, {0, 0, channel->ordinal, nullptr});
}

} // namespace barmap::fake::rm
