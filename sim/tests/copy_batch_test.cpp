// SPDX-License-Identifier: MIT
#include "driver.hpp"

#include <chrono>
#include <cstdio>
#include <limits>
#include <thread>
#include <utility>

namespace barmap::sim_test {
namespace {

using namespace barmap::cuda;
using bytes = std::vector<unsigned char>;

constexpr std::size_t no_copy = std::numeric_limits<std::size_t>::max();

CUdeviceptr address_of(void* host) {
    return reinterpret_cast<CUdeviceptr>(host);
}

class sim_copy_batch : public with_context {
protected:
    void SetUp() override {
        with_context::SetUp();
        ASSERT_EQ(cu().stream_create(&stream_, 1), success);
        void* host = nullptr;
        ASSERT_EQ(cu().mem_host_alloc(&host, size, 0), success);
        host_ = static_cast<unsigned char*>(host);
        device_ = allocate(size);
        to_ = {address_of(host_), address_of(host_ + 100), address_of(host_ + 50)};
        from_ = {device_, device_ + 1000, device_ + 7};
        sizes_ = {10, 20, 3};
    }
    void TearDown() override {
        EXPECT_EQ(cu().stream_destroy(stream_), success);
        EXPECT_EQ(cu().mem_free_host(host_), success);
        EXPECT_EQ(cu().mem_free(device_), success);
        with_context::TearDown();
    }
    CUresult run(CUstream on) {
        failed_ = 77;
        return cu().memcpy_batch_async(to_.data(), from_.data(), sizes_.data(), sizes_.size(),
                                       attributes_.data(), first_of_.data(), attributes_.size(),
                                       &failed_, on);
    }
    CUresult run() { return run(stream_); }
    /// Expects that it is refused, because of one copy or of none, and that nothing is copied.
    void expect_refused(std::size_t because_of) {
        bytes const before(host_, host_ + size);
        EXPECT_EQ(run(), error_invalid_value);
        EXPECT_EQ(failed_, because_of);
        EXPECT_EQ(cu().stream_synchronize(stream_), success);
        EXPECT_EQ(bytes(host_, host_ + size), before);
    }
    static CUmemcpyAttributes in_order(int order) { return {order, {}, {}, 0}; }

    static constexpr std::size_t size = 4096;
    CUstream stream_ = nullptr;
    unsigned char* host_ = nullptr;
    CUdeviceptr device_ = 0;
    std::vector<CUdeviceptr> to_, from_;
    std::vector<std::size_t> sizes_, first_of_{0};
    std::vector<CUmemcpyAttributes> attributes_{in_order(source_order_stream)};
    std::size_t failed_ = 0;
};

TEST_F(sim_copy_batch, copies_every_piece_in_stream_order) {
    auto const sent = pattern(size, 3);
    write(device_, sent);
    std::uint32_t& gate = *reinterpret_cast<std::uint32_t*>(host_ + 2048);
    __atomic_store_n(&gate, 0, __ATOMIC_RELEASE);
    EXPECT_EQ(cu().stream_wait_value32(stream_, address_of(&gate), 1, wait_value_eq), success);
    host_[0] = 99;
    EXPECT_EQ(run(), success);
    EXPECT_EQ(failed_, no_copy);
    EXPECT_EQ(host_[0], 99);
    __atomic_store_n(&gate, 1, __ATOMIC_RELEASE);
    EXPECT_EQ(cu().stream_synchronize(stream_), success);
    EXPECT_EQ(bytes(host_, host_ + 10), bytes(&sent[0], &sent[10]));
    EXPECT_EQ(bytes(host_ + 100, host_ + 120), bytes(&sent[1000], &sent[1020]));
    EXPECT_EQ(bytes(host_ + 50, host_ + 53), bytes(&sent[7], &sent[10]));
}

TEST_F(sim_copy_batch, reads_a_source_during_the_call_where_it_is_told_to) {
    bytes ordinary{1, 2, 3, 4};
    std::uint32_t& gate = *reinterpret_cast<std::uint32_t*>(host_ + 2048);
    __atomic_store_n(&gate, 0, __ATOMIC_RELEASE);
    EXPECT_EQ(cu().stream_wait_value32(stream_, address_of(&gate), 1, wait_value_eq), success);
    host_[0] = 5;
    to_ = {device_, device_ + 8};
    from_ = {address_of(ordinary.data()), address_of(host_)};
    sizes_ = {4, 1};
    attributes_ = {in_order(source_order_during_call), in_order(source_order_stream)};
    first_of_ = {0, 1};
    EXPECT_EQ(run(), success);
    ordinary = {9, 9, 9, 9};
    host_[0] = 6;
    __atomic_store_n(&gate, 1, __ATOMIC_RELEASE);
    EXPECT_EQ(cu().stream_synchronize(stream_), success);
    EXPECT_EQ(read(device_, 4), (bytes{1, 2, 3, 4}));
    EXPECT_EQ(read(device_ + 8, 1), bytes{6});
}

TEST_F(sim_copy_batch, ordinary_memory_is_read_and_written_on_return) {
    write(device_, pattern(16, 1));
    std::uint32_t& gate = *reinterpret_cast<std::uint32_t*>(host_ + 2048);
    for (bool const to_gpu : {false, true}) {
        __atomic_store_n(&gate, 0, __ATOMIC_RELEASE);
        EXPECT_EQ(cu().stream_wait_value32(stream_, address_of(&gate), 1, wait_value_eq), success);
        std::thread opener([&] {
            std::this_thread::sleep_for(std::chrono::milliseconds(20));
            __atomic_store_n(&gate, 1, __ATOMIC_RELEASE);
        });
        bytes ordinary = to_gpu ? pattern(16, 2) : bytes(16);
        to_ = {to_gpu ? device_ : address_of(ordinary.data())};
        from_ = {to_gpu ? address_of(ordinary.data()) : device_};
        sizes_ = {16};
        EXPECT_EQ(run(), success);
        EXPECT_EQ(cu().stream_query(stream_), success);
        EXPECT_EQ(ordinary, pattern(16, to_gpu ? 2 : 1));
        opener.join();
    }
    EXPECT_EQ(read(device_, 16), pattern(16, 2));
}

TEST_F(sim_copy_batch, refuses_the_legacy_stream) {
    for (std::uintptr_t const legacy : {0, 1}) {
        EXPECT_EQ(run(reinterpret_cast<CUstream>(legacy)), error_invalid_value);
        EXPECT_EQ(failed_, no_copy);
    }
}

TEST_F(sim_copy_batch, names_the_copy_that_it_refuses) {
    sizes_[1] = 0;
    expect_refused(1);
    sizes_[1] = size;
    expect_refused(1);
    sizes_[1] = 20;
    to_[2] = 0;
    expect_refused(2);
    CUdeviceptr const gone = allocate(4u << 20);
    EXPECT_EQ(cu().mem_free(gone), success);
    to_[2] = gone;
    expect_refused(2);
    to_[2] = address_of(host_ + 50);
    from_[0] = 0;
    expect_refused(0);
    from_[0] = device_;
    attributes_ = {in_order(source_order_any), in_order(0)};
    first_of_ = {0, 2};
    expect_refused(2);
    attributes_[1] = in_order(source_order_stream);
    attributes_[1].flags = 2;
    expect_refused(2);
    attributes_[1].flags = 1;
    EXPECT_EQ(run(), success);
}

TEST_F(sim_copy_batch, refuses_lists_that_do_not_fit) {
    attributes_.push_back(attributes_[0]);
    for (std::vector<std::size_t> const& first_of :
         {std::vector<std::size_t>{1, 2}, {0, 0}, {0, 3}}) {
        first_of_ = first_of;
        expect_refused(no_copy);
    }
    attributes_.assign(4, attributes_[0]);
    first_of_ = {0, 1, 2, 3};
    expect_refused(no_copy);
    attributes_.clear();
    expect_refused(no_copy);
    attributes_ = {in_order(source_order_stream)};
    sizes_.clear();
    expect_refused(no_copy);
}

BARMAP_SIM_PEER(batch_of_nothing) {
    cu().init(0);
    std::size_t failed = 0;
    std::printf("%d", cu().memcpy_batch_async(nullptr, nullptr, nullptr, 0, nullptr, nullptr, 0,
                                              &failed, nullptr));
}

BARMAP_SIM_PEER(look_up_batches) {
    cu().init(0);
    auto* const look_up = function<CUresult(char const*, void**, int, unsigned long long, int*)>(
        "cuGetProcAddress_v2");
    for (int const version : {12080, 13000}) {
        void* found = nullptr;
        int status = -1;
        (void)look_up("cuMemcpyBatchAsync", &found, version, 0, &status);
        std::printf("%s%d ",
                    !found                                  ? "none"
                    : found == symbol("cuMemcpyBatchAsync") ? "12"
                                                            : "13",
                    status);
    }
}

TEST_F(sim_copy_batch, is_missing_in_drivers_before_12_8) {
    EXPECT_EQ(in_other_process("BARMAP_SIM_DRIVER=550", "batch_of_nothing"), "500");
    EXPECT_EQ(in_other_process("BARMAP_SIM_DRIVER=570", "batch_of_nothing"), "1");
    EXPECT_EQ(in_other_process("BARMAP_SIM_DRIVER=550", "look_up_batches"), "none1 none1 ");
    EXPECT_EQ(in_other_process("BARMAP_SIM_DRIVER=570", "look_up_batches"), "120 120 ");
    EXPECT_EQ(in_other_process("BARMAP_SIM_DRIVER=580", "look_up_batches"), "120 130 ");
}

TEST_F(sim_copy_batch, each_version_of_CUDA_gets_its_own) {
    auto* const look_up = function<CUresult(char const*, void**, int, unsigned long long, int*)>(
        "cuGetProcAddress_v2");
    int status = 0;
    for (auto const& [version, name] :
         {std::pair{13000, "cuMemcpyBatchAsync_v2"}, {12080, "cuMemcpyBatchAsync"}}) {
        void* found = nullptr;
        EXPECT_EQ(look_up("cuMemcpyBatchAsync", &found, version, 0, &status), success);
        EXPECT_EQ(found, symbol(name));
    }
    void* found = &status;
    EXPECT_EQ(look_up("cuMemcpyBatchAsync", &found, 12000, 0, &status), success);
    EXPECT_EQ(found, nullptr);
}

} // namespace
} // namespace barmap::sim_test
