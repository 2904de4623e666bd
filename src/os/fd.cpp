// SPDX-License-Identifier: MIT
#include "os/fd.hpp"

#include "os/calls.hpp"

#include <barmap/error.hpp>

#include <cerrno>
#include <fcntl.h>

namespace barmap::os {
namespace {

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
        return "raise the limit of open files (ulimit -n)";
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

int why_no_descriptor() noexcept {
    int const descriptor = current().open("/dev/null", O_RDONLY);
    if (descriptor >= 0) {
        current().close(descriptor);
        return 0;
    }
    return errno == EMFILE || errno == ENFILE ? errno : 0;
}

fd duplicate(int descriptor) {
    int const copy = current().duplicate(descriptor);
    if (copy < 0) {
        int const code = errno;
        throw error({code, std::system_category()}, "duplicate a file descriptor", "",
                    "raise the limit of open files (ulimit -n)");
    }
    return fd(copy);
}

} // namespace barmap::os
