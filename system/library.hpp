// SPDX-License-Identifier: MIT
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <utility>

namespace barmap::os {

/// Owns a library that was loaded at run time.
class library {
public:
    library() noexcept = default;
    library(library&& other) noexcept : handle_(std::exchange(other.handle_, nullptr)) {}
    library& operator=(library&& other) noexcept {
        library taken(std::move(other));
        std::swap(handle_, taken.handle_);
        return *this;
    }
    ~library();

    /// Loads the first of these names that can be loaded; empty if none can, with the loader's
    /// message for the last one in `why`.
    [[nodiscard]] static library open(std::span<std::string const> names, std::string& why);

    /// Address of a symbol, or null.
    [[nodiscard]] void* symbol(char const* name) const noexcept { return symbol_of(handle_, name); }
    /// The same of a library that somebody else keeps loaded, as dlopen knows it; null has none.
    [[nodiscard]] static void* symbol_of(void* library, char const* name) noexcept;
    [[nodiscard]] explicit operator bool() const noexcept { return handle_ != nullptr; }

    /// Leaves the library loaded for good and gives up ownership. @return what dlopen returned
    void* abandon() noexcept { return std::exchange(handle_, nullptr); }

private:
    void* handle_ = nullptr;
};

/// Whether a library is loaded now, by any part of the process.
[[nodiscard]] bool is_loaded(char const* name) noexcept;

/// Keeps a library loaded until the process ends, if any part of the process has loaded it.
void keep_loaded(char const* name) noexcept;

/// The same for the library that contains this code; does nothing where a program contains it.
void keep_own_code_loaded() noexcept;

/// Directory of the program or library that contains this code, without a trailing slash, as the
/// system knows it, whatever its argv[0] says; empty if it is not known.
[[nodiscard]] std::string own_folder();

} // namespace barmap::os
