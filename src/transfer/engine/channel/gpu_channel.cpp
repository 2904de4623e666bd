// SPDX-License-Identifier: MIT
#include "transfer/engine/channel/gpu_channel.hpp"

#include "driver/cuda/driver_api.hpp"
#include "transfer/engine/channel/command_ring.hpp"

#include <barmap/error.hpp>

namespace barmap::engine {

namespace abi = rm::abi;

namespace {

abi::handle allocate_page(rm::client const& client, generation const& gpu) {
    abi::usermode_parameters page{};
    page.bar1_mapping = 1;
    return client.allocate(client.subdevice(), gpu.usermode,
                           gpu.usermode_parameters ? &page : nullptr,
                           gpu.usermode_parameters ? sizeof page : 0, "allocate the doorbell");
}

} // namespace

usermode_page::usermode_page(rm::client const& client, generation const& gpu)
    : client_(client), handle_(allocate_page(client, gpu)),
      view_(std::in_place, client, handle_, 0, abi::usermode_bytes, 0) {}

usermode_page::~usermode_page() {
    view_.reset();
    client_.free(client_.subdevice(), handle_);
}

void expect_channels(cuda::gpu const& which) {
    if (which.simulated && !cuda::simulation_has_kernel_driver())
        throw error(errc::backend_absent, "make a channel on a simulated GPU", "",
                    "BARMAP_ENGINE=driver needs no channel");
    if (which.mig || which.coherent)
        throw error(errc::backend_absent,
                    which.mig ? "make a channel on a MIG device"
                              : "make a channel on a GPU with a coherent link",
                    "", "channels are untested there: BARMAP_ENGINE=driver needs none");
}

namespace {

/// The first copy engines whose graphics and shared capabilities equal `wanted`.
std::vector<std::uint32_t> engines_with(rm::client const& client, std::uint8_t wanted,
                                        std::size_t most) {
    std::vector<std::uint32_t> result;
    for (std::uint32_t i = 0; i < abi::engine_type_copies && result.size() < most; ++i) {
        abi::ce_caps_parameters caps{};
        caps.engine_type = abi::engine_type_copy0 + i;
        if (client.control(client.subdevice(), abi::cmd_ce_get_caps, caps,
                           "read a copy engine's capabilities") != abi::ok)
            continue; // no engine has this number
        if ((caps.caps[0] & (abi::ce_cap_graphics | abi::ce_cap_shared)) == wanted)
            result.push_back(caps.engine_type);
    }
    return result;
}

} // namespace

std::vector<std::uint32_t> shared_engine_types(rm::client const& client) {
    return engines_with(client, abi::ce_cap_shared, 2);
}

std::uint32_t own_engine_type(rm::client const& client) {
    std::vector<std::uint32_t> const found = engines_with(client, 0, 1);
    if (found.empty())
        throw error(errc::backend_absent, "find a copy engine that nothing else uses", "",
                    "this GPU has no spare engine: copies use the driver's engine");
    return found.front();
}

gpu_channel::gpu_channel(rm::client const& client, generation const& gpu, driver_series series,
                         parts const& of)
    : client_(client), series_(series) {
    abi::channel_group_parameters group{};
    group.address_space = of.address_space;
    group.engine_type = of.engine_type;
    group_ = client.allocate(client.device(), abi::class_channel_group, &group, sizeof group,
                             "make a channel group");
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
    return client_.allocate(group_, gpu.channel, &wanted, sizeof wanted, "make a channel");
}

void gpu_channel::add_engine(generation const& gpu, std::uint32_t engine_type) {
    abi::copy_object_parameters copies{1, engine_type};
    (void)client_.allocate(channel_, gpu.copy, &copies, sizeof copies,
                           "let the channel use a copy engine");
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
