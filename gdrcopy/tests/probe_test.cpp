// SPDX-License-Identifier: MIT
#include "probe.hpp"

#include "base/config.hpp"
#include "shared/caught.hpp"
#include "shared/changed_calls.hpp"

#include <barmap/error.hpp>

#include <cerrno>
#include <cstdlib>
#include <dlfcn.h>
#include <gtest/gtest.h>
#include <string>
#include <unistd.h>

/// How libgdrapi looks for a GPU without cuInit, on a machine whose files the test makes up.
namespace barmap::gdrapi {
namespace {

class probe_test : public testing::Test {
protected:
    void SetUp() override {
        ::unsetenv("BARMAP_SIM");
        ::unsetenv("CUDA_VISIBLE_DEVICES");
        config::read_again();
        there = "";
        calls_->dlopen = [](char const*, int flags) { return ::dlopen(nullptr, flags); };
        calls_->open = [](char const* path, int flags) {
            if (std::string_view(path) == "/dev/nvidiactl")
                path = "/dev/null";
            return os::linux_calls().open(path, flags);
        };
        calls_->access = [](char const* path, int mode) {
            EXPECT_EQ(mode, R_OK | W_OK) << path;
            errno = ENOENT;
            return path == there ? 0 : -1;
        };
    }

    static inline std::string there; ///< the one GPU's device node

private:
    test::changed_calls calls_;
};

TEST_F(probe_test, any_gpu_that_can_be_opened_will_do) {
    for (char const* node : {"/dev/nvidia0", "/dev/nvidia1", "/dev/nvidia63"}) {
        there = node;
        EXPECT_NO_THROW(expect_gpu()) << node;
    }
}

TEST_F(probe_test, without_one_it_is_said_what_was_looked_for) {
    for (char const* node : {"", "/dev/nvidia64", "/dev/nvidia-1"}) {
        there = node;
        error const failure = test::caught([] { expect_gpu(); });
        EXPECT_EQ(failure.code(), errc::no_device);
        EXPECT_NE(failure.advice().find("no /dev/nvidia0, "), std::string::npos)
            << failure.advice();
    }
}

} // namespace
} // namespace barmap::gdrapi
