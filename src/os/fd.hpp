// SPDX-License-Identifier: MIT
#pragma once

#include <string>
#include <string_view>
#include <utility>

namespace barmap::os {

/// Owns a file descriptor; -1 is empty. Closing ignores errors: nothing is written through these.
class fd {
public:
    fd() noexcept = default;
    explicit fd(int descriptor) noexcept : descriptor_(descriptor) {}
    fd(fd&& other) noexcept : descriptor_(std::exchange(other.descriptor_, -1)) {}
    fd& operator=(fd&& other) noexcept {
        std::swap(descriptor_, other.descriptor_);
        return *this;
    }
    ~fd();

    [[nodiscard]] int get() const noexcept { return descriptor_; }
    [[nodiscard]] explicit operator bool() const noexcept { return descriptor_ >= 0; }

private:
    int descriptor_ = -1;
};

/// Opens a file, close-on-exec. @throws error with errno, naming the path
[[nodiscard]] fd open_file(std::string const& path, int flags, std::string_view backend);

/// A second descriptor of the same open file. @throws error with errno
[[nodiscard]] fd duplicate(int descriptor, std::string_view backend);

} // namespace barmap::os
