// SPDX-License-Identifier: MIT
#include "engine/channel/cuda_lane.hpp"

#include "cuda/driver_api.hpp"
#include "engine/patience.hpp"
#include "engine/spin.hpp"

#include <barmap/error.hpp>

#include <algorithm>
#include <cstddef>
#include <cstring>
#include <string>
#include <utility>

namespace barmap::engine {

namespace abi = rm::abi;

namespace {

rm::cuda_object take_block(cuda_session const& session, cuda::device_block const& block) {
    std::vector<rm::cuda_object> taken =
        rm::take(session.client, cuda::describe(block.address(), command_ring::block_bytes));
    if (taken.size() != 1 || taken.front().owner == 0)
        throw error(errc::unknown_layout, "find the RM object of CUDA's memory", "",
                    "please report this with the driver's version");
    return std::move(taken.front());
}

// A word for each batch that may be under way, so that no stream's word is another's.
std::size_t word_of(ticket number) noexcept {
    return command_ring::spare_at + number % command_ring::most_tickets * sizeof(std::uint32_t);
}
static_assert(command_ring::most_tickets * sizeof(std::uint32_t) <= command_ring::spare_bytes);

std::uint32_t word_value(ticket number) noexcept {
    return static_cast<std::uint32_t>(number);
}

} // namespace

cuda_session::cuda_session(cuda::gpu const& which)
    : gpu(which), client(std::make_shared<rm::client>(rm::pci_location{
                      which.pci_domain, which.pci_bus, which.pci_slot, which.pci_address})),
      series(series_of(client->driver_version())), kind(generation_of(client->classes())),
      usermode(*client, kind), own_engine{own_engine_type(*client)},
      shared_engines(shared_engine_types(*client)),
      context(cuda::primary_context::retain(which.handle)) {
    if (!kind.high_entries)
        throw error(errc::backend_absent,
                    "place a channel's words in CUDA's address space on " + std::string(kind.name),
                    "", "BARMAP_ENGINE=driver needs no channel");
}

cuda_lane::cuda_lane(cuda_session& session, std::uint32_t engine_type)
    : session_(session), engine_type_(engine_type),
      block_(session.gpu.handle, command_ring::block_bytes), object_(take_block(session, block_)),
      view_(*session.client, object_.object.handle(), object_.offset, command_ring::block_bytes,
            abi::map_flags_default_caching),
      host_(os::region::shared_memory(2 * os::page_size())),
      registration_(session.gpu.handle, std::span(host_.data(), os::page_size())),
      notifier_page_(session.client, session.client->describe_host(host_.data() + os::page_size(),
                                                                   os::page_size())) {
    semaphore_on_gpu_ = registration_.gpu_address();
    std::memset(view_.data(), 0, command_ring::words_at);
    if (session.space)
        open_channel(session.space->handle());
    else
        find_space();
    channel_->schedule();
    ring_.emplace(command_ring::places{view_.data(), block_.address(), session.usermode.doorbell(),
                                       channel_->token(), semaphore(), semaphore_on_gpu_,
                                       session.kind.copy});
}

// CUDA's objects have consecutive handles; which of them is the address space differs with the
// driver's version and the number of GPUs. The unified memory driver refuses a channel in another.
void cuda_lane::find_space() {
    constexpr abi::handle first = 0x5c000001, last = 0x5c000400;
    std::exception_ptr why;
    for (abi::handle each = first; each != last; ++each) {
        std::optional<abi::handle> const copy = session_.client->try_duplicate(object_.owner, each);
        if (!copy)
            continue;
        rm::memory_object object(session_.client, *copy);
        if (session_.client->class_of(*copy) != abi::class_address_space)
            continue;
        try {
            open_channel(*copy);
            session_.space.emplace(std::move(object));
            return;
        } catch (error const&) {
            why = std::current_exception();
            channel_.reset(); // before its address space
        }
    }
    if (why)
        std::rethrow_exception(why);
    throw error(errc::backend_absent, "find CUDA's address space of the GPU", "",
                "this driver names it in another way: batches take the driver's copies");
}

void cuda_lane::open_channel(abi::handle space) {
    channel_.emplace(*session_.client, session_.kind, session_.series,
                     gpu_channel::parts{space, notifier_page_.handle(), object_.object.handle(),
                                        object_.offset, block_.address(), engine_type_});
    known_to_uvm_.emplace(*session_.client, session_.gpu.uuid, channel_->handle(),
                          session_.series.long_unregister());
}

ticket cuda_lane::submit(direction which, std::span<piece const> pieces, std::size_t bytes,
                         stream_order const& order) {
    std::span<piece const> const first =
        pieces.first(std::min(pieces.size(), command_ring::most_pieces));
    wait_for_room(first.size());

    latest_.store(which, std::memory_order_relaxed);
    ticket const next = ring_->next();
    ticket const last =
        next + (std::max<std::size_t>(pieces.size(), 1) - 1) / command_ring::most_pieces;
    limits own{clock::now() + (order.after ? order.at_most : clock::duration{}), bytes,
               pieces.size()};
    clock::rep const late = late_with(own).time_since_epoch().count();
    auto const give = [&](std::span<piece const> some, semaphore_word const& begin) {
        limits_[ring_->next() % limits_.size()] = std::exchange(own, {own.until});
        late_at_[ring_->next() % late_at_.size()].store(late, std::memory_order_relaxed);
        (void)ring_->submit(which, some, begin);
    };

    // The stream may come to its place before the channel is given anything, or long after.
    semaphore_word begin;
    expect_usable(order);
    if (order.after) {
        begin = {block_.address() + word_of(next), word_value(next)};
        check_stream(cuda::api().stream_write_value32(*order.after, begin.address, begin.value, 0));
    }
    if (order.then) {
        CUresult const result = cuda::api().stream_wait_value32(
            *order.then, semaphore_on_gpu_, word_value(last), cuda::wait_value_geq);
        if (result != cuda::success && order.after)
            give({}, begin); // takes the word that the stream will write
        check_stream(result);
        promised_.store(last, std::memory_order_relaxed);
    }
    give(first, begin);
    for (pieces = pieces.subspan(first.size()); !pieces.empty();) {
        std::span<piece const> const some =
            pieces.first(std::min(pieces.size(), command_ring::most_pieces));
        wait_for_room(some.size());
        give(some, {});
        pieces = pieces.subspan(some.size());
    }
    return last;
}

// What is still under way goes first, and has its own time. What has ended counts no more, so that
// the failure of a channel that is never idle is noticed as soon as another one's.
cuda_lane::clock::time_point cuda_lane::late_with(limits all) const noexcept {
    for (ticket each = ring_->progress() + 1; each < ring_->next(); ++each) {
        limits const& before = limits_[each % limits_.size()];
        all = {std::max(all.until, before.until), all.bytes + before.bytes,
               all.pieces + before.pieces};
    }
    return all.until + patience(all.bytes, all.pieces);
}

cuda_lane::clock::duration cuda_lane::patience(std::size_t bytes,
                                               std::size_t pieces) const noexcept {
    std::chrono::microseconds const each_piece(session_.gpu.simulated ? 200 : 1); // 0.02 (H200)
    return patience_with(session_.gpu) + longest_time_of(bytes) + pieces * each_piece;
}

void cuda_lane::wait_for_room(std::size_t pieces) {
    bool const has_room =
        spin([&] { return ring_->has_room(pieces); }, [&] { return is_in_trouble(); },
             clock::time_point::max()) == outcome::done;
    if (!has_room)
        throw error(errc::backend_broken, "submit a batch to the channel", "",
                    "the batches before it did not end in time: see `barmap info`");
}

batch_engine::state cuda_lane::look(ticket number) const noexcept {
    using enum batch_engine::state;
    // In this order: where a failure has set the semaphore, it has said so before.
    bool const is_past = ring_->progress() >= number;
    if (has_failed_.load(std::memory_order_acquire))
        return number <= done_before_failure_.load(std::memory_order_relaxed) ? done : failed;
    return is_past ? done : under_way;
}

bool cuda_lane::is_in_trouble() const noexcept {
    if (std::atomic_ref(notifier().status).load(std::memory_order_acquire) != 0)
        return true;
    ticket const oldest = ring_->progress() + 1;
    if (oldest >= ring_->next())
        return false;
    // After that, so that it is this batch's: before a batch is there, it is that of an earlier
    // one.
    clock::rep const late = late_at_[oldest % late_at_.size()].load(std::memory_order_relaxed);
    return clock::now().time_since_epoch().count() > late && ring_->progress() < oldest;
}

std::string cuda_lane::trouble() const {
    if (std::atomic_ref(notifier().status).load(std::memory_order_acquire) != 0)
        return "the driver stopped the channel, error " + std::to_string(notifier().info32) +
               " (Xid; 31: an address that is not mapped)";
    return "a batch did not end in time";
}

bool cuda_lane::stop() noexcept {
    if (!channel_ || has_failed_.load(std::memory_order_acquire))
        return true;
    known_to_uvm_.reset();
    if (!channel_->stop())
        return false;
    if (ring_) {
        done_before_failure_.store(ring_->progress(), std::memory_order_relaxed);
        has_failed_.store(true, std::memory_order_release);
        std::atomic_ref(*semaphore())
            .store(word_value(std::max(ring_->next() - 1, promised_.load())),
                   std::memory_order_release);
    }
    return true;
}

} // namespace barmap::engine
