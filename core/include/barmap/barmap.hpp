// SPDX-License-Identifier: MIT
/// barmap for C++: CPU pointers to GPU memory. All of the API, inline over the C interface, whose
/// ABI is stable (export.hpp).
///
/// The classes stand on the functions of the C headers, whose comments have the contracts: a member
/// names its function as in "Contract and errors: barmap_pin_create()." (error.hpp).
#pragma once

#include <barmap/arena.hpp>
#include <barmap/batch_queue.hpp>
#include <barmap/byte_ring.hpp>
#include <barmap/checkpoint.hpp>
#include <barmap/copy.hpp>
#include <barmap/counter.hpp>
#include <barmap/device.hpp>
#include <barmap/error.hpp>
#include <barmap/host_buffer.hpp>
#include <barmap/kernel_queue.hpp>
#include <barmap/log.hpp>
#include <barmap/mapping.hpp>
#include <barmap/pin.hpp>
#include <barmap/report.hpp>
#include <barmap/ring.hpp>
#include <barmap/rpc.hpp>
#include <barmap/step_tensors.hpp>
#include <barmap/unheld_batches.hpp>
#include <barmap/version.hpp>
#include <barmap/window.hpp>
