// SPDX-License-Identifier: MIT
// Checks for the tests that are written in C: they count what is not so, and go on.
#pragma once

#include <barmap/barmap.h>

#include <stdio.h>
#include <string.h>

static int failures;

static void check(int holds, char const* what, char const* file, int line) {
    if (holds)
        return;
    fprintf(stderr, "%s:%d: not so: %s (last message: %s)\n", file, line, what,
            barmap_error_message());
    ++failures;
}
#define CHECK(condition) check(condition, #condition, __FILE__, __LINE__)

static void refused(int expected, int status, char const* sentence, void const* out,
                    char const* file, int line) {
    if (status == expected && !out && strstr(barmap_error_message(), sentence))
        return;
    fprintf(stderr, "%s:%d: status %d for %d, output %p, \"%s\" is not in \"%s\"\n", file, line,
            status, expected, out, sentence, barmap_error_message());
    ++failures;
}
// A call whose output is `out`, which was something before and is NULL after the refusal.
#define REFUSED(expected, sentence, out, call)                                                     \
    do {                                                                                           \
        (out) = (void*)&failures;                                                                  \
        int const status = (call);                                                                 \
        refused(expected, status, sentence, out, __FILE__, __LINE__);                              \
    } while (0)
#define REFUSED_WITHOUT_OUTPUT(sentence, call)                                                     \
    refused(BARMAP_ERROR_INVALID_ARGUMENT, call, sentence, NULL, __FILE__, __LINE__)
#define REFUSED_COPY(expected, sentence, call)                                                     \
    refused(expected, call, sentence, NULL, __FILE__, __LINE__)
