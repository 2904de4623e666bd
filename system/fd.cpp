// SPDX-License-Identifier: MIT
#include "system/fd.hpp"

#include "system/calls.hpp"

#include <barmap/error.hpp>

#include <cerrno>
#include <cstdio>
#include <fcntl.h>

namespace barmap::os {
namespace {

constexpr char too_many_open_files[] = "raise the limit of open files (ulimit -n)";

std::string open_advice(int code, std::string const& path) {
    switch (code) {
    case ENOENT:
    case ENODEV:
    case ENXIO:
        return "the device node is missing: load the driver, or give " + path + " to the container";
    case EACCES:
    case EPERM:
        return "give this user read and write access to " + path;
    case EMFILE:
    case ENFILE:
        return too_many_open_files;
    default:
        return "see the system's documentation of this error";
    }
}

} // namespace

fd::~fd() {
    if (descriptor_ >= 0)
        current().close(descriptor_);
}

fd open_file(std::string const& path, int flags) {
    int const descriptor = current().open(path.c_str(), flags);
    if (descriptor < 0) {
        int const code = errno;
        throw error({code, std::system_category()}, "open " + path, "", open_advice(code, path));
    }
    return fd(descriptor);
}

void expect_descriptors(std::string_view operation) {
    int const descriptor = current().open("/dev/null", O_RDONLY);
    if (descriptor >= 0) {
        current().close(descriptor);
        return;
    }
    int const code = errno;
    if (code == EMFILE || code == ENFILE)
        throw error({code, std::system_category()}, std::string(operation), "",
                    too_many_open_files);
}

std::optional<std::size_t> file_size(int descriptor) noexcept {
    off_t const end = current().lseek(descriptor, 0, SEEK_END);
    return end < 0 ? std::nullopt : std::optional(static_cast<std::size_t>(end));
}

bool is_dma_buf(int descriptor) noexcept {
    constexpr auto dma_buf_magic = 0x444d4142; // of linux/magic.h, since Linux 5.3
    return current().file_system(descriptor) == dma_buf_magic;
}

fd memory_file(std::size_t bytes) {
    int const descriptor = current().memory_file(bytes);
    if (descriptor < 0) {
        int const code = errno;
        char const* advice = "see memfd_create(2) for this error";
        if (code == EMFILE || code == ENFILE)
            advice = too_many_open_files;
        else if (code == EFBIG)
            advice = "raise the limit of file sizes (ulimit -f)";
        throw error({code, std::system_category()}, "create a memory file", "", advice);
    }
    return fd(descriptor);
}

bool is_lasting_memory(int descriptor) noexcept {
    constexpr auto tmpfs_magic = 0x01021994; // of linux/magic.h; that of huge pages is another
    int const seals = current().seals(descriptor);
    return seals >= 0 && (seals & F_SEAL_SHRINK) != 0 &&
           current().file_system(descriptor) == tmpfs_magic;
}

bool is_allocated(int descriptor, std::size_t bytes) noexcept {
    return current().allocated_bytes(descriptor) >= bytes;
}

fd duplicate(int descriptor) {
    int const copy = current().duplicate(descriptor);
    if (copy < 0) {
        int const code = errno;
        throw error({code, std::system_category()}, "duplicate a file descriptor", "",
                    too_many_open_files);
    }
    return fd(copy);
}

} // namespace barmap::os
