// SPDX-License-Identifier: MIT
/// Owners of handles of the C interface, for the classes of C++.
#pragma once

#include <barmap/error.hpp>

#include <memory>
#include <utility>

namespace barmap {
inline namespace BARMAP_INLINE_NAMESPACE {
namespace detail {

template <auto Destroy>
struct destroyed_by {
    template <class Handle>
    void operator()(Handle* of) const noexcept {
        Destroy(of);
    }
};

/// A handle with one owner.
template <class Handle, auto Destroy>
using owned = std::unique_ptr<Handle, destroyed_by<Destroy>>;

/// A handle that copies share. Moving copies, so that it is never empty.
template <class Handle, auto Retain, auto Destroy>
class shared {
public:
    explicit shared(Handle* of) noexcept : handle_(of) {}
    shared(shared const& other) noexcept : handle_(Retain(other.handle_)) {}
    shared& operator=(shared const& other) noexcept {
        Handle* const next = Retain(other.handle_);
        Destroy(std::exchange(handle_, next));
        return *this;
    }
    ~shared() { Destroy(handle_); }

    [[nodiscard]] Handle* get() const noexcept { return handle_; }

private:
    Handle* handle_;
};

/// The handle that a C function makes. @param make is called with where to put it
template <class Handle, class Make>
Handle* made(Make make) {
    Handle* result = nullptr;
    check(make(&result));
    return result;
}

} // namespace detail
} // namespace BARMAP_INLINE_NAMESPACE
} // namespace barmap
