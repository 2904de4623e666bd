// SPDX-License-Identifier: MIT
#pragma once

#include "transfer/cpu/plan.hpp"

#include <cstdint>
#include <string>

/// The instructions that this CPU, under this operating system, can execute. Facts only:
/// routines.cpp decides how to use them.
namespace barmap::copy {

namespace feature {
inline constexpr cpu_features sse41 = 1u << 0;
inline constexpr cpu_features avx2 = 1u << 1;
inline constexpr cpu_features avx512f = 1u << 2;
inline constexpr cpu_features avx512bw = 1u << 3;
inline constexpr cpu_features erms = 1u << 4; ///< REP MOVSB moves whole lines
inline constexpr cpu_features movdiri = 1u << 5;
inline constexpr cpu_features movdir64b = 1u << 6;
inline constexpr cpu_features asimd = 1u << 7; ///< NEON of arm64
inline constexpr cpu_features ls64 = 1u << 8;  ///< FEAT_LS64 of arm64
} // namespace feature

/// The registers that an x86 CPU describes itself in.
struct x86_registers {
    std::uint32_t leaf1_ecx = 0; ///< CPUID leaf 1
    std::uint32_t leaf7_ebx = 0; ///< CPUID leaf 7, subleaf 0; 0 on a CPU without that leaf
    std::uint32_t leaf7_ecx = 0;
    std::uint64_t xcr0 = 0; ///< register state that the OS saves; only valid with OSXSAVE
};

/// Features that are in the CPU and whose registers the OS saves. A pure function.
[[nodiscard]] cpu_features x86_features(x86_registers const& registers) noexcept;

/// Features of the CPU that this runs on; found out once. Thread rule: free.
[[nodiscard]] cpu_features this_cpu() noexcept;

/// Names of features, for people: "avx512f avx512bw"; "nothing" for none.
[[nodiscard]] std::string describe(cpu_features features);

} // namespace barmap::copy
