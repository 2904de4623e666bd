// SPDX-License-Identifier: MIT
#include "backend/backend.hpp"
#include "contract/machine.hpp"
#include "cuda/memory.hpp"

#include <tuple>
#include <vector>

/// What the dmabuf backend makes of a driver that refuses to export a range.
namespace barmap::contract {
namespace {

class dmabuf_test : public testing::Test {
protected:
    void SetUp() override {
        set_environment("BARMAP_BACKEND", "dmabuf");
        machine_.emplace("610", [](fake::kernel&) { return [] { return std::size_t{0}; }; });
        machine_->use();
        gpu_ = device::open(0);
        block_.emplace(4 * mib);
    }
    void TearDown() override {
        cuda::replace_api(nullptr);
        block_.reset();
        gpu_.reset();
        machine_.reset();
    }

    /// From now on the driver answers exports so, one after the other; 0 lets it do as it does.
    static void answer(std::vector<CUresult> results) {
        answers_ = std::move(results);
        calls_ = 0;
        static cuda::driver_api table;
        table = cuda::api();
        real_ = table.mem_get_handle_for_address_range;
        table.mem_get_handle_for_address_range = [](void* handle, CUdeviceptr address,
                                                    std::size_t bytes, int type,
                                                    unsigned long long flags) {
            CUresult const told = calls_ < answers_.size() ? answers_[calls_] : cuda::success;
            ++calls_;
            return told ? told : real_(handle, address, bytes, type, flags);
        };
        cuda::replace_api(&table);
    }

    /// A range inside a backing block, which can also be exported from the block's start.
    [[nodiscard]] pin pin_inside() const { return gpu_->pin(block_->address() + mib, mib); }
    [[nodiscard]] std::uintptr_t inside() const { return block_->address() + mib; }
    [[nodiscard]] static std::size_t calls() { return calls_; }

private:
    static inline std::vector<CUresult> answers_;
    static inline std::size_t calls_ = 0;
    static inline decltype(cuda::driver_api::mem_get_handle_for_address_range) real_ = nullptr;
    std::optional<machine> machine_;
    std::optional<device> gpu_;
    std::optional<device_block> block_;
};

TEST_F(dmabuf_test, a_refused_range_is_exported_from_the_start_of_its_block) {
    for (CUresult const refused : {cuda::error_not_supported, cuda::error_invalid_value}) {
        answer({refused});
        pin const pinned = pin_inside();
        EXPECT_EQ(calls(), 2u);
        cuda::replace_api(nullptr);
        expect_same_memory(pinned.map(), inside(), 1);
    }
}

TEST_F(dmabuf_test, the_pcie_path_is_asked_for_where_it_is_wanted) {
    static unsigned long long seen;
    static decltype(cuda::driver_api::mem_get_handle_for_address_range) real;
    static cuda::driver_api table;
    table = cuda::api();
    real = table.mem_get_handle_for_address_range;
    table.mem_get_handle_for_address_range = [](void* handle, CUdeviceptr address,
                                                std::size_t bytes, int type,
                                                unsigned long long flags) {
        seen = flags;
        return real(handle, address, bytes, type, 0);
    };
    cuda::replace_api(&table);
    backend::gpu coherent, apart;
    coherent.coherent = true;
    cuda::memory const memory = cuda::describe(inside(), mib);
    for (auto const& [gpu, force, kind] : {std::tuple{coherent, false, cache_kind::cached},
                                           {coherent, true, cache_kind::write_combining},
                                           {apart, false, cache_kind::write_combining},
                                           {apart, true, cache_kind::write_combining}}) {
        auto const backend = backend::make_dmabuf(gpu);
        auto const pinned = backend->pin(memory, {.force_pcie = force});
        EXPECT_EQ(seen, force ? cuda::range_flag_dma_buf_pcie : 0);
        EXPECT_EQ(pinned->map()->kind, kind);
    }
}

// A driver that allows it says so for each GPU.
TEST_F(dmabuf_test, a_gpu_whose_dma_bufs_cannot_be_mapped_makes_it_absent) {
    static CUresult known;
    static int maps;
    static decltype(cuda::driver_api::device_get_attribute) real;
    static cuda::driver_api table;
    table = cuda::api();
    real = table.device_get_attribute;
    table.device_get_attribute = [](int* value, int which, CUdevice device) {
        if (which != cuda::attribute_dma_buf_mmap)
            return real(value, which, device);
        *value = maps;
        return known;
    };
    cuda::replace_api(&table);
    backend::gpu gpu;
    gpu.driver_version = 13030;
    known = cuda::success;
    maps = 0;
    refusal const seen = refusal_of([&] { backend::make_dmabuf(gpu)->start(); });
    expect_refusal(seen, errc::backend_absent, "cannot be mapped");
    maps = 1;
    backend::make_dmabuf(gpu)->start();
    known = cuda::error_invalid_value; // which says nothing
    maps = 0;
    backend::make_dmabuf(gpu)->start();
}

TEST_F(dmabuf_test, another_failure_is_not_tried_around) {
    for (CUresult const failed : {cuda::error_unknown, cuda::error_not_found}) {
        answer({failed});
        refusal const seen = refusal_of([&] { (void)pin_inside(); });
        EXPECT_EQ(seen.code, std::error_code(failed, cuda_category())) << seen.text;
        EXPECT_EQ(calls(), 1u);
        cuda::replace_api(nullptr);
    }
}

// The memory is there: what the driver has too little of is BAR1.
TEST_F(dmabuf_test, too_little_bar1_is_named) {
    answer({cuda::error_out_of_memory});
    refusal const seen = refusal_of([&] { (void)pin_inside(); });
    EXPECT_EQ(seen.code, errc::bar1_exhausted) << seen.text;
    EXPECT_NE(seen.text.find("Resizable BAR"), std::string::npos) << seen.text;
    EXPECT_EQ(calls(), 1u);
    cuda::replace_api(nullptr);
}

TEST_F(dmabuf_test, if_both_tries_fail_the_first_failure_is_told) {
    answer({cuda::error_not_supported, cuda::error_out_of_memory});
    refusal const seen = refusal_of([&] { (void)pin_inside(); });
    EXPECT_EQ(seen.code, std::error_code(cuda::error_not_supported, cuda_category())) << seen.text;
    EXPECT_EQ(calls(), 2u);
}

} // namespace
} // namespace barmap::contract
