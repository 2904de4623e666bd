// SPDX-License-Identifier: MIT
#include "cuda/driver_api.hpp"
#include "engine/channel/address_space.hpp"
#include "engine/channel/command_ring.hpp"
#include "engine/channel/generation.hpp"
#include "engine/engine.hpp"
#include "engine/spin.hpp"
#include "os/process.hpp"
#include "os/region.hpp"

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

/// A part of an RM object that the CPU has mapped.
class cpu_view {
public:
    cpu_view(rm::client const& client, abi::handle object, std::size_t bytes, std::uint32_t flags)
        : view_(client, object, 0, bytes, flags), region_(os::region::for_files(bytes)) {
        region_.place(0, bytes, view_.fd(), 0);
        view_.close_fd();
    }
    [[nodiscard]] std::byte* data() const noexcept { return region_.data(); }

private:
    rm::client::view view_;
    os::region region_; // goes before it
};

/// Which copy engine to use: one that neither serves graphics nor is one of those that the driver
/// gives to several users. CUDA copies by these, and on one that CUDA is using a copy waits for the
/// end of CUDA's time slice, 1 ms.
std::uint32_t own_engine_type(rm::client const& client) {
    for (std::uint32_t i = 0; i < abi::engine_type_copies; ++i) {
        abi::ce_caps_parameters caps{};
        caps.engine_type = abi::engine_type_copy0 + i;
        if (client.control(client.subdevice(), abi::cmd_ce_get_caps, caps,
                           "read what a copy engine can do") != abi::ok)
            continue; // there is none of this number
        if ((caps.caps[0] & (abi::ce_cap_graphics | abi::ce_cap_shared)) == 0)
            return caps.engine_type;
    }
    throw error(errc::backend_absent, "find a copy engine that nothing else uses", "",
                "this GPU has none to spare: copies take the driver's engine");
}

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

/// The page with the doorbell. A child of the subdevice.
class usermode_page {
public:
    usermode_page(rm::client const& client, generation const& gpu)
        : client_(client), handle_(allocate(client, gpu)),
          view_(std::in_place, client, handle_, abi::usermode_bytes, 0) {}
    usermode_page(usermode_page const&) = delete;
    usermode_page& operator=(usermode_page const&) = delete;
    ~usermode_page() {
        view_.reset();
        client_.free(client_.subdevice(), handle_);
    }
    [[nodiscard]] std::uint32_t* doorbell() const noexcept {
        return reinterpret_cast<std::uint32_t*>(view_->data() + abi::usermode_doorbell);
    }

private:
    static abi::handle allocate(rm::client const& client, generation const& gpu) {
        abi::usermode_parameters page{};
        page.bar1_mapping = 1;
        return client.allocate(client.subdevice(), gpu.usermode,
                               gpu.usermode_parameters ? &page : nullptr,
                               gpu.usermode_parameters ? sizeof page : 0, "allocate the doorbell");
    }
    rm::client const& client_;
    abi::handle handle_;
    std::optional<cpu_view> view_;
};

/// A channel group with one channel, which its address space, memory and notifier outlive.
class channel {
public:
    struct parts {
        abi::handle address_space, notifier, block;
        std::uint64_t block_on_gpu;
        std::uint32_t engine_type;
    };
    channel(rm::client const& client, generation const& gpu, driver_series series, parts const& of)
        : client_(client) {
        abi::channel_group_parameters group{};
        group.address_space = of.address_space;
        group.engine_type = of.engine_type;
        group_ = client.allocate(client.device(), abi::class_channel_group, &group, sizeof group,
                                 "make a channel group");
        try {
            abi::handle const made = series.shifted_channel()
                                         ? allocate<abi::channel_parameters_610>(gpu, of)
                                         : allocate<abi::channel_parameters>(gpu, of);
            schedule(made, gpu, series, of.engine_type);
        } catch (...) {
            stop();
            throw;
        }
    }
    channel(channel const&) = delete;
    channel& operator=(channel const&) = delete;
    ~channel() { stop(); }

    [[nodiscard]] std::uint32_t token() const noexcept { return token_; }

    /// Returns when nothing of it is under way any more. Once.
    void stop() noexcept {
        if (abi::handle const group = std::exchange(group_, 0))
            client_.free(group);
    }

private:
    template <class Parameters>
    abi::handle allocate(generation const& gpu, parts const& of) const {
        Parameters wanted{};
        wanted.error_notifier = of.notifier;
        wanted.gpfifo_address = of.block_on_gpu;
        wanted.gpfifo_entries = command_ring::gpfifo_entries;
        wanted.userd_memory[0] = of.block;
        wanted.userd_offset[0] = command_ring::userd_at;
        wanted.engine_type = of.engine_type;
        return client_.allocate(group_, gpu.channel, &wanted, sizeof wanted, "make a channel");
    }

    void schedule(abi::handle channel, generation const& gpu, driver_series series,
                  std::uint32_t engine_type) {
        abi::copy_object_parameters copies{1, engine_type};
        (void)client_.allocate(channel, gpu.copy, &copies, sizeof copies,
                               "let the channel use a copy engine");
        abi::submit_token_parameters submit{};
        rm::client::expect_ok(client_.control(channel, abi::cmd_get_submit_token, submit,
                                              "get the channel's doorbell token"),
                              "get the channel's doorbell token");
        token_ = submit.token;
        // Where two processes meet on an engine, the time that one of them waits for the other: a
        // courtesy, without which the channel works as well.
        abi::time_slice_parameters slice{time_slice_us};
        (void)client_.control(group_, abi::cmd_set_time_slice, slice,
                              "set the channel's time slice");
        constexpr char what[] = "schedule the channel";
        if (series.long_schedule()) {
            abi::schedule_parameters on{1, 0, 0};
            rm::client::expect_ok(client_.control(channel, abi::cmd_schedule, on, what), what);
        } else {
            abi::schedule_parameters_535 on{1, 0};
            rm::client::expect_ok(client_.control(channel, abi::cmd_schedule, on, what), what);
        }
    }

    static constexpr std::uint64_t time_slice_us = 200;
    rm::client const& client_;
    abi::handle group_ = 0;
    std::uint32_t token_ = 0;
};

class channel_engine final : public copy_engine {
public:
    explicit channel_engine(gpu const& which) : gpu_(which) {}

    void start() override {
        if (gpu_.simulated && !cuda::simulation_has_kernel_driver())
            throw error(errc::backend_absent, "make a channel on a simulated GPU", "",
                        "nothing needs to be done: copies take the driver's engine");
        if (gpu_.mig || gpu_.coherent)
            throw error(errc::backend_absent,
                        gpu_.mig ? "make a channel on a MIG device"
                                 : "make a channel on a GPU with a coherent link",
                        "", "it has not been tried: copies take the driver's engine");
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

    ticket submit(direction which, std::span<piece const> pieces) override {
        std::lock_guard const hold(lock_);
        ticket last = 0;
        while (!pieces.empty()) {
            std::size_t const some = std::min(pieces.size(), command_ring::most_pieces);
            wait_for_room(some);
            last = state_->ring->submit(which, pieces.first(some));
            pieces = pieces.subspan(some);
        }
        return last;
    }

    bool is_done(ticket number) noexcept override { return state_->ring->progress() >= number; }

    outcome wait(ticket number, deadline until) noexcept override {
        return spin([&] { return is_done(number); }, [&] { return has_failed(); }, until);
    }

    void close() noexcept override {
        if (!os::is_this_process(owner_))
            return; // another thread of the parent may have held the lock at the fork
        stopped_.store(true, std::memory_order_release); // ends what waits for room
        {
            std::lock_guard const hold(lock_); // no submission is half made
        }
        if (state_)
            state_->own->stop(); // may take as long as the driver takes: without the lock
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
              block_view(*client, block.object().handle(), command_ring::block_bytes,
                         abi::map_flags_default_caching),
              usermode(*client, kind) {
            std::memset(block_view.data(), 0, command_ring::words_at);
            std::uint32_t const engine_type = own_engine_type(*client);
            own.emplace(*client, kind, series,
                        channel::parts{space->handle(), notifier.handle(), block.object().handle(),
                                       block.address(), engine_type});
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
        std::optional<channel> own;
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
                 std::chrono::steady_clock::now() + std::chrono::seconds(10));
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
