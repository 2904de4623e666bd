// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <vector>

namespace barmap::os {

/// Sees the ioctls that one loaded library makes, and may answer them in the kernel's place.
///
/// A library calls `ioctl` through an address that the loader has written into the library's global
/// offset table. While a watch runs, that entry leads to our function, which shows the watcher the
/// calling thread's ioctls alone and passes on those of other threads. The end of the watch
/// restores the entry. A page that the loader has made read-only stays writable from the first
/// watch on.
/// Thread rule: watches of several threads wait for each other.
class library_ioctls {
public:
    /// Gets each ioctl. @return whether it has answered: the call then returns 0
    class watcher {
    public:
        virtual ~watcher() = default;
        virtual bool answers(unsigned long request, void* argument) noexcept = 0;
    };

    /// @param library what dlopen returned; it stays loaded
    /// @throws error errc::backend_absent where the library imports no ioctl
    explicit library_ioctls(void* library);

    /// Runs body(), which calls the library, with the watcher in place.
    /// @throws error with errno where the entry cannot be written; what body throws
    template <class Body>
    void watch(watcher& by, Body body) const {
        watching const scope(*this, by);
        body();
    }

    /// Where the library keeps the function's address.
    [[nodiscard]] std::vector<void**> places() const;

private:
    struct entry {
        void** place;
        bool read_only;         ///< the loader has made its page so
        void* before = nullptr; ///< where it led when the watch began
    };
    class watching {
    public:
        watching(library_ioctls const& of, watcher& by);
        watching(watching const&) = delete;
        watching& operator=(watching const&) = delete;
        ~watching();

    private:
        std::vector<entry>& entries_;
    };

    mutable std::vector<entry> entries_; ///< what changes of them: one watch at a time
};

} // namespace barmap::os
