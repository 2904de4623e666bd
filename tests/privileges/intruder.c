/* SPDX-License-Identifier: MIT */
/* A library that nobody should load: it says so on stdout. */
#include <unistd.h>

__attribute__((constructor)) static void tell(void) {
    static char const text[] = "intruder loaded\n";
    if (write(STDOUT_FILENO, text, sizeof text - 1) < 0)
        _exit(3);
}
