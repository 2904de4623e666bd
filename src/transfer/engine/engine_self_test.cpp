// SPDX-License-Identifier: MIT
#include "transfer/engine/engine_self_test.hpp"

#include "driver/cuda/context_scope.hpp"

#include <barmap/error.hpp>

#include <span>

namespace barmap::engine {
namespace {

void expect_done(outcome result) {
    if (result != outcome::done)
        throw error(errc::backend_broken, "end the self-test's copy in time", "",
                    "please report this with the driver's version");
}

} // namespace

void expect_same(cuda::nonce const& sent, cuda::nonce const& received, char const* direction) {
    if (sent != received)
        throw error(errc::backend_broken, std::string("find a random value copied ") + direction,
                    "", "please report this with the driver's version");
}

void self_test(worker& engine, gpu const& which, test_memory const& memory) {
    constexpr std::size_t size = test_memory::size;
    cuda::context_scope const scope = cuda::context_scope::on_device(which.handle);
    cuda::nonce_stream const driver;
    std::unique_ptr<reachable> const reached =
        engine.engine().reach(cuda::describe(memory.address(), size));
    for (std::size_t const offset : {std::size_t{0}, size - sizeof(cuda::nonce)}) {
        cuda::nonce first = cuda::random_nonce(), seen{};
        cuda::nonce const second = cuda::random_nonce();
        auto const copy = [&](direction way, cuda::nonce& value) {
            expect_done(engine.copy_staged(
                way, *reached, offset, reinterpret_cast<std::byte*>(value.data()), sizeof value));
        };
        copy(direction::to_gpu, first);
        driver.from_gpu(seen, memory.address() + offset);
        expect_same(first, seen, "to the GPU when the driver reads it");
        driver.to_gpu(memory.address() + offset, second);
        copy(direction::to_cpu, seen);
        expect_same(second, seen, "from the GPU after the driver wrote it");
    }
}

} // namespace barmap::engine
