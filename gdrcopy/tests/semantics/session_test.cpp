// SPDX-License-Identifier: MIT
#include "semantics/fixture.hpp"

#include <fcntl.h>
#include <fstream>
#include <set>
#include <string>
#include <thread>

/// Sessions, and what a session and the library tell of themselves. The contract is that of
/// gdrapi.h.
namespace barmap::dropin {
namespace {

using session = semantics;

bool is_mapped(void const* address) {
    auto const wanted = reinterpret_cast<std::uintptr_t>(address);
    std::ifstream maps("/proc/self/maps");
    for (std::string line; std::getline(maps, line);) {
        std::size_t dash = 0, rest = 0;
        std::uintptr_t const begin = std::stoull(line, &dash, 16);
        std::uintptr_t const end = std::stoull(line.substr(dash + 1), &rest, 16);
        if (begin <= wanted && wanted < end)
            return true;
    }
    return false;
}

TEST_F(session, closes_once) {
    gdr_t const other = gdr_open();
    ASSERT_NE(other, nullptr);
    EXPECT_NE(other, g_);
    EXPECT_EQ(gdr_close(other), 0);
    EXPECT_EQ(gdr_close(other), EINVAL);
    EXPECT_EQ(gdr_close(nullptr), EINVAL);
    char nonsense[64] = {};
    EXPECT_EQ(gdr_close(reinterpret_cast<gdr_t>(nonsense)), EINVAL);
    EXPECT_EQ(gdr_close(reinterpret_cast<gdr_t>(std::uintptr_t{16})), EINVAL);
}

TEST_F(session, is_never_where_another_one_was) {
    std::set<gdr_t> former{g_};
    for (int i = 0; i < 1000; ++i) {
        gdr_t const other = gdr_open();
        ASSERT_NE(other, nullptr);
        EXPECT_TRUE(former.insert(other).second);
        EXPECT_EQ(gdr_close(other), 0);
    }
    gdr_t const last = gdr_open();
    former.erase(g_);
    for (gdr_t const each : former)
        EXPECT_EQ(gdr_close(each), EINVAL);
    EXPECT_EQ(gdr_close(last), 0);
}

TEST_F(session, serves_nothing_once_closed) {
    gpu_block const block = memory(1000);
    gdr_t const other = gdr_open();
    gdr_mh_t handle{};
    void* va = nullptr;
    ASSERT_EQ(gdr_pin_buffer(other, block.address, 8, 0, 0, &handle), 0);
    ASSERT_EQ(gdr_map(other, handle, &va, 8), 0);
    ASSERT_EQ(gdr_close(other), 0);
    gdr_info_t info{};
    info_v1 old{};
    int number = 0;
    char byte = 0;
    EXPECT_EQ(gdr_pin_buffer(other, block.address, 8, 0, 0, &handle), EINVAL);
    EXPECT_EQ(gdr_pin_buffer_v2(other, block.address, 8, 0, &handle), EINVAL);
    EXPECT_EQ(gdr_unpin_buffer(other, handle), EINVAL);
    EXPECT_EQ(gdr_get_callback_flag(other, handle, &number), EINVAL);
    EXPECT_EQ(gdr_get_info(other, handle, &info), EINVAL);
    EXPECT_EQ(get_info_v1(other, handle, &old), EINVAL);
    EXPECT_EQ(gdr_map(other, handle, &va, 8), EINVAL);
    EXPECT_EQ(gdr_unmap(other, handle, va, 8), EINVAL);
    EXPECT_EQ(gdr_copy_to_mapping(handle, va, &byte, 1), EINVAL);
    EXPECT_EQ(gdr_copy_from_mapping(handle, &byte, va, 1), EINVAL);
    EXPECT_EQ(gdr_driver_get_version(other, &number, &number), EINVAL);
    EXPECT_EQ(gdr_get_attribute(other, GDR_ATTR_USE_PERSISTENT_MAPPING, &number), EINVAL);
}

TEST_F(session, takes_its_mappings_along) {
    gpu_block const block = memory(1 << 20);
    gdr_mh_t const first = pinned(block.address, block.size);
    (void)mapped(first); // starts a copy engine, which stays while a session uses the GPU
    ASSERT_EQ(gdr_unpin_buffer(g_, first), 0);
    holdings const before = holdings::now();
    gdr_t const other = gdr_open();
    void* addresses[8] = {};
    for (void*& va : addresses) {
        gdr_mh_t handle{};
        ASSERT_EQ(gdr_pin_buffer(other, block.address, block.size, 0, 0, &handle), 0);
        ASSERT_EQ(gdr_map(other, handle, &va, block.size), 0);
        EXPECT_TRUE(is_mapped(va));
    }
    EXPECT_EQ(gdr_close(other), 0);
    for (void* const va : addresses)
        EXPECT_FALSE(is_mapped(va));
    EXPECT_EQ(holdings::now(), before);
    require_untouched(&cuda_, block);
}

TEST_F(session, leaves_nothing_after_many) {
    gpu_block const block = memory(1000);
    holdings const before = holdings::now();
    for (int i = 0; i < 100; ++i) {
        gdr_t const other = gdr_open();
        gdr_mh_t handle{};
        void* va = nullptr;
        ASSERT_EQ(gdr_pin_buffer(other, block.address, 8, 0, 0, &handle), 0);
        ASSERT_EQ(gdr_map(other, handle, &va, 8), 0);
        if (i % 3 == 0) {
            ASSERT_EQ(gdr_unmap(other, handle, va, 8), 0);
        }
        if (i % 3 <= 1) {
            ASSERT_EQ(gdr_unpin_buffer(other, handle), 0);
        }
        ASSERT_EQ(gdr_close(other), 0);
    }
    EXPECT_EQ(holdings::now(), before);
}

// The original's struct begins with its descriptor, and programs look at it.
TEST_F(session, begins_with_a_descriptor_or_minus_1) {
    int fd = 0;
    memcpy(&fd, g_, sizeof fd);
    EXPECT_TRUE(fd == -1 || ::fcntl(fd, F_GETFD) != -1) << fd;
}

TEST_F(session, works_on_a_thread_without_a_context) {
    gpu_block const block = memory(100000);
    std::thread([&] {
        void* context = this;
        require_cuda(cuda_.get_current(&context), "cuCtxGetCurrent");
        ASSERT_EQ(context, nullptr);
        gdr_t const other = gdr_open();
        gdr_mh_t handle{};
        void* va = nullptr;
        ASSERT_EQ(gdr_pin_buffer(other, block.address, block.size, 0, 0, &handle), 0);
        ASSERT_EQ(gdr_map(other, handle, &va, block.size), 0);
        gdr_info_t info{};
        ASSERT_EQ(gdr_get_info(other, handle, &info), 0);
        std::vector<unsigned char> bytes(block.size);
        auto* const cpu = static_cast<unsigned char*>(va) + (block.address - info.va);
        EXPECT_EQ(gdr_copy_from_mapping(handle, bytes.data(), cpu, bytes.size()), 0);
        require_pattern(bytes.data(), bytes.size(), block.seed, "without a context");
        EXPECT_EQ(gdr_unmap(other, handle, va, block.size), 0);
        EXPECT_EQ(gdr_unpin_buffer(other, handle), 0);
        EXPECT_EQ(gdr_close(other), 0);
        require_cuda(cuda_.get_current(&context), "cuCtxGetCurrent");
        EXPECT_EQ(context, nullptr) << "the thread's context is as before";
    }).join();
}

TEST_F(session, keeps_mappings_after_cuMemFree) {
    gpu_block const block = memory(4 << 20, 1);
    gdr_mh_t const handle = pinned(block.address, block.size);
    unsigned char* const cpu = mapped(handle) + (block.address - info_of(handle).va);
    release(block);
    std::vector<unsigned char> bytes(block.size);
    EXPECT_EQ(gdr_copy_from_mapping(handle, bytes.data(), cpu, bytes.size()), 0);
    require_pattern(bytes.data(), bytes.size(), 1, "after cuMemFree");
    fill_pattern(bytes.data(), bytes.size(), 2);
    EXPECT_EQ(gdr_copy_to_mapping(handle, cpu, bytes.data(), bytes.size()), 0);
    // Memory that comes later is not the mapping's.
    gpu_block const next = memory(4 << 20, 3);
    EXPECT_EQ(gdr_copy_from_mapping(handle, bytes.data(), cpu, bytes.size()), 0);
    require_pattern(bytes.data(), bytes.size(), 2, "after another cuMemAlloc");
    require_untouched(&cuda_, next);
    EXPECT_EQ(gdr_unmap(g_, handle, cpu - (block.address - info_of(handle).va), block.size), 0);
    EXPECT_EQ(gdr_unpin_buffer(g_, handle), 0);
}

TEST_F(session, tells_the_versions) {
    int major = 0, minor = 0;
    gdr_runtime_get_version(&major, &minor);
    EXPECT_EQ(major, 2);
    EXPECT_EQ(minor, 6);
    major = minor = 0;
    gdr_runtime_get_version(&major, nullptr);
    gdr_runtime_get_version(nullptr, &minor);
    gdr_runtime_get_version(nullptr, nullptr);
    EXPECT_EQ(major, 2);
    EXPECT_EQ(minor, 6);
    major = minor = 0;
    EXPECT_EQ(gdr_driver_get_version(g_, &major, &minor), 0);
    if (simulated()) { // there is no gdrdrv
        EXPECT_EQ(major, 2);
        EXPECT_EQ(minor, 6);
    }
    EXPECT_EQ(gdr_driver_get_version(nullptr, &major, &minor), EINVAL);
    EXPECT_EQ(gdr_driver_get_version(g_, nullptr, &minor), EINVAL);
    EXPECT_EQ(gdr_driver_get_version(g_, &major, nullptr), EINVAL);
}

TEST_F(session, tells_attributes) {
    int value = -1;
    EXPECT_EQ(gdr_get_attribute(g_, GDR_ATTR_USE_PERSISTENT_MAPPING, &value), 0);
    EXPECT_EQ(value, 1);
    value = -1;
    EXPECT_EQ(gdr_get_attribute(g_, GDR_ATTR_SUPPORT_PIN_FLAG_FORCE_PCIE, &value), 0);
    // On a real GPU the module decides; session_test.cpp of libgdrapi's inside has each answer of
    // its.
    EXPECT_TRUE(simulated() ? value == 1 : value == 0 || value == 1) << value;
    value = -1;
    EXPECT_EQ(gdr_get_attribute(g_, GDR_ATTR_USING_DMA_BUF_MMAP, &value), 0);
    EXPECT_TRUE(simulated() ? value == 1 : value == 0 || value == 1) << "gdrdrv is not used";
    // Through an integer, since an enumeration has no such values.
    using function = int (*)(gdr_t, unsigned, int*);
    auto const get = reinterpret_cast<function>(&gdr_get_attribute);
    for (unsigned const unknown : {0u, 4u, 100u, ~0u})
        EXPECT_EQ(get(g_, unknown, &value), EINVAL) << unknown;
    EXPECT_EQ(gdr_get_attribute(nullptr, GDR_ATTR_USE_PERSISTENT_MAPPING, &value), EINVAL);
    EXPECT_EQ(gdr_get_attribute(g_, GDR_ATTR_USE_PERSISTENT_MAPPING, nullptr), EINVAL);
}

TEST(library, names_the_mapping_types) {
    using function = int (*)(unsigned, char const**);
    auto const name_of = reinterpret_cast<function>(&gdr_get_mapping_type_string);
    std::set<std::string> names;
    for (unsigned type = GDR_MAPPING_TYPE_NONE; type < GDR_MAPPING_TYPE_MAX; ++type) {
        char const *name = nullptr, *again = nullptr;
        EXPECT_EQ(name_of(type, &name), 0);
        EXPECT_EQ(name_of(type, &again), 0);
        ASSERT_NE(name, nullptr);
        EXPECT_EQ(name, again) << "static";
        EXPECT_FALSE(std::string(name).empty());
        names.insert(name);
    }
    EXPECT_EQ(names, (std::set<std::string>{"None", "Write Combining", "Caching", "Device"}));
    char const* name = nullptr;
    for (unsigned const unknown : {4u, 5u, 100u, ~0u})
        EXPECT_EQ(name_of(unknown, &name), EINVAL) << unknown;
    EXPECT_EQ(name_of(GDR_MAPPING_TYPE_WC, nullptr), EINVAL);
}

} // namespace
} // namespace barmap::dropin
