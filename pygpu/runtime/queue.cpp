// SPDX-License-Identifier: MIT
#include "pygpu/runtime/queue.hpp"

#include "system/region.hpp"

#include <unistd.h>

namespace barmap::runtime {

device_object::device_object() : owner_(os::this_process()) {
    made_ = current().get_device(&device_);
    resets_ = resets_of(device_);
}

status device_object::usable() const {
    if (!os::is_this_process(owner_))
        return initialization_error;
    if (!handle_)
        return made_ != success ? made_ : invalid_handle;
    return resets_ == resets_of(device_) ? success : context_is_destroyed;
}

bool device_object::must_be_destroyed() const {
    return handle_ && may_give_back(owner_) && resets_ == resets_of(device_);
}

stream::stream(unsigned flags, int priority) {
    if (made_ == success)
        made_ = current().create_stream(&handle_, flags, priority);
}

stream::~stream() {
    if (!must_be_destroyed())
        return;
    device_scope const here(device_);
    current().destroy_stream(handle_);
}

status stream::synchronize() const {
    status const unusable = usable();
    return unusable != success ? unusable : current().synchronize_stream(handle_);
}

status stream::query() const {
    status const unusable = usable();
    return unusable != success ? unusable : current().query_stream(handle_);
}

status stream::wait(event const& recorded) const {
    if (status const unusable = usable())
        return unusable;
    if (status const unusable = recorded.usable())
        return unusable;
    return current().wait_for_event(handle_, recorded.handle());
}

event::event(unsigned flags) {
    if (made_ == success)
        made_ = current().create_event(&handle_, flags);
}

event::~event() {
    if (!must_be_destroyed())
        return;
    device_scope const here(device_);
    current().destroy_event(handle_);
}

status event::record(stream const* on) const {
    if (status const unusable = usable())
        return unusable;
    if (!on)
        return current().record_event(handle_, nullptr);
    if (status const unusable = on->usable())
        return unusable;
    return current().record_event(handle_, on->handle());
}

status event::synchronize() const {
    status const unusable = usable();
    return unusable != success ? unusable : current().synchronize_event(handle_);
}

status event::query() const {
    status const unusable = usable();
    return unusable != success ? unusable : current().query_event(handle_);
}

status event::elapsed(float& milliseconds, event const& end) const {
    milliseconds = 0;
    if (status const unusable = usable())
        return unusable;
    if (status const unusable = end.usable())
        return unusable;
    return current().elapsed_time(&milliseconds, handle_, end.handle());
}

status order_behind_default_stream(void* stream, int device) {
    constexpr unsigned without_timing = 2; // cudaEventDisableTiming, hipEventDisableTiming
    device_scope const here(device);
    event const now(without_timing);
    status answer = now.made();
    if (answer == success)
        answer = now.record(nullptr);
    return answer == success ? current().wait_for_event(stream, now.handle()) : answer;
}

} // namespace barmap::runtime
