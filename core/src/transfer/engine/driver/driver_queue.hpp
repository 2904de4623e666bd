// SPDX-License-Identifier: MIT
#pragma once

#include "cuda/host_registration.hpp"
#include "nvidia/cuda.hpp"
#include "system/region.hpp"
#include "transfer/engine/engine.hpp"

#include <array>
#include <atomic>
#include <optional>
#include <span>
#include <vector>

namespace barmap::engine {

/// Marks a place in a stream.
class stream_event {
public:
    stream_event() = default;
    stream_event(stream_event const&) = delete;
    stream_event& operator=(stream_event const&) = delete;
    ~stream_event();
    void make();
    [[nodiscard]] CUevent get() const noexcept { return handle_; } ///< null before make()

private:
    CUevent handle_ = nullptr;
};

/// A stream that waits for no default stream.
class own_stream {
public:
    own_stream();
    own_stream(own_stream const&) = delete;
    own_stream& operator=(own_stream const&) = delete;
    ~own_stream();
    [[nodiscard]] CUstream get() const noexcept { return handle_; }

private:
    CUstream handle_ = nullptr;
};

/// A word of host memory to which a stream writes the number of its last finished copy: a poll
/// makes no CUDA call.
class stream_word {
public:
    /// @pre the stream's context is current
    /// @return null before CUDA 11.7, whose streams cannot write words
    [[nodiscard]] static std::unique_ptr<stream_word> make(CUdevice device, CUstream stream);

    void write_in(CUstream stream, ticket number);
    /// @param last the last number enqueued with write_in()
    [[nodiscard]] bool says(ticket number, ticket last) const noexcept;

private:
    explicit stream_word(CUdevice device);
    os::region page_ = os::region::shared_memory(os::page_size());
    cuda::host_registration registration_; // destroyed before the page
    CUdeviceptr on_gpu_;
};

/// A stream, and the word or events that mark the ends of submissions.
/// Thread rule: poll() and is_idle() at any time; submit() by one thread at a time.
class driver_queue {
public:
    static constexpr ticket most_in_flight = 1024; ///< submissions that events mark

    /// A word marks the ends in lane held, if CUDA supports it. In lane cuda events do, since
    /// submissions on the program's own streams end out of order.
    /// @pre the context is current
    driver_queue(CUdevice device, CUcontext context, lane which);
    driver_queue(driver_queue const&) = delete;
    driver_queue& operator=(driver_queue const&) = delete;

    [[nodiscard]] CUstream stream() const noexcept { return stream_.get(); }

    /// @param left_on the stream with the copies of a submission that failed half-way
    ticket submit(std::span<copy_piece const> pieces, stream_order const& order, bool by_batch_call,
                  std::optional<CUstream>& left_on);

    /// @param begun_on set to the stream after the first copy is enqueued
    void copy(std::span<copy_piece const> pieces, bool by_batch_call, CUstream stream,
              std::optional<CUstream>& begun_on);

    /// @param result CUDA's answer, if the poll calls CUDA
    [[nodiscard]] state poll(ticket number, CUresult& result) const;

    /// Thread rule: one caller at a time.
    [[nodiscard]] bool is_idle();

    /// Whether a submission has not ended. @pre no thread submits
    [[nodiscard]] bool has_work() const noexcept;

    /// @return whether all submissions have ended
    [[nodiscard]] bool wait_for_all() const noexcept;

private:
    void mark_end(ticket number, CUstream stream, stream_order const& order);
    CUstream begin(stream_order const& order);
    void copy_by_batch_call(std::span<copy_piece const> pieces, CUstream stream);

    CUcontext context_;
    own_stream stream_;
    std::unique_ptr<stream_word> word_;
    std::array<stream_event, most_in_flight> ends_; ///< indexed by ticket modulo their count
    stream_event placed_;
    std::vector<CUdeviceptr> to_, from_;
    std::vector<std::size_t> bytes_;
    std::atomic<ticket> last_{0};
    std::atomic<ticket> ended_{0}; ///< the last submission whose event marks a later one
    ticket known_to_be_done_ = 0;  ///< with all before it
};

} // namespace barmap::engine
