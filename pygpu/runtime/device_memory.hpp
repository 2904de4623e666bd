// SPDX-License-Identifier: MIT
#pragma once

#include "pygpu/runtime/runtime.hpp"

#include "system/region.hpp"

#include <barmap/mapping.hpp>

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <mutex>
#include <vector>

namespace barmap::runtime {

/// How elements lie at an address: bytes from one to the next along each axis, of any sign.
struct layout {
    std::uintptr_t first = 0; ///< address of the first element
    std::vector<std::ptrdiff_t> strides;
};

/// Copies elements between two layouts of one shape, in as few copies of the runtime as they allow.
/// @pre neither layout overlaps the other, nor two elements of `to` each other
[[nodiscard]] status copy_elements(layout to, layout from, std::vector<std::size_t> shape,
                                   std::size_t element, memcpy_kind which);

/// Whether small transfers may go through mappings, as they do at first. @return what it was before
/// Thread rule: free.
bool use_mapping(bool on) noexcept;

/// A range of GPU memory: its own allocation, or memory of another owner.
///
/// Small transfers take barmap's mapping where that gives what a blocking copy would: if all work
/// that the copy would be ordered behind is done. Small are those for which the measured table of
/// copies has loads and stores. The mapping is made once, when as many transfers have been made as
/// it costs, and kept; the runtime copies memory that cannot be mapped.
///
/// Thread rule: several threads may transfer at once; destroying is exclusive.
class device_memory {
public:
    /// Allocates on the current device. status() has the runtime's answer.
    explicit device_memory(std::size_t bytes);
    /// Memory of another owner, which keeps it alive.
    device_memory(std::uintptr_t address, std::size_t bytes, int device);
    ~device_memory();
    device_memory(device_memory const&) = delete;
    device_memory& operator=(device_memory const&) = delete;

    [[nodiscard]] status allocated() const noexcept { return allocated_; }
    [[nodiscard]] std::uintptr_t address() const noexcept { return address_; }
    [[nodiscard]] std::size_t size() const noexcept { return size_; }
    [[nodiscard]] int device() const noexcept { return device_; }
    [[nodiscard]] bool mapped() const noexcept { return state_ == mapping_state::made; }
    /// Transfers that went through the mapping so far.
    [[nodiscard]] std::size_t mapped_transfers() const noexcept { return transfers_by_mapping_; }

    /// Moves bytes, as a blocking copy of the runtime does. @pre the range lies inside
    [[nodiscard]] status write(std::size_t offset, void const* host, std::size_t bytes);
    [[nodiscard]] status read(void* host, std::size_t offset, std::size_t bytes);
    /// The same if it can be done at once, through the mapping; false if not, with nothing done.
    [[nodiscard]] bool write_now(std::size_t offset, void const* host, std::size_t bytes);
    [[nodiscard]] bool read_now(void* host, std::size_t offset, std::size_t bytes);

    /// Moves elements. `there` and `host` have one shape. @pre `there` lies inside
    [[nodiscard]] status write_elements(layout there, layout host, std::vector<std::size_t> shape,
                                        std::size_t element);
    [[nodiscard]] status read_elements(layout host, layout there, std::vector<std::size_t> shape,
                                       std::size_t element);

    /// success, or why the memory cannot be used: it went with a reset of its device, or belongs to
    /// the parent of this process.
    [[nodiscard]] status usable() const;

private:
    enum class mapping_state { none, made, impossible };

    [[nodiscard]] bool mapping_serves(std::size_t bytes, std::size_t below) const;
    void consider_mapping(std::size_t bytes);

    std::uintptr_t address_ = 0;
    std::size_t size_ = 0;
    int device_ = -1;
    os::process_id owner_;
    unsigned resets_ = 0;
    bool own_ = false;
    status allocated_ = success;

    std::atomic<mapping_state> state_{mapping_state::none};
    std::atomic<unsigned> transfers_{0};
    std::atomic<std::size_t> transfers_by_mapping_{0};
    std::mutex making_;
    mapping mapping_;
    std::size_t written_below_ = 0, read_below_ = 0; ///< bytes: copies by the mapping are smaller
};

/// Page-locked host memory. A reset of the device leaves it in place, but no longer locked; a
/// forked child shares it. Thread rule: const.
class pinned_memory {
public:
    explicit pinned_memory(std::size_t bytes);
    ~pinned_memory();
    pinned_memory(pinned_memory const&) = delete;
    pinned_memory& operator=(pinned_memory const&) = delete;

    [[nodiscard]] status allocated() const noexcept { return allocated_; }
    [[nodiscard]] void* data() const noexcept { return memory_.data(); }
    [[nodiscard]] std::size_t size() const noexcept { return size_; } ///< as asked for

private:
    os::region memory_;
    std::size_t size_ = 0;
    os::process_id owner_;
    int device_ = -1;
    unsigned resets_ = 0;
    status allocated_ = success;
};

} // namespace barmap::runtime
