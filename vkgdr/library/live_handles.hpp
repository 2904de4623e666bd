// SPDX-License-Identifier: MIT
#pragma once

#include <barmap/error.hpp>

#include <atomic>
#include <cstdint>
#include <memory>
#include <mutex>
#include <pthread.h>
#include <shared_mutex>
#include <string>
#include <unordered_map>

namespace barmap::vkgdr {

/// Whether this process was forked from one that had loaded the library. Inherited
/// handles belong to its parent, and a thread that the child lacks may hold a lock in them.
inline std::atomic<bool> is_forked_child{false};

/// One row of numbers for all kinds, so that a handle of another kind is not live either. They lie
/// where no program has memory: one that reads through a handle faults.
inline std::uintptr_t next_handle() noexcept {
    constexpr std::uintptr_t step = 8;
    static std::atomic<std::uintptr_t> last{0};
    return last += step;
}

/// The live objects of one kind, each with the handle that the program has of it.
///
/// A handle is a number that only looks like a pointer, and no two objects ever have the same one:
/// nothing is read through a stale handle, and it is never taken for a later object's.
/// Thread rule: every member may be called at once.
template <class Handle, class Object>
class live_handles {
public:
    /// @param name what the handles are, in error messages
    explicit live_handles(char const* name) : name_(name) {
        ::pthread_atfork(nullptr, nullptr, [] { is_forked_child = true; });
    }

    /// @throws error errc::forked_child
    [[nodiscard]] Handle add(std::shared_ptr<Object const> object) {
        expect_own_process("make a handle");
        std::lock_guard const guard(lock_);
        auto const handle = reinterpret_cast<Handle>(next_handle());
        live_.emplace(handle, std::move(object));
        return handle;
    }

    /// @throws error errc::invalid_argument unless it is live; errc::forked_child
    [[nodiscard]] std::shared_ptr<Object const> find(Handle handle, char const* operation) const {
        expect_own_process(operation);
        std::shared_lock const guard(lock_);
        auto const found = live_.find(handle);
        if (found == live_.end())
            refuse(handle, operation);
        return found->second;
    }

    /// The same, and the handle is not live any more.
    [[nodiscard]] std::shared_ptr<Object const> take(Handle handle, char const* operation) {
        expect_own_process(operation);
        std::lock_guard const guard(lock_);
        auto const found = live_.find(handle);
        if (found == live_.end())
            refuse(handle, operation);
        std::shared_ptr<Object const> object = std::move(found->second);
        live_.erase(found);
        return object;
    }

private:
    void expect_own_process(char const* operation) const {
        if (is_forked_child)
            throw error(errc::forked_child, operation, "",
                        "use it in the process that opened it; a forked child may only exec");
    }
    [[noreturn]] void refuse(Handle handle, char const* operation) const {
        throw error(errc::invalid_argument, operation, "",
                    handle
                        ? std::string("this is no ") + name_ + " handle, or it was released before"
                        : std::string("the ") + name_ + " handle is NULL");
    }

    char const* name_;
    mutable std::shared_mutex lock_;
    std::unordered_map<Handle, std::shared_ptr<Object const>> live_;
};

} // namespace barmap::vkgdr
