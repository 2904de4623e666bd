// SPDX-License-Identifier: MIT
/// Mailboxes between a CPU and running GPU code: the latest value wins. The GPU's side;
/// <barmap/mailbox.hpp> makes them, and the rules are in share/doc/barmap/rings.md.
///
///     __global__ void control(barmap::gpu::mailbox_to_gpu<gains> settings) {
///         barmap::gpu::mailbox_reader<gains> reader(settings);
///         gains now = {};
///         for (;;) {
///             reader.read(now); // keeps the former ones if nothing is new
///             ...
///         }
///     }
///
/// The structs are plain and are passed to kernels by value. Compiles as <barmap/gpu/words.cuh>.
#pragma once

#include <barmap/gpu/slots.cuh>
#include <barmap/gpu/status.cuh>
#include <barmap/gpu/words.cuh>

namespace barmap {
namespace gpu {

/// A mailbox has several slots, which values take in turn: a version lies in the slot of its number
/// modulo this. A reader knows that its slot was left alone while the last version before the slot's
/// next one has not begun to arrive.
constexpr unsigned mailbox_slots = 4;

/// Where a mailbox lies, whatever its values are.
struct mailbox_handle {
    word* slots;
    word* version; ///< of one to the CPU: GPU memory, the latest version
    word first;    ///< of one to the GPU: the version when nothing had been written
};

/// Values from the CPU, in GPU memory: slot_to_gpu<T>.
template <class T>
struct mailbox_to_gpu {
    word *slots, *version;
    word first;
};

/// Values to the CPU, in host memory: slot_to_cpu<T>.
template <class T>
struct mailbox_to_cpu {
    word *slots, *version;
    word first;
};

/// Reads the latest value. Any number of them may read one mailbox.
template <class T>
class mailbox_reader {
public:
    BARMAP_DEVICE explicit mailbox_reader(mailbox_to_gpu<T> const& mailbox)
        : mailbox_(mailbox), version_(mailbox.first) {}

    /// Reads the latest value if it is newer than the last one that this reader has read.
    /// @param value unchanged unless the result is ok
    /// @param more_looks how often to look again, where nothing is new, or the value is written
    ///        faster than it can be read
    /// @return ok, empty (more_looks is 0) or timed_out
    BARMAP_DEVICE status read(T& value, word more_looks = 0) {
        for (word look = 0;; ++look) {
            if (take(value))
                return status::ok;
            if (look >= more_looks)
                return detail::without(status::empty, more_looks);
        }
    }

    /// The version that was read last, counted from the mailbox's first.
    BARMAP_DEVICE word version() const { return version_; }

private:
    BARMAP_DEVICE word* slot(word version) const {
        return mailbox_.slots + version % mailbox_slots * slot_to_gpu<T>::words;
    }
    BARMAP_DEVICE bool take(T& value) {
        word newest = version_;
        for (unsigned i = 0; i < mailbox_slots; ++i) {
            word const found = load_acquire(detail::a_commit<T>(slot(i)));
            if (static_cast<long long>(found - newest) > 0)
                newest = found;
        }
        if (newest == version_)
            return false;
        word words[slot_to_gpu<T>::payload_words];
        if (!detail::take_words<T>(slot(newest), newest, words))
            return false; // not all of it, or it is a newer one already
        fence_system(); // before the next look
        word const last = newest + mailbox_slots - 1;
        if (static_cast<long long>(load_relaxed(detail::a_commit<T>(slot(last))) - last) >= 0)
            return false; // the one behind it may be under way to this slot
        copy_bytes(&value, words, sizeof value);
        version_ = newest;
        return true;
    }

    mailbox_to_gpu<T> mailbox_;
    word version_;
};

/// Writes values for the CPU. One at a time; a later one goes on where this has ended, which its
/// destructor says.
template <class T>
class mailbox_writer {
public:
    BARMAP_DEVICE explicit mailbox_writer(mailbox_to_cpu<T> const& mailbox)
        : mailbox_(mailbox), version_(load_relaxed(mailbox.version)) {}
    mailbox_writer(mailbox_writer const&) = delete;
    mailbox_writer& operator=(mailbox_writer const&) = delete;
    BARMAP_DEVICE ~mailbox_writer() { store_relaxed(mailbox_.version, version_); }

    /// Publishes a value. Takes a fence of the system, and a second one for more than 8 bytes.
    BARMAP_DEVICE void write(T const& value) {
        fence_system(); // the version before has arrived when any of this one does
        ++version_;
        detail::write_slot(mailbox_.slots + version_ % mailbox_slots * slot_to_cpu<T>::words,
                           version_, value);
    }

private:
    mailbox_to_cpu<T> mailbox_;
    word version_;
};

} // namespace gpu
} // namespace barmap
