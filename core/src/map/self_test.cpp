// SPDX-License-Identifier: MIT
#include "map/self_test.hpp"

#include "cuda/context_scope.hpp"
#include "cuda/nonce.hpp"

#include <barmap/copy.hpp>
#include <barmap/error.hpp>

#include <array>
#include <string>

namespace barmap::backend {
namespace {

using cuda::nonce;
using cuda::random_nonce;

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
        throw error(errc::backend_broken, std::string("verify a random value written ") + direction,
                    "",
                    "the mapping does not reach the right memory: please report this with the "
                    "driver's version");
}

} // namespace

void self_test(CUdevice device, CUdeviceptr address, std::span<std::byte> mapped) {
    cuda::context_scope const scope = cuda::context_scope::on_device(device);
    cuda::nonce_stream const copies;
    for (std::size_t const offset : {std::size_t{0}, mapped.size() - sizeof(nonce)}) {
        std::byte* const cpu = mapped.data() + offset;
        nonce const first = random_nonce(), second = random_nonce();
        nonce seen{};
        // The load comes first: a store through a wrong mapping would do harm.
        copies.to_gpu(address + offset, first);
        load(seen, cpu);
        expect_same(first, seen, "by the driver and read through the mapping");
        store(cpu, second);
        copies.from_gpu(seen, address + offset);
        expect_same(second, seen, "through the mapping and read by the driver");
    }
}

} // namespace barmap::backend
