// SPDX-License-Identifier: MIT
#pragma once

#include <Python.h>

#ifdef __cplusplus
extern "C" {
#endif

/// PyEval_RestoreThread, from which a thread does not come back if the interpreter ends meanwhile.
///
/// Python before 3.14 ends such a thread by pthread_exit. That would unwind the C++ frames of the caller, and dies
/// in the first destructor; or in any frame, where the extension has an unwinder of its own, as in wheels. As
/// Python does from 3.14 on, the thread is then left waiting instead.
void barmap_restore_thread(PyThreadState* thread);

/// self.name(argument), which may run Python, where a thread may be ended the same way.
/// @return a new reference; null with Python's error set
PyObject* barmap_call_method(PyObject* self, char const* name, PyObject* argument);

#ifdef __cplusplus
}
#endif
