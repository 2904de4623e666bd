// SPDX-License-Identifier: MIT
#include "machine.hpp"

/// The rules of flush and invalidate: those of VkMappedMemoryRange, on memory that counts as
/// non-coherent.
namespace barmap::vkgdr_test {
namespace {

constexpr std::size_t atom = 64;
constexpr std::size_t to_the_end = SIZE_MAX;
constexpr std::size_t size = 10 * atom + 5; // the last atom is cut

struct range {
    std::size_t offset, bytes;
};

struct flush_test : vkgdr_test {
    /// Calls flush or invalidate, and tells the error that it sets. The call before it clears.
    template <class Function>
    static std::string error_of(Function function, opened const& gpu, vkgdr_memory_t memory,
                                range const& which) {
        allocated const clears_the_error(gpu, 1);
        function(memory, which.offset, which.bytes);
        return last_error();
    }
};

std::string text(range const& which) {
    return std::to_string(which.bytes) + " bytes at " + std::to_string(which.offset);
}

TEST_P(flush_test, what_the_rules_allow) {
    opened const gpu(VKGDR_OPEN_CURRENT_CONTEXT_BIT | VKGDR_OPEN_FORCE_NON_COHERENT_BIT);
    allocated const memory(gpu, size);
    ASSERT_EQ(vkgdr_memory_non_coherent_atom_size(memory.get()), atom);
    for (range const& each : {range{0, size},
                              {0, atom},
                              {0, 3 * atom},
                              {atom, 2 * atom},
                              {5 * atom, size - 5 * atom},
                              {10 * atom, 5},
                              {0, to_the_end},
                              {9 * atom, to_the_end},
                              {0, 0},
                              {10 * atom, 0}}) {
        EXPECT_EQ(error_of(vkgdr_memory_flush, gpu, memory.get(), each), "(none)") << text(each);
        EXPECT_EQ(error_of(vkgdr_memory_invalidate, gpu, memory.get(), each), "(none)")
            << text(each);
    }
}

TEST_P(flush_test, a_range_may_be_empty_at_the_end_of_whole_atoms) {
    opened const gpu(VKGDR_OPEN_CURRENT_CONTEXT_BIT | VKGDR_OPEN_FORCE_NON_COHERENT_BIT);
    allocated const memory(gpu, 2 * atom);
    for (range const& each : {range{2 * atom, 0}, {2 * atom, to_the_end}, {0, 2 * atom}})
        EXPECT_EQ(error_of(vkgdr_memory_flush, gpu, memory.get(), each), "(none)") << text(each);
    for (range const& each : {range{3 * atom, 0}, {2 * atom, atom}, {3 * atom, to_the_end}})
        EXPECT_NE(error_of(vkgdr_memory_flush, gpu, memory.get(), each).find("leaves the memory"),
                  std::string::npos)
            << text(each);
}

TEST_P(flush_test, what_breaks_each_rule) {
    opened const gpu(VKGDR_OPEN_CURRENT_CONTEXT_BIT | VKGDR_OPEN_FORCE_NON_COHERENT_BIT);
    allocated const memory(gpu, size);
    struct {
        decltype(&vkgdr_memory_flush) call;
        char const* name;
    } const both[] = {{vkgdr_memory_flush, "flush"}, {vkgdr_memory_invalidate, "invalidate"}};
    struct violation {
        range which;
        char const* words;
    };
    for (violation const& each : {violation{{1, atom}, "the offset is no multiple"},
                                  {{atom / 2, atom}, "the offset is no"},
                                  {{5, size - 5}, "the offset is no multiple"},
                                  {{3, to_the_end}, "the offset is no"},
                                  {{0, 1}, "the size is no multiple"},
                                  {{atom, atom + 1}, "the size is no multiple"},
                                  {{0, size - 1}, "the size is no multiple"},
                                  {{0, size + 1}, "leaves the memory"},
                                  {{0, 11 * atom}, "leaves the memory"},
                                  {{11 * atom, 0}, "leaves the memory"},
                                  {{10 * atom, atom}, "leaves the memory"},
                                  {{11 * atom, to_the_end}, "leaves the memory"},
                                  {{atom, to_the_end - 1}, "leaves the memory"},
                                  {{to_the_end - atom + 1, atom}, "leaves the memory"}}) {
        for (auto const& [function, name] : both) {
            std::string const seen = error_of(function, gpu, memory.get(), each.which);
            for (std::string const& words :
                 {std::string(each.words), std::string("cannot ") + name + " ",
                  "at offset " + std::to_string(each.which.offset), std::string("atom size 64")})
                EXPECT_NE(seen.find(words), std::string::npos)
                    << text(each.which) << ": " << seen << "\nlacks: " << words;
        }
    }
}

TEST_P(flush_test, a_broken_rule_is_printed_once) {
    opened const gpu(VKGDR_OPEN_CURRENT_CONTEXT_BIT | VKGDR_OPEN_FORCE_NON_COHERENT_BIT);
    allocated const memory(gpu, size);
    testing::internal::CaptureStderr();
    vkgdr_memory_flush(memory.get(), 1, atom);
    std::string const first = testing::internal::GetCapturedStderr();
    EXPECT_NE(first.find("vkgdr: cannot flush 64 bytes at offset 1 of 645"), std::string::npos)
        << first;
    testing::internal::CaptureStderr();
    vkgdr_memory_flush(memory.get(), 2, atom);
    vkgdr_memory_invalidate(memory.get(), 3, atom);
    EXPECT_EQ(testing::internal::GetCapturedStderr(), "");
    expect_error("cannot invalidate 64 bytes at offset 3");
}

TEST_P(flush_test, coherent_memory_has_no_rules) {
    opened const gpu;
    allocated const memory(gpu, size);
    ASSERT_TRUE(vkgdr_memory_is_coherent(memory.get()));
    testing::internal::CaptureStderr();
    for (range const& each : {range{1, 1}, {3, to_the_end}, {0, size + 1}, {size, 0}, {0, 0}}) {
        EXPECT_EQ(error_of(vkgdr_memory_flush, gpu, memory.get(), each), "(none)") << text(each);
        EXPECT_EQ(error_of(vkgdr_memory_invalidate, gpu, memory.get(), each), "(none)")
            << text(each);
    }
    EXPECT_EQ(testing::internal::GetCapturedStderr(), "");
}

BARMAP_ON_ALL_MACHINES(flush_test);

} // namespace
} // namespace barmap::vkgdr_test
