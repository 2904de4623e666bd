// SPDX-License-Identifier: MIT
#include "contract/machine.hpp"
#include "fake/gdrdrv_driver.hpp"

/// The versions of the gdrdrv module.
namespace barmap::contract {
namespace {

class gdrdrv_test : public testing::Test {
protected:
    void SetUp() override { set_environment("BARMAP_BACKEND", "gdrdrv"); }
    void TearDown() override { machine_.reset(); }

    void boot(fake::gdrdrv_driver::behaviour how) {
        machine_.emplace("580", [&](fake::kernel& kernel) {
            auto const driver = std::make_shared<fake::gdrdrv_driver>(kernel, how);
            kernel.add(driver);
            return [driver] { return driver->pins(); };
        });
        machine_->use();
    }

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
    expect_refusal(refusal_of([] { (void)device::open(0); }), errc::backend_broken,
                   "use gdrdrv 1.9");
}

TEST_F(gdrdrv_test, a_newer_major_version_is_refused) {
    boot({.minor = 0, .major = 3});
    refusal const seen = refusal_of([] { (void)device::open(0); });
    expect_refusal(seen, errc::backend_broken, "use gdrdrv 3.0");
    EXPECT_NE(seen.advice.find("2.0 to 2.6"), std::string::npos);
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
    EXPECT_EQ(map.kind(), cache_kind::device);
    expect_same_memory(map, block.address(), 1);
}

TEST_F(gdrdrv_test, an_older_module_says_so_too) {
    boot({.minor = 3, .mapping_type = 2});
    device_block const block(mib);
    EXPECT_EQ(device::open(0).pin(block.address(), mib).map().kind(), cache_kind::cached);
}

} // namespace
} // namespace barmap::contract
