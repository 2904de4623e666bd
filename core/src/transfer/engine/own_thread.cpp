// SPDX-License-Identifier: MIT
#include "transfer/engine/own_thread.hpp"

#include <barmap/error.hpp>

#include <system_error>
#include <utility>

namespace barmap::engine {

os::thread start_own_thread(char const* name, char const* operation, std::function<void()> body) {
    try {
        return os::thread(name, std::move(body));
    } catch (std::system_error const&) {
        throw error(errc::backend_broken, operation, "",
                    "raise the limit of threads (`ulimit -u`), or free memory");
    }
}

} // namespace barmap::engine
