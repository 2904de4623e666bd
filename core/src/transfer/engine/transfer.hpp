// SPDX-License-Identifier: MIT
#pragma once

#include "base/policy.hpp"
#include "system/region.hpp"
#include "transfer/engine/engine.hpp"
#include "transfer/engine/patience.hpp"
#include "transfer/engine/spin.hpp"

#include <array>
#include <atomic>
#include <cstddef>
#include <functional>
#include <future>
#include <memory>
#include <mutex>
#include <span>
#include <utility>

/// Whole copies by an engine: directly for pinned memory, otherwise through staging memory.
namespace barmap::engine {

/// An engine at work, with its staging memory.
/// Thread rule: threads may copy concurrently; copies of pageable memory share staging memory.
class worker {
public:
    static constexpr std::size_t buffers = 2;
    static constexpr std::size_t buffer_bytes = policy::staging_buffer;
    static constexpr std::size_t most_staging = buffers * buffer_bytes;

    /// Starts the engine.
    /// @param staging_bytes from a page to most_staging. While CUDA pins them, its calls
    ///                      by other threads wait
    /// @throws error
    explicit worker(std::unique_ptr<copy_engine> engine,
                    std::chrono::milliseconds patience = usual_patience,
                    std::size_t staging_bytes = most_staging);
    worker(worker const&) = delete;
    worker& operator=(worker const&) = delete;
    ~worker() { engine_->close(); } // before the memory is freed that it may be copying to

    [[nodiscard]] copy_engine& engine() noexcept { return *engine_; }
    [[nodiscard]] reachable const& staging() const noexcept { return *reached_; }
    [[nodiscard]] std::span<std::byte> staging_memory() const noexcept {
        return {staging_.data(), staging_.size()};
    }

    /// Keeps the memory that copies may write to while the worker lives. Before the first copy.
    void keep(std::shared_ptr<void const> memory) noexcept { kept_ = std::move(memory); }

    /// Whether it has failed: get another worker.
    [[nodiscard]] bool is_retired() const noexcept {
        return is_retired_.load(std::memory_order_acquire);
    }
    /// Marks the worker as failed and stops its engine on a new thread: the driver may hang.
    /// @return whether it has stopped within this time, so that nothing is in flight any more
    static bool retire(std::shared_ptr<worker> const& failed,
                       std::chrono::milliseconds most) noexcept;

    /// Copies between GPU memory and staging memory, for measurements of pinned host memory.
    /// @pre bytes <= half of the staging memory
    copy_outcome copy_pinned(direction which, reachable const& gpu, std::size_t bytes) noexcept;

    /// Copies, through staging memory, to or from host memory that the engine does not reach: the
    /// CPU copies one chunk while the engine copies another.
    /// @pre gpu's runs cover [offset, offset + bytes)
    /// @return late or failed: part of the copy may still be in flight
    copy_outcome copy_staged(direction which, reachable const& gpu, std::size_t offset,
                             std::byte* host, std::size_t bytes) noexcept;

    /// Copies directly to or from memory that the engine reaches.
    /// @param host addresses of the host's side for the engine, in order; `at` is relative to it
    /// @param meanwhile what to do once the engine has the copy, before the wait for it
    copy_outcome copy_direct(direction which, reachable const& gpu, std::size_t offset,
                             std::span<reachable::run const> host,
                             std::function<void()> const& meanwhile = {}) noexcept;

    /// How long a copy of that many bytes may take before it is late.
    [[nodiscard]] std::chrono::nanoseconds patience(std::size_t bytes) const noexcept;

private:
    class under_way;
    [[nodiscard]] copy_outcome wait(ticket number) noexcept;
    struct buffer {
        std::mutex busy;
        std::byte* data = nullptr;
        std::uint64_t address = 0;
    };
    class free_buffer;
    copy_outcome staged_to_cpu(buffer const& through, reachable const& gpu, std::size_t offset,
                               std::byte* host, std::size_t bytes);
    copy_outcome staged_to_gpu(buffer const& through, reachable const& gpu, std::size_t offset,
                               std::byte const* host, std::size_t bytes);

    std::chrono::milliseconds patience_;
    std::shared_ptr<void const> kept_; // outlives the engine
    os::region staging_;               // outlives the engine, which may still write into it
    std::unique_ptr<copy_engine> engine_;
    std::unique_ptr<reachable> reached_; // destroyed before the engine
    std::size_t ring_bytes_;             // of a buffer
    std::array<buffer, buffers> buffers_;
    std::atomic<unsigned> next_buffer_{0};
    std::atomic<bool> is_retired_{false};
    std::once_flag stopping_;
    std::shared_future<bool> stopped_; ///< whether nothing is in flight any more
    /// Of all threads, since a copy waits for those before it.
    std::atomic<std::size_t> bytes_under_way_{0};
};

/// Whether the runs cover [offset, offset + bytes).
[[nodiscard]] bool covers(reachable const& memory, std::size_t offset, std::size_t bytes) noexcept;

} // namespace barmap::engine
