// SPDX-License-Identifier: MIT
#include "backend/scratch.hpp"

#include "cuda/driver_api.hpp"
#include "cuda/driver_lifetime.hpp"
#include "os/random.hpp"

#include <barmap/copy.hpp>

#include <array>
#include <cstring>
#include <span>

namespace barmap::backend {
namespace {

using nonce = std::array<std::uint64_t, 8>;

nonce random_nonce() {
    nonce result{};
    os::fill_with_random_bytes(std::as_writable_bytes(std::span(result)));
    return result;
}

/// A stream of its own, so that a proof neither waits for the user's work nor holds it up.
class stream {
public:
    stream() {
        constexpr unsigned non_blocking = 1;
        cuda::check(cuda::api().stream_create(&stream_, non_blocking), "make a CUDA stream");
    }
    stream(stream const&) = delete;
    stream& operator=(stream const&) = delete;
    ~stream() { cuda::api().stream_destroy(stream_); }

    void to_gpu(CUdeviceptr to, nonce const& from) const {
        cuda::check(cuda::api().memcpy_htod_async(to, from.data(), sizeof from, stream_),
                    "write the self-test's memory with the driver");
        synchronize();
    }
    void from_gpu(nonce& to, CUdeviceptr from) const {
        cuda::check(cuda::api().memcpy_dtoh_async(to.data(), from, sizeof to, stream_),
                    "read the self-test's memory with the driver");
        synchronize();
    }

private:
    void synchronize() const {
        cuda::check(cuda::api().stream_synchronize(stream_), "wait for the self-test's copy");
    }
    CUstream stream_ = nullptr;
};

// Word by word, so that a proof of the mapping depends on no copy routine.
void store(std::byte* to, nonce const& from) noexcept {
    auto* words = reinterpret_cast<std::uint64_t volatile*>(to);
    for (std::size_t i = 0; i < from.size(); ++i)
        words[i] = from[i];
    flush_stores();
}

void load(nonce& to, std::byte const* from) noexcept {
    order_loads();
    auto const* words = reinterpret_cast<std::uint64_t const volatile*>(from);
    for (std::size_t i = 0; i < to.size(); ++i)
        to[i] = words[i];
}

void expect_same(nonce const& sent, nonce const& received, char const* direction) {
    if (sent != received)
        throw error(errc::backend_broken, std::string("find a random value written ") + direction,
                    "",
                    "the mapping does not reach the memory it should: please report this with the "
                    "driver's version");
}

} // namespace

/// cudaMalloc memory in whatever context was current. Freed only if it is still the same
/// allocation: the user may have destroyed the context and its memory in the meantime.
class scratch::cuda_block {
public:
    explicit cuda_block(CUdevice device) {
        cuda::context_scope const scope = cuda::context_scope::on_device(device);
        cuda::driver_api const& cu = cuda::api();
        cuda::check(cu.mem_alloc(&address_, size), "allocate memory for the self-test");
        // Without these it could not be told later whether it is still there to be freed.
        CUresult told = cu.pointer_get_attribute(&id_, cuda::pointer_buffer_id, address_);
        if (told == cuda::success)
            told = cu.pointer_get_attribute(&owner_, cuda::pointer_context, address_);
        if (told != cuda::success)
            cu.mem_free(address_);
        cuda::check(told, "identify the memory for the self-test");
        cuda::watch_exit();
    }
    cuda_block(cuda_block const&) = delete;
    cuda_block& operator=(cuda_block const&) = delete;
    ~cuda_block() {
        if (!cuda::drivers_are_up(process_))
            return;
        cuda::driver_api const& cu = cuda::api();
        unsigned long long id_now = 0;
        if (cu.pointer_get_attribute(&id_now, cuda::pointer_buffer_id, address_) != cuda::success ||
            id_now != id_)
            return;
        try {
            cuda::context_scope const scope(owner_);
            cu.mem_free(address_);
        } catch (error const&) {
            // The context is gone, and the memory with it.
        }
    }
    [[nodiscard]] CUdeviceptr address() const noexcept { return address_; }

private:
    os::process_id process_ = os::this_process();
    CUcontext owner_ = nullptr;
    CUdeviceptr address_ = 0;
    unsigned long long id_ = 0;
};

scratch::scratch(backend& backend, gpu const& gpu) : device_(gpu.handle) {
    if (backend.can().can_adopt(memory_kind::device)) {
        block_ = std::make_unique<cuda_block>(gpu.handle);
        address_ = block_->address();
        pinned_ = backend.pin(cuda::describe(address_, size));
    } else {
        pinned_ = backend.allocate(size);
        address_ = pinned_->allocated_address();
    }
    mapped_ = pinned_->map();
}

scratch::~scratch() = default; // here, where cuda_block is known

void scratch::prove() {
    cuda::context_scope const scope = cuda::context_scope::on_device(device_);
    stream const copies;
    for (std::size_t const offset : {std::size_t{0}, size - sizeof(nonce)}) {
        std::byte* const cpu = mapped_->data + offset;
        nonce const first = random_nonce(), second = random_nonce();
        nonce seen{};
        store(cpu, first);
        copies.from_gpu(seen, address_ + offset);
        expect_same(first, seen, "through the mapping when the driver reads it");
        copies.to_gpu(address_ + offset, second);
        load(seen, cpu);
        expect_same(second, seen, "by the driver when it is read through the mapping");
    }
}

} // namespace barmap::backend
