// SPDX-License-Identifier: MIT
// Linked into what a wheel carries, so that the C++ runtime's own is not: 90 KB in each library, only for the
// text that std::terminate prints and for names of types in nanobind's errors. Both print mangled names then.
#include <stddef.h>

char *__cxa_demangle(char const *name, char *buffer, size_t *size, int *status);

char *__cxa_demangle(char const *name, char *buffer, size_t *size, int *status) {
    (void)name, (void)buffer, (void)size;
    if (status)
        *status = -2; // not a name that this function knows
    return NULL;
}
