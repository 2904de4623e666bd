// SPDX-License-Identifier: MIT
#include "transfer/cpu/cpu.hpp"

#include <gtest/gtest.h>

#include <bit>

namespace barmap::copy {
namespace {

constexpr std::uint64_t all_state = 0b1110'0111; // x87, XMM, YMM, k, ZMM0-15, ZMM16-31

constexpr x86_registers sapphire_rapids{
    .leaf1_ecx = 1u << 19 | 1u << 27 | 1u << 28,
    .leaf7_ebx = 1u << 5 | 1u << 9 | 1u << 16 | 1u << 30,
    .leaf7_ecx = 1u << 27 | 1u << 28,
    .xcr0 = all_state,
};
constexpr cpu_features avx512 = feature::avx512f | feature::avx512bw;
constexpr cpu_features without_state =
    feature::sse41 | feature::erms | feature::movdiri | feature::movdir64b;

TEST(cpu, finds_everything) {
    EXPECT_EQ(x86_features(sapphire_rapids), without_state | feature::avx2 | avx512);
}

TEST(cpu, finds_nothing_in_an_empty_cpu) {
    EXPECT_EQ(x86_features({}), 0u);
}

TEST(cpu, needs_every_xcr0_bit) {
    for (unsigned bit = 0; bit < 10; ++bit) {
        x86_registers registers = sapphire_rapids;
        registers.xcr0 &= ~(std::uint64_t{1} << bit);
        cpu_features expected = without_state | feature::avx2 | avx512;
        if (bit == 1 || bit == 2) {
            expected = without_state;
        } else if (bit == 5 || bit == 6 || bit == 7) {
            expected = without_state | feature::avx2;
        }
        EXPECT_EQ(x86_features(registers), expected) << "without XCR0 bit " << bit;
    }
}

TEST(cpu, believes_xcr0_only_with_osxsave) {
    x86_registers registers = sapphire_rapids;
    registers.leaf1_ecx &= ~(1u << 27);
    EXPECT_EQ(x86_features(registers), without_state);
}

TEST(cpu, needs_the_cpu_bits_as_well) {
    auto const without = [](std::uint32_t x86_registers::*field, unsigned bit) {
        x86_registers registers = sapphire_rapids;
        registers.*field &= ~(1u << bit);
        return (without_state | feature::avx2 | avx512) & ~x86_features(registers);
    };
    EXPECT_EQ(without(&x86_registers::leaf1_ecx, 19), feature::sse41);
    EXPECT_EQ(without(&x86_registers::leaf1_ecx, 28), feature::avx2 | avx512);
    EXPECT_EQ(without(&x86_registers::leaf7_ebx, 5), feature::avx2);
    EXPECT_EQ(without(&x86_registers::leaf7_ebx, 9), feature::erms);
    EXPECT_EQ(without(&x86_registers::leaf7_ebx, 16), avx512);
    EXPECT_EQ(without(&x86_registers::leaf7_ebx, 30), feature::avx512bw);
    EXPECT_EQ(without(&x86_registers::leaf7_ecx, 27), feature::movdiri);
    EXPECT_EQ(without(&x86_registers::leaf7_ecx, 28), feature::movdir64b);
}

TEST(cpu, describes_features) {
    EXPECT_EQ(describe(0), "nothing");
    EXPECT_EQ(describe(avx512), "avx512f avx512bw");
    EXPECT_EQ(describe(~cpu_features{0}),
              "sse4.1 avx2 avx512f avx512bw erms movdiri movdir64b asimd ls64");
}

TEST(cpu, has_a_bit_for_each_feature) {
    cpu_features seen = 0;
    for (cpu_features const each :
         {feature::sse41, feature::avx2, feature::avx512f, feature::avx512bw, feature::erms,
          feature::movdiri, feature::movdir64b, feature::asimd, feature::ls64}) {
        EXPECT_TRUE(std::has_single_bit(each)) << each;
        EXPECT_EQ(seen & each, 0u) << each;
        seen |= each;
    }
}

#if defined(__x86_64__)
TEST(cpu, agrees_with_the_compiler_about_this_cpu) {
    EXPECT_EQ((this_cpu() & feature::sse41) != 0, __builtin_cpu_supports("sse4.1") != 0);
    EXPECT_EQ((this_cpu() & feature::avx2) != 0, __builtin_cpu_supports("avx2") != 0);
    EXPECT_EQ((this_cpu() & feature::avx512f) != 0, __builtin_cpu_supports("avx512f") != 0);
    EXPECT_EQ((this_cpu() & feature::avx512bw) != 0, __builtin_cpu_supports("avx512bw") != 0);
}
#endif

} // namespace
} // namespace barmap::copy
