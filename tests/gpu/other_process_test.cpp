// SPDX-License-Identifier: MIT
#include "real_gpu.hpp"

#include <sys/wait.h>
#include <unistd.h>

/// Memory of another process, by its IPC handle alone.
namespace barmap::gpu_test {
namespace {

constexpr std::size_t size = 5 * mib + 12;

using other_process = real_gpu;

/// Not a test: what the owner does, a process of its own. Tells its handle, and lives on until its
/// input ends.
TEST_F(other_process, DISABLED_owner) {
    device_block const neighbour(kib), block(size);
    write_by_driver(block.address(), pattern(size, 1));
    CUipcMemHandle handle{};
    expect_success(cu().ipc_get_mem_handle(&handle, block.address()));
    ASSERT_EQ(::write(STDERR_FILENO, &handle, sizeof handle), ssize_t(sizeof handle));
    char end = 0;
    ASSERT_EQ(::read(STDIN_FILENO, &end, 1), 1);
    EXPECT_TRUE(read_by_driver(block.address(), size) == pattern(size, 2));
    ASSERT_EQ(::write(STDERR_FILENO, &end, 1), 1);
    ASSERT_EQ(::read(STDIN_FILENO, &end, 1), 0);
    ::_exit(HasFailure());
}

class owner {
public:
    owner() {
        int to_us[2], to_it[2];
        EXPECT_EQ(::pipe(to_us), 0);
        EXPECT_EQ(::pipe(to_it), 0);
        child_ = ::fork();
        if (child_ == 0) {
            ::dup2(to_us[1], STDERR_FILENO);
            ::dup2(to_it[0], STDIN_FILENO);
            for (int const each : {to_us[0], to_us[1], to_it[0], to_it[1]})
                ::close(each);
            ::execl("/proc/self/exe", "gpu_test", "--gtest_also_run_disabled_tests",
                    "--gtest_filter=other_process.DISABLED_owner", nullptr);
            ::_exit(127);
        }
        ::close(to_us[1]);
        ::close(to_it[0]);
        from_it_ = to_us[0], to_it_ = to_it[1];
        EXPECT_EQ(::read(from_it_, &handle, sizeof handle), ssize_t(sizeof handle));
    }
    /// Lets it check what it sees.
    void look() const {
        char word = 'x';
        EXPECT_EQ(::write(to_it_, &word, 1), 1);
        EXPECT_EQ(::read(from_it_, &word, 1), 1);
    }
    int end() {
        ::close(to_it_);
        ::close(from_it_);
        int status = -1;
        ::waitpid(child_, &status, 0);
        return status;
    }
    CUipcMemHandle handle{};

private:
    pid_t child_ = -1;
    int from_it_ = -1, to_it_ = -1;
};

TEST_F(other_process, its_memory_is_mapped_by_its_handle) {
    device const gpu = device::open(0);
    owner other;
    pin const held = gpu.pin(other.handle, 0, size);
    EXPECT_EQ(held.gpu_address(), 0u);
    mapping const map = held.map();
    std::vector<std::byte> seen(size);
    map.copy_to_cpu(seen, 0);
    EXPECT_TRUE(seen == pattern(size, 1));
    mapping const part = gpu.pin(other.handle, mib + 5, 1000).map();
    seen.resize(1000);
    read(seen, part.window());
    auto const whole = pattern(size, 1);
    EXPECT_TRUE(std::equal(seen.begin(), seen.end(), whole.begin() + mib + 5));
    map.copy_to_gpu(0, pattern(size, 2));
    flush_stores();
    other.look();
    EXPECT_EQ(other.end(), 0);
    // The memory outlives its owner.
    seen.resize(size);
    map.copy_to_cpu(seen, 0);
    EXPECT_TRUE(seen == pattern(size, 2));
    EXPECT_EQ(code_of([&] { (void)gpu.pin(other.handle, 0, 8); }), errc::unsupported_memory);
}

} // namespace
} // namespace barmap::gpu_test
