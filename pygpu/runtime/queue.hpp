// SPDX-License-Identifier: MIT
#pragma once

#include "pygpu/runtime/runtime.hpp"

namespace barmap::runtime {

/// The common part of a stream and an event: a handle of the device that was current when it was
/// made. Destroyed with the object. Where making it failed, and after a reset of the device or in a
/// forked child, its functions answer an error, and never mean the default stream.
class device_object {
public:
    device_object(device_object const&) = delete;
    device_object& operator=(device_object const&) = delete;

    [[nodiscard]] void* handle() const noexcept { return handle_; }
    [[nodiscard]] int device() const noexcept { return device_; }
    /// The runtime's answer when it was made.
    [[nodiscard]] status made() const noexcept { return made_; }
    /// success, or why it cannot be used.
    [[nodiscard]] status usable() const;

protected:
    device_object();
    ~device_object() = default;
    [[nodiscard]] bool must_be_destroyed() const;

    void* handle_ = nullptr;
    int device_ = -1;
    status made_ = success;

private:
    os::process_id owner_;
    unsigned resets_ = 0;
};

class event;

/// Thread rule: as the runtime's streams, any.
class stream : public device_object {
public:
    /// @param flags    as of cudaStreamCreateWithFlags: 0, or 1 for non-blocking
    /// @param priority lower is more urgent
    explicit stream(unsigned flags = 0, int priority = 0);
    ~stream();

    [[nodiscard]] status synchronize() const;
    [[nodiscard]] status query() const;
    [[nodiscard]] status wait(event const& recorded) const;
};

class event : public device_object {
public:
    /// @param flags as of cudaEventCreateWithFlags
    explicit event(unsigned flags = 0);
    ~event();

    [[nodiscard]] status record(stream const* on) const; ///< null: the default stream
    [[nodiscard]] status synchronize() const;
    [[nodiscard]] status query() const;
    [[nodiscard]] status elapsed(float& milliseconds, event const& end) const;
};

/// Later work of a stream (a handle) waits for what is in the default stream of a device now.
[[nodiscard]] status order_behind_default_stream(void* stream, int device);

} // namespace barmap::runtime
