// SPDX-License-Identifier: MIT
/// Mailboxes between a CPU and running GPU code: the latest value wins, and nobody waits for a
/// reader. The CPU's side; the GPU's is <barmap/gpu/mailbox.cuh>, and the rules are in
/// share/doc/barmap/rings.md.
#pragma once

#include <barmap/arena.hpp>
#include <barmap/copy.hpp>
#include <barmap/gpu/mailbox.cuh>
#include <barmap/message.hpp>
#include <barmap/signal_words.hpp>
#include <barmap/slots.hpp>

#include <cassert>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <span>

namespace barmap::inline BARMAP_INLINE_NAMESPACE {

/// As mailbox_to_gpu, of values of a size that is given at run time. Thread rules as there.
class BARMAP_API byte_mailbox_to_gpu {
public:
    /// @param value_bytes 1 to 2^20
    /// @param first version of nothing; for tests of what happens when versions wrap
    /// @throws error errc::invalid_argument, or as arena::take_gpu()
    byte_mailbox_to_gpu(arena const& memory, std::size_t value_bytes, std::uint64_t first = 0);
    byte_mailbox_to_gpu(byte_mailbox_to_gpu const&) = delete;
    byte_mailbox_to_gpu& operator=(byte_mailbox_to_gpu const&) = delete;
    ~byte_mailbox_to_gpu();

    /// What kernels take, by value, as the gpu::mailbox_to_gpu of a type of that size.
    [[nodiscard]] gpu::mailbox_handle handle() const noexcept;
    /// The same for a thread of this process that stands for a kernel.
    [[nodiscard]] gpu::mailbox_handle handle_for_thread() const noexcept;

    /// Publishes a value, at once. Never waits. @pre value.size() is the size of a value
    void write(std::span<std::byte const> value) noexcept {
        assert(value.size() == value_bytes_);
        put(value_bytes_, value.data());
    }
    [[nodiscard]] std::uint64_t version() const noexcept { return version_; } ///< of the latest
    [[nodiscard]] std::size_t value_bytes() const noexcept { return value_bytes_; }

protected:
    template <class Size>
    void put(Size bytes, std::byte const* value) noexcept {
        ++version_;
        slots_.write(version_ % gpu::mailbox_slots, version_, value, bytes);
        slots_.flush(); // before any of the next one
    }

private:
    std::size_t value_bytes_;
    detail::slots_to_gpu slots_;
    std::uint64_t version_, first_;
};

/// As mailbox_to_cpu, of values of a size that is given at run time. Thread rules as there.
class BARMAP_API byte_mailbox_to_cpu {
public:
    /// As that of byte_mailbox_to_gpu. @throws error also as arena::take_host()
    byte_mailbox_to_cpu(arena const& memory, std::size_t value_bytes, std::uint64_t first = 0);
    byte_mailbox_to_cpu(byte_mailbox_to_cpu const&) = delete;
    byte_mailbox_to_cpu& operator=(byte_mailbox_to_cpu const&) = delete;
    ~byte_mailbox_to_cpu();

    [[nodiscard]] gpu::mailbox_handle handle() const noexcept;
    [[nodiscard]] gpu::mailbox_handle handle_for_thread() const noexcept;

    /// Reads the latest value, if it is newer than the last one that was read.
    /// @param value where nothing is newer, unchanged @pre its size is that of a value
    /// @return whether it is; false too while values come faster than they can be read, and then
    ///         what is in `value` is unknown
    [[nodiscard]] bool read(std::span<std::byte> value) noexcept;

    /// Waits for a newer value than the last one that was read.
    /// @return whether there is one
    [[nodiscard]] bool wait_for(std::chrono::nanoseconds at_most) const noexcept {
        return detail::look_until([&] { return latest() != version_; }, at_most);
    }
    /// The version that was read last, counted from the mailbox's first.
    [[nodiscard]] std::uint64_t version() const noexcept { return version_; }
    [[nodiscard]] std::size_t value_bytes() const noexcept { return value_bytes_; }

private:
    [[nodiscard]] gpu::word* slot_of(std::uint64_t version) const noexcept;
    [[nodiscard]] std::uint64_t commit_of(std::uint64_t version) const noexcept;
    [[nodiscard]] std::uint64_t latest() const noexcept;
    [[nodiscard]] bool was_overwritten(std::uint64_t version) const noexcept;

    std::size_t value_bytes_, slot_words_;
    arena::part slots_;
    detail::words_to_gpu latest_;
    std::uint64_t version_;
};

/// Values of a CPU thread to running GPU code.
///
///     barmap::mailbox_to_gpu<gains> settings(words);
///     control<<<1, 32>>>(settings.handle());
///     settings.write({0.5F, 0.25F});
///
/// One thread at a time writes; any number of kernels read. After fork() the child may only destroy
/// it. Not movable. Destroy it when no kernel uses it any more.
/// @tparam Value trivially copyable, of any size up to 1 MiB
template <ring_message Value>
class mailbox_to_gpu : private byte_mailbox_to_gpu {
public:
    /// @param first version of nothing; for tests of what happens when versions wrap
    /// @throws error as arena::take_gpu()
    explicit mailbox_to_gpu(arena const& memory, std::uint64_t first = 0)
        : byte_mailbox_to_gpu(memory, sizeof(Value), first) {}

    /// What kernels take, by value.
    [[nodiscard]] gpu::mailbox_to_gpu<Value> handle() const noexcept {
        return typed(byte_mailbox_to_gpu::handle());
    }
    /// The same for a thread of this process that stands for a kernel.
    [[nodiscard]] gpu::mailbox_to_gpu<Value> handle_for_thread() const noexcept {
        return typed(byte_mailbox_to_gpu::handle_for_thread());
    }

    /// Publishes a value, at once. Never waits.
    void write(Value const& value) noexcept {
        put(detail::fixed_size<sizeof(Value)>{}, reinterpret_cast<std::byte const*>(&value));
    }

    using byte_mailbox_to_gpu::version;

private:
    static gpu::mailbox_to_gpu<Value> typed(gpu::mailbox_handle const& of) noexcept {
        return {of.slots, of.version, of.first};
    }
};

/// Values of running GPU code to the CPU.
///
///     barmap::mailbox_to_cpu<progress> state(words);
///     solve<<<1, 32>>>(state.handle());
///     progress now;
///     if (state.read(now))
///         show(now);
///
/// One thread at a time reads, and one gpu::mailbox_writer writes. The rest is as with
/// mailbox_to_gpu.
template <ring_message Value>
class mailbox_to_cpu : private byte_mailbox_to_cpu {
public:
    /// As that of mailbox_to_gpu. @throws error also as arena::take_host()
    explicit mailbox_to_cpu(arena const& memory, std::uint64_t first = 0)
        : byte_mailbox_to_cpu(memory, sizeof(Value), first) {}

    [[nodiscard]] gpu::mailbox_to_cpu<Value> handle() const noexcept {
        return typed(byte_mailbox_to_cpu::handle());
    }
    [[nodiscard]] gpu::mailbox_to_cpu<Value> handle_for_thread() const noexcept {
        return typed(byte_mailbox_to_cpu::handle_for_thread());
    }

    /// Reads the latest value, if it is newer than the last one that was read.
    /// @return whether it is; false too while values come faster than they can be read, and then
    ///         what is in `value` is unknown
    [[nodiscard]] bool read(Value& value) noexcept {
        return byte_mailbox_to_cpu::read(
            std::span<std::byte>(reinterpret_cast<std::byte*>(&value), sizeof value));
    }

    using byte_mailbox_to_cpu::version;
    using byte_mailbox_to_cpu::wait_for;

private:
    static gpu::mailbox_to_cpu<Value> typed(gpu::mailbox_handle const& of) noexcept {
        return {of.slots, of.version, of.first};
    }
};

} // namespace barmap::inline BARMAP_INLINE_NAMESPACE
