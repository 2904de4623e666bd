// SPDX-License-Identifier: MIT
#include "api/graph_batches.hpp"

#include "cuda/device_block.hpp"
#include "transfer/engine/kept_by_graphs.hpp"

#include <barmap/error.hpp>

#include <atomic>
#include <chrono>
#include <span>
#include <string>
#include <string_view>

namespace barmap {
namespace {

/// Of all batches in graphs, so that no queue takes a ticket of a former one for its own.
std::atomic<std::uint64_t> latest_number{0};

[[noreturn]] void refuse_to_capture(std::string const& why) {
    throw error(errc::unsupported_operation, "order a batch with a captured stream", "",
                "a graph needs a kernel queue, and there is none (" + why +
                    "): submit the batch before or after the graph's launch, not into the graph");
}

/// The list of a node, and the queue that copies it.
struct list_of_node {
    list_of_node(std::shared_ptr<kernel_queue_state> through, std::size_t bytes)
        : queue(std::move(through)), block(queue->device().gpu.handle, bytes) {}
    std::shared_ptr<kernel_queue_state> queue;
    cuda::device_block block;
};

} // namespace

std::shared_ptr<kernel_queue_state> graph_batches::make_queue() const {
    std::string_view const engine = forced_engine();
    if (!engine.empty() && engine != "channel")
        refuse_to_capture("BARMAP_ENGINE=" + std::string(engine) + " allows no channel");
    try {
        // Branches of a graph, and replays in flight, run at the same time.
        return std::make_shared<kernel_queue_state>(
            device_, engine::kernel_channel::form{.is_shared = true});
    } catch (error const& why) {
        if (why.code() != errc::backend_absent)
            throw;
        refuse_to_capture(why.what());
    }
}

std::uint64_t graph_batches::capture(std::vector<copy_piece> pieces,
                                     engine::stream_order const& order) {
    constexpr std::chrono::nanoseconds usual_time = std::chrono::seconds(10);
    std::size_t const count = pieces.size();
    if (count == 0)
        return 0;
    static_assert(sizeof(copy_piece) == sizeof(gpu::copy_piece)); // with the same members
    pieces.push_back({.to = count, .from = 0, .bytes = 0}); // where the kernel reads the number
    auto const image = std::as_bytes(std::span(pieces));
    std::lock_guard const hold(lock_);
    std::erase_if(known_, [](auto const& each) { return each.second.kept.expired(); });
    if (!queue_ || queue_->why_it_stopped())
        queue_ = make_queue();
    auto const list = std::make_shared<list_of_node const>(queue_, image.size());
    list->block.write(image);
    latest_ = latest_number.fetch_add(1, std::memory_order_relaxed) + 1;
    first_ = first_ == 0 ? latest_ : first_;
    known_.try_emplace(latest_, batch{list, queue_});
    CUstream const stream = order.after ? *order.after : *order.then;
    if (!engine::keep_if_captured(stream, list))
        throw error(errc::invalid_argument, "order a batch with a captured stream", "",
                    "its capture has ended meanwhile: submit between its begin and its end");
    auto const* const on_gpu = reinterpret_cast<gpu::copy_piece const*>(list->block.address());
    queue_->enqueue(on_gpu, &on_gpu[count].to, count,
                    static_cast<std::uint64_t>(order.at_most.value_or(usual_time).count()), stream);
    return latest_;
}

engine::state graph_batches::poll(std::uint64_t number) {
    constexpr char operation[] = "copy a batch in a graph";
    std::lock_guard const hold(lock_);
    auto const found = known_.find(number);
    if (found == known_.end())
        return first_ <= number && number <= latest_ ? engine::state::done
                                                     : engine::state::never_given;
    auto const [why, refusal] = found->second.queue->take_trouble();
    if (why)
        throw error(errc::copy_unfinished, operation, "",
                    *why + "; destroy the graphs that have captured batches, and capture again");
    if (refusal)
        throw error(errc::copy_unfinished, operation, "",
                    "the engine did not copy a replay in its time, and may still copy it: give "
                    "`after` a longer `at_most`, or replay fewer graphs at once");
    return found->second.kept.expired() ? engine::state::done : engine::state::in_flight;
}

} // namespace barmap
