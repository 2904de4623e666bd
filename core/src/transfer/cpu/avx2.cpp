// SPDX-License-Identifier: MIT
#include "transfer/cpu/instruction_sets.hpp"
#include "transfer/cpu/walk.hpp"

#include <immintrin.h>

#define BARMAP_TARGET [[gnu::target("avx2")]]
#define BARMAP_VEX "v"

namespace barmap::copy::avx2 {

using vector = __m256i;

#include "transfer/cpu/vector_lines.inc"

} // namespace barmap::copy::avx2

#undef BARMAP_TARGET
#undef BARMAP_VEX
