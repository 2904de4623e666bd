// SPDX-License-Identifier: MIT
#include "fake/uvm.hpp"

#include "fake/faults.hpp"
#include "fake/rm_control_file.hpp"
#include "fake/rm_parameters.hpp"
#include "fake/rm_tables.hpp"
#include "fake/simulation.hpp"

#include <cerrno>
#include <cstring>
#include <iterator>
#include <string_view>
#include <utility>

namespace barmap::fake::rm {
namespace {

constexpr std::uint32_t class_of_hopper_page = 0xc661; // HOPPER_USERMODE_A

int ordinal_of(std::uint8_t const (&uuid)[16]) {
    CUuuid each{};
    for (int ordinal = 0; the_simulation().uuid(ordinal, &each) == 0; ++ordinal)
        if (std::memcmp(each.bytes, uuid, sizeof uuid) == 0)
            return ordinal;
    return -1;
}

} // namespace

int uvm_file::map(std::size_t, off_t, placement&) {
    return driver_.refuse("mmap of CUDA's UVM file", EINVAL);
}

int uvm_file::ioctl(unsigned long request, void* argument) {
    if (use_ == use::tools)
        return driver_.refuse("an ioctl of /dev/nvidia-uvm-tools", EINVAL);
    if (request == uvm_abi::register_channel) {
        copied_parameters copy(driver_, "UVM_REGISTER_CHANNEL_PARAMS", argument);
        auto& asked = *static_cast<uvm_abi::register_channel_parameters*>(copy.get());
        if (use_ == use::none)
            asked.status = err_illegal_action;
        else if (int const injected = the_faults().next(fault_source::status, "UVM register"))
            asked.status = static_cast<std::uint32_t>(injected);
        else
            asked.status = add(asked);
        return 0;
    }
    if (request == uvm_abi::unregister_channel) {
        constexpr std::string_view structure = "UVM_UNREGISTER_CHANNEL_PARAMS";
        copied_parameters copy(driver_, structure, argument);
        if (is_size<uvm_abi::unregister_channel_parameters>(structure, driver_.how().series))
            unregister(*static_cast<uvm_abi::unregister_channel_parameters*>(copy.get()));
        else
            unregister(*static_cast<uvm_abi::unregister_channel_parameters_535*>(copy.get()));
        return 0;
    }
    if (request == uvm_abi::create_external_range) {
        copied_parameters copy(driver_, "UVM_CREATE_EXTERNAL_RANGE_PARAMS", argument);
        auto& asked = *static_cast<uvm_abi::create_external_range_parameters*>(copy.get());
        if (use_ == use::none)
            asked.status = err_illegal_action;
        else if (int const injected = the_faults().next(fault_source::status, "UVM create range"))
            asked.status = static_cast<std::uint32_t>(injected);
        else
            asked.status = create(asked.base, asked.length);
        return 0;
    }
    if (request == uvm_abi::map_external_allocation) {
        constexpr std::string_view structure = "UVM_MAP_EXTERNAL_ALLOCATION_PARAMS";
        copied_parameters copy(driver_, structure, argument);
        auto const answer = [&](auto& asked) {
            if (int const injected = the_faults().next(fault_source::status, "UVM map"))
                asked.status = static_cast<std::uint32_t>(injected);
            else
                asked.status = map(asked);
        };
        using uvm_abi::map_external_allocation_parameters;
        if (is_size<map_external_allocation_parameters>(structure, driver_.how().series))
            answer(*static_cast<map_external_allocation_parameters*>(copy.get()));
        else
            answer(*static_cast<uvm_abi::map_external_allocation_parameters_535*>(copy.get()));
        return 0;
    }
    if (request == uvm_abi::free_range) {
        constexpr std::string_view structure = "UVM_FREE_PARAMS";
        copied_parameters copy(driver_, structure, argument);
        if (is_size<uvm_abi::free_range_parameters>(structure, driver_.how().series))
            free(*static_cast<uvm_abi::free_range_parameters*>(copy.get()));
        else
            free(*static_cast<uvm_abi::free_range_parameters_535*>(copy.get()));
        return 0;
    }
    return driver_.refuse("unknown ioctl of CUDA's UVM file", EINVAL);
}

object const* uvm_file::find(std::int32_t control_fd, handle client, handle which) {
    auto const control = std::dynamic_pointer_cast<control_file>(driver_.host().file(control_fd));
    rm::client const* const owner = control ? control->own(client) : nullptr;
    if (!owner) {
        driver_.refuse("UVM: no client of this control file", 0);
        return nullptr;
    }
    auto const found = owner->objects.find(which);
    if (found != owner->objects.end())
        return &found->second;
    driver_.refuse("UVM: no object of this client", 0);
    return nullptr;
}

// uvm_map_external.c of 580.142: a range must be whole pages of 4 KiB and meet no other; what is
// mapped in it, whole pages of the object's.
std::uint32_t uvm_file::create(std::uint64_t base, std::uint64_t length) {
    constexpr std::uint64_t page = 4096;
    if (base == 0 || length == 0 || base % page != 0 || length % page != 0)
        return driver_.refuse("UVM: a range that is not whole pages", err_invalid_address);
    auto const next = ranges_.lower_bound(base);
    if ((next != ranges_.end() && next->first < base + length) ||
        (next != ranges_.begin() && std::prev(next)->first + std::prev(next)->second > base))
        return driver_.refuse("UVM: a range over another", err_invalid_address);
    ranges_[base] = length;
    return abi::ok;
}

template <class Parameters>
std::uint32_t uvm_file::map(Parameters const& asked) {
    constexpr std::uint64_t page_of_registers = 0x10000;
    auto const found = ranges_.find(asked.base);
    if (found == ranges_.end() || found->second < asked.length)
        return driver_.refuse("UVM: a mapping without a range", err_invalid_address);
    if (asked.gpu_count != 1)
        return driver_.refuse("UVM: a mapping for no GPU, or for several", err_invalid_argument);
    int const ordinal = ordinal_of(asked.gpus[0].gpu_uuid);
    object const* const what = find(asked.control_fd, asked.client, asked.memory);
    if (ordinal < 0 || !what || what->ordinal != ordinal)
        return driver_.refuse("UVM: an object of another GPU", err_invalid_device);
    // RM's description of older pages of registers is none that can be duplicated.
    if (what->object_class != class_of_hopper_page)
        return abi::err_not_supported;
    if (asked.base % page_of_registers != 0 || asked.length != page_of_registers ||
        asked.offset != 0)
        return driver_.refuse("UVM: not the whole doorbell page", err_invalid_address);
    auto reached = what->reached;
    if (driver_.how().maps_other_doorbell)
        reached = std::make_shared<gpu::video_memory>(
            memory_file::elsewhere(page_of_registers, ordinal), true);
    gpu::mapped_object const object{ordinal, std::move(reached)};
    if (!driver_.mapped_by_uvm()->try_emplace(asked.base, object).second)
        return driver_.refuse("UVM: a range is mapped twice", err_invalid_address);
    return abi::ok;
}

template <class Parameters>
void uvm_file::free(Parameters& asked) {
    auto const found = ranges_.find(asked.base);
    bool is_right = found != ranges_.end();
    if constexpr (requires { asked.length; })
        is_right = is_right && found->second == asked.length;
    if (!is_right) {
        asked.status = driver_.refuse("UVM: frees what is no range", err_invalid_address);
        return;
    }
    driver_.mapped_by_uvm()->erase(asked.base);
    ranges_.erase(found);
    asked.status = abi::ok;
}

std::uint32_t uvm_file::add(uvm_abi::register_channel_parameters const& asked) {
    int const ordinal = ordinal_of(asked.gpu_uuid);
    if (ordinal < 0)
        return driver_.refuse("UVM: the UUID of no GPU", err_invalid_device);
    auto const control =
        std::dynamic_pointer_cast<control_file>(driver_.host().file(asked.control_fd));
    client const* const owner = control ? control->own(asked.client) : nullptr;
    if (!owner)
        return driver_.refuse("UVM: no client of this control file", err_invalid_client);
    auto const found = owner->objects.find(asked.channel);
    if (found == owner->objects.end() || !found->second.channel)
        return driver_.refuse("UVM: what is no channel", err_invalid_object_handle);
    gpu::channel& channel = *found->second.channel;
    // Not a violation: it is how a caller learns that it has another address space.
    if (!channel.in_space_of_cuda(ordinal))
        return channel.ordinal() == ordinal ? err_invalid_channel : err_other_device_found;
    registration const made{found->second.channel, ordinal};
    if (!channels_.try_emplace({asked.client, asked.channel}, made).second)
        return driver_.refuse("UVM: a channel is registered twice", err_invalid_channel);
    channel.enrol();
    return abi::ok;
}

std::uint32_t uvm_file::remove(handle client, handle channel) {
    auto const found = channels_.find({client, channel});
    if (found == channels_.end())
        return driver_.refuse("UVM: a channel that is not registered", err_invalid_channel);
    if (auto const one = found->second.channel.lock())
        one->retire();
    channels_.erase(found);
    return abi::ok;
}

template <class Parameters>
void uvm_file::unregister(Parameters& asked) {
    if (use_ == use::none) {
        asked.status = driver_.refuse("UVM: a file without channels", err_illegal_action);
        return;
    }
    if constexpr (requires { asked.gpu_uuid; }) {
        auto const found = channels_.find({asked.client, asked.channel});
        if (found != channels_.end() && found->second.ordinal != ordinal_of(asked.gpu_uuid))
            driver_.refuse("UVM: the UUID of another GPU", 0);
    }
    asked.status = remove(asked.client, asked.channel);
}

} // namespace barmap::fake::rm
