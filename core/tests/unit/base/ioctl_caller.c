// SPDX-License-Identifier: MIT
// A library that calls the kernel, as libcuda does.
#include <sys/ioctl.h>

__attribute__((visibility("default"))) int call_ioctl(int fd, unsigned long request,
                                                      void* argument) {
    return ioctl(fd, request, argument);
}
