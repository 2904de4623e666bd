// SPDX-License-Identifier: MIT
#pragma once

#include "fake/gpu_memory.hpp"

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace barmap::fake::gpu {

/// What the channels of a driver have done so far.
struct activity {
    std::uint64_t doorbells = 0;   ///< that were not lost
    std::uint64_t entries = 0;     ///< of a GPFIFO
    std::uint64_t launches = 0;    ///< of LAUNCH_DMA, those without a copy included
    std::uint64_t bytes = 0;       ///< copied
    std::uint64_t semaphores = 0;  ///< released
    std::uint64_t kept = 0;        ///< turns of a channel that another one had the engine in
    std::uint32_t engine_type = 0; ///< of the latest launch
    std::map<std::uint32_t, std::uint64_t> launches_of; ///< by the type of the engine
};

/// What a test wants of the next submissions, and what they did.
struct orders {
    using clock = std::chrono::steady_clock;
    bool stalled = false;
    std::optional<std::uint32_t> held_engine; ///< by its type
    std::optional<clock::duration> delay;
    clock::duration until_unflushed_arrive = std::chrono::milliseconds(20);
    std::optional<std::uint32_t> failure; ///< the notifier's info32
    activity done;
    std::vector<std::string> violations;
};

/// A channel: fetches the entries of its GPFIFO and executes the methods of a copy engine, and the
/// channel's own that acquire a semaphore.
/// Copies into memory of the host arrive with the next flush, or long after; pipelined ones are
/// executed from the last to the first, as far as the interface allows it.
/// A fault in CUDA's address space is reported only if the channel is registered with UVM.
class channel {
public:
    using clock = orders::clock;

    /// Info32 of an error notifier (the numbers of Xid messages).
    static constexpr std::uint32_t info_engine_exception = 13, info_mmu_fault = 31;

    struct wiring {
        std::shared_ptr<address_space> space;
        std::uint64_t gpfifo = 0;
        std::uint32_t entries = 0;
        std::shared_ptr<video_memory> userd;
        std::uint64_t userd_offset = 0;
        std::shared_ptr<memory> notifier;
        std::uint32_t engine_type = 0, copy_class = 0, token = 0;
        int ordinal = -1;
        bool extended_base = false; ///< the GPFIFO's entries can reach beyond 2^40
    };
    explicit channel(wiring const& of) : of_(of) {}

    [[nodiscard]] std::uint32_t token() const noexcept { return of_.token; }
    [[nodiscard]] std::uint32_t engine_type() const noexcept { return of_.engine_type; }
    [[nodiscard]] int ordinal() const noexcept { return of_.ordinal; }
    [[nodiscard]] bool in_space_of_cuda() const { return of_.space->ordinal_of_cuda() >= 0; }
    [[nodiscard]] bool in_space_of_cuda(int ordinal) const {
        return of_.space->ordinal_of_cuda() == ordinal;
    }
    void add_copy_object() noexcept { has_copy_object_ = true; }
    void schedule() noexcept { scheduled_ = true; }
    [[nodiscard]] bool scheduled() const noexcept { return scheduled_; }

    // With UVM, which stops it when it is to forget it.
    void enrol() noexcept { registered_ = true; }
    void retire() noexcept { registered_ = false, stopped_ = true; }
    [[nodiscard]] bool registered() const noexcept { return registered_; }

    /// Its doorbell was rung.
    void ring() noexcept;
    [[nodiscard]] bool was_rung() const noexcept { return was_rung_; }
    /// Its doorbell was rung and nothing heard it.
    void miss() noexcept { deaf_ = true; }
    /// Looks for new entries, rung or not, unless it has missed a doorbell.
    void look() noexcept;
    /// Executes an entry of the GPFIFO, or what has come due. @return false if it did nothing
    /// @param has_engine false while another channel keeps it
    bool step(clock::time_point now, orders& from, bool has_engine);
    /// Whether it waits for a semaphore and keeps its engine meanwhile: in every other time slice.
    [[nodiscard]] bool keeps_engine(clock::time_point now) const noexcept;
    /// Whether nothing will happen before it is rung again.
    [[nodiscard]] bool idle() const;

private:
    struct piece {
        std::uint64_t in, out;
        std::uint32_t bytes;
    };
    struct late_bytes {
        std::uint64_t to;
        std::vector<std::byte> what;
    };
    struct stop;

    bool advance(clock::time_point now, orders& from, bool has_engine);
    bool report(clock::time_point now);
    void fetch(std::uint64_t entry);
    void set_base(std::uint64_t entry);
    void execute(orders& from);
    bool acquired();
    void host_method(std::uint32_t which, std::uint32_t value, orders& from);
    void method(std::uint32_t subchannel, std::uint32_t which, std::uint32_t value, orders& from);
    void launch(std::uint32_t flags, orders& from);
    void copy(piece const& what, orders& from);
    void copy_all(orders& from);
    void flush();
    void release_semaphore(bool of_8);
    [[nodiscard]] bool has_semaphores_of_8() const noexcept;
    void store_word(std::uint64_t address, std::uint32_t word) const;
    [[nodiscard]] std::uint32_t put() const;
    void read(std::uint64_t address, void* to, std::size_t bytes) const;

    wiring of_;
    bool has_copy_object_ = false, scheduled_ = false;
    bool rung_ = false, was_rung_ = false, fresh_ = false, deaf_ = false, bound_ = false;
    bool registered_ = false, stopped_ = false;
    std::uint32_t get_ = 0;
    std::uint64_t base_ = 0; ///< of the addresses in entries

    std::vector<std::uint32_t> words_; ///< of the entry that is executed
    std::size_t at_ = 0;               ///< the next of them
    std::uint32_t subchannel_ = 0, next_ = 0, values_left_ = 0;

    struct {
        std::uint64_t address = 0, payload = 0;
        bool waits = false, keeps_engine = false;
        clock::time_point since{};
    } acquire_;

    std::uint64_t in_ = 0, out_ = 0, semaphore_ = 0, payload_ = 0;
    std::uint32_t length_ = 0;
    std::vector<piece> pipelined_; ///< of which none must wait for another
    std::vector<late_bytes> late_; ///< on their way to the host
    clock::time_point now_{}, not_before_{}, late_at_{}, report_at_{};
    std::optional<std::uint32_t> error_; ///< it has stopped for good
    bool reported_ = false, silent_ = false;
};

} // namespace barmap::fake::gpu
