// SPDX-License-Identifier: MIT
#pragma once

#include "base/region.hpp"
#include "driver/cuda/host_registration.hpp"
#include "driver/cuda/types.hpp"
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

/// A stream of ours, which waits for no default stream.
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

/// A word of host memory into which a stream writes the number of its last copy that is done: to
/// look there takes no call of CUDA's.
class stream_word {
public:
    /// @pre the stream's context is current
    /// @return none before CUDA 11.7, which does not write words from streams
    [[nodiscard]] static std::unique_ptr<stream_word> make(CUdevice device, CUstream stream);

    void write_in(CUstream stream, ticket number);
    /// @param last that was written in the stream
    [[nodiscard]] bool says(ticket number, ticket last) const noexcept;

private:
    explicit stream_word(CUdevice device);
    os::region page_ = os::region::shared_memory(os::page_size());
    cuda::host_registration registration_; // goes before it
    CUdeviceptr on_gpu_;
};

/// A stream, and what marks the ends of submissions.
/// Thread rule: poll() and is_idle() at any time; submit() by one caller at a time.
class driver_queue {
public:
    static constexpr ticket most_in_flight = 1024; ///< of those that events mark

    /// In lane held a word marks the ends, if there is one; in lane cuda events do, since
    /// submissions on the program's own streams end out of order.
    /// @pre the context is current
    driver_queue(CUdevice device, CUcontext context, lane which);
    driver_queue(driver_queue const&) = delete;
    driver_queue& operator=(driver_queue const&) = delete;

    [[nodiscard]] CUstream stream() const noexcept { return stream_.get(); }

    /// Where a submission has failed half-way, `left_on` is the stream that its copies are on.
    ticket submit(std::span<piece const> pieces, stream_order const& order, bool by_batch_call,
                  std::optional<CUstream>& left_on);

    /// @param begun_on set to the stream once a copy has been ordered
    void copy(std::span<piece const> pieces, bool by_batch_call, CUstream stream,
              std::optional<CUstream>& begun_on);

    /// @param result what CUDA said, where it was asked
    [[nodiscard]] state poll(ticket number, CUresult& result) const;

    /// Thread rule: one caller at a time.
    [[nodiscard]] bool is_idle();

    /// Whether a submission has not ended. @pre nothing is submitted meanwhile
    [[nodiscard]] bool has_work() const noexcept;

    /// @return whether all submissions have ended
    [[nodiscard]] bool wait_for_all() const noexcept;

private:
    void mark_end(ticket number, CUstream stream, stream_order const& order);
    CUstream begin(stream_order const& order);
    void copy_by_batch_call(std::span<piece const> pieces, CUstream stream);

    CUcontext context_;
    own_stream stream_;
    std::unique_ptr<stream_word> word_;
    std::array<stream_event, most_in_flight> ends_; ///< of this number, modulo their count
    stream_event placed_;
    std::vector<CUdeviceptr> to_, from_;
    std::vector<std::size_t> bytes_;
    std::atomic<ticket> last_{0};
    std::atomic<ticket> ended_{0}; ///< of those whose events mark later ones, the last
    ticket known_to_be_done_ = 0;  ///< and all before it
};

} // namespace barmap::engine
