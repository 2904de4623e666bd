// SPDX-License-Identifier: MIT
// Linked into every test under AddressSanitizer. LeakSanitizer looks for leaks when the process
// ends, and takes what a library's static data points to for lost once that library is unloaded;
// Vulkan's loader unloads a driver with its instance. So nothing is unloaded here.
// That the library gives back what it loads is checked at the seam of system, without sanitizers
// too.
#include <dlfcn.h>

extern "C" [[gnu::visibility("default")]] int dlclose(void* /*handle*/) noexcept {
    return 0;
}
