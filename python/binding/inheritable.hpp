// SPDX-License-Identifier: MIT
#pragma once

#include "system/process.hpp"

#include <nanobind/nanobind.h>

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>

namespace barmap::python {

/// Something whose memory a forked child inherits no mapping of. In the child, the first call that
/// needs the memory has barmap._sharing.inherited ask the process that made the object for a descriptor,
/// and opens that in place of what was inherited.
///
/// Thread rule: members need the GIL.
class inheritable {
public:
    inheritable(inheritable const&) = delete;
    inheritable& operator=(inheritable const&) = delete;

    /// In a child of the process that made it, until it is opened there.
    [[nodiscard]] bool is_inherited() const noexcept { return !os::is_this_process(maker_); }
    /// The process that made or opened it.
    [[nodiscard]] os::process_id maker() const noexcept { return maker_; }
    /// Under which find() has it. 0: it cannot be shared, or is released.
    [[nodiscard]] std::uint64_t number() const noexcept { return number_; }

    /// A descriptor for other processes. @pre it was made with functions
    [[nodiscard]] int share_by_descriptor() const { return share_(); }
    /// Opens the descriptor in place of what was inherited.
    void open_in_child(int descriptor);

    /// The Python object that has this number here, or None.
    [[nodiscard]] static nanobind::object find(std::uint64_t number);
    /// Whether there is anything that a forked child could ask this process for.
    [[nodiscard]] static bool any_of_this_process() noexcept;

protected:
    using share_function = std::function<int()>;
    using open_function = std::function<void(int descriptor)>;

    /// An object that cannot be shared, and is refused in a child.
    inheritable() = default;
    inheritable(share_function share, open_function open);
    ~inheritable() { leave(); }

    /// Children can no longer ask for it.
    void leave() noexcept;
    /// The first step of each call that needs the memory. May run Python, and let other threads run.
    /// @param what     as messages call it
    /// @param instead  what to do with an object that cannot be shared
    /// @throws error errc::forked_child in a child that cannot open it
    void expect_here(char const* what, std::string_view backend, char const* instead = "") {
        if (is_inherited()) [[unlikely]]
            ask_for(what, backend, instead);
    }

private:
    void ask_for(char const* what, std::string_view backend, char const* instead);

    os::process_id maker_ = os::this_process();
    std::uint64_t number_ = 0;
    share_function share_;
    open_function open_;
};

/// Adds the class Inheritable, from which derives what a child can open, and its functions.
void bind_inheritable(nanobind::module_& module);

} // namespace barmap::python
