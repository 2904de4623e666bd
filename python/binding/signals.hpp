// SPDX-License-Identifier: MIT
#pragma once

#include <nanobind/nanobind.h>

namespace barmap::python {

/// Adds the classes Arena, CounterToGpu, CounterToCpu, FlagToGpu, FlagToCpu, MailboxToGpu and
/// MailboxToCpu.
void bind_signals(nanobind::module_& module);

} // namespace barmap::python
