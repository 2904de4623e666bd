// SPDX-License-Identifier: MIT
#include "first_user.hpp"

#include "system/process.hpp"

#include <atomic>

namespace barmap::memcpy_dropin {

bool is_first_user() noexcept {
    static constinit std::atomic<os::process_id> user{};
    os::process_id first{};
    return user.compare_exchange_strong(first, os::this_process()) || os::is_this_process(first);
}

} // namespace barmap::memcpy_dropin
