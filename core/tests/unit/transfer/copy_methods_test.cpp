// SPDX-License-Identifier: MIT
#include "transfer/copy_methods.hpp"

#include <gtest/gtest.h>

#include <vector>

namespace barmap {
namespace {

TEST(copy_methods, a_crossover_is_at_the_least_size_that_goes_the_other_way) {
    engine::gpu const none{};
    engine_slot engine(engine::registry().front(), none, engine::lane::held);
    for (std::size_t const first : {1024u, 1025u, 2731u, 65536u, 1u << 30}) {
        copy_methods methods;
        methods
            .chosen[static_cast<std::size_t>(copy_direction::to_cpu)]
                   [static_cast<std::size_t>(host_memory_kind::pinned)]
            .push_back({first, &engine});
        std::vector<copy_crossover> found;
        for (copy_crossover const& each : methods.crossovers()) {
            if (each.from_bytes == 0)
                EXPECT_EQ(each.method, "mapping");
            else
                found.push_back(each);
        }
        ASSERT_EQ(found.size(), 1u);
        EXPECT_EQ(found[0].direction, copy_direction::to_cpu);
        EXPECT_EQ(found[0].host, host_memory_kind::pinned);
        EXPECT_EQ(found[0].method, engine.name());
        auto const method_of = [&](std::size_t bytes) {
            return methods.of(copy_direction::to_cpu, host_memory_kind::pinned, bytes);
        };
        EXPECT_EQ(found[0].from_bytes, first);
        EXPECT_EQ(method_of(first), &engine);
        EXPECT_EQ(method_of(2 * first), &engine);
        EXPECT_EQ(method_of(first - 1), nullptr);
        EXPECT_EQ(method_of(0), nullptr);
    }
}

} // namespace
} // namespace barmap
