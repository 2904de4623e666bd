// SPDX-License-Identifier: MIT
#pragma once

#include "transfer/engine/engine.hpp"

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>

namespace barmap::fake {

/// Memory under the addresses that the CPU knows.
struct known_memory final : engine::reachable {
    explicit known_memory(std::span<std::byte> memory) {
        runs.push_back({0, memory.size(), reinterpret_cast<std::uintptr_t>(memory.data())});
    }
};

/// An engine that reaches all host memory, copies nothing, and is done with it at once.
class instant_engine : public engine::copy_engine {
public:
    void start() override {}
    std::unique_ptr<engine::reachable> reach(cuda::memory const&) override { return nullptr; }
    std::unique_ptr<engine::reachable> reach(std::span<std::byte> pages) override {
        return std::make_unique<known_memory>(pages);
    }
    std::unique_ptr<engine::reachable> reach_pinned(std::span<std::byte> memory) override {
        return std::make_unique<known_memory>(memory);
    }
    [[nodiscard]] std::string_view form() const noexcept override { return "not at all"; }
    engine::ticket submit(engine::direction, std::span<copy_piece const>, std::size_t,
                          engine::stream_order const&) override {
        return ++last_;
    }
    [[nodiscard]] engine::state poll(engine::ticket) noexcept override {
        return engine::state::done;
    }
    [[nodiscard]] bool has_stopped() const noexcept override { return false; }
    [[nodiscard]] std::string why_it_stopped() override { return {}; }
    bool close() noexcept override { return true; }

protected:
    engine::ticket last_ = 0;
};

} // namespace barmap::fake
