// SPDX-License-Identifier: MIT
#include "contract/machine.hpp"
#include "cuda/memory.hpp"
#include "map/backend.hpp"
#include "system/region.hpp"

#include <sys/mman.h>
#include <tuple>
#include <unistd.h>
#include <utility>
#include <vector>

/// What the dmabuf backend makes of a driver that refuses to export a range.
namespace barmap::contract {
namespace {

class dmabuf_test : public testing::Test {
protected:
    void SetUp() override {
        set_environment("BARMAP_BACKEND", "dmabuf");
        machine_.emplace("610");
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

    /// From now on the driver exports this range only, as a file with so much of it. Its bytes tell
    /// their addresses.
    static void export_only(CUdeviceptr from, CUdeviceptr to, std::size_t file_bytes) {
        only_ = {from, to};
        file_bytes_ = file_bytes;
        calls_ = 0;
        static cuda::driver_api table;
        table = cuda::api();
        table.mem_get_handle_for_address_range = [](void* handle, CUdeviceptr address,
                                                    std::size_t bytes, int, unsigned long long) {
            ++calls_;
            if (only_ != std::pair{address, address + bytes})
                return cuda::error_invalid_value;
            int const file = ::memfd_create("dma-buf", MFD_CLOEXEC);
            std::vector<std::byte> content(file_bytes_);
            for (std::size_t i = 0; i < content.size(); ++i)
                content[i] = byte_at(address + i);
            EXPECT_EQ(::write(file, content.data(), content.size()),
                      static_cast<ssize_t>(content.size()));
            *static_cast<int*>(handle) = file;
            return cuda::success;
        };
        cuda::replace_api(&table);
    }
    static std::byte byte_at(CUdeviceptr address) {
        return static_cast<std::byte>((address >> 12) * 7 + address);
    }

    /// A range inside a backing block, which can also be exported from the block's start.
    [[nodiscard]] pin pin_inside() const { return gpu_->pin(block_->address() + mib, mib); }
    [[nodiscard]] std::uintptr_t inside() const { return block_->address() + mib; }
    [[nodiscard]] pin pin_pages(std::uintptr_t at, std::size_t bytes) const {
        return gpu_->pin(at, bytes, {.whole_pages = true});
    }
    [[nodiscard]] static std::size_t calls() { return calls_; }

private:
    static inline std::vector<CUresult> answers_;
    static inline std::size_t calls_ = 0;
    static inline std::pair<CUdeviceptr, CUdeviceptr> only_;
    static inline std::size_t file_bytes_ = 0;
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

// Each of the ranges that are tried has the memory at a place of its own.
TEST_F(dmabuf_test, every_range_that_may_be_exported_is_tried) {
    if (os::page_size() != 4 * kib)
        GTEST_SKIP() << "the simulated GPU maps whole pages of the CPU's";
    constexpr std::size_t bytes = 20 * kib; // of the last page
    device_block const memory(3 * mib + bytes);
    std::uintptr_t const block = memory.address() / (2 * mib) * (2 * mib),
                         start = memory.address() + 3 * mib, end = start + gpu_page_size,
                         end_of_memory = start + bytes;
    std::size_t tries = 0;
    for (auto const& [from, to] :
         {std::pair{start, end}, {block, end}, {start, end_of_memory}, {block, end_of_memory}}) {
        export_only(from, to, to - from);
        mapping const map = pin_pages(start, bytes).map();
        EXPECT_EQ(calls(), ++tries);
        ASSERT_EQ(map.size(), gpu_page_size);
        std::vector<std::byte> seen(bytes);
        read(seen, map.window(0, bytes));
        std::size_t wrong = 0;
        for (std::size_t i = 0; i < bytes; ++i)
            wrong += seen[i] != byte_at(start + i);
        EXPECT_EQ(wrong, 0u) << tries;
        cuda::replace_api(nullptr);
    }
}

// An access to what the file lacks would end the program.
TEST_F(dmabuf_test, a_file_without_the_bytes_is_refused) {
    for (std::size_t const there : {std::size_t{0}, std::size_t{4 * kib}, mib - 1}) {
        export_only(inside(), inside() + mib, there);
        expect_refusal([&] { (void)pin_inside(); }, errc::backend_broken,
                       std::to_string(there) + " of ");
        cuda::replace_api(nullptr);
    }
}

TEST_F(dmabuf_test, the_pcie_path_is_asked_for_where_it_is_wanted) {
    static unsigned long long seen;
    changed_driver driver;
    driver->mem_get_handle_for_address_range = [](void* handle, CUdeviceptr address,
                                                  std::size_t bytes, int type,
                                                  unsigned long long flags) {
        seen = flags;
        return changed_driver::real.mem_get_handle_for_address_range(handle, address, bytes, type,
                                                                     0);
    };
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
    changed_driver driver;
    driver->device_get_attribute = [](int* value, int which, CUdevice device) {
        if (which != cuda::attribute_dma_buf_mmap)
            return changed_driver::real.device_get_attribute(value, which, device);
        *value = maps;
        return known;
    };
    backend::gpu gpu;
    gpu.driver_version = 13030;
    known = cuda::success;
    maps = 0;
    expect_refusal([&] { backend::make_dmabuf(gpu)->start(); }, errc::backend_absent,
                   "cannot be mapped");
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
