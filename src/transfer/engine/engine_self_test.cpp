// SPDX-License-Identifier: MIT
#include "transfer/engine/engine_self_test.hpp"

#include "driver/cuda/context_scope.hpp"
#include "driver/cuda/nonce.hpp"

#include <barmap/error.hpp>

#include <array>
#include <cstring>
#include <span>
#include <string>

namespace barmap::engine {
namespace {

void copy(worker& at_work, direction way, std::span<piece const> pieces) {
    std::size_t const bytes = pieces.size() * sizeof(cuda::nonce);
    ticket const number = at_work.engine().submit(way, pieces, bytes, {});
    if (wait(at_work.engine(), number, device_clock::now() + at_work.patience(bytes)) !=
        outcome::done)
        throw error(errc::backend_broken, "end the self-test's copy in time", "",
                    "please report this with the driver's version");
}

void expect_same(cuda::nonce const& sent, cuda::nonce const& received, char const* direction) {
    if (sent != received)
        throw error(errc::backend_broken, std::string("find a random value copied ") + direction,
                    "", "please report this with the driver's version");
}

} // namespace

void self_test(worker& at_work, gpu const& which,
               std::shared_ptr<test_memory const> const& memory) {
    at_work.keep(memory);
    constexpr std::size_t bytes = sizeof(cuda::nonce), near = 8, far = test_memory::size - 1024;
    cuda::context_scope const scope = cuda::context_scope::on_device(which.handle);
    cuda::nonce_stream const driver;
    copy_engine& engine = at_work.engine();
    std::unique_ptr<reachable> const reached =
        engine.reach(cuda::describe(memory->address(), test_memory::size));
    engine.measure(*reached, at_work.staging());
    std::uint64_t const gpu = reached->runs.front().address;
    std::uint64_t const host = at_work.staging().runs.front().address;
    // Two pieces, each to where the other one is on the other side.
    std::array<std::size_t, 2> const on_gpu{near, far}, on_host{far, near};
    std::array<piece, 2> there{}, back{};
    std::array<cuda::nonce, 2> const up{cuda::random_nonce(), cuda::random_nonce()};
    std::array<cuda::nonce, 2> const down{cuda::random_nonce(), cuda::random_nonce()};
    for (std::size_t i = 0; i < there.size(); ++i) {
        there[i] = {gpu + on_gpu[i], host + on_host[i], bytes};
        back[i] = {there[i].from, there[i].to, bytes};
        std::memcpy(at_work.staging_data() + on_host[i], up[i].data(), bytes);
    }
    copy(at_work, direction::to_gpu, there);
    for (std::size_t i = 0; i < there.size(); ++i) {
        cuda::nonce seen{};
        driver.from_gpu(seen, memory->address() + on_gpu[i]);
        expect_same(up[i], seen, "to the GPU when the driver reads it");
        driver.to_gpu(memory->address() + on_gpu[i], down[i]);
    }
    copy(at_work, direction::to_cpu, back);
    for (std::size_t i = 0; i < there.size(); ++i) {
        cuda::nonce seen{};
        std::memcpy(seen.data(), at_work.staging_data() + on_host[i], bytes);
        expect_same(down[i], seen, "from the GPU after the driver wrote it");
    }
}

} // namespace barmap::engine
