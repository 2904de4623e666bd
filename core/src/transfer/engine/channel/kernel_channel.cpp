// SPDX-License-Identifier: MIT
#include "transfer/engine/channel/kernel_channel.hpp"

#include "base/config.hpp"
#include "cuda/driver_api.hpp"
#include "cuda/driver_lifetime.hpp"
#include "transfer/cpu/fence.hpp"
#include "transfer/engine/channel/command_ring.hpp"
#include "transfer/engine/own_thread.hpp"
#include "transfer/engine/patience.hpp"

#include <barmap/error.hpp>
#include <barmap/gpu/shared_queue.cuh>

#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstring>
#include <exception>
#include <span>
#include <thread>

namespace barmap::engine {

namespace abi = rm::abi;

namespace {

using barmap::gpu::kernel_queue, barmap::gpu::kernel_queue_sharing, barmap::gpu::kernel_queue_state;

// The layout of the block: the state that warps share lies behind the ring of commands; all else
// before it, where a ring of the CPU has room for its user's data.
constexpr std::size_t bytes_of_ring =
    std::size_t{kernel_queue::slots} * kernel_queue::words_of_slot * sizeof(unsigned);
constexpr std::size_t sharing_at = command_ring::words_at + bytes_of_ring;
static_assert(sharing_at + sizeof(kernel_queue_sharing) <= command_ring::block_bytes);
constexpr std::size_t semaphore_at = command_ring::spare_at, state_at = semaphore_at + 64;
static_assert(state_at + sizeof(kernel_queue_state) <=
              command_ring::spare_at + command_ring::spare_bytes);
static_assert(kernel_queue::gpfifo_entries == command_ring::gpfifo_entries);

cuda::gpu const& checked(cuda::gpu const& which) {
    expect_channels(which, "submit from the CPU, by a batch queue");
    return which;
}

} // namespace

kernel_channel::cpu_bell::cpu_bell(CUdevice of)
    : page(os::region::shared_memory(os::page_size())),
      registration(of, std::span(page.data(), page.size())) {}

kernel_channel::kernel_channel(cuda::gpu const& which, form how) : session_(checked(which)) {
    cuda::relaxed_capture const relaxed;
    cuda::context_scope const scope(session_.context.get());
    try {
        make(how);
        start_attendant();
    } catch (...) {
        close();
        throw;
    }
}

kernel_channel::~kernel_channel() {
    close();
}

void kernel_channel::make(form how) {
    channel_.emplace(session_, own_engine_type(session_.engines, {}));
    // The first submission binds the engine.
    std::uint32_t nobody = 0;
    command_ring first({channel_->block(), channel_->block_on_gpu(), &nobody, channel_->token(),
                        semaphore(), channel_->block_on_gpu() + semaphore_at, session_.kind.copy});
    (void)first.submit({});
    if (!config::current().rings_by_cpu)
        try {
            map_doorbell();
            ring_from_gpu();
        } catch (error const&) {
            doorbell_.reset();
            if (!how.or_rung_by_cpu)
                throw;
        }
    if (!doorbell_) {
        bell_.emplace(session_.gpu.handle);
        ring();
        expect_start(nullptr);
    }
    std::memset(channel_->block() + sharing_at, 0, sizeof(kernel_queue_sharing));
    std::atomic_ref(*semaphore()).store(0, std::memory_order_relaxed); // kernels count from 0
    queue_ = queue_at(channel_->block_on_gpu(),
                      bell_ ? bell_->registration.gpu_address()
                            : doorbell_->address() + abi::usermode_doorbell,
                      how.is_shared);
    queue_for_thread().state->entries = first.entries();
    copy::flush_wc_stores();
}

void kernel_channel::map_doorbell() {
    // RM refuses to let UVM map the page of registers that older GPUs have (NOT_SUPPORTED, as seen
    // on an H100 without bar1_mapping, 580.159.04).
    if (!session_.kind.usermode_parameters)
        throw error(errc::backend_absent, "let kernels ring a doorbell", "",
                    "GPUs before Hopper have no doorbell that kernels reach: let the CPU ring it "
                    "(kernel_queue_options::or_rung_by_cpu), or submit by a batch queue");
    doorbell_.emplace(*session_.client, channel_->in_uvm(), session_.gpu.uuid,
                      session_.usermode.handle(), abi::usermode_bytes, session_.series);
}

kernel_queue kernel_channel::queue_at(std::uintptr_t block, std::uintptr_t doorbell,
                                      bool is_shared) const {
    auto const at = [&]<class Word>(Word*, std::size_t offset) {
        return reinterpret_cast<Word*>(block + offset);
    };
    unsigned* const unsigneds = nullptr;
    barmap::gpu::word* const words = nullptr;
    std::uint64_t const on_gpu = channel_->block_on_gpu();
    return {.layout = kernel_queue::layout_number,
            .token = channel_->token(),
            .doorbell = reinterpret_cast<unsigned*>(doorbell),
            .put = at(unsigneds, command_ring::userd_at + barmap::gpu::commands::userd_gp_put),
            .entries = at(words, 0),
            .commands = at(unsigneds, command_ring::words_at),
            .commands_address = on_gpu + command_ring::words_at,
            .semaphore = at(unsigneds, semaphore_at),
            .semaphore_address = on_gpu + semaphore_at,
            .state = reinterpret_cast<kernel_queue_state*>(block + state_at),
            .sharing =
                is_shared ? reinterpret_cast<kernel_queue_sharing*>(block + sharing_at) : nullptr,
            .most_signal_bytes = session_.kind.semaphores_of_8 ? 8u : 4u,
            .reserved = {}};
}

kernel_queue kernel_channel::queue_for_thread() const noexcept {
    return queue_at(
        reinterpret_cast<std::uintptr_t>(channel_->block()),
        reinterpret_cast<std::uintptr_t>(bell_ ? bell_->word() : session_.usermode.doorbell()),
        queue_.sharing != nullptr);
}

std::uint32_t* kernel_channel::semaphore() const noexcept {
    return reinterpret_cast<std::uint32_t*>(channel_->block() + semaphore_at);
}

void kernel_channel::ring_from_gpu() {
    cuda_channel other(session_, own_engine_type(session_.engines, {}));
    std::uint32_t const nothing = 0;
    // Its semaphore is the doorbell, and the ticket that it stores there the token.
    command_ring bells({other.block(), other.block_on_gpu(), session_.usermode.doorbell(),
                        other.token(), &nothing, doorbell_->address() + abi::usermode_doorbell,
                        session_.kind.copy, 0, ticket{channel_->token()} - 1});
    (void)bells.submit({});
    expect_start(&other);
}

void kernel_channel::expect_start(cuda_channel const* rings) const {
    auto const until = device_clock::now() + patience_with(session_.gpu);
    while (std::atomic_ref(*semaphore()).load(std::memory_order_acquire) == 0) {
        auto const wrong_address = rings ? rings->error_number() : std::nullopt;
        if (failure() || wrong_address || device_clock::now() > until)
            throw error(errc::backend_broken, "use a channel for kernels", "",
                        failure().value_or(
                            rings ? "the doorbell does not start it at the address for kernels: "
                                    "let the CPU ring it (kernel_queue_options::or_rung_by_cpu)"
                                  : "its first submission did not end in time"));
        std::this_thread::yield();
    }
}

void kernel_channel::start_attendant() {
    attendant_ = std::make_unique<attendant>();
    attendant_->thread = start_own_thread("barmap-bell", "start the thread that watches a channel",
                                          [this] { attend(); });
}

void kernel_channel::close() noexcept {
    if (!os::is_this_process(owner_)) {
        (void)attendant_.release(); // a forked child lacks the thread, and its lock may be held
    } else if (attendant_ && attendant_->thread.joinable()) {
        {
            std::lock_guard const hold(attendant_->lock);
            attendant_->is_closing = true;
        }
        attendant_->wake.notify_one();
        attendant_->thread.join();
    }
    if (channel_)
        (void)channel_->stop(); // before the doorbell goes
}

void kernel_channel::wait_for_kernels() const noexcept {
    if (!cuda::drivers_are_up(owner_))
        return;
    try {
        cuda::relaxed_capture const relaxed;
        cuda::context_scope const scope(session_.context.get());
        (void)cuda::api().ctx_synchronize();
    } catch (std::exception const&) {
        // The context has gone, and its kernels.
    }
}

void kernel_channel::attend() noexcept {
    constexpr std::chrono::milliseconds between_looks{10}, while_busy{1};
    constexpr std::chrono::microseconds between_polls{50};
    auto rung = std::chrono::steady_clock::now(), looked = rung;
    for (;;) {
        auto const now = std::chrono::steady_clock::now();
        if (ring_if_asked())
            rung = now;
        if (now - looked >= between_looks) {
            (void)tell_failure();
            looked = now;
        }
        bool const is_busy = bell_ && now - rung < while_busy;
        if (is_busy)
            std::this_thread::yield();
        std::unique_lock hold(attendant_->lock);
        if (attendant_->is_closing)
            return;
        if (!is_busy)
            attendant_->wake.wait_for(hold, bell_ ? between_polls : between_looks,
                                      [&] { return attendant_->is_closing; });
    }
}

bool kernel_channel::ring_if_asked() const noexcept {
    if (!bell_)
        return false;
    std::atomic_ref asked(*bell_->word());
    if (asked.load(std::memory_order_relaxed) == 0 ||
        asked.exchange(0, std::memory_order_acq_rel) == 0)
        return false;
    ring();
    return true;
}

void kernel_channel::ring() const noexcept {
    std::atomic_ref(*session_.usermode.doorbell())
        .store(channel_->token(), std::memory_order_relaxed);
    copy::flush_wc_stores();
}

std::uint32_t kernel_channel::done() const noexcept {
    return std::atomic_ref(*semaphore()).load(std::memory_order_acquire);
}

bool kernel_channel::is_busy() const noexcept {
    kernel_queue const mine = queue_for_thread();
    auto const load = [](barmap::gpu::word& from) {
        return std::atomic_ref(from).load(std::memory_order_acquire);
    };
    if (load(mine.state->holder) != 0)
        return true;
    barmap::gpu::word const taken = load(mine.sharing ? mine.sharing->taken : mine.state->position);
    return static_cast<std::uint32_t>(taken) != done();
}

std::optional<std::string> kernel_channel::failure() const {
    // In this order: the attendant also sets the word, once the driver has told it the number.
    bool const is_told =
        std::atomic_ref(queue_for_thread().state->failed).load(std::memory_order_acquire) != 0;
    if (auto const number = tell_failure())
        return "the driver stopped the channel, error " + std::to_string(*number) +
               " (Xid; 31: an address that is not mapped)";
    if (is_told)
        return "the engine copied nothing for 10 seconds, in which a kernel waited for room";
    return std::nullopt;
}

std::optional<std::uint32_t> kernel_channel::tell_failure() const {
    auto const number = channel_->error_number();
    if (number) {
        std::atomic_ref(queue_for_thread().state->failed).store(1, std::memory_order_release);
        copy::flush_wc_stores();
    }
    return number;
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
