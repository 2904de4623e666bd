// SPDX-License-Identifier: MIT
#include "transfer/cpu/cpu.hpp"

#include <utility>

#if defined(__x86_64__)
#include <cpuid.h>
#elif defined(__aarch64__)
#include <asm/hwcap.h>
#include <sys/auxv.h>
#endif

namespace barmap::copy {

namespace {

// Bit numbers: Intel SDM volume 2, CPUID; XCR0: volume 1, section 13.3.
constexpr std::uint32_t bit(unsigned number) noexcept {
    return 1u << number;
}
constexpr std::uint32_t leaf1_ecx_sse41 = bit(19);
constexpr std::uint32_t leaf1_ecx_osxsave = bit(27);
constexpr std::uint32_t leaf1_ecx_avx = bit(28);
constexpr std::uint32_t leaf7_ebx_avx2 = bit(5);
constexpr std::uint32_t leaf7_ebx_erms = bit(9);
constexpr std::uint32_t leaf7_ebx_avx512f = bit(16);
constexpr std::uint32_t leaf7_ebx_avx512bw = bit(30);
constexpr std::uint32_t leaf7_ecx_movdiri = bit(27);
constexpr std::uint32_t leaf7_ecx_movdir64b = bit(28);
constexpr std::uint64_t xcr0_avx = bit(1) | bit(2);                        // XMM, upper YMM
constexpr std::uint64_t xcr0_avx512 = xcr0_avx | bit(5) | bit(6) | bit(7); // k, ZMM0-15, ZMM16-31

constexpr std::pair<cpu_features, char const*> names[] = {
    {feature::sse41, "sse4.1"},        {feature::avx2, "avx2"},   {feature::avx512f, "avx512f"},
    {feature::avx512bw, "avx512bw"},   {feature::erms, "erms"},   {feature::movdiri, "movdiri"},
    {feature::movdir64b, "movdir64b"}, {feature::asimd, "asimd"}, {feature::ls64, "ls64"},
};

cpu_features detect() noexcept {
#if defined(__x86_64__)
    x86_registers registers;
    unsigned eax = 0, ebx = 0, ecx = 0, edx = 0;
    if (__get_cpuid(1, &eax, &ebx, &ecx, &edx) != 0) {
        registers.leaf1_ecx = ecx;
    }
    if (__get_cpuid_count(7, 0, &eax, &ebx, &ecx, &edx) != 0) {
        registers.leaf7_ebx = ebx;
        registers.leaf7_ecx = ecx;
    }
    if ((registers.leaf1_ecx & leaf1_ecx_osxsave) != 0) { // else XGETBV is an invalid opcode
        std::uint32_t low = 0, high = 0;
        __asm__ volatile("xgetbv" : "=a"(low), "=d"(high) : "c"(0));
        registers.xcr0 = static_cast<std::uint64_t>(high) << 32 | low;
    }
    return x86_features(registers);
#elif defined(__aarch64__)
    // Linux 6.19's asm/hwcap.h; older headers lack the names, older kernels answer 0.
    constexpr unsigned long at_hwcap3 = 29, hwcap3_ls64 = 1ul << 3;
    cpu_features found = 0;
    if ((getauxval(AT_HWCAP) & HWCAP_ASIMD) != 0)
        found |= feature::asimd;
    if ((getauxval(at_hwcap3) & hwcap3_ls64) != 0)
        found |= feature::ls64;
    return found;
#else
    return 0;
#endif
}

} // namespace

cpu_features x86_features(x86_registers const& registers) noexcept {
    bool const osxsave = (registers.leaf1_ecx & leaf1_ecx_osxsave) != 0;
    auto const os_saves = [&](std::uint64_t state) {
        return osxsave && (registers.xcr0 & state) == state;
    };
    bool const avx = (registers.leaf1_ecx & leaf1_ecx_avx) != 0 && os_saves(xcr0_avx);
    bool const avx512 =
        avx && (registers.leaf7_ebx & leaf7_ebx_avx512f) != 0 && os_saves(xcr0_avx512);

    cpu_features found = 0;
    auto const add = [&](bool there, cpu_features feature) { found |= there ? feature : 0; };
    add((registers.leaf1_ecx & leaf1_ecx_sse41) != 0, feature::sse41);
    add(avx && (registers.leaf7_ebx & leaf7_ebx_avx2) != 0, feature::avx2);
    add(avx512, feature::avx512f);
    add(avx512 && (registers.leaf7_ebx & leaf7_ebx_avx512bw) != 0, feature::avx512bw);
    add((registers.leaf7_ebx & leaf7_ebx_erms) != 0, feature::erms);
    add((registers.leaf7_ecx & leaf7_ecx_movdiri) != 0, feature::movdiri);
    add((registers.leaf7_ecx & leaf7_ecx_movdir64b) != 0, feature::movdir64b);
    return found;
}

cpu_features this_cpu() noexcept {
    static cpu_features const features = detect();
    return features;
}

std::string describe(cpu_features features) {
    std::string text;
    for (auto const& [feature, name] : names) {
        if ((features & feature) != 0) {
            text += text.empty() ? "" : " ";
            text += name;
        }
    }
    return text.empty() ? "nothing" : text;
}

} // namespace barmap::copy
