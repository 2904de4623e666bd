// SPDX-License-Identifier: MIT
// A library that calls the kernel by two entries of its tables, both read-only: that of the call,
// and a pointer.
#include <sys/ioctl.h>

typedef int ioctl_function(int, unsigned long, ...);

__attribute__((visibility("default"))) ioctl_function* const ioctl_by_pointer = ioctl;

__attribute__((visibility("default"))) int call_ioctl(int fd, unsigned long request,
                                                      void* argument) {
    return ioctl(fd, request, argument);
}

__attribute__((visibility("default"))) int call_by_pointer(int fd, unsigned long request,
                                                           void* argument) {
    return (*(ioctl_function* const volatile*)&ioctl_by_pointer)(fd, request, argument);
}
