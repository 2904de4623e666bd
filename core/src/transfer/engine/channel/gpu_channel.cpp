// SPDX-License-Identifier: MIT
#include "transfer/engine/channel/gpu_channel.hpp"

#include "cuda/driver_api.hpp"
#include "transfer/engine/channel/command_ring.hpp"

#include <barmap/error.hpp>

namespace barmap::engine {

namespace abi = rm::abi;

namespace {

abi::handle allocate_page(rm::client const& client, generation const& gpu) {
    constexpr char what[] = "allocate the doorbell";
    if (!gpu.usermode_parameters)
        return client.allocate(client.subdevice(), gpu.usermode, what);
    abi::usermode_parameters page{};
    page.bar1_mapping = 1;
    return client.allocate(client.subdevice(), gpu.usermode, page, what);
}

} // namespace

usermode_page::usermode_page(rm::client const& client, generation const& gpu)
    : client_(client), handle_(allocate_page(client, gpu)),
      view_(std::in_place, client, handle_, 0, abi::usermode_bytes, 0) {}

usermode_page::~usermode_page() {
    view_.reset();
    client_.free(client_.subdevice(), handle_);
}

void expect_channels(cuda::gpu const& which, std::string const& instead) {
    if (which.simulated && !cuda::simulation_has_kernel_driver())
        throw error(errc::backend_absent, "make a channel on a simulated GPU", "", instead);
    if (which.mig)
        throw error(errc::backend_absent, "make a channel on a MIG device", "",
                    "channels are untested there: " + instead);
    // There NVIDIA's own driver keeps the words of channels in other memory and gives a doorbell
    // outside BAR1 (uvm_channel.c, usermode_api.c of 595.45.04), and the CPU caches the GPU's
    // memory: in which order the GPU would see this channel's stores was not verified.
    if (which.coherent)
        throw error(errc::backend_absent, "make a channel on a GPU with a coherent link", "",
                    "the order of the CPU's stores to the channel was not verified there: " +
                        instead);
}

gpu_channel::gpu_channel(rm::client const& client, generation const& gpu, rm::driver_series series,
                         parts const& of)
    : client_(client), series_(series) {
    abi::channel_group_parameters group{};
    group.address_space = of.address_space;
    group.engine_type = of.engine_type;
    group_ =
        client.allocate(client.device(), abi::class_channel_group, group, "make a channel group");
    try {
        channel_ = series.shifted_channel() ? allocate<abi::channel_parameters_610>(gpu, of)
                                            : allocate<abi::channel_parameters>(gpu, of);
        add_engine(gpu, of.engine_type);
    } catch (...) {
        stop();
        throw;
    }
}

bool gpu_channel::stop() noexcept {
    if (group_ != 0 && !client_.free(group_))
        return false;
    group_ = 0;
    return true;
}

template <class Parameters>
abi::handle gpu_channel::allocate(generation const& gpu, parts const& of) const {
    Parameters wanted{};
    wanted.error_notifier = of.notifier;
    wanted.gpfifo_address = of.block_on_gpu;
    wanted.gpfifo_entries = command_ring::gpfifo_entries;
    wanted.userd_memory[0] = of.block;
    wanted.userd_offset[0] = of.block_offset + command_ring::userd_at;
    wanted.engine_type = of.engine_type;
    return client_.allocate(group_, gpu.channel, wanted, "make a channel");
}

void gpu_channel::add_engine(generation const& gpu, std::uint32_t engine_type) {
    abi::copy_object_parameters copies{1, engine_type};
    (void)client_.allocate(channel_, gpu.copy, copies, "let the channel use a copy engine");
    abi::submit_token_parameters submit{};
    rm::client::expect_ok(client_.control(channel_, abi::cmd_get_submit_token, submit,
                                          "get the channel's doorbell token"),
                          "get the channel's doorbell token");
    token_ = submit.token;
    // Optional: the channel also works with the default time slice.
    abi::time_slice_parameters slice{time_slice_us};
    (void)client_.control(group_, abi::cmd_set_time_slice, slice, "set the channel's time slice");
}

void gpu_channel::schedule() {
    constexpr char what[] = "schedule the channel";
    if (series_.long_schedule()) {
        abi::schedule_parameters on{1, 0, 0};
        rm::client::expect_ok(client_.control(channel_, abi::cmd_schedule, on, what), what);
    } else {
        abi::schedule_parameters_535 on{1, 0};
        rm::client::expect_ok(client_.control(channel_, abi::cmd_schedule, on, what), what);
    }
}

} // namespace barmap::engine
