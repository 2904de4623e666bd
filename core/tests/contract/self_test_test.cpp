// SPDX-License-Identifier: MIT
#include "contract/machine.hpp"
#include "map/own_allocations.hpp"
#include "map/scratch.hpp"

#include <algorithm>
#include <cstdint>
#include <vector>

/// A backend that reaches other memory than it should is found out before anybody uses it, and the
/// memory for that is barmap's own.
namespace barmap::contract {
namespace {

class self_test_test : public testing::Test {
protected:
    void SetUp() override {
        set_environment("BARMAP_BACKEND", "auto");
        machine_.emplace("610");
        machine_->use();
        driver_.emplace();
    }
    void TearDown() override {
        driver_.reset();
        machine_.reset();
    }

    static backend_report report_of_dmabuf() {
        for (backend_report const& each : device::open(0).backends())
            if (each.name == "dmabuf")
                return each;
        return {};
    }

    /// What the test changes of the driver, and what it was.
    static cuda::driver_api& table() { return changed_driver::table; }
    static cuda::driver_api const& real() { return changed_driver::real; }
    static inline unsigned calls = 0;

private:
    std::optional<machine> machine_;
    std::optional<changed_driver> driver_;
};

/// Whether a copy of so many bytes ends where its allocation does.
bool is_at_the_end(CUdeviceptr address, std::size_t bytes) {
    CUdeviceptr start = 0;
    std::size_t size = 0;
    EXPECT_EQ(changed_driver::real.mem_get_address_range(&start, &size, address), cuda::success);
    return address + bytes == start + size;
}

// One of the two ends of the block is not what it should be.
class end_test : public self_test_test, public testing::WithParamInterface<bool> {};

TEST_P(end_test, what_the_driver_reads_must_be_what_was_stored) {
    static bool at_the_end;
    at_the_end = GetParam();
    table().memcpy_dtoh_async = [](void* to, CUdeviceptr from, std::size_t bytes, CUstream stream) {
        CUresult const result = real().memcpy_dtoh_async(to, from, bytes, stream);
        if (is_at_the_end(from, bytes) == at_the_end)
            static_cast<unsigned char*>(to)[bytes - 1] ^= 1;
        return result;
    };
    backend_report const seen = report_of_dmabuf();
    EXPECT_EQ(seen.state, backend_state::broken) << seen.reason;
    EXPECT_NE(seen.reason.find("through the mapping"), std::string::npos) << seen.reason;
}

TEST_P(end_test, what_the_driver_wrote_must_be_what_is_loaded) {
    static bool at_the_end;
    at_the_end = GetParam();
    table().memcpy_htod_async = [](CUdeviceptr to, void const* from, std::size_t bytes,
                                   CUstream stream) {
        return is_at_the_end(to, bytes) == at_the_end
                   ? cuda::success
                   : real().memcpy_htod_async(to, from, bytes, stream);
    };
    backend_report const seen = report_of_dmabuf();
    EXPECT_EQ(seen.state, backend_state::broken) << seen.reason;
    EXPECT_NE(seen.reason.find("by the driver"), std::string::npos) << seen.reason;
}

INSTANTIATE_TEST_SUITE_P(both, end_test, testing::Bool(), [](auto const& info) {
    return info.param ? "the_last_bytes" : "the_first_bytes";
});

TEST_F(self_test_test, looks_at_the_first_and_at_the_last_bytes) {
    static std::vector<CUdeviceptr> written, read;
    written.clear();
    read.clear();
    static std::size_t bytes_of_one;
    table().memcpy_htod_async = [](CUdeviceptr to, void const* from, std::size_t bytes,
                                   CUstream stream) {
        bytes_of_one = bytes;
        written.push_back(to);
        return real().memcpy_htod_async(to, from, bytes, stream);
    };
    table().memcpy_dtoh_async = [](void* to, CUdeviceptr from, std::size_t bytes, CUstream stream) {
        read.push_back(from);
        return real().memcpy_dtoh_async(to, from, bytes, stream);
    };
    EXPECT_EQ(report_of_dmabuf().state, backend_state::usable);
    ASSERT_GE(written.size(), 2u);
    EXPECT_EQ(written, read);
    EXPECT_EQ(written[1], written[0] + backend::scratch::size - bytes_of_one);
}

// Memory that happens to hold what is written must not pass for the right one.
TEST_F(self_test_test, what_is_written_is_random) {
    static std::vector<std::uint64_t> written;
    written.clear();
    table().memcpy_htod_async = [](CUdeviceptr to, void const* from, std::size_t bytes,
                                   CUstream stream) {
        auto const* const words = static_cast<std::uint64_t const*>(from);
        written.insert(written.end(), words, words + bytes / sizeof *words);
        return real().memcpy_htod_async(to, from, bytes, stream);
    };
    EXPECT_EQ(report_of_dmabuf().state, backend_state::usable);
    ASSERT_GE(written.size(), 8u);
    std::ranges::sort(written);
    EXPECT_EQ(std::ranges::adjacent_find(written), written.end()) << "64 random bits twice";
}

// The user may have destroyed the context, and CUDA may have given the address to somebody else.
TEST_F(self_test_test, memory_that_is_another_by_then_is_not_freed) {
    static bool another;
    static CUdeviceptr freed;
    another = false;
    freed = 0;
    table().mem_free = [](CUdeviceptr address) {
        freed = address;
        return real().mem_free(address);
    };
    table().pointer_get_attribute = [](void* value, int which, CUdeviceptr address) {
        CUresult const result = real().pointer_get_attribute(value, which, address);
        if (which == cuda::pointer_buffer_id && another)
            ++*static_cast<unsigned long long*>(value);
        return result;
    };
    (void)device::open(0);
    EXPECT_NE(freed, 0u) << "with the last handle";
    freed = 0;
    {
        device const gpu = device::open(0);
        another = true;
    }
    EXPECT_EQ(freed, 0u);
}

// No other backend would find more memory.
TEST_F(self_test_test, out_of_memory_ends_an_allocation) {
    device const gpu = device::open(0);
    calls = 0;
    table().mem_create = [](CUmemGenericAllocationHandle*, std::size_t, CUmemAllocationProp const*,
                            unsigned long long) {
        ++calls;
        return cuda::error_out_of_memory;
    };
    refusal const seen = refusal_of([&] { (void)gpu.allocate(mib); });
    EXPECT_EQ(seen.code, std::error_code(cuda::error_out_of_memory, cuda_category()));
    EXPECT_NE(seen.text.find("backend dmabuf"), std::string::npos) << seen.text;
    EXPECT_EQ(calls, 1u);
}

TEST_F(self_test_test, only_what_lies_in_an_own_allocation_is_taken_for_it) {
    device_block const block(4 * mib), other(2 * mib);
    auto const exported = std::make_shared<os::fd const>();
    own_allocations own;
    own.add(block.address() + mib, 2 * mib, exported);
    auto const kind_of = [&](CUdeviceptr address, std::size_t bytes, std::size_t after) {
        cuda::memory memory;
        memory.kind = memory_kind::imported;
        memory.address = address;
        memory.size = bytes + after;
        memory.chunks = {{address, bytes, 0, bytes, 0, after}};
        own.find(memory);
        if (memory.kind == memory_kind::allocated) {
            EXPECT_EQ(memory.exported, exported);
            EXPECT_EQ(memory.chunks.at(0).base, block.address() + mib);
            EXPECT_EQ(memory.chunks.at(0).offset, address - block.address() - mib);
            EXPECT_EQ(memory.chunks.at(0).length + memory.chunks.at(0).after, bytes + after);
        }
        return memory.kind;
    };
    CUdeviceptr const start = block.address() + mib;
    EXPECT_EQ(kind_of(start, 2 * mib, 0), memory_kind::allocated);
    EXPECT_EQ(kind_of(start + mib, mib, 64 * kib), memory_kind::allocated) << "the page is longer";
    EXPECT_EQ(kind_of(start, 2 * mib + 1, 0), memory_kind::imported) << "it ends before";
    EXPECT_EQ(kind_of(start - 1, mib, 0), memory_kind::imported) << "it starts behind";
    EXPECT_EQ(kind_of(other.address(), mib, 0), memory_kind::imported);
}

} // namespace
} // namespace barmap::contract
