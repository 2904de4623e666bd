// SPDX-License-Identifier: MIT
/// barmap: CPU pointers to GPU memory. This header includes all of the API.
#pragma once

#include <barmap/backend.hpp>
#include <barmap/copy.hpp>
#include <barmap/device.hpp>
#include <barmap/error.hpp>
#include <barmap/mapping.hpp>
#include <barmap/pin.hpp>
#include <barmap/version.hpp>
#include <barmap/window.hpp>
