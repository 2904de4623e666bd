// SPDX-License-Identifier: MIT
#include "transfer/engine/channel/kernel_channel.hpp"

#include "cuda/driver_api.hpp"
#include "cuda/driver_lifetime.hpp"
#include "nvidia/channel.hpp"
#include "transfer/cpu/fence.hpp"
#include "transfer/engine/channel/command_ring.hpp"
#include "transfer/engine/patience.hpp"

#include <barmap/error.hpp>

#include <atomic>
#include <cstddef>
#include <exception>
#include <thread>

namespace barmap::engine {

namespace abi = rm::abi;

namespace {

using barmap::gpu::kernel_queue, barmap::gpu::kernel_queue_state;

// In the block, where a ring has room for its user's data.
constexpr std::size_t semaphore_at = command_ring::spare_at, state_at = semaphore_at + 64,
                      used_by_at = state_at + 64;
static_assert(sizeof(kernel_queue_state) <= used_by_at - state_at);
static_assert(used_by_at + kernel_queue::most_tickets * sizeof(barmap::gpu::word) <=
              command_ring::spare_at + command_ring::spare_bytes);
static_assert(kernel_queue::gpfifo_entries == command_ring::gpfifo_entries);

constexpr std::size_t bytes_of_slot = kernel_queue::words_of_slot * sizeof(unsigned);

/// The queue with the block and the doorbell at these addresses. @param on_gpu the block's
kernel_queue queue_at(std::uintptr_t block, std::uintptr_t doorbell, std::uint64_t on_gpu,
                      std::uint32_t token) {
    auto const at = [&]<class Word>(Word*, std::size_t offset) {
        return reinterpret_cast<Word*>(block + offset);
    };
    unsigned* const unsigneds = nullptr;
    barmap::gpu::word* const words = nullptr;
    return {.layout = kernel_queue::layout_number,
            .token = token,
            .doorbell = reinterpret_cast<unsigned*>(doorbell),
            .put = at(unsigneds, command_ring::userd_at + barmap::gpu::commands::userd_gp_put),
            .entries = at(words, 0),
            .commands = at(unsigneds, command_ring::words_at),
            .commands_address = on_gpu + command_ring::words_at,
            .slots = (command_ring::block_bytes - command_ring::words_at) / bytes_of_slot,
            .semaphore = at(unsigneds, semaphore_at),
            .semaphore_address = on_gpu + semaphore_at,
            .state = reinterpret_cast<kernel_queue_state*>(block + state_at),
            .used_by = at(words, used_by_at),
            .reserved = {}};
}

cuda::gpu const& checked(cuda::gpu const& which) {
    expect_channels(which, "submit from the CPU, by a batch queue");
    return which;
}

} // namespace

kernel_channel::kernel_channel(cuda::gpu const& which) : session_(checked(which)) {
    expect_doorbell();
    cuda::relaxed_capture const relaxed;
    cuda::context_scope const scope(session_.context.get());
    channel_.emplace(session_, own_engine_type(session_.engines, {}));
    doorbell_.emplace(*session_.client, channel_->in_uvm(), session_.gpu.uuid,
                      session_.usermode.handle(), abi::usermode_bytes, session_.series);
    queue_ = queue_at(channel_->block_on_gpu(), doorbell_->address() + abi::usermode_doorbell,
                      channel_->block_on_gpu(), channel_->token());
    open();
}

kernel_channel::~kernel_channel() {
    if (!channel_)
        return;
    wait_for_kernels();
    (void)channel_->stop(); // before the doorbell goes
}

// A kernel that rings the doorbell when it has gone loses the context.
void kernel_channel::wait_for_kernels() const noexcept {
    if (!cuda::drivers_are_up(owner_))
        return;
    try {
        (void)failure(); // kernels need not wait for what never comes
        cuda::relaxed_capture const relaxed;
        cuda::context_scope const scope(session_.context.get());
        (void)cuda::api().ctx_synchronize();
    } catch (std::exception const&) {
        // The context has gone, and its kernels.
    }
}

void kernel_channel::expect_doorbell() const {
    // RM refuses to let UVM map the page of registers that older GPUs have (NOT_SUPPORTED, as seen
    // on an H100 without bar1_mapping, 580.159.04).
    if (!session_.kind.usermode_parameters)
        throw error(errc::backend_absent, "let kernels ring a doorbell", "",
                    "GPUs before Hopper have no doorbell that kernels reach: submit from the CPU, "
                    "by a batch queue");
}

// Binds the engine, and shows that it works.
void kernel_channel::open() {
    auto* const semaphore = reinterpret_cast<std::uint32_t*>(channel_->block() + semaphore_at);
    command_ring ring({channel_->block(), channel_->block_on_gpu(), session_.usermode.doorbell(),
                       channel_->token(), semaphore, queue_.semaphore_address, session_.kind.copy});
    ticket const first = ring.submit({});
    auto const until = device_clock::now() + patience_with(session_.gpu);
    while (ring.progress() < first) {
        if (failure() || device_clock::now() > until)
            throw error(errc::backend_broken, "use a channel for kernels", "",
                        failure().value_or("its first submission did not end in time"));
        std::this_thread::yield();
    }
    kernel_queue const mine = queue_for_thread();
    barmap::gpu::word const position = ring.entries() << 32;
    mine.state->ticket = first;
    mine.state->position = position;
    mine.used_by[first % kernel_queue::most_tickets] = 0;
    copy::flush_wc_stores();
}

kernel_queue kernel_channel::queue_for_thread() const noexcept {
    return queue_at(reinterpret_cast<std::uintptr_t>(channel_->block()),
                    reinterpret_cast<std::uintptr_t>(session_.usermode.doorbell()),
                    channel_->block_on_gpu(), channel_->token());
}

std::uint32_t kernel_channel::done() const noexcept {
    return std::atomic_ref(*queue_for_thread().semaphore).load(std::memory_order_acquire);
}

bool kernel_channel::is_busy() const noexcept {
    kernel_queue const mine = queue_for_thread();
    auto const load = [](barmap::gpu::word& from) {
        return std::atomic_ref(from).load(std::memory_order_acquire);
    };
    return load(mine.state->holder) != 0 ||
           static_cast<std::uint32_t>(load(mine.state->ticket)) != done();
}

std::optional<std::string> kernel_channel::failure() const {
    auto const number = channel_->error_number();
    if (!number)
        return std::nullopt;
    std::atomic_ref(queue_for_thread().state->failed).store(1, std::memory_order_relaxed);
    copy::flush_wc_stores();
    return "the driver stopped the channel, error " + std::to_string(*number) +
           " (Xid; 31: an address that is not mapped)";
}

std::optional<barmap::gpu::status> kernel_channel::take_refusal() const noexcept {
    std::atomic_ref refused(queue_for_thread().state->refused);
    barmap::gpu::word const found = refused.load(std::memory_order_acquire);
    if (found == 0)
        return std::nullopt;
    refused.store(0, std::memory_order_relaxed);
    copy::flush_wc_stores();
    return static_cast<barmap::gpu::status>(found);
}

} // namespace barmap::engine
