// SPDX-License-Identifier: MIT
#pragma once

#include "cuda/memory.hpp"
#include "driver/rm/client.hpp"

#include <cstdint>
#include <memory>
#include <span>
#include <utility>
#include <vector>

/// CUDA's memory as objects of the resource manager.
namespace barmap::rm {

/// A reference to one RM memory object, which keeps the memory.
class memory_object {
public:
    memory_object(std::shared_ptr<rm::client const> client, abi::handle handle) noexcept
        : client_(std::move(client)), handle_(handle) {}
    memory_object(memory_object&& other) noexcept
        : client_(std::move(other.client_)), handle_(std::exchange(other.handle_, 0)) {}
    memory_object& operator=(memory_object&&) = delete;
    ~memory_object() {
        if (handle_)
            client_->free(handle_);
    }
    [[nodiscard]] rm::client const& client() const noexcept { return *client_; }
    [[nodiscard]] abi::handle handle() const noexcept { return handle_; }

private:
    std::shared_ptr<rm::client const> client_;
    abi::handle handle_;
};

/// A run of CUDA memory that lies in one object.
struct cuda_object {
    memory_object object;
    std::uint64_t offset; ///< of the run's first byte in the object
    std::size_t length;   ///< of the run, bytes; the object may lack its end
    std::uint64_t size;   ///< of the object, bytes, as far as the run needs it
    abi::handle owner;    ///< CUDA's client; 0 of memory that came as a file descriptor
    char const* way;      ///< how it was found
};

/// A contiguous part of a memory object of any client, with RM's names for both.
struct held_object {
    abi::handle client, object;
    std::uint64_t offset; ///< of the run's first byte in the object
    std::size_t length;   ///< of the run, bytes; the object may lack its end
    std::uint64_t size;   ///< of the object, bytes
};

/// Takes a reference to each of them, in their order. @throws error
[[nodiscard]] std::vector<cuda_object> take(std::shared_ptr<client const> const& client,
                                            std::span<held_object const> held);

/// Takes a reference to each object behind the memory, in the order of the addresses: all of what
/// memory.chunks want. cudaMalloc memory is found by its IPC handle, which has to agree with what
/// libcuda exports; all else by what libcuda exports, and where it exports nothing, VMM memory by
/// a file descriptor. Whatever does not look exactly as it should is refused: a wrong object is
/// worse than none.
/// @throws error errc::wrong_device, errc::unsupported_memory (of another process, or of a kind
///         that needs an export where there is none), errc::unknown_layout, or what failed
[[nodiscard]] std::vector<cuda_object> take(std::shared_ptr<client const> const& client,
                                            cuda::memory const& memory);

} // namespace barmap::rm
