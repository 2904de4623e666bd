// SPDX-License-Identifier: MIT
#include "driver.hpp"

#include <array>
#include <cstring>
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

namespace barmap::sim_test {
namespace {

using namespace barmap::cuda;

constexpr std::size_t chunk_size = 2 << 20;

CUmemAllocationProp properties(int handle_types) {
    CUmemAllocationProp made{};
    made.type = allocation_type_pinned;
    made.requestedHandleTypes = handle_types;
    made.location = {location_type_device, 0};
    return made;
}

CUmemGenericAllocationHandle create(int handle_types, std::size_t bytes = chunk_size) {
    CUmemGenericAllocationHandle handle = 0;
    auto const asked = properties(handle_types);
    EXPECT_EQ(cu().mem_create(&handle, bytes, &asked, 0), success);
    return handle;
}

CUresult give_access(CUdeviceptr address, std::size_t bytes) {
    CUmemAccessDesc const desc{{location_type_device, 0}, access_read_write};
    return cu().mem_set_access(address, bytes, &desc, 1);
}

/// Two chunks of memory, side by side.
class sim_virtual_memory : public with_context {
protected:
    void make(int handle_types) {
        ASSERT_EQ(cu().mem_address_reserve(&base_, 3 * chunk_size, 0, 0, 0), success);
        for (std::size_t k = 0; k < chunks_.size(); ++k) {
            chunks_[k] = create(handle_types);
            ASSERT_EQ(cu().mem_map(base_ + k * chunk_size, chunk_size, 0, chunks_[k], 0), success);
        }
    }
    void TearDown() override {
        if (base_) {
            EXPECT_EQ(cu().mem_unmap(base_, 2 * chunk_size), success);
            for (auto const handle : chunks_)
                EXPECT_EQ(cu().mem_release(handle), success);
            EXPECT_EQ(cu().mem_address_free(base_, 3 * chunk_size), success);
        }
        with_context::TearDown();
    }

    CUdeviceptr base_ = 0;
    std::array<CUmemGenericAllocationHandle, 2> chunks_{};
};

TEST_F(sim_virtual_memory, contiguous_chunks_are_one_range_for_copies) {
    make(handle_type_none);
    EXPECT_EQ(cu().memset_d8(base_, 0, 1), error_invalid_value) << "no access yet";
    ASSERT_EQ(give_access(base_, 2 * chunk_size), success);
    CUdeviceptr const across = base_ + chunk_size - 500;
    write(across, pattern(1000, 5));
    EXPECT_EQ(read(across, 1000), pattern(1000, 5));
    EXPECT_EQ(cu().memset_d8(base_ + 2 * chunk_size - 1, 0, 2), error_invalid_value);
    CUdeviceptr start = 0;
    std::size_t size = 0;
    EXPECT_EQ(cu().mem_get_address_range(&start, &size, base_ + chunk_size + 9), success);
    EXPECT_EQ(start, base_ + chunk_size);
    EXPECT_EQ(size, chunk_size);
    EXPECT_EQ(attribute<CUdeviceptr>(pointer_range_start_addr, base_ + chunk_size + 9), base_);
    EXPECT_EQ(attribute<CUcontext>(pointer_context, base_), nullptr);
    EXPECT_EQ(attribute<int>(pointer_is_legacy_cuda_ipc_capable, base_), 0);
}

TEST_F(sim_virtual_memory, what_does_not_fit_is_refused) {
    make(handle_type_none);
    auto const odd = properties(handle_type_none);
    CUmemGenericAllocationHandle handle = 0;
    EXPECT_EQ(cu().mem_create(&handle, 4096, &odd, 0), error_invalid_value);
    EXPECT_EQ(cu().mem_map(base_, chunk_size, 0, chunks_[0], 0), error_invalid_value) << "occupied";
    EXPECT_EQ(cu().mem_map(base_ + 3 * chunk_size, chunk_size, 0, chunks_[0], 0),
              error_invalid_value)
        << "outside";
    EXPECT_EQ(cu().mem_unmap(base_, chunk_size / 2), error_invalid_value);
    EXPECT_EQ(cu().mem_address_free(base_, 3 * chunk_size), error_invalid_value) << "in use";
    EXPECT_EQ(give_access(base_, 3 * chunk_size), error_invalid_value) << "a hole";
}

TEST_F(sim_virtual_memory, handles_are_counted) {
    make(handle_type_none);
    CUmemGenericAllocationHandle again = 0;
    EXPECT_EQ(cu().mem_retain_allocation_handle(&again, reinterpret_cast<void*>(base_ + 5)),
              success);
    EXPECT_EQ(again, chunks_[0]);
    EXPECT_EQ(cu().mem_release(again), success);
    EXPECT_EQ(cu().mem_release(chunks_[0]), success);
    EXPECT_EQ(cu().mem_release(chunks_[0]), error_invalid_value);
    ASSERT_EQ(give_access(base_, chunk_size), success);
    write(base_, pattern(10, 1)); // mapped memory outlives its handle
    EXPECT_EQ(cu().mem_retain_allocation_handle(&chunks_[0], reinterpret_cast<void*>(base_)),
              success);
    CUdeviceptr const plain = allocate(100);
    EXPECT_EQ(cu().mem_retain_allocation_handle(&again, reinterpret_cast<void*>(plain)),
              error_invalid_value);
}

TEST_F(sim_virtual_memory, only_memory_made_for_it_is_exported) {
    make(handle_type_none);
    int fd = -1;
    EXPECT_EQ(cu().mem_export_to_shareable_handle(&fd, chunks_[0], handle_type_posix_fd, 0),
              error_invalid_value);
}

TEST_F(sim_virtual_memory, an_exported_descriptor_leads_to_the_bytes) {
    make(handle_type_posix_fd);
    ASSERT_EQ(give_access(base_, 2 * chunk_size), success);
    EXPECT_EQ(attribute<int>(pointer_allowed_handle_types, base_), handle_type_posix_fd);
    int fd = -1;
    ASSERT_EQ(cu().mem_export_to_shareable_handle(&fd, chunks_[1], handle_type_posix_fd, 0),
              success);
    std::uint64_t offset = 0, size = 0;
    ASSERT_EQ(BARMAP_SIM_FUNCTION(barmap_sim_fd_layout)(fd, &offset, &size), 0);
    EXPECT_EQ(size, chunk_size);
    EXPECT_EQ(BARMAP_SIM_FUNCTION(barmap_sim_fd_device)(fd), 0);
    EXPECT_EQ(BARMAP_SIM_FUNCTION(barmap_sim_fd_device)(0), -1);
    write(base_ + chunk_size, pattern(100, 7));
    std::vector<unsigned char> seen(100);
    EXPECT_EQ(pread(fd, seen.data(), seen.size(), off_t(offset)), 100);
    EXPECT_EQ(seen, pattern(100, 7));
    // The driver takes it back as external memory, header and all; the descriptor becomes its own.
    CUDA_EXTERNAL_MEMORY_HANDLE_DESC desc{};
    desc.type = external_handle_opaque_fd;
    desc.handle.fd = fd;
    desc.size = chunk_size;
    CUexternalMemory external = nullptr;
    ASSERT_EQ(cu().import_external_memory(&external, &desc), success);
    CUDA_EXTERNAL_MEMORY_BUFFER_DESC buffer{};
    buffer.offset = 10;
    buffer.size = 1000;
    CUdeviceptr mapped = 0;
    ASSERT_EQ(cu().external_memory_get_mapped_buffer(&mapped, external, &buffer), success);
    EXPECT_EQ(read(mapped, 90), pattern(90, 17));
    EXPECT_EQ(cu().destroy_external_memory(external), success);
    EXPECT_EQ(cu().mem_free(mapped), success);
}

TEST_F(sim_virtual_memory, a_dma_buf_starts_with_the_range) {
    make(handle_type_posix_fd);
    ASSERT_EQ(give_access(base_, 2 * chunk_size), success);
    CUdeviceptr const small = allocate(5000);
    for (CUdeviceptr const start : {small, base_, base_ + chunk_size}) {
        write(start, pattern(4096, 50));
        int fd = -1;
        ASSERT_EQ(
            cu().mem_get_handle_for_address_range(&fd, start, 8192, range_handle_dma_buf_fd, 0),
            success);
        void* const mapped = mmap(nullptr, 8192, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
        ASSERT_NE(mapped, MAP_FAILED);
        EXPECT_EQ(std::memcmp(mapped, pattern(4096, 50).data(), 4096), 0);
        static_cast<unsigned char*>(mapped)[4097] = 99;
        EXPECT_EQ(read(start + 4097, 1)[0], 99);
        munmap(mapped, 8192);
        close(fd);
    }
    int fd = -1;
    EXPECT_EQ(cu().mem_get_handle_for_address_range(&fd, small + 512, 4096, 1, 0),
              error_invalid_value);
    EXPECT_EQ(cu().mem_get_handle_for_address_range(&fd, base_ + 4096, 4096, 1, 0),
              error_not_supported);
    EXPECT_EQ(cu().mem_get_handle_for_address_range(&fd, base_, 2 * chunk_size, 1, 0),
              error_not_supported)
        << "of two files";
    EXPECT_EQ(cu().mem_get_handle_for_address_range(&fd, base_, 2 * chunk_size + 4096, 1, 0),
              error_invalid_value)
        << "beyond the chunks";
}

TEST_F(sim_virtual_memory, a_chunk_that_left_the_process_keeps_its_layout) {
    make(handle_type_posix_fd);
    int fd = -1;
    ASSERT_EQ(cu().mem_export_to_shareable_handle(&fd, chunks_[0], handle_type_posix_fd, 0),
              success);
    close(fd);
    EXPECT_EQ(cu().mem_get_handle_for_address_range(&fd, base_, 4096, 1, 0), error_not_supported);
}

/// A file as the software Vulkan device shares memory: its data starts where the header says.
TEST_F(sim_virtual_memory, a_shared_vulkan_file_is_read_after_its_header) {
    int const fd = memfd_create("another driver's memory", MFD_CLOEXEC);
    std::uint64_t const file_bytes = 4096 + 4096 + 40, header[2] = {file_bytes, 4096};
    ASSERT_EQ(ftruncate(fd, off_t(file_bytes)), 0);
    ASSERT_EQ(pwrite(fd, header, sizeof header, 0), ssize_t(sizeof header));
    ASSERT_EQ(pwrite(fd, "hello", 5, 4096), 5);
    CUDA_EXTERNAL_MEMORY_HANDLE_DESC desc{};
    desc.type = external_handle_opaque_fd;
    desc.handle.fd = fd;
    desc.size = 4096;
    CUexternalMemory external = nullptr;
    ASSERT_EQ(cu().import_external_memory(&external, &desc), success);
    CUDA_EXTERNAL_MEMORY_BUFFER_DESC buffer{};
    buffer.size = 4096;
    CUdeviceptr mapped = 0;
    ASSERT_EQ(cu().external_memory_get_mapped_buffer(&mapped, external, &buffer), success);
    EXPECT_EQ(read(mapped, 5), (std::vector<unsigned char>{'h', 'e', 'l', 'l', 'o'}));
    EXPECT_EQ(cu().mem_free(mapped), success);
    EXPECT_EQ(cu().destroy_external_memory(external), success);
}

BARMAP_SIM_PEER(import_chunk) {
    CUcontext context = nullptr;
    cu().init(0);
    cu().ctx_create(&context, 0, 0);
    int const fd = open(argument.c_str(), O_RDWR);
    CUmemGenericAllocationHandle handle = 0;
    CUdeviceptr base = 0;
    cu().mem_import_from_shareable_handle(&handle, reinterpret_cast<void*>(std::intptr_t(fd)),
                                          handle_type_posix_fd);
    close(fd);
    cu().mem_address_reserve(&base, chunk_size, 0, 0, 0);
    cu().mem_map(base, chunk_size, 0, handle, 0);
    give_access(base, chunk_size);
    std::printf("%s", to_hex(read(base, 16).data(), 16).c_str());
    write(base, pattern(16, 77));
}

TEST_F(sim_virtual_memory, another_process_can_map_an_exported_chunk) {
    make(handle_type_posix_fd);
    ASSERT_EQ(give_access(base_, chunk_size), success);
    write(base_, pattern(16, 30));
    int fd = -1;
    ASSERT_EQ(cu().mem_export_to_shareable_handle(&fd, chunks_[0], handle_type_posix_fd, 0),
              success);
    std::string const path = "/proc/" + std::to_string(getpid()) + "/fd/" + std::to_string(fd);
    EXPECT_EQ(from_hex(in_other_process("", "import_chunk", path)), pattern(16, 30));
    EXPECT_EQ(read(base_, 16), pattern(16, 77));
    close(fd);
}

} // namespace
} // namespace barmap::sim_test
