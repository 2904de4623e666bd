// SPDX-License-Identifier: MIT
#include "contract/checkpoint_of_cuda.hpp"
#include "contract/machine.hpp"
#include "nvidia/cuda.hpp"
#include "fake/gdrdrv_driver.hpp"
#include "map/gdrdrv/gdrdrv_abi.hpp"
#include "shared/changed_calls.hpp"

#include <barmap/checkpoint.hpp>

#include <map>
#include <string>
#include <string_view>

/// Drivers that restore something else than they were told to save: pins and mappings do not take
/// it for theirs, stay prepared, and come back once it is right.
namespace barmap::contract {
namespace {

class checkpoint_other_test : public contract_test {
protected:
    void SetUp() override {
        contract_test::SetUp();
        gpu_.emplace(device::open(0));
        block_ = some_memory(2 * mib);
        pinned_.emplace(gpu_->pin(block_->address(), 2 * mib));
        map_.emplace(pinned_->map());
        write(map_->window(), pattern(2 * mib, 1));
        checkpoint_prepare();
        checkpoint_of_cuda::whole();
    }
    void TearDown() override {
        map_.reset();
        pinned_.reset();
        block_.reset();
        gpu_.reset();
        contract_test::TearDown();
    }

    /// While this lives, CUDA says so of the memory that is pinned.
    template <int Name, int Value>
    struct changed_attribute : changed_driver {
        explicit changed_attribute(std::uintptr_t address) {
            at = address;
            (*this)->pointer_get_attributes = [](unsigned count, int* names, void** values,
                                                 CUdeviceptr of) {
                CUresult const result = real.pointer_get_attributes(count, names, values, of);
                for (unsigned i = 0; i < count; ++i)
                    if (names[i] == Name && of / (2 * mib) == at / (2 * mib))
                        *static_cast<int*>(values[i]) = Value;
                return result;
            };
        }
        static inline std::uintptr_t at = 0;
    };

    [[nodiscard]] std::uintptr_t address() const { return block_->address(); }

    void expect_to_come_back() {
        EXPECT_TRUE(is_out_of_reach(map_->data()));
        checkpoint_restore();
        std::vector<std::byte> seen(2 * mib);
        read(seen, map_->window());
        EXPECT_TRUE(seen == pattern(2 * mib, 1));
        expect_same_memory(*map_, address(), 2);
    }

    std::optional<mapping> map_;

private:
    std::optional<device> gpu_;
    std::unique_ptr<memory> block_;
    std::optional<pin> pinned_;
};
INSTANTIATE_TEST_SUITE_P(ways, checkpoint_other_test, over(ways_that_come_back()),
                         [](auto const& info) { return name_of(info.param); });

TEST_P(checkpoint_other_test, memory_of_another_gpu_is_refused) {
    {
        changed_attribute<cuda::pointer_device_ordinal, 1> const lie(address());
        expect_refusal([] { checkpoint_restore(); }, errc::unsupported_memory,
                       "2097152 bytes that were pinned at GPU address", "has other memory there");
    }
    expect_to_come_back();
}

TEST_P(checkpoint_other_test, memory_of_another_kind_is_refused) {
    {
        changed_attribute<cuda::pointer_is_legacy_cuda_ipc_capable, 0> const lie(address());
        expect_refusal([] { checkpoint_restore(); }, errc::unsupported_memory,
                       "2097152 bytes that were pinned at GPU address", "has other memory there");
    }
    expect_to_come_back();
}

using checkpoint_caching_test = checkpoint_other_test;
INSTANTIATE_TEST_SUITE_P(ways, checkpoint_caching_test, testing::Values(way_of("gdrdrv")),
                         [](auto const& info) { return name_of(info.param); });

// A copy plan made for the one kind of caching would be wrong for the other.
TEST_P(checkpoint_caching_test, memory_that_is_cached_in_another_way_is_refused) {
    {
        changed_calls other;
        other->ioctl = [](int fd, unsigned long request, void* argument) {
            using namespace backend::gdrdrv;
            int const result = changed_calls::real.ioctl(fd, request, argument);
            if (request == abi::get_info_v2)
                static_cast<abi::info_v2_parameters*>(argument)->mapping =
                    static_cast<std::uint32_t>(abi::mapping_type::caching);
            return result;
        };
        expect_refusal([] { checkpoint_restore(); }, errc::unknown_layout,
                       "map GPU memory as it was mapped before", "map again");
    }
    expect_to_come_back();
}

// They were started, and there is nothing to restore of them.
TEST(checkpoint_backends, that_are_absent_or_broken_stay_so) {
    machine machine("610");
    machine.add<fake::gdrdrv_driver>({.major = 3}); // unknown: broken
    machine.use();
    device const gpu = device::open(0);
    auto const states = [&] {
        std::map<std::string, backend_state> result;
        for (backend_report const& each : gpu.backends())
            result[each.name] = each.state;
        return result;
    };
    auto const before = states();
    EXPECT_EQ(before.at("gdrdrv"), backend_state::broken);
    EXPECT_EQ(before.at("rm"), backend_state::absent);
    pin const memory = gpu.allocate(mib);
    mapping const map = memory.map();
    EXPECT_EQ(map.backend(), "dmabuf");
    checkpoint_prepare();
    checkpoint_of_cuda::whole();
    checkpoint_restore();
    EXPECT_EQ(states(), before);
    expect_same_memory(map, memory.gpu_address(), 1);
}

} // namespace
} // namespace barmap::contract
