// SPDX-License-Identifier: MIT
#include "contract/machine.hpp"
#include "fake/gdrdrv_driver.hpp"
#include "gpu/gpu_identity.hpp"
#include "map/scratch.hpp"

/// The versions of the gdrdrv module.
namespace barmap::contract {
namespace {

class gdrdrv_test : public testing::Test {
protected:
    void SetUp() override { set_environment("BARMAP_BACKEND", "gdrdrv"); }
    void TearDown() override { machine_.reset(); }

    void boot(fake::gdrdrv_driver::behaviour how) {
        machine_.emplace("580");
        driver_ = machine_->add<fake::gdrdrv_driver>(how);
        machine_->use();
    }

    std::shared_ptr<fake::gdrdrv_driver> driver_;

private:
    std::optional<machine> machine_;
};

class gdrdrv_version_test : public gdrdrv_test, public testing::WithParamInterface<unsigned> {};

TEST_P(gdrdrv_version_test, is_spoken) {
    boot({.minor = GetParam()});
    device_block const block(mib);
    mapping const map = device::open(0).pin(block.address() + 7, mib - 7).map();
    EXPECT_EQ(map.kind(), cache_kind::write_combining);
    expect_same_memory(map, block.address() + 7, 1);
}

INSTANTIATE_TEST_SUITE_P(minor, gdrdrv_version_test, testing::Range(0u, 7u),
                         [](auto const& info) { return "v2_" + std::to_string(info.param); });

TEST_F(gdrdrv_test, an_older_major_version_is_refused) {
    boot({.minor = 9, .major = 1});
    expect_refusal([] { (void)device::open(0); }, errc::backend_broken, "use gdrdrv 1.9");
}

TEST_F(gdrdrv_test, a_newer_major_version_is_refused) {
    boot({.minor = 0, .major = 3});
    expect_refusal([] { (void)device::open(0); }, errc::backend_broken, "use gdrdrv 3.0",
                   "2.0 to 2.6");
}

TEST_F(gdrdrv_test, the_module_says_how_a_mapping_is_cached) {
    boot({.minor = 4, .mapping_type = 2});
    device_block const block(mib);
    EXPECT_EQ(device::open(0).pin(block.address(), mib).map().kind(), cache_kind::cached);
}

TEST_F(gdrdrv_test, a_device_mapping_is_told_apart) {
    boot({.minor = 6, .mapping_type = 3});
    device_block const block(mib);
    mapping const map = device::open(0).pin(block.address(), mib).map();
    EXPECT_EQ(map.kind(), cache_kind::uncached);
    expect_same_memory(map, block.address(), 1);
}

TEST_F(gdrdrv_test, a_mapping_is_cached_as_asked_for) {
    boot({.minor = 5});
    device_block const block(mib);
    pin const pinned = device::open(0).pin(block.address(), mib);
    for (cache_kind const kind : {cache_kind::cached, cache_kind::write_combining}) {
        mapping const map = pinned.map(kind);
        EXPECT_EQ(map.kind(), kind);
        expect_same_memory(map, block.address(), 1);
    }
    refusal const seen = refusal_of([&] { (void)pinned.map(cache_kind::uncached); });
    EXPECT_EQ(seen.code, std::errc::invalid_argument);
}

TEST_F(gdrdrv_test, a_module_that_cannot_be_asked_maps_in_its_one_way) {
    boot({.minor = 4});
    device_block const block(mib);
    pin const pinned = device::open(0).pin(block.address(), mib);
    EXPECT_EQ(pinned.map(cache_kind::write_combining).kind(), cache_kind::write_combining);
    expect_refusal([&] { (void)pinned.map(cache_kind::cached); }, errc::unsupported_operation,
                   "map GPU memory cached");
}

TEST_F(gdrdrv_test, tokens_reach_an_old_module) {
    boot({.minor = 4});
    device_block const block(mib);
    (void)device::open(0).pin(block.address(), mib, {.p2p_token = 77, .va_space = 5});
    EXPECT_EQ(driver_->last_token(), 77u);
    EXPECT_EQ(driver_->last_va_space(), 5u);
}

class pcie_test : public gdrdrv_test, public testing::WithParamInterface<unsigned> {};

TEST_P(pcie_test, the_pcie_path_is_forced_where_the_module_can) {
    boot({.minor = GetParam(), .force_pcie = true});
    device_block const block(mib);
    EXPECT_TRUE(device::open(0).backends().front().forces_pcie);
    (void)device::open(0).pin(block.address(), mib, {.force_pcie = true});
    EXPECT_EQ(driver_->last_flags(), 1u);
    (void)device::open(0).pin(block.address(), mib);
    EXPECT_EQ(driver_->last_flags(), 0u);
}

// Both versions that have the call with flags.
INSTANTIATE_TEST_SUITE_P(minor, pcie_test, testing::Values(5u, 6u),
                         [](auto const& info) { return "v2_" + std::to_string(info.param); });

TEST_F(gdrdrv_test, the_pcie_path_is_refused_where_it_cannot) {
    boot({.minor = 6});
    device_block const block(mib);
    expect_refusal([&] { (void)device::open(0).pin(block.address(), mib, {.force_pcie = true}); },
                   errc::unsupported_operation, "force the PCIe path");
}

// Its own memory may go with the context that was current when the device was opened, so that the
// first mapping must not touch it any more.
TEST_F(gdrdrv_test, copy_routines_are_measured_at_once_where_memory_is_revoked) {
    constexpr char measured[] = "backend gdrdrv: 64 B go by ";
    set_environment("BARMAP_COPY", "auto");
    set_environment("BARMAP_LOG", "info");
    for (bool const persistent : {true, false}) {
        boot({.minor = 5, .persistent = persistent});
        testing::internal::CaptureStderr();
        device const gpu = device::open(0);
        std::string const at_opening = testing::internal::GetCapturedStderr();
        testing::internal::CaptureStderr();
        device_block const block(mib);
        mapping const map = gpu.pin(block.address(), mib).map();
        std::string const at_mapping = testing::internal::GetCapturedStderr();
        EXPECT_EQ(at_opening.find(measured) != std::string::npos, !persistent) << at_opening;
        EXPECT_EQ(at_mapping.find(measured) != std::string::npos, persistent) << at_mapping;
    }
}

// With the fences of another kind, other routines may be the fastest.
TEST_F(gdrdrv_test, copy_routines_are_measured_in_memory_of_its_kind) {
    for (unsigned const type : {1u, 2u, 3u}) {
        boot({.mapping_type = type});
        backend::gpu const gpu = identify(0);
        std::unique_ptr<backend::backend> const module = backend::make_gdrdrv(gpu);
        module->start();
        EXPECT_EQ(backend::scratch(*module, gpu).kind(), type == 1   ? cache_kind::write_combining
                                                         : type == 2 ? cache_kind::cached
                                                                     : cache_kind::uncached);
    }
}

// For the same reason no engine is measured in it, and none copies.
TEST_F(gdrdrv_test, no_engine_copies_where_memory_is_revoked) {
    set_environment("BARMAP_ENGINE", "driver");
    for (bool const persistent : {true, false}) {
        boot({.minor = 5, .persistent = persistent});
        std::size_t by_engine = 0;
        for (copy_crossover const& each : device::open(0).copy_crossovers("gdrdrv"))
            by_engine += each.method == "driver";
        EXPECT_EQ(by_engine != 0, persistent);
    }
    clear_environment("BARMAP_ENGINE");
}

TEST_F(gdrdrv_test, memory_that_the_driver_revoked_is_reported) {
    boot({.minor = 5, .persistent = false});
    device_block const block(mib);
    pin const pinned = device::open(0).pin(block.address(), mib);
    EXPECT_FALSE(device::open(0).backends().front().persistent);
    EXPECT_FALSE(pinned.revoked());
    driver_->take_away();
    EXPECT_TRUE(pinned.revoked());
}

// Each VMM chunk is a handle of its own, and its owner may free one of them.
TEST_F(gdrdrv_test, memory_of_which_one_chunk_was_revoked_is_reported) {
    boot({.minor = 5, .persistent = false});
    virtual_block const block(0, {2 * mib, 2 * mib, 2 * mib});
    pin const pinned = device::open(0).pin(block.address(), block.size());
    EXPECT_FALSE(pinned.revoked());
    driver_->take_away(block.address() + 2 * mib);
    EXPECT_TRUE(pinned.revoked());
}

TEST_F(gdrdrv_test, its_version_is_told_before_and_after_it_is_proved) {
    boot({.minor = 3});
    for (auto const& reports : {device::probe(0), device::open(0).backends()}) {
        backend_report const& report = reports.front();
        EXPECT_EQ(report.name, "gdrdrv");
        EXPECT_EQ(report.state, backend_state::usable);
        ASSERT_TRUE(report.module);
        EXPECT_EQ(report.module->major, 2);
        EXPECT_EQ(report.module->minor, 3);
    }
}

// A process that will fork asks it before anything that calls CUDA.
TEST_F(gdrdrv_test, tells_its_properties_without_cuda) {
    boot({.minor = 6});
    backend_properties found;
    {
        cuda::driver_api const nothing{}; // any call of it ends the test
        cuda::driver_api const& before = cuda::api();
        cuda::replace_api(&nothing);
        found = kernel_module();
        cuda::replace_api(&before);
    }
    ASSERT_TRUE(found.module);
    EXPECT_EQ(found.module->minor, 6);
    EXPECT_EQ(found.persistent, device::probe(0).front().persistent);
}

TEST_F(gdrdrv_test, an_older_module_says_so_too) {
    boot({.minor = 3, .mapping_type = 2});
    device_block const block(mib);
    EXPECT_EQ(device::open(0).pin(block.address(), mib).map().kind(), cache_kind::cached);
}

} // namespace
} // namespace barmap::contract
