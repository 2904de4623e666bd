// SPDX-License-Identifier: MIT
#pragma once

#include "contract/ways.hpp"
#include "cuda/driver_api.hpp"
#include "fake/kernel.hpp"
#include "fake/left_over.hpp"
#include "shared/caught.hpp"
#include "shared/changed_driver.hpp"
#include "shared/memory.hpp"

#include <barmap/barmap.hpp>

#include <concepts>
#include <functional>
#include <gtest/gtest.h>
#include <memory>
#include <optional>
#include <string>
#include <system_error>

namespace barmap::contract {

using namespace test;

/// Sets or clears a variable of the environment, which the library then reads again. The simulated
/// GPU reads its own once, at first use, which is why every test runs in a process of its own.
void set_environment(char const* name, std::string const& value);
void clear_environment(char const* name);

/// A machine with one simulated GPU (more with BARMAP_SIM_DEVICES) that is reached in one way.
/// A test that ends with a violation of a fake driver's rules fails.
class machine {
public:
    explicit machine(way const& which) : machine(which.driver) { which.install(*this); }
    /// One that no way describes, without fake drivers.
    explicit machine(char const* driver_series);
    machine(machine const&) = delete;
    machine& operator=(machine const&) = delete;
    ~machine();

    /// Puts a fake driver in. Before use().
    template <class Driver>
    std::shared_ptr<Driver> add(typename Driver::behaviour how = {}) {
        auto const driver = std::make_shared<Driver>(kernel_, how);
        kernel_.add(driver);
        driver_objects_ = [driver, others = driver_objects_] {
            return driver->objects() + others();
        };
        return driver;
    }

    /// Makes the primary context of a GPU current on this thread, for as long as the machine is.
    void use(int ordinal = 0);

    /// Everything that is held now.
    [[nodiscard]] fake::left_over held() const;
    [[nodiscard]] fake::kernel& kernel() noexcept { return kernel_; }

private:
    fake::kernel kernel_;
    std::function<std::size_t()> driver_objects_ = [] { return std::size_t{0}; };
    std::vector<int> retained_;
};

/// A test that runs over every way. BARMAP_BACKEND names its backend.
class contract_test : public testing::TestWithParam<way> {
protected:
    void SetUp() override;
    void TearDown() override;

    /// What is to happen before the simulated GPU is loaded, such as BARMAP_SIM_DEVICES.
    virtual void prepare() {}

    [[nodiscard]] machine& the_machine() { return *machine_; }
    [[nodiscard]] static cuda::driver_api const& cu() { return cuda::api(); }

    /// Whether the backend takes this kind of memory.
    [[nodiscard]] static bool adopts(memory_kind kind);
    /// Memory of the first kind that the backend takes.
    [[nodiscard]] static std::unique_ptr<memory> some_memory(std::size_t bytes);

private:
    std::optional<machine> machine_;
};

/// A machine with two GPUs, or a skip where the backend has one device only.
class two_gpus : public contract_test {
protected:
    void prepare() override { set_environment("BARMAP_SIM_DEVICES", "2"); }
    void SetUp() override {
        contract_test::SetUp();
        if (!IsSkipped() && !GetParam().many_devices)
            GTEST_SKIP() << "there is one " << GetParam().backend << " device only";
    }
};

#define BARMAP_OVER_NEWEST_WAYS(suite)                                                             \
    INSTANTIATE_TEST_SUITE_P(ways, suite, over(newest_ways()),                                     \
                             [](auto const& info) { return name_of(info.param); })

#define BARMAP_OVER_ALL_WAYS(suite)                                                                \
    INSTANTIATE_TEST_SUITE_P(ways, suite, over(all_ways()),                                        \
                             [](auto const& info) { return name_of(info.param); })

/// What an action was refused with.
struct refusal {
    std::error_code code;
    std::string text, advice;
};

/// Runs an action that must throw a barmap::error with advice.
template <class Action>
[[nodiscard]] refusal refusal_of(Action&& action) {
    error const failure = caught(action);
    EXPECT_FALSE(failure.advice().empty()) << failure.what();
    EXPECT_NE(std::string(failure.what()).find(failure.advice()), std::string::npos);
    return {failure.code(), failure.what(), failure.advice()};
}

/// Expects the code, and words that the message and the advice in it must have.
void expect_refusal(refusal const& seen, errc code, std::string_view words,
                    std::string_view advice = "");

/// Runs an action that must be refused so.
template <std::invocable Action>
void expect_refusal(Action&& action, errc code, std::string_view words,
                    std::string_view advice = "") {
    expect_refusal(refusal_of(action), code, words, advice);
}

/// Words of the refusal where a real kernel driver is asked for a simulated GPU: there may be a
/// driver, which does not list that GPU, or none.
[[nodiscard]] char const* no_simulated_gpu_in_the_driver();

} // namespace barmap::contract
