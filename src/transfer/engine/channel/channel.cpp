// SPDX-License-Identifier: MIT
#include "base/process.hpp"
#include "base/region.hpp"
#include "transfer/engine/channel/address_space.hpp"
#include "transfer/engine/channel/command_ring.hpp"
#include "transfer/engine/channel/generation.hpp"
#include "transfer/engine/channel/gpu_channel.hpp"
#include "transfer/engine/engine.hpp"
#include "transfer/engine/spin.hpp"

#include <barmap/error.hpp>

#include <algorithm>
#include <atomic>
#include <cstring>
#include <mutex>
#include <optional>
#include <utility>

/// A channel of our own on one of the GPU's copy engines, made through the resource manager of
/// NVIDIA's stock driver: a copy is submitted with a few stores, and done when a word in host
/// memory says so. No privilege, no CUDA stream, no SM.
namespace barmap::engine {
namespace {

namespace abi = rm::abi;

/// Memory mapped into the channel's address space.
struct mapped_memory final : reachable {
    explicit mapped_memory(std::shared_ptr<address_space const> where) : space(std::move(where)) {}
    std::shared_ptr<address_space const> space;
    std::vector<address_space::mapping> mappings; // go before it
};

abi::handle allocate_block(rm::client const& client) {
    abi::memory_alloc_parameters wanted{};
    wanted.owner = client.root();
    wanted.flags = abi::alloc_flags_video_memory;
    wanted.attributes = abi::attributes_contiguous_huge;
    wanted.attributes2 = abi::attributes2_huge_2mb_cacheable;
    wanted.size = command_ring::block_bytes;
    wanted.alignment = command_ring::block_bytes;
    return client.allocate(client.device(), abi::class_local_memory, &wanted, sizeof wanted,
                           "allocate the channel's GPU memory");
}

class channel_engine final : public copy_engine {
public:
    explicit channel_engine(gpu const& which) : gpu_(which) {}

    void start() override {
        expect_channels(gpu_);
        state_ = std::make_unique<state>(gpu_);
    }

    std::unique_ptr<reachable> reach(cuda::memory const& memory) override {
        auto result = std::make_unique<mapped_memory>(state_->space);
        std::size_t at = 0, chunk = 0;
        for (rm::cuda_object& taken : rm::take(state_->client, memory)) {
            std::uint64_t const offset = taken.offset;
            std::size_t const bytes =
                std::min<std::uint64_t>(memory.chunks[chunk].extent(), taken.size - offset);
            address_space::mapping const& mapped = result->mappings.emplace_back(
                state_->space->map(std::move(taken.object), taken.size));
            result->runs.push_back({at, bytes, mapped.address() + offset});
            at += memory.chunks[chunk++].extent(); // of which the object may lack the end
        }
        return result;
    }

    std::unique_ptr<reachable> reach(std::span<std::byte> pages) override {
        auto result = std::make_unique<mapped_memory>(state_->space);
        result->mappings.push_back(state_->space->map_host(pages.data(), pages.size()));
        result->runs.push_back({0, pages.size(), result->mappings.back().address()});
        return result;
    }

    std::unique_ptr<reachable> reach_pinned(std::span<std::byte> memory) override {
        std::size_t const page = os::page_size();
        auto const begin = reinterpret_cast<std::uintptr_t>(memory.data());
        std::size_t const head = begin % page;
        std::size_t const bytes = (head + memory.size() + page - 1) / page * page;
        std::unique_ptr<reachable> result = reach({memory.data() - head, bytes});
        result->runs.front() = {0, memory.size(), result->runs.front().address + head};
        return result;
    }

    ticket submit(std::span<piece const> pieces) override {
        std::lock_guard const hold(lock_);
        ticket last = 0;
        while (!pieces.empty()) {
            std::size_t const some = std::min(pieces.size(), command_ring::most_pieces);
            wait_for_room(some);
            last = state_->ring->submit(pieces.first(some));
            pieces = pieces.subspan(some);
        }
        return last;
    }

    bool is_done(ticket number) noexcept override { return state_->ring->progress() >= number; }

    outcome wait(ticket number, deadline until) noexcept override {
        return spin([&] { return is_done(number); }, [&] { return has_failed(); }, until);
    }

    bool close() noexcept override {
        if (!os::is_this_process(owner_))
            return false; // another thread of the parent may have held the lock at the fork
        stopped_.store(true, std::memory_order_release); // ends what waits for room
        {
            std::lock_guard const hold(lock_); // no submission is half made
        }
        return !state_ || state_->own->stop(); // without the lock, as the driver takes its time
    }

private:
    struct state {
        explicit state(gpu const& which)
            : client(std::make_shared<rm::client>(rm::pci_location{
                  which.pci_domain, which.pci_bus, which.pci_slot, which.pci_address})),
              series(series_of(client->driver_version())), kind(generation_of(client->classes())),
              space(std::make_shared<address_space>(client, series)),
              host(os::region::shared_memory(2 * os::page_size())),
              semaphore(space->map_host(host.data(), os::page_size())),
              notifier(client,
                       client->describe_host(host.data() + os::page_size(), os::page_size())),
              block(space->map({client, allocate_block(*client)}, command_ring::block_bytes)),
              block_view(*client, block.object().handle(), 0, command_ring::block_bytes,
                         abi::map_flags_default_caching),
              usermode(*client, kind) {
            std::memset(block_view.data(), 0, command_ring::words_at);
            std::uint32_t const engine_type = own_engine_type(*client);
            own.emplace(*client, kind, series,
                        gpu_channel::parts{space->handle(), notifier.handle(),
                                           block.object().handle(), 0, block.address(),
                                           engine_type});
            own->schedule();
            ring.emplace(command_ring::places{block_view.data(), block.address(),
                                              usermode.doorbell(), own->token(),
                                              reinterpret_cast<std::uint32_t const*>(host.data()),
                                              semaphore.address(), kind.copy});
        }

        // In the order in which they are made; they go the other way round, the channel first.
        std::shared_ptr<rm::client const> client;
        driver_series series;
        engine::generation const& kind;
        std::shared_ptr<address_space const> space;
        os::region host; ///< a page with the semaphore, a page with the error notifier
        address_space::mapping semaphore;
        rm::memory_object notifier;
        address_space::mapping block;
        cpu_view block_view;
        usermode_page usermode;
        std::optional<command_ring> ring;
        std::optional<gpu_channel> own;
    };

    [[nodiscard]] bool has_failed() const noexcept {
        auto* const status = reinterpret_cast<std::uint16_t*>(
            state_->host.data() + os::page_size() + offsetof(abi::notification, status));
        return stopped_.load(std::memory_order_acquire) ||
               std::atomic_ref(*status).load(std::memory_order_acquire) != 0;
    }

    void wait_for_room(std::size_t pieces) {
        if (!stopped_.load(std::memory_order_relaxed) && state_->ring->has_room(pieces))
            return;
        outcome const result =
            spin([&] { return state_->ring->has_room(pieces); }, [&] { return has_failed(); },
                 device_clock::now() + std::chrono::seconds(10));
        if (result != outcome::done || stopped_.load(std::memory_order_relaxed))
            throw error(errc::backend_broken, "submit a copy to the channel", "",
                        "it has stopped: see `barmap info`");
    }

    gpu gpu_;
    os::process_id owner_ = os::this_process();
    std::mutex lock_;
    std::atomic<bool> stopped_{false};
    std::unique_ptr<state> state_;
};

} // namespace

std::unique_ptr<copy_engine> make_channel(gpu const& which) {
    return std::make_unique<channel_engine>(which);
}

} // namespace barmap::engine
