// SPDX-License-Identifier: MIT
#include "gdrapi.hpp"

#include "driver_use.hpp"
#include "released_gil.hpp"
#include "reports.hpp"

#include "gdrcopy/library/boundary.hpp"
#include "gdrcopy/library/gdrapi.h"
#include "system/of_thread.hpp"

#include <barmap/mapping.hpp>

#include <nanobind/stl/string.h>
#include <nanobind/stl/tuple.h>

#include <algorithm>
#include <atomic>
#include <bit>
#include <new>
#include <string>
#include <tuple>
#include <unistd.h>

namespace nb = nanobind;

namespace barmap::python {
// nanobind tells types apart by their names: they differ from those of other files.
namespace gdrapi_objects {
namespace {

/// Why this thread's last call failed.
struct failure_of_thread {
    std::string text;
};

/// Null once the thread has destroyed it.
std::string* last_failure() {
    auto* const own = os::of_thread<failure_of_thread>::get();
    return own ? &own->text : nullptr;
}

void keep_failure(std::string_view text) noexcept {
    try {
        if (std::string* const own = last_failure())
            *own = text;
    } catch (std::bad_alloc const&) {
        // Then there is an errno value only.
    }
}

/// Keeps what this thread's last call said while something is collected as garbage.
class kept_failure {
public:
    kept_failure() noexcept { exchange(); }
    ~kept_failure() { exchange(); }
    kept_failure(kept_failure const&) = delete;
    kept_failure& operator=(kept_failure const&) = delete;

private:
    void exchange() noexcept {
        if (std::string* const own = last_failure())
            text_.swap(*own);
    }
    std::string text_;
};

/// Runs a set-up call of libgdrapi while other threads run Python.
template <class Call>
auto without_gil(Call call) {
    keep_failure({});
    return python::without_gil(call);
}

/// Copies that run without the GIL. libgdrapi lets no mapping go while it is copied through only if
/// its caller ensures it: here the one who unmaps waits for them.
/// Thread rule: begin() under the GIL, where no one has begun to wait; end() and wait() without it.
class copies_under_way {
public:
    void begin() noexcept { ++count_; }
    void end() noexcept {
        if (--count_ == 0)
            count_.notify_all();
    }
    /// In a forked child, which has no other threads, it returns at once.
    void wait() const noexcept {
        if (::getpid() != owner_)
            return;
        while (unsigned const now = count_.load())
            count_.wait(now);
    }

private:
    std::atomic<unsigned> count_{0};
    pid_t owner_ = ::getpid();
};

/// One gdr_open(), closed when its last reference goes.
/// Thread rule: the GIL protects the members.
class session {
public:
    explicit session(gdr_t opened) : g_(opened) {}
    ~session() {
        kept_failure const kept;
        (void)close();
    }
    session(session const&) = delete;
    session& operator=(session const&) = delete;

    [[nodiscard]] gdr_t get() const noexcept { return g_; }
    [[nodiscard]] bool is_open() const noexcept { return open_; }
    int close() {
        if (!open_)
            return 0;
        open_ = false;
        return without_gil([this] {
            copies.wait();
            return ::gdr_close(g_);
        });
    }

    copies_under_way copies; ///< through any of its handles

private:
    gdr_t g_;
    bool open_ = true;
};

/// One pinned range, unpinned when its last reference goes. It keeps its session open.
/// Thread rule: the GIL protects the members.
class pinned {
public:
    pinned(nb::object owner, gdr_mh_t handle)
        : owner_(std::move(owner)), session_(nb::cast<session*>(owner_)), handle_(handle) {}
    ~pinned() {
        kept_failure const kept;
        (void)unpin();
    }
    pinned(pinned const&) = delete;
    pinned& operator=(pinned const&) = delete;

    [[nodiscard]] gdr_t g() const noexcept { return session_->get(); }
    [[nodiscard]] gdr_mh_t handle() const noexcept { return handle_; }
    /// Closing the session unpins as well.
    [[nodiscard]] bool is_pinned() const noexcept { return pinned_ && session_->is_open(); }
    int unpin() {
        if (!is_pinned())
            return 0;
        pinned_ = false;
        return without_gil([this] {
            copies_.wait();
            return ::gdr_unpin_buffer(g(), handle_);
        });
    }
    std::tuple<int, std::uintptr_t> map(std::size_t size) {
        void* address = nullptr;
        int const code = without_gil([&] { return ::gdr_map(g(), handle_, &address, size); });
        mapped_ = mapped_ || code == 0;
        return {code, reinterpret_cast<std::uintptr_t>(address)};
    }
    int unmap(std::uintptr_t address, std::size_t size) {
        mapped_ = false;
        return without_gil([&] {
            copies_.wait();
            return ::gdr_unmap(g(), handle_, reinterpret_cast<void*>(address), size);
        });
    }

    /// Runs copy(handle): small ones under the GIL, where no thread can begin to unmap, larger
    /// ones while other threads run Python.
    template <class Copy>
    int copied(copy_direction which, std::size_t size, Copy copy) {
        if (!mapped_ || !is_pinned())
            return EINVAL;
        if (keeps_gil(which, size))
            return copy(handle_);
        copies_.begin();
        session_->copies.begin();
        released_gil const others_run;
        int const code = copy(handle_);
        session_->copies.end();
        copies_.end();
        return code;
    }

private:
    nb::object owner_;
    session* session_;
    gdr_mh_t handle_;
    bool pinned_ = true;
    bool mapped_ = false;
    copies_under_way copies_;
};

session* open() {
    gdr_t const opened = without_gil([] { return ::gdr_open(); });
    return opened ? new session(opened) : nullptr;
}

nb::tuple made(nb::object const& owner, int code, gdr_mh_t handle) {
    if (code != 0)
        return nb::make_tuple(code, nb::none());
    return nb::make_tuple(0, nb::cast(new pinned(owner, handle), nb::rv_policy::take_ownership));
}

nb::tuple pin(nb::object const& owner, unsigned long address, std::size_t size,
              std::uint64_t p2p_token, std::uint32_t va_space) {
    gdr_t const g = nb::cast<session&>(owner).get();
    gdr_mh_t handle{};
    int const code = without_gil(
        [&] { return ::gdr_pin_buffer(g, address, size, p2p_token, va_space, &handle); });
    return made(owner, code, handle);
}

nb::tuple pin_v2(nb::object const& owner, unsigned long address, std::size_t size,
                 std::uint32_t flags) {
    gdr_t const g = nb::cast<session&>(owner).get();
    gdr_mh_t handle{};
    int const code =
        without_gil([&] { return ::gdr_pin_buffer_v2(g, address, size, flags, &handle); });
    return made(owner, code, handle);
}

std::tuple<int, row> info(pinned const& which) {
    gdr_info_v2_t told{};
    int const code =
        without_gil([&] { return ::gdr_get_info_v2(which.g(), which.handle(), &told); });
    row fields;
    fields["va"] = told.va;
    fields["mapped_size"] = told.mapped_size;
    fields["page_size"] = told.page_size;
    fields["mapped"] = told.mapped != 0;
    fields["wc_mapping"] = told.wc_mapping != 0;
    fields["mapping_type"] = static_cast<int>(told.mapping_type);
    return {code, fields};
}

std::tuple<int, bool> callback_flag(pinned const& which) {
    int flag = 0;
    int const code =
        without_gil([&] { return ::gdr_get_callback_flag(which.g(), which.handle(), &flag); });
    return {code, flag != 0};
}

int copy_to(pinned& which, std::uintptr_t mapped, std::uintptr_t host, std::size_t size) {
    return which.copied(copy_direction::to_gpu, size, [&](gdr_mh_t handle) {
        return ::gdr_copy_to_mapping(handle, reinterpret_cast<void*>(mapped),
                                     reinterpret_cast<void const*>(host), size);
    });
}

int copy_from(pinned& which, std::uintptr_t host, std::uintptr_t mapped, std::size_t size) {
    return which.copied(copy_direction::to_cpu, size, [&](gdr_mh_t handle) {
        return ::gdr_copy_from_mapping(handle, reinterpret_cast<void*>(host),
                                       reinterpret_cast<void const*>(mapped), size);
    });
}

std::tuple<int, int> runtime_version() {
    int major = 0;
    int minor = 0;
    ::gdr_runtime_get_version(&major, &minor);
    return {major, minor};
}

std::tuple<int, std::tuple<int, int>> driver_version(session const& of) {
    int major = 0;
    int minor = 0;
    int const code =
        without_gil([&] { return ::gdr_driver_get_version(of.get(), &major, &minor); });
    return {code, {major, minor}};
}

std::tuple<int, int> attribute(session const& of, int which) {
    int value = 0;
    int const code = without_gil(
        [&] { return ::gdr_get_attribute(of.get(), std::bit_cast<gdr_attr_t>(which), &value); });
    return {code, value};
}

void bind(nb::module_& module) {
    gdrapi::failure_listener = &keep_failure;
    nb::module_ room = module.def_submodule("gdrapi");
    nb::class_<session>(room, "Session")
        .def("close", &session::close)
        .def("pin_buffer", &pin,
             nb::sig("def pin_buffer(self, address: int, size: int, p2p_token: int, va_space: int, "
                     "/) -> tuple[int, Pinned | None]"))
        .def("pin_buffer_v2", &pin_v2,
             nb::sig("def pin_buffer_v2(self, address: int, size: int, flags: int, /) "
                     "-> tuple[int, Pinned | None]"))
        .def("driver_version", &driver_version)
        .def("get_attribute", &attribute);
    nb::class_<pinned>(room, "Pinned")
        .def_prop_ro("is_pinned", &pinned::is_pinned)
        .def("unpin", &pinned::unpin)
        .def("get_info", &info)
        .def("map", &pinned::map)
        .def("unmap", &pinned::unmap)
        .def("get_callback_flag", &callback_flag);
    room.def("open", &open, nb::sig("def open() -> Session | None"));
    // An argument that is no int is refused, and asked for its number then.
    room.def("copy_to_mapping", &copy_to,
             nb::sig("def copy_to_mapping(pinned: Pinned, mapped: int, host: typing.SupportsIndex, "
                     "size: typing.SupportsIndex, /) -> int"));
    room.def(
        "copy_from_mapping", &copy_from,
        nb::sig("def copy_from_mapping(pinned: Pinned, host: typing.SupportsIndex, mapped: int, "
                "size: typing.SupportsIndex, /) -> int"));
    room.def("runtime_version", &runtime_version);
    room.def("last_failure", [] {
        std::string const* const own = last_failure();
        return own ? *own : std::string();
    });
    room.attr("MAPPING_TYPE_NONE") = static_cast<int>(GDR_MAPPING_TYPE_NONE);
    room.attr("MAPPING_TYPE_WC") = static_cast<int>(GDR_MAPPING_TYPE_WC);
    room.attr("MAPPING_TYPE_CACHING") = static_cast<int>(GDR_MAPPING_TYPE_CACHING);
    room.attr("MAPPING_TYPE_DEVICE") = static_cast<int>(GDR_MAPPING_TYPE_DEVICE);
    room.attr("PIN_FLAG_DEFAULT") = static_cast<int>(GDR_PIN_FLAG_DEFAULT);
    room.attr("PIN_FLAG_FORCE_PCIE") = static_cast<int>(GDR_PIN_FLAG_FORCE_PCIE);
    room.attr("ATTR_USE_PERSISTENT_MAPPING") = static_cast<int>(GDR_ATTR_USE_PERSISTENT_MAPPING);
    room.attr("ATTR_SUPPORT_PIN_FLAG_FORCE_PCIE") =
        static_cast<int>(GDR_ATTR_SUPPORT_PIN_FLAG_FORCE_PCIE);
    room.attr("ATTR_USING_DMA_BUF_MMAP") = static_cast<int>(GDR_ATTR_USING_DMA_BUF_MMAP);
}

} // namespace
} // namespace gdrapi_objects

void bind_gdrapi(nb::module_& module) {
    gdrapi_objects::bind(module);
}

} // namespace barmap::python
