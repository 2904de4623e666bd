// SPDX-License-Identifier: MIT
#pragma once

#include "base/policy.hpp"
#include "cuda/gpu.hpp"
#include "driver/rm/client.hpp"
#include "driver/rm/cpu_view.hpp"
#include "nvidia/channel.hpp"
#include "transfer/engine/channel/generation.hpp"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>

/// The parts of a channel, in any address space.
namespace barmap::engine {

/// The page with the doorbell, a child object of the subdevice.
class usermode_page {
public:
    usermode_page(rm::client const& client, generation const& gpu);
    usermode_page(usermode_page const&) = delete;
    usermode_page& operator=(usermode_page const&) = delete;
    ~usermode_page();
    [[nodiscard]] rm::abi::handle handle() const noexcept { return handle_; }
    [[nodiscard]] std::uint32_t* doorbell() const noexcept {
        return reinterpret_cast<std::uint32_t*>(view_->data() + rm::abi::usermode_doorbell);
    }

private:
    rm::client const& client_;
    rm::abi::handle handle_;
    std::optional<rm::cpu_view> view_;
};

/// @param instead what to do without a channel
/// @throws error errc::backend_absent for a GPU on which barmap makes no channels
void expect_channels(cuda::gpu const& which,
                     std::string const& instead = "BARMAP_ENGINE=driver needs no channel");

/// A channel group with one channel. Its address space, memory and notifier must outlive it.
class gpu_channel {
public:
    struct parts {
        rm::abi::handle address_space, notifier;
        rm::abi::handle block;      ///< the memory object of a command_ring
        std::uint64_t block_offset; ///< of the ring's block in it
        std::uint64_t block_on_gpu; ///< address of the ring's block in the address space
        std::uint32_t engine_type;
    };
    gpu_channel(rm::client const& client, generation const& gpu, rm::driver_series series,
                parts const& of);
    gpu_channel(gpu_channel const&) = delete;
    gpu_channel& operator=(gpu_channel const&) = delete;
    ~gpu_channel() { stop(); }

    [[nodiscard]] rm::abi::handle handle() const noexcept { return channel_; }
    [[nodiscard]] std::uint32_t token() const noexcept { return token_; }

    /// Lets the channel run its commands.
    void schedule();

    /// Stops the channel for good. May take as long as the driver takes.
    /// @return whether none of its copies is in flight any more
    bool stop() noexcept;

private:
    template <class Parameters>
    rm::abi::handle allocate(generation const& gpu, parts const& of) const;
    void add_engine(generation const& gpu, std::uint32_t engine_type);

    /// How long other users of the engine, such as CUDA, wait for this channel. With 200 us, CUDA's
    /// copies beside batches took that long, and the batches were no faster (H100).
    static constexpr std::uint64_t time_slice_us = policy::time_slice;
    rm::client const& client_;
    rm::driver_series series_;
    rm::abi::handle group_, channel_;
    std::uint32_t token_;
};

} // namespace barmap::engine
