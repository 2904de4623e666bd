// SPDX-License-Identifier: MIT
// C, for which pthread_cleanup_push ends the unwinding here, whatever unwinder the callers have.
#include "restore_thread.h"

#include <pthread.h>
#include <unistd.h>

static void wait_for_the_end(void *unused) {
    (void)unused;
    for (;;)
        pause();
}

void barmap_restore_thread(PyThreadState *thread) {
    pthread_cleanup_push(&wait_for_the_end, NULL);
    PyEval_RestoreThread(thread);
    pthread_cleanup_pop(0);
}

PyObject *barmap_call_method(PyObject *self, char const *name, PyObject *argument) {
    PyObject *result;
    pthread_cleanup_push(&wait_for_the_end, NULL);
    result = PyObject_CallMethod(self, name, "(O)", argument);
    pthread_cleanup_pop(0);
    return result;
}
