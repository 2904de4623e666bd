// SPDX-License-Identifier: MIT
#include "semantics/child.hpp"
#include "semantics/fixture.hpp"
#include "shared/in_child.hpp"

#include <algorithm>
#include <unistd.h>

/// What the environment changes, what is printed, and what a forked child may do. The contract is
/// that of gdrapi.h.
namespace barmap::dropin {
namespace {

using settings = std::map<std::string, std::string>;

/// In a process of its own, on the simulated GPU unless the test machine has a real one.
class process : public ::testing::Test {
protected:
    void SetUp() override { (void)load_cuda(); }

    static bool simulated() { return holdings::of_the_simulation("barmap_sim_live") != nullptr; }
};

std::size_t lines_of(std::string const& text) {
    return static_cast<std::size_t>(std::count(text.begin(), text.end(), '\n'));
}

void expect_silent(ending const& end) {
    EXPECT_TRUE(end.exited_with(0)) << end.status << end.out << end.err;
    EXPECT_EQ(end.err, "");
}

TEST_F(process, is_silent_unless_asked) {
    for (settings const& each : {settings{}, settings{{"GDRCOPY_LOG_LEVEL", "1"}},
                                 settings{{"GDRCOPY_USE_DMABUF_MMAP", "0"}}}) {
        expect_silent(run_child("refusals", each));
        expect_silent(run_child("use", each));
        expect_silent(run_child("open", each));
        EXPECT_EQ(run_child("use", each).out, "");
    }
}

TEST_F(process, answers_the_same_with_and_without_a_log) {
    ending const quiet = run_child("refusals");
    ending const told = run_child("refusals", {{"GDRCOPY_ENABLE_LOGGING", "1"}});
    EXPECT_EQ(quiet.out, told.out) << "the log goes to stderr";
    EXPECT_EQ(quiet.out, "size " + std::to_string(EINVAL) + "\naddress " + std::to_string(EINVAL) +
                             "\nmanaged " + std::to_string(ENOTSUP) + "\nhandle " +
                             std::to_string(EINVAL) + "\nsession " + std::to_string(EINVAL) + "\n");
}

TEST_F(process, logs_refusals_where_the_variable_is_set) {
    for (char const* value : {"1", "0", "", "yes"}) {
        ending const end = run_child("refusals", {{"GDRCOPY_ENABLE_LOGGING", value}});
        EXPECT_TRUE(end.exited_with(0));
        EXPECT_GE(lines_of(end.err), 3u) << "GDRCOPY_ENABLE_LOGGING=" << value << ": " << end.err;
        EXPECT_NE(end.err.find("managed"), std::string::npos) << end.err;
    }
}

TEST_F(process, logs_as_much_as_the_level_says) {
    std::size_t before = ~std::size_t{0};
    for (char const* level : {"1", "2", "3", "4"}) {
        settings const each{{"GDRCOPY_ENABLE_LOGGING", "1"}, {"GDRCOPY_LOG_LEVEL", level}};
        ending const refused = run_child("refusals", each);
        EXPECT_LE(lines_of(refused.err), before) << level;
        before = lines_of(refused.err);
        EXPECT_GE(before, 3u) << level << ": " << refused.err;
        // A session that works has no error to tell.
        ending const used = run_child("use", each);
        EXPECT_TRUE(used.exited_with(0));
        EXPECT_EQ(used.err.empty(), level[0] >= '3') << level << ": " << used.err;
    }
    EXPECT_EQ(run_child("use", {{"GDRCOPY_ENABLE_LOGGING", "1"}}).err, "") << "4 is the default";
}

constexpr char none_opens[] = "open 0\nopen 0\nopen 0\n";

TEST_F(process, gives_no_session_without_a_GPU_and_says_nothing) {
    if (!simulated())
        GTEST_SKIP() << "the simulated GPU only";
    for (settings const& each :
         {settings{{"CUDA_VISIBLE_DEVICES", ""}}, settings{{"CUDA_VISIBLE_DEVICES", "-1"}},
          settings{{"BARMAP_BACKEND", "gdrdrv"}}, settings{{"BARMAP_BACKEND", "no such"}},
          settings{{"BARMAP_SIM_DEVICES", "0"}, {"BARMAP_BACKEND", "dmabuf"}},
          settings{{"BARMAP_SIM_DRIVER", "580"}, {"GDRCOPY_USE_DMABUF_MMAP", "1"}}}) {
        ending const end = run_child("open", each);
        expect_silent(end);
        EXPECT_EQ(end.out, none_opens) << each.begin()->first << '=' << each.begin()->second;
    }
    ending const told =
        run_child("open", {{"CUDA_VISIBLE_DEVICES", ""}, {"GDRCOPY_ENABLE_LOGGING", "1"}});
    EXPECT_EQ(told.out, none_opens);
    EXPECT_NE(told.err, "");
    EXPECT_EQ(run_child("open", {{"CUDA_VISIBLE_DEVICES", "0"}}).out, "open 1\nopen 1\nopen 1\n");
}

TEST_F(process, gives_no_session_where_CUDA_says_that_no_backend_works) {
    if (!simulated())
        GTEST_SKIP() << "the simulated GPU only";
    settings const old_driver{{"BARMAP_SIM_DRIVER", "580"}};
    ending const end = run_child("open_with_cuda", old_driver);
    expect_silent(end);
    EXPECT_EQ(end.out, none_opens);
    // Before CUDA is initialised nobody can know.
    EXPECT_EQ(run_child("open", old_driver).out, "open 1\nopen 1\nopen 1\n");
    EXPECT_EQ(run_child("pin_after_open", old_driver).out, "pin " + std::to_string(ENODEV) + "\n");
}

TEST_F(process, gives_no_session_where_there_is_no_device_file) {
    if (::access("/dev/nvidiactl", F_OK) == 0)
        GTEST_SKIP() << "this machine has one";
    ending const end = run_child("open", {{"BARMAP_SIM", "0"}});
    expect_silent(end);
    EXPECT_EQ(end.out, none_opens);
}

TEST_F(process, leaves_CUDA_to_children_that_are_forked_after_gdr_open) {
    for (settings const& each :
         {settings{}, settings{{"BARMAP_BACKEND", ""}}, settings{{"BARMAP_BACKEND", "auto"}}}) {
        ending const end = run_child("fork_after_open", each);
        expect_silent(end);
        EXPECT_EQ(end.out, "child 0\nchild of a user of CUDA 0\n");
    }
}

TEST_F(process, gives_no_session_to_children_of_one_that_has_used_CUDA) {
    ending const end = run_child("fork_after_open_with_cuda");
    expect_silent(end);
    EXPECT_EQ(end.out, "child 0\n");
}

TEST_F(process, is_told_to_use_dmabuf_alone) {
    if (!simulated())
        GTEST_SKIP() << "the simulated GPU only";
    ending const end = run_child("attributes", {{"GDRCOPY_USE_DMABUF_MMAP", "1"}});
    EXPECT_TRUE(end.exited_with(0)) << end.out << end.err;
    EXPECT_EQ(end.out, "persistent 1\ndmabuf 1\n");
    expect_silent(run_child("use", {{"GDRCOPY_USE_DMABUF_MMAP", "1"}}));
}

TEST_F(process, opens_a_session_without_making_a_context) {
    ending const end = run_child("before_cuda");
    expect_silent(end);
    EXPECT_EQ(end.out, "current 0\nactive 0\nactive 0\n");
}

TEST_F(process, serves_memory_of_every_GPU) {
    if (!simulated())
        GTEST_SKIP() << "the simulated GPU only";
    expect_silent(run_child("use_second", {{"BARMAP_SIM_DEVICES", "2"}}));
}

TEST_F(process, may_end_with_everything_open) {
    expect_silent(run_child("leave"));
}

using forked_child = semantics;

TEST_F(forked_child, has_no_handles_and_closes_its_session) {
    gpu_block const block = memory(100000);
    gdr_mh_t const handle = pinned(block.address, block.size);
    gdr_mh_t const not_mapped = pinned(block.address, block.size);
    unsigned char* const va = mapped(handle);
    auto const act = [&] {
        gdr_info_t info{};
        info_v1 old{};
        gdr_mh_t made{};
        void* address = nullptr;
        int flag = 0;
        char bytes[8] = {};
        int const answers[] = {
            gdr_pin_buffer(g_, block.address, 8, 0, 0, &made),
            gdr_pin_buffer_v2(g_, block.address, 8, 0, &made),
            gdr_get_info(g_, handle, &info),
            get_info_v1(g_, handle, &old),
            gdr_get_callback_flag(g_, handle, &flag),
            gdr_map(g_, not_mapped, &address, 8),
            gdr_map_v2(g_, not_mapped, &address, 8, 0),
            gdr_copy_to_mapping(handle, va, bytes, 8),
            gdr_copy_from_mapping(handle, bytes, va, 8),
            gdr_unmap(g_, handle, va, 8),
            gdr_unpin_buffer(g_, handle),
        };
        int which = 1;
        for (int const each : answers) {
            if (each <= 0 || each > 133)
                return which;
            ++which;
        }
        if (gdr_open())
            return 50;
        if (gdr_close(g_) != 0)
            return 60;
        return gdr_close(g_) == EINVAL ? 0 : 70;
    };
    int const status = test::in_child(0, [&] { ::_exit(act()); });
    EXPECT_TRUE(WIFEXITED(status)) << status;
    EXPECT_EQ(WEXITSTATUS(status), 0) << "number of the call that answered wrongly";
    // The parent's are as before.
    expect_same_memory(handle, va + (block.address - info_of(handle).va), block);
    EXPECT_EQ(gdr_unmap(g_, handle, va, 8), 0);
    EXPECT_EQ(gdr_unpin_buffer(g_, handle), 0);
    EXPECT_EQ(gdr_unpin_buffer(g_, not_mapped), 0);
}

TEST_F(forked_child, does_not_inherit_the_mapping) {
    gdr_mh_t const handle = pinned(memory(1000).address, 1000);
    unsigned char volatile* const va = mapped(handle);
    test::expect_segmentation_fault(test::in_child(1, [&] { ::_exit(va[0] == 0 ? 1 : 2); }));
}

TEST_F(forked_child, may_end_without_closing) {
    gpu_block const block = memory(1000);
    gdr_mh_t const handle = pinned(block.address, block.size);
    unsigned char* const va = mapped(handle);
    test::expect_exit(5, test::in_child(5, [] {}));
    expect_same_memory(handle, va + (block.address - info_of(handle).va), block);
}

} // namespace
} // namespace barmap::dropin
