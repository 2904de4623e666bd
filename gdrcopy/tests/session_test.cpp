// SPDX-License-Identifier: MIT
// Sessions from inside: calls that meet in the midst of others, and which backend a session takes.
// The library's own sources, so that what lies beneath them can be held up, or replaced.
#include "cuda/driver_api.hpp"
#include "fake/gdrdrv_driver.hpp"
#include "fake/kernel.hpp"
#include "fake/simulation.hpp"
#include "map/gdrdrv/gdrdrv_abi.hpp"
#include "mapped_handle.hpp"
#include "shared/changed_calls.hpp"
#include "shared/changed_driver.hpp"

#include <atomic>
#include <cerrno>
#include <cstdlib>
#include <fstream>
#include <functional>
#include <gdrapi.h>
#include <gtest/gtest.h>
#include <optional>
#include <string>
#include <thread>
#include <unistd.h>

namespace barmap::dropin {
namespace {

constexpr std::size_t page = 65536;

/// Whether a thread of this process waits for something.
bool sleeps(pid_t thread) {
    std::ifstream file("/proc/self/task/" + std::to_string(thread) + "/stat");
    std::string text;
    std::getline(file, text);
    std::size_t const name_end = text.rfind(')');
    return name_end != std::string::npos && text.substr(name_end + 2, 1) == "S";
}

class gdrapi_session : public testing::Test {
protected:
    void SetUp() override {
        ::setenv("BARMAP_SIM", "1", 1);
        ::setenv("BARMAP_SIM_DRIVER", "610", 1);
        ::setenv("BARMAP_COPY", "portable", 1);
        ::setenv("BARMAP_ENGINE", "none", 1);
    }
    void TearDown() override {
        if (g_) {
            EXPECT_EQ(gdr_close(g_), 0);
        }
        if (block_) {
            EXPECT_EQ(cuda::api().mem_free(block_), cuda::success);
        }
    }

    void use_context() {
        CUcontext context = nullptr;
        ASSERT_EQ(cuda::api().primary_ctx_retain(&context, 0), cuda::success);
        ASSERT_EQ(cuda::api().ctx_set_current(context), cuda::success);
        ASSERT_EQ(cuda::api().mem_alloc(&block_, 4 * page), cuda::success);
    }
    void open() {
        g_ = gdr_open();
        ASSERT_NE(g_, nullptr);
    }
    [[nodiscard]] std::uint64_t address() const { return (block_ + page - 1) / page * page; }

    static inline std::function<void()> once_; ///< run by the next call that is hooked
    static void run_once() {
        if (auto const run = std::exchange(once_, nullptr))
            run();
    }

    CUdeviceptr block_ = 0;
    gdr_t g_ = nullptr;
};

// The pin is made, but no handle of a closed session may be given out: nobody could free it.
TEST_F(gdrapi_session, a_pin_that_meets_the_close_is_refused) {
    use_context();
    open();
    gdr_mh_t handle{};
    ASSERT_EQ(gdr_pin_buffer(g_, address(), page, 0, 0, &handle), 0); // starts the backend
    ASSERT_EQ(gdr_unpin_buffer(g_, handle), 0);
    test::changed_driver driver;
    driver->mem_get_handle_for_address_range = [](void* file, CUdeviceptr at, std::size_t bytes,
                                                  int type, unsigned long long flags) {
        run_once();
        return test::changed_driver::real.mem_get_handle_for_address_range(file, at, bytes, type,
                                                                           flags);
    };
    gdr_t const closed = std::exchange(g_, nullptr);
    once_ = [&] { std::thread([&] { EXPECT_EQ(gdr_close(closed), 0); }).join(); };
    unsigned long const place = handle.h & gdrapi::detail::index_mask;
    EXPECT_EQ(gdr_pin_buffer(closed, address(), page, 0, 0, &handle), EINVAL);
    EXPECT_FALSE(once_) << "it was closed meanwhile";
    open();
    ASSERT_EQ(gdr_pin_buffer(g_, address(), page, 0, 0, &handle), 0);
    EXPECT_EQ(handle.h & gdrapi::detail::index_mask, place) << "the refused one's was freed";
    EXPECT_EQ(gdr_unpin_buffer(g_, handle), 0);
}

// Who waits for a handle while it is mapped finds it unpinned.
TEST_F(gdrapi_session, a_use_that_meets_the_unpin_is_refused) {
    use_context();
    open();
    unsigned refused = 0;
    for (int round = 0; round < 20; ++round) {
        gdr_mh_t handle{};
        ASSERT_EQ(gdr_pin_buffer(g_, address(), page, 0, 0, &handle), 0);
        std::thread user;
        int result = -1;
        gdr_info_t info{};
        once_ = [&] {
            std::atomic<pid_t> number{0};
            user = std::thread([&] {
                number = ::gettid();
                result = gdr_get_info(g_, handle, &info);
            });
            while (number == 0 || !sleeps(number)) // for the handle, which this thread maps
                std::this_thread::yield();
        };
        test::changed_calls calls;
        calls->mmap = [](void* at, std::size_t bytes, int protection, int flags, int fd,
                         off_t offset) {
            run_once();
            return os::linux_calls().mmap(at, bytes, protection, flags, fd, offset);
        };
        void* mapped = nullptr;
        EXPECT_EQ(gdr_map(g_, handle, &mapped, page), 0);
        EXPECT_EQ(gdr_unpin_buffer(g_, handle), 0);
        user.join();
        // Either may have come first, but nobody sees a handle that is pinned no more.
        EXPECT_TRUE(result == EINVAL || (result == 0 && info.mapped)) << result;
        refused += result == EINVAL;
    }
    RecordProperty("refused", static_cast<int>(refused));
}

/// A machine on which gdrdrv, too, serves the GPU, and comes first.
class gdrapi_with_module : public gdrapi_session {
protected:
    void SetUp() override {
        gdrapi_session::SetUp();
        load_module({});
    }
    void TearDown() override {
        if (g_) {
            EXPECT_EQ(gdr_close(g_), 0);
            g_ = nullptr;
        }
        gdrapi_session::TearDown();
    }

    /// Instead of the one that is loaded.
    void load_module(fake::gdrdrv_driver::behaviour how) {
        kernel_.reset(); // there is one at a time
        kernel_.emplace();
        module_ = std::make_shared<fake::gdrdrv_driver>(*kernel_, how);
        kernel_->add(module_);
    }
    [[nodiscard]] fake::gdrdrv_driver& module() { return *module_; }

    [[nodiscard]] int attribute(gdr_attr_t which) const {
        int value = -1;
        EXPECT_EQ(gdr_get_attribute(g_, which, &value), 0);
        return value;
    }

    static int descriptor_of(gdr_t of) { return *reinterpret_cast<int const*>(of); }

    std::optional<fake::kernel> kernel_;

private:
    std::shared_ptr<fake::gdrdrv_driver> module_;
};

TEST_F(gdrapi_with_module, a_closed_session_shows_no_descriptor) {
    use_context();
    open();
    gdr_t const closed = std::exchange(g_, nullptr);
    EXPECT_GE(descriptor_of(closed), 0);
    EXPECT_EQ(gdr_close(closed), 0);
    EXPECT_EQ(descriptor_of(closed), -1);
}

TEST_F(gdrapi_with_module, takes_the_backend_that_gdrcopys_variable_asks_for) {
    use_context();
    CUcontext context = nullptr;
    ASSERT_EQ(cuda::api().ctx_get_current(&context), cuda::success);
    for (bool const asked : {true, false})
        for (CUcontext const current : {CUcontext{}, context}) {
            SCOPED_TRACE(testing::Message() << asked << (current != nullptr));
            ::setenv("GDRCOPY_USE_DMABUF_MMAP", asked ? "1" : "0", 1);
            ASSERT_EQ(cuda::api().ctx_set_current(current), cuda::success);
            open();
            int by_dma_buf = -1;
            EXPECT_EQ(gdr_get_attribute(g_, GDR_ATTR_USING_DMA_BUF_MMAP, &by_dma_buf), 0);
            EXPECT_EQ(by_dma_buf, asked);
            EXPECT_EQ(descriptor_of(g_) < 0, asked);
            EXPECT_EQ(gdr_close(std::exchange(g_, nullptr)), 0);
        }
}

// Whether it was started, or only found.
TEST_F(gdrapi_with_module, tells_the_attributes_and_the_version_of_the_module) {
    use_context();
    CUcontext context = nullptr;
    ASSERT_EQ(cuda::api().ctx_get_current(&context), cuda::success);
    for (bool const persistent : {true, false})
        for (bool const force_pcie : {true, false})
            for (CUcontext const current : {CUcontext{}, context}) {
                SCOPED_TRACE(testing::Message()
                             << persistent << force_pcie << (current != nullptr));
                load_module({.minor = 5, .persistent = persistent, .force_pcie = force_pcie});
                ASSERT_EQ(cuda::api().ctx_set_current(current), cuda::success);
                open();
                EXPECT_EQ(attribute(GDR_ATTR_USE_PERSISTENT_MAPPING), persistent);
                EXPECT_EQ(attribute(GDR_ATTR_SUPPORT_PIN_FLAG_FORCE_PCIE), force_pcie);
                EXPECT_EQ(attribute(GDR_ATTR_USING_DMA_BUF_MMAP), 0);
                int major = 0, minor = 0;
                EXPECT_EQ(gdr_driver_get_version(g_, &major, &minor), 0);
                EXPECT_EQ(major, 2);
                EXPECT_EQ(minor, 5);
                EXPECT_EQ(gdr_close(std::exchange(g_, nullptr)), 0);
            }
    ASSERT_EQ(cuda::api().ctx_set_current(context), cuda::success);
}

// As gdrcopy has it: 1 alone asks for dma-bufs.
TEST_F(gdrapi_with_module, takes_other_values_of_gdrcopys_variable_for_none) {
    use_context();
    for (char const* value : {"", "01", "10", "2", "true", "1 "}) {
        ::setenv("GDRCOPY_USE_DMABUF_MMAP", value, 1);
        open();
        EXPECT_EQ(attribute(GDR_ATTR_USING_DMA_BUF_MMAP), 0) << value;
        EXPECT_EQ(gdr_close(std::exchange(g_, nullptr)), 0);
    }
}

TEST_F(gdrapi_with_module, hands_tokens_to_an_old_module) {
    load_module({.minor = 4});
    use_context();
    open();
    gdr_mh_t handle{};
    ASSERT_EQ(gdr_pin_buffer(g_, address(), page, 77, 5, &handle), 0);
    EXPECT_EQ(module().last_token(), 77u);
    EXPECT_EQ(module().last_va_space(), 5u);
    EXPECT_EQ(gdr_unpin_buffer(g_, handle), 0);
}

TEST_F(gdrapi_with_module, tells_that_memory_was_revoked) {
    load_module({.persistent = false});
    use_context();
    open();
    gdr_mh_t first{}, second{};
    ASSERT_EQ(gdr_pin_buffer(g_, address(), page, 0, 0, &first), 0);
    ASSERT_EQ(gdr_pin_buffer(g_, address() + page, page, 0, 0, &second), 0);
    auto const flag_of = [&](gdr_mh_t of) {
        int flag = -1;
        EXPECT_EQ(gdr_get_callback_flag(g_, of, &flag), 0);
        return flag;
    };
    EXPECT_EQ(flag_of(first), 0);
    module().take_away(address());
    EXPECT_EQ(flag_of(first), 1);
    EXPECT_EQ(flag_of(second), 0);
    EXPECT_EQ(gdr_unpin_buffer(g_, first), 0);
    EXPECT_EQ(gdr_unpin_buffer(g_, second), 0);
}

// One that can be opened, and pins nothing.
TEST_F(gdrapi_with_module, a_module_that_does_not_work_is_not_forced) {
    use_context();
    CUcontext context = nullptr;
    ASSERT_EQ(cuda::api().ctx_get_current(&context), cuda::success);
    static int refused;
    refused = 0;
    test::changed_calls calls;
    calls->ioctl = [](int fd, unsigned long request, void* argument) {
        using namespace backend::gdrdrv;
        if (request != abi::pin && request != abi::pin_v2)
            return test::changed_calls::real.ioctl(fd, request, argument);
        ++refused;
        errno = EINVAL;
        return -1;
    };
    for (CUcontext const current : {CUcontext{}, context}) {
        SCOPED_TRACE(current != nullptr);
        ASSERT_EQ(cuda::api().ctx_set_current(current), cuda::success);
        open();
        EXPECT_EQ(attribute(GDR_ATTR_USING_DMA_BUF_MMAP), current != nullptr)
            << "without a context the module is found, and not tried";
        ASSERT_EQ(cuda::api().ctx_set_current(context), cuda::success);
        gdr_mh_t handle{};
        ASSERT_EQ(gdr_pin_buffer(g_, address(), page, 0, 0, &handle), 0);
        void* mapped = nullptr;
        ASSERT_EQ(gdr_map(g_, handle, &mapped, page), 0);
        EXPECT_GT(refused, 0);
        int const sent = 7654;
        int seen = 0;
        EXPECT_EQ(gdr_copy_to_mapping(handle, mapped, &sent, sizeof sent), 0);
        EXPECT_EQ(cuda::api().memcpy_dtoh(&seen, address(), sizeof seen), cuda::success);
        EXPECT_EQ(seen, sent);
        EXPECT_EQ(gdr_unmap(g_, handle, mapped, page), 0);
        EXPECT_EQ(gdr_unpin_buffer(g_, handle), 0);
        EXPECT_EQ(gdr_close(std::exchange(g_, nullptr)), 0);
    }
}

} // namespace
} // namespace barmap::dropin
