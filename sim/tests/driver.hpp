// SPDX-License-Identifier: MIT
#pragma once

#include "control.hpp"
#include "cuda/driver_api.hpp"

#include <gtest/gtest.h>

#include <cstddef>
#include <string>
#include <vector>

/// The simulated driver as a program sees it: loaded by name, every function found by its symbol.
namespace barmap::sim_test {

/// The functions that barmap calls. Aborts, naming it, if a symbol is missing.
[[nodiscard]] cuda::driver_api const& cu();

/// Any other exported function.
[[nodiscard]] void* symbol(char const* name);

template <class Signature>
[[nodiscard]] Signature* function(char const* name) {
    return reinterpret_cast<Signature*>(symbol(name));
}
#define BARMAP_SIM_FUNCTION(name) ::barmap::sim_test::function<decltype(name)>(#name)

/// Starts this program again with the environment ("NAME=value ...") and runs the named peer with
/// the argument there. @return what it printed
[[nodiscard]] std::string in_other_process(std::string const& environment, std::string const& peer,
                                           std::string const& argument = "");

/// A function of the other process; registers itself.
struct peer {
    using code = void (*)(std::string const& argument);
    peer(char const* name, code run);
};
#define BARMAP_SIM_PEER(name)                                                                      \
    static void name(std::string const& argument);                                                 \
    static ::barmap::sim_test::peer const name##_peer(#name, &name);                               \
    static void name([[maybe_unused]] std::string const& argument)

[[nodiscard]] std::string to_hex(void const* bytes, std::size_t size);
[[nodiscard]] std::vector<unsigned char> from_hex(std::string const& text);

/// Initialises the driver and makes a new context current; afterwards nothing may be left.
class with_context : public testing::Test {
protected:
    void SetUp() override;
    void TearDown() override;

    CUcontext context_ = nullptr;

private:
    std::size_t live_before_ = 0;
    std::size_t files_before_ = 0;
};

/// Open file descriptors of this process.
[[nodiscard]] std::size_t open_files();

[[nodiscard]] CUdeviceptr allocate(std::size_t bytes);
[[nodiscard]] std::vector<unsigned char> pattern(std::size_t bytes, unsigned seed);
/// What the driver reads there.
[[nodiscard]] std::vector<unsigned char> read(CUdeviceptr address, std::size_t bytes);
void write(CUdeviceptr address, std::vector<unsigned char> const& bytes);

template <class T>
[[nodiscard]] T attribute(int which, CUdeviceptr address) {
    T value{};
    EXPECT_EQ(cu().pointer_get_attribute(&value, which, address), cuda::success) << which;
    return value;
}

} // namespace barmap::sim_test
