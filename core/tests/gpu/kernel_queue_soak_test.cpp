// SPDX-License-Identifier: MIT
#include "kernel_queue_soak.hpp"
#include "other_run.hpp"
#include "peer_gpus.hpp"

#include <memory>

/// Kernel queues under load: random pieces inside the GPU, to the host and from it. The GPU checks
/// every byte as soon as the ticket is done, or the CPU as soon as it sees the signal. With
/// ENGINE_TEST_ROUNDS=20 each test copies more than 2 * 10^7 pieces.
///
/// Mutations of kernel_queue.cuh that should fail here: put_copy() without launch_flush; wait()
/// that returns ok at once; has_room() that returns true; publish() without the fence before it
/// stores GP_PUT (the channel may hang, and the kernel gives up after 20 s).
namespace barmap::gpu_test {
namespace {

/// Skips where kernels cannot submit.
void expect_queues() {
    try {
        kernel_queue const one(device::open(0));
    } catch (error const& failure) {
        if (failure.code() != errc::backend_absent)
            throw;
        GTEST_SKIP() << failure.what();
    }
}

class kernel_queue_soak_test : public real_gpu {
protected:
    void SetUp() override {
        real_gpu::SetUp();
        if (IsSkipped() || HasFatalFailure())
            return;
        expect_queues();
        if (IsSkipped())
            return;
        soak_ = std::make_unique<soak_of_queues>(
            std::make_unique<device_block>(soak_of_queues::source_bytes),
            std::make_unique<device_block>(soak_of_queues::target_bytes));
    }
    void TearDown() override {
        soak_.reset();
        real_gpu::TearDown();
    }

    std::unique_ptr<soak_of_queues> soak_;
};

TEST_F(kernel_queue_soak_test, alone) {
    soak_->expect_right("alone", gpu::fence_scope::system, rounds(1));
}

TEST_F(kernel_queue_soak_test, alone_with_fences_of_the_device) {
    soak_->expect_right("alone, scope device", gpu::fence_scope::device, rounds(1));
}

TEST_F(kernel_queue_soak_test, under_memory_traffic) {
    memory_traffic traffic(soak_of_queues::queues);
    soak_->expect_right("under traffic", gpu::fence_scope::system, rounds(1), &traffic);
    traffic.print();
}

TEST_F(kernel_queue_soak_test, under_memory_traffic_with_fences_of_the_device) {
    memory_traffic traffic(soak_of_queues::queues);
    soak_->expect_right("under traffic, scope device", gpu::fence_scope::device, rounds(1),
                        &traffic);
    traffic.print();
}

// The other process: it computes, copies, and submits to queues of its own.
TEST_F(kernel_queue_soak_test, DISABLED_keeps_the_gpu_busy_until_it_is_killed) {
    memory_traffic traffic(soak_of_queues::queues);
    soak_->expect_right("in the other process", gpu::fence_scope::system, 1, &traffic);
    ASSERT_FALSE(HasFailure());
    line(line_of_this_run).send("x", 1);
    soak_->expect_right("in the other process", gpu::fence_scope::system, ~std::size_t{0},
                        &traffic);
}

TEST_F(kernel_queue_soak_test, beside_another_process) {
    other_run other("kernel_queue_soak_test.DISABLED_keeps_the_gpu_busy_until_it_is_killed");
    char word = 0;
    ASSERT_TRUE(other.receive(&word, 1)) << "the other process has failed";
    soak_->expect_right("beside another process", gpu::fence_scope::system, rounds(1));
    other.kill();
}

TEST_F(kernel_queue_soak_test, in_graphs_on_two_streams) {
    soak_->expect_right_in_graphs("in graphs", rounds(500));
}

/// The same where one side is another GPU's memory.
class kernel_queue_soak_peer_test : public peer_gpus {
protected:
    void SetUp() override {
        peer_gpus::SetUp();
        if (IsSkipped() || HasFatalFailure())
            return;
        expect_queues();
        if (!IsSkipped())
            enable(0);
    }
    [[nodiscard]] soak_of_queues soak(int from, int to) const {
        return {block_of(from, soak_of_queues::source_bytes),
                block_of(to, soak_of_queues::target_bytes)};
    }
};

TEST_F(kernel_queue_soak_peer_test, puts_to_another_gpu) {
    soak(0, 1).expect_right("to another GPU", gpu::fence_scope::system, rounds(1));
}

TEST_F(kernel_queue_soak_peer_test, gets_from_another_gpu) {
    soak(1, 0).expect_right("from another GPU", gpu::fence_scope::system, rounds(1));
}

TEST_F(kernel_queue_soak_peer_test, puts_to_another_gpu_under_memory_traffic) {
    memory_traffic traffic(soak_of_queues::queues);
    soak(0, 1).expect_right("to another GPU, under traffic", gpu::fence_scope::system, rounds(1),
                            &traffic);
    traffic.print();
}

} // namespace
} // namespace barmap::gpu_test
