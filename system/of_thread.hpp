// SPDX-License-Identifier: MIT
#pragma once

namespace barmap::os {

/// An object that each thread makes at its first use and keeps until it ends. C++ destroys the
/// thread_local objects of a thread before it calls the functions of atexit() and the destructors
/// of static objects, and in an order of its own: code that runs then gets no object. All
/// thread_local objects that have a destructor are of this class (tests/layout).
/// Thread rule: free.
/// @tparam T one type for each use: two users of one type share the object
template <class T>
class of_thread {
public:
    /// The calling thread's object; null once the thread has destroyed it.
    /// @throws what T's constructor throws, and std::bad_alloc
    [[nodiscard]] static T* get() {
        if (is_over_)
            return nullptr;
        static thread_local owned here;
        return &here.object;
    }

private:
    struct owned {
        T object{};
        ~owned() { is_over_ = true; }
    };
    static inline constinit thread_local bool is_over_ = false;
};

} // namespace barmap::os
