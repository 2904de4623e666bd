// SPDX-License-Identifier: MIT
#include "measure/usable_engines.hpp"

#include "gpu/device_state.hpp"
#include "gpu/open_devices.hpp"

#include <barmap/copy.hpp>
#include <barmap/error.hpp>

#include <algorithm>
#include <chrono>
#include <cstring>

namespace barmap::tool {
namespace {

/// One that is late is stopped, so that the memory of both sides may be freed.
void expect_done(engine::worker& worker, engine::outcome result) {
    if (result == engine::outcome::done)
        return;
    worker.engine().close();
    throw error(errc::copy_unfinished, "copy by a copy engine", "",
                result == engine::outcome::late ? "it did not end in time" : "it has stopped");
}

} // namespace

std::vector<running_engine> usable_engines(opened_gpu const& gpu) {
    std::shared_ptr<device_state> const state = open_device(gpu.device().ordinal());
    std::vector<running_engine> result;
    for (engine_slot* const slot : state->usable_engines())
        if (std::shared_ptr<engine::worker> worker = slot->get())
            result.push_back({std::string(slot->name()), std::move(worker)});
    return result;
}

bool replace(opened_gpu const& gpu, running_engine& late) {
    std::shared_ptr<device_state> const state = open_device(gpu.device().ordinal());
    for (std::unique_ptr<engine_slot> const& slot : state->engines) {
        if (slot->name() != late.name)
            continue;
        (void)slot->retire(late.worker);
        late.worker = slot->get();
    }
    return late.worker != nullptr;
}

touched_host::touched_host(host_memory_kind kind, std::size_t bytes) : kind_(kind) {
    if (kind == host_memory_kind::pinned) {
        pinned_ = std::make_unique<pinned_host>(bytes);
        bytes_ = {pinned_->data(), bytes};
    } else {
        pageable_.resize(bytes);
        bytes_ = pageable_;
    }
    std::memset(bytes_.data(), 0x5a, bytes);
}

engine_path::engine_path(std::shared_ptr<engine::worker> engine, CUdeviceptr address,
                         std::size_t bytes, std::span<std::byte> pinned)
    : worker(std::move(engine)), gpu(worker->engine().reach(cuda::describe(address, bytes))) {
    if (!pinned.empty())
        host = worker->engine().reach_pinned(pinned);
}

engine_path::engine_path(std::shared_ptr<engine::worker> engine,
                         std::unique_ptr<engine::reachable> reached_gpu,
                         std::unique_ptr<engine::reachable> reached_host)
    : worker(std::move(engine)), gpu(std::move(reached_gpu)), host(std::move(reached_host)) {}

void engine_path::add(std::vector<engine::piece>& pieces, engine::direction way,
                      std::size_t gpu_offset, std::size_t host_offset, std::size_t bytes) const {
    for (engine::reachable::run const& run : gpu->runs) {
        std::size_t const begin = std::max(gpu_offset, run.at);
        std::size_t const end = std::min(gpu_offset + bytes, run.at + run.bytes);
        if (begin >= end)
            continue;
        std::uint64_t const on_gpu = run.address + (begin - run.at);
        std::uint64_t const on_host =
            host->runs.front().address + host_offset + (begin - gpu_offset);
        if (way == engine::direction::to_gpu)
            pieces.push_back({on_gpu, on_host, end - begin});
        else
            pieces.push_back({on_host, on_gpu, end - begin});
    }
}

void engine_path::copy(std::span<engine::piece const> pieces) const {
    // Longer than a copy may take beside others: what is looked for here is whether it is right.
    constexpr std::chrono::seconds patience{10};
    if (pieces.empty())
        return;
    flush_stores();
    engine::outcome result = engine::outcome::failed;
    try {
        // Any way: in lane held there is one queue.
        engine::ticket const ticket =
            worker->engine().submit(engine::direction::to_cpu, pieces, 0, {});
        result = engine::wait(worker->engine(), ticket, engine::device_clock::now() + patience);
    } catch (error const&) {
        // It has stopped.
    }
    expect_done(*worker, result);
}

void engine_path::copy_direct(engine::direction way, std::size_t gpu_offset,
                              std::size_t host_offset, std::size_t bytes) const {
    engine::reachable::run const run{0, bytes, host->runs.front().address + host_offset};
    flush_stores();
    expect_done(*worker, worker->copy_direct(way, *gpu, gpu_offset, {&run, 1}));
}

void engine_path::copy_staged(engine::direction way, std::size_t gpu_offset,
                              std::span<std::byte> bytes) const {
    flush_stores();
    expect_done(*worker, worker->copy_staged(way, *gpu, gpu_offset, bytes.data(), bytes.size()));
}

engine_user::engine_user(opened_gpu const& gpu, running_engine which, CUdeviceptr address,
                         std::size_t bytes, std::span<std::byte> host)
    : gpu_(gpu), which_(std::move(which)), address_(address), bytes_(bytes), host_(host),
      path_(std::make_unique<engine_path>(which_.worker, address, bytes, host)) {}

} // namespace barmap::tool
