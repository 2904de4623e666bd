// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <optional>
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
        fd taken(std::move(other));
        std::swap(descriptor_, taken.descriptor_);
        return *this;
    }
    ~fd();

    /// Gives up ownership: the caller closes it from now on.
    [[nodiscard]] int release() noexcept { return std::exchange(descriptor_, -1); }
    [[nodiscard]] int get() const noexcept { return descriptor_; }
    [[nodiscard]] explicit operator bool() const noexcept { return descriptor_ >= 0; }

private:
    int descriptor_ = -1;
};

/// Opens a file, close-on-exec. @throws error with errno, naming the path
[[nodiscard]] fd open_file(std::string const& path, int flags);

/// Call where a driver has failed that may have wanted a descriptor, which it does not say.
/// @throws error EMFILE or ENFILE if no descriptor can be made at present
void expect_descriptors(std::string_view operation);

/// Size of a file in bytes; nothing if it has none. Moves the file's offset.
[[nodiscard]] std::optional<std::size_t> file_size(int descriptor) noexcept;

/// Whether a file is a dma-buf, whose size never changes.
[[nodiscard]] bool is_dma_buf(int descriptor) noexcept;

/// Zeroed memory that other processes can map, as a file whose size never changes. @throws error
/// with errno
[[nodiscard]] fd memory_file(std::size_t bytes);

/// Whether a file is ordinary memory and never becomes shorter, so that who maps it can touch all
/// of it.
[[nodiscard]] bool is_lasting_memory(int descriptor) noexcept;

/// Whether a file of this size has memory for all of it, so that who maps it makes none.
[[nodiscard]] bool is_allocated(int descriptor, std::size_t bytes) noexcept;

/// A second descriptor of the same open file. @throws error with errno
[[nodiscard]] fd duplicate(int descriptor);

} // namespace barmap::os
