// SPDX-License-Identifier: MIT
#include "transfer/engine/channel/cuda_channel.hpp"

#include "transfer/engine/channel/command_ring.hpp"

#include <barmap/error.hpp>

#include <atomic>
#include <cstring>
#include <exception>
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

} // namespace

cuda_session::cuda_session(cuda::gpu const& which, std::optional<cuda::block_addresses> wanted)
    : gpu(which), client(std::make_shared<rm::client>(which.pci)), series(expect_series(*client)),
      kind(generation_of(client->classes())),
      addresses(wanted.value_or(kind.high_entries ? cuda::block_addresses::any
                                                  : cuda::block_addresses::below_2_40)),
      usermode(*client, kind), engines(usable_engines(*client)),
      shared_engines(shared_engine_types(engines)),
      context(cuda::primary_context::retain(which.handle)) {}

cuda_channel::cuda_channel(cuda_session& session, std::uint32_t engine_type)
    : session_(session), engine_type_(engine_type),
      block_(session.gpu.handle, command_ring::block_bytes, session.addresses),
      object_(take_block(session, block_)),
      view_(*session.client, object_.object.handle(), object_.offset, command_ring::block_bytes,
            abi::map_flags_default_caching),
      notifier_(os::region::shared_memory(os::page_size())),
      notifier_page_(session.client,
                     session.client->describe_host(notifier_.data(), notifier_.size())) {
    std::memset(view_.data(), 0, command_ring::words_at);
    if (session.space)
        open(session.space->handle());
    else
        find_space();
    channel_->schedule();
}

// CUDA's objects have consecutive handles; the handle of the address space differs with the
// driver's version and the number of GPUs. The unified memory driver refuses a channel in another
// one.
void cuda_channel::find_space() {
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
            open(*copy);
            session_.space.emplace(std::move(object));
            session_.first_block = block_.address();
            session_.names = cuda::memory_names::of(session_.gpu.handle, block_.address());
            return;
        } catch (error const&) {
            why = std::current_exception();
            channel_.reset(); // before its address space
        } catch (...) {
            channel_.reset();
            throw;
        }
    }
    if (why)
        std::rethrow_exception(why);
    throw error(errc::backend_absent, "find CUDA's address space of the GPU", "",
                "this driver uses other handles: batches use the driver's copies");
}

void cuda_channel::open(abi::handle space) {
    channel_.emplace(*session_.client, session_.kind, session_.series,
                     gpu_channel::parts{space, notifier_page_.handle(), object_.object.handle(),
                                        object_.offset, block_.address(), engine_type_});
    known_to_uvm_.emplace(*session_.client, session_.gpu.uuid, channel_->handle(),
                          session_.series.long_unregister());
}

std::optional<std::uint32_t> cuda_channel::error_number() const noexcept {
    auto& found = *reinterpret_cast<abi::notification*>(notifier_.data());
    if (std::atomic_ref(found.status).load(std::memory_order_acquire) == 0)
        return std::nullopt;
    return found.info32;
}

bool cuda_channel::stop() noexcept {
    known_to_uvm_.reset();
    return !channel_ || channel_->stop();
}

} // namespace barmap::engine
