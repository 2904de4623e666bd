// SPDX-License-Identifier: MIT
#include "transfer/engine/engine_self_test.hpp"

#include "cuda/context_scope.hpp"
#include "cuda/device_block.hpp"
#include "driver/rm/cpu_view.hpp"
#include "driver/rm/local_memory.hpp"

#include <barmap/copy.hpp>
#include <barmap/error.hpp>

#include <array>
#include <cstring>
#include <span>
#include <string>

namespace barmap::engine {
namespace {

class memory_of_cuda final : public test_memory {
public:
    explicit memory_of_cuda(gpu const& which) : gpu_(which.handle), block_(which.handle, size) {}
    [[nodiscard]] bool is_still_there() const noexcept override { return block_.is_still_there(); }
    [[nodiscard]] std::unique_ptr<reachable> reached_by(copy_engine& engine) const override {
        return engine.reach(cuda::describe(block_.address(), size));
    }
    void put(std::size_t at, cuda::nonce const& value) const override {
        cuda::context_scope const scope = cuda::context_scope::on_device(gpu_);
        cuda::nonce_stream().to_gpu(block_.address() + at, value);
    }
    [[nodiscard]] cuda::nonce get(std::size_t at) const override {
        cuda::context_scope const scope = cuda::context_scope::on_device(gpu_);
        cuda::nonce value{};
        cuda::nonce_stream().from_gpu(value, block_.address() + at);
        return value;
    }

private:
    CUdevice gpu_;
    cuda::device_block block_;
};

class memory_of_rm final : public test_memory {
public:
    explicit memory_of_rm(gpu const& which)
        : client_(std::make_shared<rm::client>(which.pci)),
          object_(rm::allocate_local(client_, rm::local_page)),
          view_(*client_, object_.handle(), 0, size, rm::abi::map_flags_default_caching) {}
    [[nodiscard]] bool is_still_there() const noexcept override { return true; }
    [[nodiscard]] std::unique_ptr<reachable> reached_by(copy_engine& engine) const override {
        rm::held_object const all{client_->root(), object_.handle(), 0, size, rm::local_page};
        return engine.reach_held({&all, 1});
    }
    void put(std::size_t at, cuda::nonce const& value) const override {
        std::memcpy(view_.data() + at, value.data(), sizeof value);
        flush_stores();
    }
    [[nodiscard]] cuda::nonce get(std::size_t at) const override {
        cuda::nonce value{};
        order_loads();
        std::memcpy(value.data(), view_.data() + at, sizeof value);
        return value;
    }

private:
    std::shared_ptr<rm::client const> client_;
    rm::memory_object object_;
    rm::cpu_view view_; // destroyed before the object
};

void copy(worker& at_work, direction way, std::span<copy_piece const> pieces) {
    std::size_t const bytes = pieces.size() * sizeof(cuda::nonce);
    ticket const number = at_work.engine().submit(way, pieces, bytes, {});
    if (wait(at_work.engine(), number, device_clock::now() + at_work.patience(bytes)) !=
        copy_outcome::done)
        throw error(errc::backend_broken, "complete the self-test's copy in time", "",
                    "please report this with the driver's version");
}

void expect_same(cuda::nonce const& sent, cuda::nonce const& received, char const* direction) {
    if (sent != received)
        throw error(errc::backend_broken, std::string("verify a random value copied ") + direction,
                    "", "please report this with the driver's version");
}

} // namespace

std::shared_ptr<test_memory const> test_memory::make(gpu const& which) {
    if (which.without_cuda)
        return std::make_shared<memory_of_rm>(which);
    return std::make_shared<memory_of_cuda>(which);
}

void self_test(worker& at_work, std::shared_ptr<test_memory const> const& memory) {
    at_work.keep(memory);
    constexpr std::size_t bytes = sizeof(cuda::nonce), near = 8, from_end = 1024;
    std::span<std::byte> const staging = at_work.staging_memory();
    copy_engine& engine = at_work.engine();
    std::unique_ptr<reachable> const reached = memory->reached_by(engine);
    engine.measure(*reached, at_work.staging());
    std::uint64_t const gpu = reached->runs.front().address;
    std::uint64_t const host = at_work.staging().runs.front().address;
    // Two pieces that swap their places.
    std::array<std::size_t, 2> const on_gpu{near, test_memory::size - from_end},
        on_host{staging.size() - from_end, near};
    std::array<copy_piece, 2> there{}, back{};
    std::array<cuda::nonce, 2> const up{cuda::random_nonce(), cuda::random_nonce()};
    std::array<cuda::nonce, 2> const down{cuda::random_nonce(), cuda::random_nonce()};
    for (std::size_t i = 0; i < there.size(); ++i) {
        there[i] = {gpu + on_gpu[i], host + on_host[i], bytes};
        back[i] = {there[i].from, there[i].to, bytes};
        std::memcpy(staging.data() + on_host[i], up[i].data(), bytes);
    }
    copy(at_work, direction::to_gpu, there);
    for (std::size_t i = 0; i < there.size(); ++i) {
        expect_same(up[i], memory->get(on_gpu[i]), "to the GPU");
        memory->put(on_gpu[i], down[i]);
    }
    copy(at_work, direction::to_cpu, back);
    for (std::size_t i = 0; i < there.size(); ++i) {
        cuda::nonce seen{};
        std::memcpy(seen.data(), staging.data() + on_host[i], bytes);
        expect_same(down[i], seen, "from the GPU");
    }
}

} // namespace barmap::engine
