// SPDX-License-Identifier: MIT
#include "transfer/cpu/instruction_sets.hpp"
#include "transfer/cpu/walk.hpp"

#include <immintrin.h>

#define BARMAP_TARGET [[gnu::target("sse4.1")]]
#define BARMAP_VEX ""

namespace barmap::copy::sse41 {

using vector = __m128i;

#include "transfer/cpu/vector_lines.inc"

} // namespace barmap::copy::sse41

#undef BARMAP_TARGET
#undef BARMAP_VEX
