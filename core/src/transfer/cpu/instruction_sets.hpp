// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <cstdint>

/// The functions that each file of an instruction set defines. Every store and load moves any
/// range between any alignments, keeps the rules of walk.hpp on the GPU side, and contains no
/// fence. Calling one on a CPU without the instruction set is an invalid opcode: go through
/// routines.hpp.
namespace barmap::copy {

namespace portable {
void store(void* gpu, void const* host, std::size_t bytes) noexcept;
void load(void* host, void const* gpu, std::size_t bytes) noexcept;
/// @param bytes 1, 2, 4 or 8, to which gpu is aligned
void post_word(void* gpu, std::uint64_t word, unsigned bytes) noexcept;
/// @param gpu  aligned to 64 bytes
/// @param line 64 bytes, at any alignment
void post_line(void* gpu, void const* line) noexcept;
} // namespace portable

#if defined(__x86_64__)
namespace sse41 {
void store(void* gpu, void const* host, std::size_t bytes) noexcept;
void load(void* host, void const* gpu, std::size_t bytes) noexcept;
} // namespace sse41

namespace avx2 {
void store(void* gpu, void const* host, std::size_t bytes) noexcept;
void load(void* host, void const* gpu, std::size_t bytes) noexcept;
} // namespace avx2

namespace avx512 {
void store(void* gpu, void const* host, std::size_t bytes) noexcept;
void store_streaming(void* gpu, void const* host, std::size_t bytes) noexcept;
void load(void* host, void const* gpu, std::size_t bytes) noexcept;
void post_line(void* gpu, void const* line) noexcept;
} // namespace avx512

namespace erms {
void store(void* gpu, void const* host, std::size_t bytes) noexcept;
} // namespace erms

namespace movdir64b {
void store(void* gpu, void const* host, std::size_t bytes) noexcept;
void post_word(void* gpu, std::uint64_t word, unsigned bytes) noexcept; ///< needs MOVDIRI
void post_line(void* gpu, void const* line) noexcept;
} // namespace movdir64b
#endif

#if defined(__aarch64__)
namespace neon {
void store(void* gpu, void const* host, std::size_t bytes) noexcept;
void load(void* host, void const* gpu, std::size_t bytes) noexcept;
void post_line(void* gpu, void const* line) noexcept;
} // namespace neon

namespace ls64 {
void store(void* gpu, void const* host, std::size_t bytes) noexcept;
void load(void* host, void const* gpu, std::size_t bytes) noexcept;
} // namespace ls64
#endif

} // namespace barmap::copy
