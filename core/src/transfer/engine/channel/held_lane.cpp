// SPDX-License-Identifier: MIT
#include "driver/rm/local_memory.hpp"
#include "system/process.hpp"
#include "system/region.hpp"
#include "transfer/engine/channel/address_space.hpp"
#include "transfer/engine/channel/command_ring.hpp"
#include "transfer/engine/channel/engine_choice.hpp"
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
#include <string>
#include <string_view>
#include <utility>

/// The channel in lane held: barmap's own channel on one of the GPU's copy engines, made through
/// the resource manager of NVIDIA's stock driver. A few stores submit a copy, and a word in host
/// memory reports its end. Needs no privilege, no CUDA stream and no SM.
namespace barmap::engine {
namespace {

namespace abi = rm::abi;

/// Memory mapped into the channel's address space.
struct mapped_memory final : reachable {
    explicit mapped_memory(std::shared_ptr<address_space const> where) : space(std::move(where)) {}
    std::shared_ptr<address_space const> space;
    std::vector<address_space::mapping> mappings; // destroyed before the space
};

class held_lane final : public copy_engine {
public:
    explicit held_lane(gpu const& which) : gpu_(which) {}

    void start() override {
        expect_channels(gpu_);
        made_ = std::make_unique<parts>(gpu_);
    }

    std::unique_ptr<reachable> reach(cuda::memory const& memory) override {
        return map(rm::take(made_->client, memory));
    }

    std::unique_ptr<reachable> hold(cuda::memory const& memory) override { return reach(memory); }

    std::unique_ptr<reachable> reach_held(std::span<rm::held_object const> held) override {
        return map(rm::take(made_->client, held));
    }

    std::unique_ptr<reachable> reach(std::span<std::byte> pages) override {
        auto result = std::make_unique<mapped_memory>(made_->space);
        result->mappings.push_back(made_->space->map_host(pages.data(), pages.size()));
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

    [[nodiscard]] std::string_view form() const noexcept override {
        return "by a channel in an address space of its own";
    }

    ticket submit(direction /*way*/, std::span<copy_piece const> pieces, std::size_t /*bytes*/,
                  stream_order const& /*order*/) override {
        std::lock_guard const hold(lock_);
        ticket last = 0;
        while (!pieces.empty()) {
            std::size_t const some = std::min(pieces.size(), command_ring::most_pieces);
            wait_for_room(some);
            last = made_->ring->submit(pieces.first(some));
            pieces = pieces.subspan(some);
        }
        return last;
    }

    [[nodiscard]] state poll(ticket number) noexcept override {
        if (number == 0 || number >= made_->ring->next())
            return state::never_given;
        if (made_->ring->progress() >= number)
            return state::done;
        return has_stopped() ? state::failed : state::in_flight;
    }

    [[nodiscard]] bool has_stopped() const noexcept override {
        return stopped_.load(std::memory_order_acquire) || error_of_driver() != 0;
    }

    [[nodiscard]] std::string why_it_stopped() override {
        return error_of_driver() != 0 ? "the driver stopped the channel" : "it was closed";
    }

    bool close() noexcept override {
        if (!os::is_this_process(owner_))
            return false; // another thread of the parent may have held the lock at the fork
        stopped_.store(true, std::memory_order_release); // ends waits for room
        {
            std::lock_guard const hold(lock_); // no submission is half made
        }
        return !made_ || made_->own->stop(); // without the lock, since the driver may take long
    }

private:
    struct parts {
        explicit parts(gpu const& which)
            : client(std::make_shared<rm::client>(which.pci)), series(expect_series(*client)),
              kind(generation_of(client->classes())),
              space(std::make_shared<address_space>(client, series)),
              host(os::region::shared_memory(2 * os::page_size())),
              semaphore(space->map_host(host.data(), os::page_size())),
              notifier(client,
                       client->describe_host(host.data() + os::page_size(), os::page_size())),
              block(space->map(rm::allocate_local(client, command_ring::block_bytes),
                               command_ring::block_bytes)),
              block_view(*client, block.object().handle(), 0, command_ring::block_bytes,
                         abi::map_flags_default_caching),
              usermode(*client, kind) {
            std::memset(block_view.data(), 0, command_ring::words_at);
            std::uint32_t const engine_type = own_engine_type(usable_engines(*client), {});
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

        // In construction order; the channel is destroyed first.
        std::shared_ptr<rm::client const> client;
        rm::driver_series series;
        engine::generation const& kind;
        std::shared_ptr<address_space const> space;
        os::region host; ///< a page with the semaphore, a page with the error notifier
        address_space::mapping semaphore;
        rm::memory_object notifier;
        address_space::mapping block;
        rm::cpu_view block_view;
        usermode_page usermode;
        std::optional<command_ring> ring;
        std::optional<gpu_channel> own;
    };

    std::unique_ptr<reachable> map(std::vector<rm::cuda_object> objects) {
        auto result = std::make_unique<mapped_memory>(made_->space);
        std::size_t at = 0;
        for (rm::cuda_object& taken : objects) {
            std::uint64_t const offset = taken.offset;
            std::size_t const length = taken.length; // the object may end earlier
            std::size_t const bytes = std::min<std::uint64_t>(length, taken.size - offset);
            address_space::mapping const& mapped = result->mappings.emplace_back(
                made_->space->map(std::move(taken.object), taken.size));
            result->runs.push_back({at, bytes, mapped.address() + offset});
            at += length;
        }
        return result;
    }

    [[nodiscard]] std::uint16_t error_of_driver() const noexcept {
        auto* const status = reinterpret_cast<std::uint16_t*>(made_->host.data() + os::page_size() +
                                                              offsetof(abi::notification, status));
        return std::atomic_ref(*status).load(std::memory_order_acquire);
    }

    void wait_for_room(std::size_t pieces) {
        if (!stopped_.load(std::memory_order_relaxed) && made_->ring->has_room(pieces))
            return;
        copy_outcome const result =
            spin([&] { return made_->ring->has_room(pieces); }, [&] { return has_stopped(); },
                 device_clock::now() + std::chrono::seconds(10));
        if (result != copy_outcome::done || stopped_.load(std::memory_order_relaxed))
            throw engine::has_stopped("it has stopped: see `barmap info`");
    }

    gpu gpu_;
    os::process_id owner_ = os::this_process();
    std::mutex lock_;
    std::atomic<bool> stopped_{false};
    std::unique_ptr<parts> made_;
};

} // namespace

std::unique_ptr<copy_engine> make_channel_held(gpu const& which) {
    return std::make_unique<held_lane>(which);
}

} // namespace barmap::engine
