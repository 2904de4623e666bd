// SPDX-License-Identifier: MIT
#include "fake/uvm.hpp"

#include "fake/faults.hpp"
#include "fake/rm_control_file.hpp"
#include "fake/rm_parameters.hpp"
#include "fake/rm_tables.hpp"
#include "fake/simulation.hpp"

#include <cerrno>
#include <cstring>
#include <string_view>

namespace barmap::fake::rm {
namespace {

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
    return driver_.refuse("unknown ioctl of CUDA's UVM file", EINVAL);
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
