// SPDX-License-Identifier: MIT
#include "fake/cuda_space.hpp"
#include "fake/rm_control_file.hpp"
#include "fake/simulation.hpp"

#include <algorithm>
#include <utility>

/// Second references to objects of others, CUDA's above all.
namespace barmap::fake::rm {
namespace {

constexpr std::uint32_t class_system_memory = 0x3e; // NV01_MEMORY_SYSTEM

constexpr handle cuda_handles = 0x5c000000;
constexpr std::uint32_t cuda_handles_of_a_gpu = 0x20;
constexpr std::uint32_t cuda_space_number = 9;

std::shared_ptr<memory_file> memory_behind(int fd) {
    std::uint64_t offset = 0, size = 0;
    int const ordinal = the_simulation().fd_device(fd);
    if (ordinal < 0 || the_simulation().fd_layout(fd, &offset, &size) != 0)
        return nullptr;
    return std::make_shared<memory_file>(fd, offset, size, ordinal);
}

} // namespace

handle control_file::add_memory(client& owner, handle device, std::shared_ptr<memory_file> memory) {
    int const ordinal = owner.find(device, abi::class_device)->ordinal;
    // RM itself does not look whose memory it is: it answers success and reaches something else.
    if (memory->ordinal() != ordinal || driver_.how().maps_other_memory)
        memory = memory_file::elsewhere(memory->size(), ordinal);
    return driver_.table().add(owner, {device, class_memory, ordinal, std::move(memory)});
}

// CUDA's client has these for each GPU, from the first handle on: next to those that are named here
// some that cannot be duplicated, and many that are none.
std::optional<std::uint32_t> control_file::duplicate_of_cuda(client& owner,
                                                             abi::dup_parameters& request) {
    std::uint32_t const number = request.source_object - cuda_handles;
    auto const ordinal = static_cast<int>(number / cuda_handles_of_a_gpu);
    if (request.source_object < cuda_handles || the_simulation().gpu_id(ordinal) == 0)
        return std::nullopt;
    // As the address space keeps its GPU, one under another GPU's device is found out later.
    object made{request.parent, abi::class_address_space,
                owner.find(request.parent, abi::class_device)->ordinal, nullptr};
    switch (number % cuda_handles_of_a_gpu) {
    case 1: // a device
    case 2: // a subdevice
        return abi::err_not_supported;
    case 3:
    case 12:
        made.object_class = class_system_memory;
        break;
    case cuda_space_number:
        made.space = std::make_shared<gpu::cuda_space>(ordinal, driver_.mapped_by_uvm());
        break;
    case cuda_space_number + 1: // RM's own, in which nothing is
        made.space = std::make_shared<gpu::foreign_space>();
        break;
    default:
        return std::nullopt;
    }
    request.object = driver_.table().add(owner, std::move(made));
    return abi::ok;
}

std::uint32_t control_file::handle_info(client const& owner,
                                        abi::handle_info_parameters& asked) const {
    auto const found = owner.objects.find(asked.object);
    if (found == owner.objects.end() || asked.index != abi::handle_info_class)
        return driver_.refuse("a question about what is no object, or another one",
                              err_object_not_found);
    asked.result = found->second.object_class;
    return abi::ok;
}

std::uint32_t control_file::duplicate(abi::dup_parameters& request) {
    client* const owner = own(request.client);
    if (!owner)
        return driver_.refuse("a duplicate for no client of this file", err_invalid_client);
    if (!owner->find(request.parent, abi::class_device))
        return driver_.refuse("a duplicate under no device", err_invalid_object_parent);
    if (request.object || request.flags)
        return driver_.refuse("a duplicate with fields that should be 0", err_invalid_argument);
    if (request.source_client == the_simulation().client())
        if (auto const answer = duplicate_of_cuda(*owner, request))
            return *answer;
    if (client const* const other = driver_.table().find_client(request.source_client))
        if (object const* const memory = other->find(request.source_object, class_memory)) {
            request.object = add_memory(*owner, request.parent, memory->memory);
            return abi::ok;
        }
    int fd = -1, ordinal = -1;
    std::uint64_t offset = 0, size = 0;
    // Not a violation: another process may have freed it in the meantime.
    if (the_simulation().object(request.source_client, request.source_object, &fd, &offset, &size,
                                &ordinal) != 0)
        return err_object_not_found;
    request.object = add_memory(*owner, request.parent,
                                std::make_shared<memory_file>(fd, offset, size, ordinal));
    return abi::ok;
}

std::uint32_t control_file::import(client& owner, abi::import_object_parameters& request) {
    if (request.type != abi::export_type_rm || request.object || request.parent != request.device)
        return driver_.refuse("an import of another type or place", err_invalid_argument);
    if (!owner.find(request.device, abi::class_device))
        return driver_.refuse("an import under no device", err_invalid_object_parent);
    std::shared_ptr<memory_file> memory = memory_behind(request.fd);
    if (!memory)
        return driver_.refuse("an import of what carries no memory", err_invalid_argument);
    request.object = add_memory(owner, request.device, std::move(memory));
    return abi::ok;
}

control_file* control_file::exported_by(int fd) const {
    auto const file = std::dynamic_pointer_cast<control_file>(driver_.host().file(fd));
    return file && !file->exported_.empty() ? file.get() : nullptr;
}

std::uint32_t control_file::export_objects(client& owner,
                                           abi::export_objects_parameters const& request) {
    auto const to = std::dynamic_pointer_cast<control_file>(driver_.host().file(request.fd));
    object const* const device = owner.find(request.device, abi::class_device);
    if (!to || !to->clients_.empty() || !device)
        return driver_.refuse("an export to no fresh control file", err_invalid_argument);
    if (to->exported_.empty()) {
        to->exported_.resize(request.max_objects);
        to->exported_ordinal_ = device->ordinal;
        std::ranges::copy(request.metadata, to->metadata_.begin());
    }
    if (request.count > abi::export_objects_max ||
        request.index + request.count > to->exported_.size())
        return driver_.refuse("an export of too many objects", err_invalid_argument);
    for (std::size_t i = 0; i < request.count; ++i) {
        auto& place = to->exported_[request.index + i];
        place = nullptr;
        if (request.objects[i] == 0)
            continue; // takes out what is there
        object const* const memory = owner.find(request.objects[i], class_memory);
        if (!memory || memory->ordinal != to->exported_ordinal_)
            return driver_.refuse("an export of what is no memory of the GPU",
                                  err_invalid_argument);
        place = memory->memory;
    }
    return abi::ok;
}

std::uint32_t control_file::import_objects(client& owner, abi::import_objects_parameters& request) {
    control_file* const from = exported_by(request.fd);
    if (!from || !owner.find(request.parent, abi::class_device))
        return driver_.refuse("an import of nothing, or under no device", err_invalid_argument);
    if (request.count > abi::import_objects_max ||
        request.index + request.count > from->exported_.size())
        return err_invalid_argument; // of what another process says is there
    for (std::size_t i = 0; i < request.count; ++i) {
        auto const& memory = from->exported_[request.index + i];
        request.types[i] = memory ? 1 : 0;
        if (memory)
            request.objects[i] = add_memory(owner, request.parent, memory);
    }
    return abi::ok;
}

std::uint32_t control_file::export_info(abi::control_parameters const& request) {
    auto const tell = [&](auto* info) -> std::uint32_t {
        control_file const* const exported = exported_by(info->fd);
        int const ordinal =
            exported ? exported->exported_ordinal_ : the_simulation().fd_device(info->fd);
        if (ordinal < 0)
            return err_invalid_argument;
        info->device_instance = rm_driver::device_instance(ordinal);
        if (exported)
            std::ranges::copy(exported->metadata_, info->metadata);
        info->max_objects = exported ? static_cast<std::uint16_t>(exported->exported_.size()) : 1;
        return abi::ok;
    };
    if (request.parameters_size == sizeof(abi::export_object_info_535))
        return tell(parameters_of<abi::export_object_info_535>(request));
    return tell(parameters_of<abi::export_object_info>(request));
}

} // namespace barmap::fake::rm
