// SPDX-License-Identifier: MIT
#include "driver/cuda/context_scope.hpp"
#include "transfer/engine/batch.hpp"
#include "transfer/engine/engine_self_test.hpp"
#include "transfer/engine/spin.hpp"

#include <barmap/error.hpp>

#include <array>
#include <cstring>
#include <string>

namespace barmap::engine {
namespace {

void copy(batch_engine& engine, direction way, std::span<piece const> pieces) {
    ticket const number = engine.submit(way, pieces, pieces.size() * sizeof(cuda::nonce), {});
    auto state = batch_engine::state::in_flight;
    (void)spin(
        [&] {
            state = engine.poll(number);
            return state != batch_engine::state::in_flight;
        },
        [] { return false; }, device_clock::now() + std::chrono::seconds(2));
    if (state != batch_engine::state::done)
        throw error(errc::backend_broken, "end the self-test's batch in time", "",
                    "please report this with the driver's version");
}

} // namespace

void self_test(batch_engine& engine, gpu const& which, batch_test_memory const& memory) {
    constexpr std::size_t far = batch_test_memory::size - 1024;
    cuda::context_scope const scope = cuda::context_scope::on_device(which.handle);
    cuda::nonce_stream const driver;
    // Two pieces, each to where the other one is on the other side.
    constexpr std::size_t bytes = sizeof(cuda::nonce);
    std::array<piece, 2> const pieces{piece{memory.gpu() + 8, memory.host() + far, bytes},
                                      piece{memory.gpu() + far, memory.host() + 8, bytes}};
    std::array<piece, 2> const back{piece{pieces[0].from, pieces[0].to, bytes},
                                    piece{pieces[1].from, pieces[1].to, bytes}};
    auto const host = [&](piece const& of) { return memory.data() + (of.from - memory.host()); };
    std::array<cuda::nonce, 2> const up{cuda::random_nonce(), cuda::random_nonce()};
    std::array<cuda::nonce, 2> const down{cuda::random_nonce(), cuda::random_nonce()};
    for (std::size_t i = 0; i < pieces.size(); ++i)
        std::memcpy(host(pieces[i]), up[i].data(), sizeof up[i]);
    copy(engine, direction::to_gpu, pieces);
    for (std::size_t i = 0; i < pieces.size(); ++i) {
        cuda::nonce seen{};
        driver.from_gpu(seen, pieces[i].to);
        expect_same(up[i], seen, "to the GPU when the driver reads it");
        driver.to_gpu(pieces[i].to, down[i]);
    }
    copy(engine, direction::to_cpu, back);
    for (std::size_t i = 0; i < pieces.size(); ++i) {
        cuda::nonce seen{};
        std::memcpy(seen.data(), host(pieces[i]), sizeof seen);
        expect_same(down[i], seen, "from the GPU after the driver wrote it");
    }
}

} // namespace barmap::engine
