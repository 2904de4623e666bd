// SPDX-License-Identifier: MIT
#include "fake/rm_control_file.hpp"

#include "driver/rm/driver_series.hpp"
#include "fake/faults.hpp"
#include "fake/gpu_channel.hpp"
#include "fake/rm_parameters.hpp"
#include "fake/rm_tables.hpp"
#include "fake/simulation.hpp"

#include <cerrno>
#include <cstddef>
#include <mutex>
#include <string_view>
#include <sys/ioctl.h>
#include <unistd.h>
#include <utility>

namespace barmap::fake::rm {
namespace {

int ordinal_by_instance(std::uint32_t instance) {
    for (int ordinal = 0; the_simulation().gpu_id(ordinal) != 0; ++ordinal)
        if (rm_driver::device_instance(ordinal) == instance)
            return ordinal;
    return -1;
}

} // namespace

control_file::~control_file() {
    std::lock_guard const hold(driver_.host().lock()); // it may go with the kernel itself
    for (handle const name : clients_)
        if (client const* const owner = driver_.table().find_client(name)) {
            expect_unregistered(*owner, name, name);
            driver_.table().free(name, name);
        }
}

int control_file::map(std::size_t, off_t, placement&) {
    return driver_.refuse("mmap of the control file", EINVAL);
}

bool control_file::gives_back(unsigned long request) const {
    return _IOC_NR(request) == abi::esc_rm_free || _IOC_NR(request) == abi::esc_rm_unmap_memory ||
           _IOC_NR(request) == abi::esc_rm_unmap_memory_dma;
}

client* control_file::own(handle name) {
    return clients_.contains(name) ? driver_.table().find_client(name) : nullptr;
}

template <class Parameters>
int control_file::serve(unsigned long request, void* argument,
                        std::uint32_t (control_file::*action)(Parameters&)) {
    if (_IOC_SIZE(request) != sizeof(Parameters))
        return driver_.refuse("wrong size " + std::to_string(_IOC_SIZE(request)) + " of escape " +
                                  std::to_string(_IOC_NR(request)),
                              EINVAL);
    auto& parameters = *static_cast<Parameters*>(argument);
    if (parameters.status != 0)
        driver_.refuse("a status that is not 0 on entry", 0);
    int const injected =
        gives_back(request) ? 0 : the_faults().next(fault_source::status, "RM escape");
    parameters.status =
        injected ? static_cast<std::uint32_t>(injected) : (this->*action)(parameters);
    return 0;
}

int control_file::ioctl(unsigned long request, void* argument) {
    if (_IOC_TYPE(request) != static_cast<unsigned>(abi::ioctl_magic) ||
        _IOC_DIR(request) != (_IOC_READ | _IOC_WRITE))
        return driver_.refuse("not an RM ioctl", EINVAL);
    unsigned const series = driver_.how().series;
    switch (_IOC_NR(request)) {
    case abi::esc_card_info:
        return card_info(request, argument);
    case abi::esc_check_version:
        return version(request, argument);
    case abi::esc_rm_map_memory_dma:
        return is_size<abi::map_dma_parameters>("NVOS46_PARAMETERS", series)
                   ? serve(request, argument, &control_file::map_dma<abi::map_dma_parameters>)
                   : serve(request, argument, &control_file::map_dma<abi::map_dma_parameters_535>);
    case abi::esc_rm_unmap_memory_dma:
        return is_size<abi::unmap_dma_parameters>("NVOS47_PARAMETERS", series)
                   ? serve(request, argument, &control_file::unmap_dma<abi::unmap_dma_parameters>)
                   : serve(request, argument,
                           &control_file::unmap_dma<abi::unmap_dma_parameters_535>);
    case abi::esc_rm_alloc:
        return serve(request, argument, &control_file::alloc);
    case abi::esc_rm_free:
        return serve(request, argument, &control_file::free);
    case abi::esc_rm_control:
        return serve(request, argument, &control_file::control);
    case abi::esc_rm_dup_object:
        return serve(request, argument, &control_file::duplicate);
    case abi::esc_rm_map_memory:
        return serve(request, argument, &control_file::map_memory);
    case abi::esc_rm_unmap_memory:
        return serve(request, argument, &control_file::unmap_memory);
    default:
        return driver_.refuse("unknown escape " + std::to_string(_IOC_NR(request)), EINVAL);
    }
}

int control_file::card_info(unsigned long request, void* argument) {
    if (_IOC_SIZE(request) != sizeof(abi::card_info) * abi::max_cards)
        return driver_.refuse("wrong size of the card list", EINVAL);
    auto* const cards = static_cast<abi::card_info*>(argument);
    // The first places are empty, one with what is left of a card that is gone: a card's place in
    // the list means nothing.
    cards[1].gpu_id = the_simulation().gpu_id(0) ^ 1;
    cards[1].pci_bus = static_cast<std::uint8_t>(the_simulation().gpu_id(0) >> 8);
    std::size_t at = 2;
    for (int ordinal = 0; the_simulation().gpu_id(ordinal) != 0; ++ordinal, ++at) {
        cards[at].valid = 1;
        cards[at].gpu_id = the_simulation().gpu_id(ordinal);
        cards[at].pci_bus = static_cast<std::uint8_t>(cards[at].gpu_id >> 8);
        cards[at].vendor_id = 0x10de;
        cards[at].fb_size = driver_.bar1_total(ordinal);
        cards[at].minor_number = rm_driver::minor_number(ordinal);
    }
    return 0;
}

int control_file::version(unsigned long request, void* argument) {
    constexpr std::uint32_t recognized = 1;
    auto* const asked = static_cast<abi::version_parameters*>(argument);
    if (_IOC_SIZE(request) != sizeof *asked || asked->command != abi::version_query)
        return driver_.refuse("a question about the version of another size or kind", EINVAL);
    asked->reply = recognized;
    has_told_version_ = true;
    asked->text[driver_.version().copy(asked->text, sizeof asked->text - 1)] = 0;
    return 0;
}

template <class Parameters>
std::uint32_t control_file::map_dma(Parameters& request) {
    client* const owner = own(request.client);
    return owner ? driver_.channel_objects().map_dma(*owner, request)
                 : driver_.refuse("a mapping for no client of this file", err_invalid_client);
}

template <class Parameters>
std::uint32_t control_file::unmap_dma(Parameters& request) {
    client* const owner = own(request.client);
    return owner ? driver_.channel_objects().unmap_dma(*owner, request)
                 : driver_.refuse("unmapping for no client of this file", err_invalid_client);
}

std::uint32_t control_file::alloc(abi::alloc_parameters& request) {
    if (request.object != 0)
        return driver_.refuse("a handle of the caller's own choice", err_invalid_argument);
    if (request.object_class == abi::class_root_client) {
        if (request.root || request.parent || request.parameters || request.parameters_size)
            return driver_.refuse("a client with a parent or parameters", err_invalid_argument);
        request.object = driver_.table().add_client();
        clients_.insert(request.object);
        return abi::ok;
    }
    client* const owner = own(request.root);
    if (!owner)
        return driver_.refuse("an object of no client of this file", err_invalid_client);
    std::string_view const structure = structure_of_class(request.object_class);
    if (structure.empty())
        return alloc_object(*owner, request);
    copied_parameters copy(driver_, structure, reinterpret_cast<void*>(request.parameters),
                           request.parameters_size);
    abi::alloc_parameters own_request = request;
    own_request.parameters = reinterpret_cast<std::uintptr_t>(copy.get());
    std::uint32_t const status = alloc_object(*owner, own_request);
    request.object = own_request.object;
    return status;
}

std::uint32_t control_file::alloc_object(client& owner, abi::alloc_parameters& request) {
    switch (request.object_class) {
    case abi::class_device:
        return alloc_device(owner, request);
    case abi::class_subdevice:
        return alloc_subdevice(owner, request);
    default:
        return driver_.channel_objects().alloc(owner, request);
    }
}

std::uint32_t control_file::alloc_device(client& owner, abi::alloc_parameters& request) {
    if (request.parent != request.root)
        return driver_.refuse("a device whose parent is no client", err_invalid_object_parent);
    auto const* wanted = reinterpret_cast<abi::device_alloc_parameters const*>(request.parameters);
    if (!wanted)
        return driver_.refuse("a device without parameters", abi::err_invalid_param_struct);
    if (wanted->client_share != request.root || wanted->target_client || wanted->target_device ||
        wanted->flags || wanted->va_space_size || wanted->va_start_internal ||
        wanted->va_limit_internal || wanted->va_mode)
        return driver_.refuse("a device with fields that should be 0", err_invalid_argument);
    int const ordinal = ordinal_by_instance(wanted->device_id);
    if (ordinal < 0)
        return driver_.refuse("a device instance that is none", err_invalid_device);
    request.object =
        driver_.table().add(owner, {request.root, abi::class_device, ordinal, nullptr});
    return abi::ok;
}

std::uint32_t control_file::alloc_subdevice(client& owner, abi::alloc_parameters& request) {
    object const* const device = owner.find(request.parent, abi::class_device);
    if (!device)
        return driver_.refuse("a subdevice whose parent is no device", err_invalid_object_parent);
    auto const* wanted =
        reinterpret_cast<abi::subdevice_alloc_parameters const*>(request.parameters);
    if (!wanted || wanted->subdevice_id != 0)
        return driver_.refuse("a subdevice's parameters", abi::err_invalid_param_struct);
    request.object = driver_.table().add(
        owner, {request.parent, abi::class_subdevice, device->ordinal, nullptr});
    return abi::ok;
}

// UVM would hold on to what is no channel any more.
void control_file::expect_unregistered(client const& owner, handle root, handle freed) {
    for (auto const& [name, each] : owner.objects)
        if (each.channel && each.channel->registered() &&
            (freed == root || owner.is_below(name, freed)))
            driver_.refuse("freeing of a channel that is registered with UVM", 0);
}

std::uint32_t control_file::free(abi::free_parameters& request) {
    client const* const owner = own(request.root);
    if (!owner)
        return driver_.refuse("freeing of another's object", err_invalid_client);
    if (request.object != request.root) {
        auto const found = owner->objects.find(request.object);
        if (found == owner->objects.end())
            return driver_.refuse("freeing of what is no object", err_object_not_found);
        if (found->second.parent != request.parent)
            return driver_.refuse("freeing under another parent", err_invalid_object_parent);
        if (driver_.keeps_channels() && found->second.object_class == abi::class_channel_group) {
            driver_.note_kept_channel();
            return err_busy;
        }
    } else if (request.parent != 0) {
        return driver_.refuse("freeing of a client with a parent", err_invalid_object_parent);
    }
    for (auto const& [address, view] : owner->views)
        if (view.memory == request.object || request.object == request.root)
            driver_.refuse("freeing of memory that is still mapped", 0);
    if (request.object != request.root && owner->is_used(request.object))
        driver_.refuse("freeing of what another object or a mapping for the GPU needs", 0);
    expect_unregistered(*owner, request.root, request.object);
    driver_.table().free(request.root, request.object);
    return abi::ok;
}

// Memory of the device, or the user-mode page of a subdevice of it.
object const* control_file::find_mappable(client const& owner,
                                          abi::map_parameters const& request) const {
    auto const at = owner.objects.find(request.memory);
    if (at == owner.objects.end())
        return nullptr;
    object const& found = at->second;
    if (found.object_class == class_memory)
        return found.parent == request.device ? &found : nullptr;
    object const* const above = owner.find(found.parent, abi::class_subdevice);
    bool const is_page = is_usermode(found.object_class) && above;
    return is_page && above->parent == request.device ? &found : nullptr;
}

std::uint32_t control_file::map_memory(abi::map_parameters& request) {
    client* const owner = own(request.client);
    if (!owner)
        return driver_.refuse("a mapping for no client of this file", err_invalid_client);
    object const* const device = owner->find(request.device, abi::class_device);
    object const* const memory = find_mappable(*owner, request);
    if (!device || !memory)
        return driver_.refuse("a mapping of what is no memory of the device", err_object_not_found);
    bool const is_memory = memory->object_class == class_memory;
    if (((request.flags & ~abi::map_flags_bus_pcie) != abi::map_flags_default_caching &&
         (is_memory || request.flags != 0)) ||
        request.linear_address)
        return driver_.refuse("a mapping with unknown flags", err_invalid_argument);
    if (is_memory)
        driver_.note_map_flags(request.flags);
    constexpr unsigned first_by_link_only = 595;
    bool const is_refused = driver_.how().self_hosted && driver_.how().series >= first_by_link_only;
    if (driver_.how().confidential ||
        (is_refused && (request.flags & abi::map_flags_bus_pcie) != 0))
        return abi::err_not_supported;
    auto const file = driver_.host().file(request.fd);
    auto* const through = dynamic_cast<device_file*>(file.get());
    if (!through || through->registered().get() != this || through->armed() ||
        through->ordinal() != device->ordinal)
        return driver_.refuse("a mapping through a file that is not fresh and registered here",
                              err_invalid_argument);
    auto const page = static_cast<std::uint64_t>(::sysconf(_SC_PAGESIZE));
    std::uint64_t const size = memory->memory->size();
    if (request.offset % page || request.length % page || request.length == 0 ||
        request.offset > size || request.length > size - request.offset)
        return driver_.refuse("a mapping that leaves its object", err_invalid_limit);
    if (driver_.table().bar1_used(device->ordinal) + request.length >
        driver_.bar1_total(device->ordinal))
        return abi::err_insufficient_resources;
    request.linear_address = driver_.new_linear_address();
    view& added = owner->views[request.linear_address];
    added = {request.memory, device->ordinal, request.length, std::make_shared<bool>(false)};
    through->arm(memory->memory, request.offset, added);
    return abi::ok;
}

std::uint32_t control_file::unmap_memory(abi::unmap_parameters& request) {
    client* const owner = own(request.client);
    auto const found = owner ? owner->views.find(request.linear_address)
                             : std::map<std::uint64_t, view>::iterator{};
    if (!owner || found == owner->views.end() || found->second.memory != request.memory ||
        !owner->find(request.device, abi::class_device) || request.flags)
        return driver_.refuse("unmapping of what is no mapping", err_invalid_argument);
    if (*found->second.cpu_mapped)
        driver_.refuse("unmapping of what the CPU still has mapped", 0);
    owner->views.erase(found);
    return abi::ok;
}

std::uint32_t control_file::control(abi::control_parameters& request) {
    client* const owner = own(request.client);
    if (!owner)
        return driver_.refuse("a control of no client of this file", err_invalid_client);
    if (request.flags)
        return driver_.refuse("a control with flags", err_invalid_argument);
    bool const on_client = request.object == request.client;
    std::string_view const structure = structure_of_control(request.command);
    if (!structure.empty() && (request.parameters == 0 ||
                               request.parameters_size != size_of(structure, driver_.how().series)))
        // Who does not know the series, or was not told it, may try the sizes of others.
        return has_told_version_ && barmap::rm::driver_series::of(driver_.version())
                   ? driver_.refuse("control command " + std::to_string(request.command) +
                                        " with parameters of the wrong size",
                                    abi::err_invalid_param_struct)
                   : abi::err_invalid_param_struct;
    std::uint32_t status = abi::err_invalid_param_struct;
    switch (request.command) {
    case abi::cmd_gpu_get_id_info_v2:
        if (auto* const info = parameters_of<abi::id_info_parameters>(request); info && on_client)
            return id_info(*info);
        break;
    case abi::cmd_import_object_from_fd:
        if (auto* const wanted = parameters_of<abi::import_object_parameters>(request);
            wanted && on_client)
            return import(*owner, *wanted);
        break;
    case abi::cmd_export_objects_to_fd:
        if (auto* const wanted = parameters_of<abi::export_objects_parameters>(request);
            wanted && on_client)
            return export_objects(*owner, *wanted);
        break;
    case abi::cmd_import_objects_from_fd:
        if (auto* const wanted = parameters_of<abi::import_objects_parameters>(request);
            wanted && on_client)
            return import_objects(*owner, *wanted);
        break;
    case abi::cmd_get_export_object_info:
        if (on_client)
            return export_info(request);
        break;
    case abi::cmd_get_handle_info:
        if (auto* const asked = parameters_of<abi::handle_info_parameters>(request);
            asked && on_client)
            return handle_info(*owner, *asked);
        break;
    case abi::cmd_get_surface_info:
        if (auto* const asked = parameters_of<abi::surface_info_parameters>(request))
            if (object const* const memory = owner->find(request.object, class_memory))
                return surface_info(*memory, *asked);
        break;
    case abi::cmd_fb_get_info_v2:
        if (auto* const wanted = parameters_of<abi::fb_get_info_parameters>(request))
            if (object const* const subdevice = owner->find(request.object, abi::class_subdevice))
                return fb_info(*subdevice, *wanted, request.parameters_size);
        break;
    default:
        if (auto const answer = driver_.channel_objects().control(*owner, request))
            return *answer;
        status = err_invalid_command;
    }
    return driver_.refuse("control command " + std::to_string(request.command) +
                              " is unknown or of the wrong object",
                          status);
}

std::uint32_t control_file::id_info(abi::id_info_parameters& info) {
    for (int ordinal = 0; the_simulation().gpu_id(ordinal) != 0; ++ordinal) {
        if (the_simulation().gpu_id(ordinal) != info.gpu_id)
            continue;
        info.device_instance = rm_driver::device_instance(ordinal);
        info.subdevice_instance = 0;
        info.numa_id = -1;
        return abi::ok;
    }
    return driver_.refuse("a GPU id that is none", err_invalid_argument);
}

std::uint32_t control_file::surface_info(object const& memory,
                                         abi::surface_info_parameters const& asked) const {
    constexpr std::uint64_t unit = 4096;
    auto* const list = reinterpret_cast<abi::surface_info*>(asked.list);
    for (std::uint32_t k = 0; k < asked.count; ++k) {
        if (list[k].index == abi::surface_info_physical_size)
            list[k].data = static_cast<std::uint32_t>(memory.memory->size() / unit);
        else if (list[k].index == abi::surface_info_address_space)
            list[k].data = abi::address_space_video_memory;
        else
            return driver_.refuse("an unknown question about an object", err_invalid_argument);
    }
    return abi::ok;
}

std::uint32_t control_file::fb_info(object const& subdevice, abi::fb_get_info_parameters& request,
                                    std::size_t size) {
    if (request.count > (size - offsetof(abi::fb_get_info_parameters, list)) / sizeof(abi::fb_info))
        return driver_.refuse("too many questions about the memory", err_invalid_argument);
    std::uint64_t const total = driver_.bar1_total(subdevice.ordinal);
    std::uint64_t const used = driver_.table().bar1_used(subdevice.ordinal);
    for (std::uint32_t k = 0; k < request.count; ++k) {
        abi::fb_info& asked = request.list[k];
        if (asked.index != abi::fb_info_bar1_size && asked.index != abi::fb_info_bar1_avail_size)
            return driver_.refuse("an unknown question about the memory", err_invalid_argument);
        bool const free_only = asked.index == abi::fb_info_bar1_avail_size;
        asked.data = static_cast<std::uint32_t>((free_only ? total - used : total) / 1024);
    }
    return abi::ok;
}

} // namespace barmap::fake::rm
