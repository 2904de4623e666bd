// SPDX-License-Identifier: MIT
#pragma once

#include "nvidia/cuda.hpp"

#include <barmap/barmap.hpp>

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <memory>
#include <span>
#include <vector>

/// Memory of a GPU of every kind, and the driver as the judge of what is in it.
/// All of this needs a context that is current on the calling thread.
namespace barmap::test {

inline constexpr std::size_t kib = 1024;
inline constexpr std::size_t mib = std::size_t{1} << 20;

void expect_success(CUresult result);

/// An owner of some memory.
class memory {
public:
    virtual ~memory() = default;
    memory(memory const&) = delete;
    memory& operator=(memory const&) = delete;
    [[nodiscard]] std::uintptr_t address() const noexcept { return address_; }

protected:
    memory() = default;
    CUdeviceptr address_ = 0;
};

/// cuMemAlloc.
class device_block final : public memory {
public:
    explicit device_block(std::size_t bytes);
    ~device_block() override { release(); }
    void release();                          ///< frees it early
    void forget() noexcept { address_ = 0; } ///< went with its context
};

/// VMM chunks in a row.
class virtual_block final : public memory {
public:
    static constexpr std::size_t granularity = 2 * mib;
    virtual_block(int ordinal, std::vector<std::size_t> const& chunk_sizes,
                  int handle_types = cuda::handle_type_posix_fd, std::uintptr_t wish = 0);
    ~virtual_block() override;
    /// Unmaps the n-th chunk early.
    void unmap(std::size_t which);
    [[nodiscard]] std::size_t size() const noexcept { return size_; }

private:
    struct chunk {
        std::size_t offset, bytes;
        bool mapped;
    };
    std::vector<chunk> chunks_;
    std::size_t size_ = 0;
};

/// A VMM chunk that some process has exported as a descriptor.
class imported_chunk final : public memory {
public:
    imported_chunk(int descriptor, std::size_t bytes);
    /// Unmaps it, the last that CUDA has of it here.
    ~imported_chunk() override;

private:
    std::size_t size_;
};

/// cuMemAllocFromPoolAsync from a pool of its own, or cuMemAllocAsync from the default pool.
class pool_block final : public memory {
public:
    enum class from { the_default_pool, a_pool_with_fd_handles };
    pool_block(std::size_t bytes, from which);
    ~pool_block() override;

private:
    CUmemoryPool pool_ = nullptr;
};

class managed_block final : public memory {
public:
    explicit managed_block(std::size_t bytes);
    ~managed_block() override;
};

/// cuMemHostAlloc, zeros at first.
class pinned_block final : public memory {
public:
    explicit pinned_block(std::size_t bytes);
    ~pinned_block() override;
    [[nodiscard]] std::span<std::byte> bytes() const {
        return {reinterpret_cast<std::byte*>(address_), size_};
    }
    void fill(std::vector<std::byte> const& with) const {
        std::memcpy(bytes().data(), with.data(), with.size());
    }

private:
    std::size_t size_;
};

/// VMM memory that came back into CUDA as external memory.
class external_block final : public memory {
public:
    explicit external_block(std::size_t bytes);
    ~external_block() override;

private:
    CUexternalMemory external_ = nullptr;
};

/// Memory of a kind that CUDA can allocate, at least so many bytes.
[[nodiscard]] std::unique_ptr<memory> make_memory(memory_kind kind, std::size_t bytes);

/// The kinds that it can.
inline constexpr memory_kind kinds_of_device_memory[] = {
    memory_kind::device, memory_kind::virtual_exportable, memory_kind::virtual_opaque,
    memory_kind::pool, memory_kind::pool_exportable};

/// Bytes that differ from place to place and from seed to seed.
[[nodiscard]] std::vector<std::byte> pattern(std::size_t bytes, unsigned seed);

/// The standard library's comparisons take one std::byte after another, and most of the time of
/// these tests where they are not optimised.
[[nodiscard]] inline bool same_bytes(std::span<std::byte const> a, std::span<std::byte const> b) {
    return a.size() == b.size() && (a.empty() || std::memcmp(a.data(), b.data(), a.size()) == 0);
}
[[nodiscard]] inline bool operator==(std::vector<std::byte> const& a,
                                     std::vector<std::byte> const& b) {
    return same_bytes(a, b);
}

/// Through the driver, complete on return (docs/ordering.md, O20 and O21): cuMemcpyHtoD of pageable
/// memory and cuMemsetD8 may return before the last bytes are in the GPU's memory.
[[nodiscard]] std::vector<std::byte> read_by_driver(std::uintptr_t from, std::size_t bytes);
void write_by_driver(std::uintptr_t to, void const* from, std::size_t bytes);
void write_by_driver(std::uintptr_t to, std::vector<std::byte> const& bytes);
void fill_by_driver(std::uintptr_t to, unsigned char value, std::size_t bytes);

/// Writes through the mapping and reads with the driver, then the other way round: every byte.
void expect_same_memory(mapping const& mapping, std::uintptr_t gpu_address, unsigned seed);

/// Expects these bytes in the mapping, and other memory at the GPU address, although it was the
/// mapping's: what is written in one place does not come up in the other.
void expect_other_memory(mapping const& mapping, std::vector<std::byte> const& held,
                         std::uintptr_t gpu_address);

} // namespace barmap::test
