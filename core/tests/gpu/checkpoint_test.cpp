// SPDX-License-Identifier: MIT
#include "cuda/context_scope.hpp"
#include "cuda/nonce.hpp"
#include "driver/rm/client.hpp"
#include "driver/rm/ipc_handle.hpp"
#include "gpu/gpu_identity.hpp"
#include "other_run.hpp"
#include "real_gpu.hpp"

#include <barmap/gpu/ring.cuh>

#include <algorithm>
#include <array>
#include <chrono>
#include <cstdio>
#include <cstring>
#include <dlfcn.h>
#include <filesystem>
#include <optional>
#include <span>
#include <string>
#include <sys/stat.h>

/// Checkpoints of this process by another one, with CUDA's own calls.
namespace barmap::gpu_test {
namespace {

using clock = std::chrono::steady_clock;
using namespace std::chrono_literals;

double milliseconds_since(clock::time_point begin) {
    return std::chrono::duration<double, std::milli>(clock::now() - begin).count();
}

/// All of CUcheckpoint...Args are 64 bytes, of which all but the time-out may be 0.
using arguments = std::array<std::uint32_t, 16>;

struct round_report {
    int result = 0; ///< the first CUresult that is none of success
    std::array<char, 24> call{};
    double checkpoint_ms = 0, restore_ms = 0;
    std::size_t free_running = 0, free_between = 0;
};

CUresult checkpoint_call(char const* name, int pid, arguments with = {}) {
    auto* const function =
        reinterpret_cast<CUresult (*)(int, void*)>(::dlsym(cuda::api().library, name));
    return function ? function(pid, with.data()) : cuda::error_not_found;
}

std::size_t free_memory() {
    std::size_t bytes = 0, all = 0;
    expect_success(cuda::api().mem_get_info(&bytes, &all));
    return bytes;
}

round_report checkpoint_and_restore(int pid) {
    round_report report;
    auto const call = [&](char const* name, arguments with = {}) {
        CUresult const result = checkpoint_call(name, pid, with);
        if (result != cuda::success && report.result == cuda::success) {
            report.result = result;
            std::snprintf(report.call.data(), report.call.size(), "%s",
                          name + std::strlen("cuCheckpointProcess"));
        }
        return result == cuda::success;
    };
    report.free_running = free_memory();
    if (!call("cuCheckpointProcessLock", {10'000}))
        return report;
    auto begin = clock::now();
    if (call("cuCheckpointProcessCheckpoint")) {
        report.checkpoint_ms = milliseconds_since(begin);
        report.free_between = free_memory();
        begin = clock::now();
        call("cuCheckpointProcessRestore");
        report.restore_ms = milliseconds_since(begin);
    }
    call("cuCheckpointProcessUnlock");
    return report;
}

/// Not a test: the process that checkpoints another one, once for each PID that it gets.
TEST(checkpoint_controller, DISABLED_serves) {
    line const to_test(line_of_this_run);
    CUcontext context = nullptr;
    expect_success(cuda::api().primary_ctx_retain(&context, 0));
    expect_success(cuda::api().ctx_set_current(context));
    for (int pid = 0; to_test.receive(&pid, sizeof pid);) {
        round_report const report = checkpoint_and_restore(pid);
        to_test.send(&report, sizeof report);
    }
    ::_exit(HasFailure());
}

class checkpoint_gpu : public real_gpu {
protected:
    void SetUp() override {
        real_gpu::SetUp();
        if (IsSkipped())
            return;
        if (!::dlsym(cuda::api().library, "cuCheckpointProcessLock"))
            GTEST_SKIP() << "this driver has no checkpoints: R570 has";
        controller_.emplace("checkpoint_controller.DISABLED_serves");
    }
    void TearDown() override {
        controller_.reset();
        real_gpu::TearDown();
    }

    round_report round() {
        int const pid = ::getpid();
        controller_->send(&pid, sizeof pid);
        round_report report;
        EXPECT_TRUE(controller_->receive(&report, sizeof report));
        EXPECT_EQ(report.result, cuda::success) << report.call.data();
        return report;
    }

    static void print(char const* what, round_report const& of) {
        std::printf("%s: checkpoint %.0f ms, restore %.0f ms; in between %.0f MiB more are free\n",
                    what, of.checkpoint_ms, of.restore_ms,
                    (double(of.free_between) - double(of.free_running)) / double(mib));
    }

private:
    std::optional<other_run> controller_;
};

std::vector<copy_piece> pieces(std::uintptr_t to, std::uintptr_t from, std::size_t bytes) {
    std::vector<copy_piece> result;
    for (std::size_t at = 0; at < bytes; at += 4 * kib)
        result.push_back({to + at, from + at, 4 * kib});
    return result;
}

TEST_F(checkpoint_gpu, everything_survives_round_after_round) {
    constexpr std::size_t size = 64 * mib;
    device_block const block(size);
    std::size_t const free_at_first = free_memory();
    round_report const alone = round();
    print("CUDA alone", alone);

    device const gpu = device::open(0);
    mapping const map = gpu.pin(block.address(), size).map();
    std::byte* const data = map.data();
    pin const own = gpu.allocate(4 * mib);
    mapping const own_map = own.map();
    pinned_block const host(mib);
    std::optional<batch_queue> queue;
    if (code_of([&] { queue = gpu.batch_queue(); }))
        std::printf("no engine takes batches here\n");
    arena const words(gpu, mib, mib);
    ring_to_gpu<std::uint64_t> ring(words, 64);
    gpu::consumer<std::uint64_t> kernel(ring.handle_for_thread());
    std::vector<std::byte> seen(size);
    double prepare_ms = 0, restore_ms = 0;
    std::size_t const all_rounds = rounds(10);
    for (unsigned i = 0; i < all_rounds; ++i) {
        auto const sent = pattern(size, i);
        map.copy_to_gpu(0, sent);
        write(own_map.window(), std::span(sent).first(4 * mib));
        batch_ticket ticket{};
        if (queue)
            ticket = queue->submit(pieces(host.address(), block.address(), mib));
        EXPECT_TRUE(ring.try_push(i));
        ring.flush();
        auto begin = clock::now();
        checkpoint_prepare(10s);
        prepare_ms = std::max(prepare_ms, milliseconds_since(begin));
        EXPECT_EQ(code_of([&] { (void)gpu.pin(block.address(), 8); }), errc::checkpointed);
        round_report const now = round();
        begin = clock::now();
        checkpoint_restore();
        restore_ms = std::max(restore_ms, milliseconds_since(begin));
        if (i == 0)
            print("with barmap, prepared", now);
        // All that barmap kept of the memory would be missing.
        EXPECT_LE(alone.free_between, now.free_between + 8 * mib) << "round " << i;
        ASSERT_EQ(map.data(), data);
        expect_success(cu().memcpy_dtoh(seen.data(), block.address(), size));
        ASSERT_TRUE(seen == sent) << "round " << i << ": what CUDA has";
        std::ranges::fill(seen, std::byte{});
        read(seen, map.window());
        ASSERT_TRUE(seen == sent) << "round " << i << ": what the mapping reaches";
        expect_same_memory(own_map, own.gpu_address(), i);
        map.copy_to_cpu(seen, 0);
        ASSERT_TRUE(seen == sent) << "round " << i << ": what engines copy";
        expect_same_memory(map, block.address(), i + 1);
        std::uint64_t message = 0;
        ASSERT_EQ(kernel.pop(message, 1'000'000'000), gpu::status::ok);
        EXPECT_EQ(message, i);
        if (queue) {
            EXPECT_TRUE(queue->done(ticket));
            EXPECT_TRUE(std::equal(host.bytes().begin(), host.bytes().end(), sent.begin()))
                << "round " << i << ": a batch of before";
            auto const latest = pattern(mib, i + 7);
            write_by_driver(block.address(), latest.data(), mib);
            EXPECT_TRUE(
                queue->wait(queue->submit(pieces(host.address(), block.address(), mib)), 10s));
            EXPECT_TRUE(same_bytes(host.bytes(), latest))
                << "round " << i << ": a batch of afterwards";
        }
    }
    std::printf("%zu rounds; at most %.1f ms to prepare, %.1f ms to restore; batches by %s; %.0f "
                "MiB less are free than at first\n",
                all_rounds, prepare_ms, restore_ms,
                queue ? std::string(queue->engine()).c_str() : "none",
                (double(free_at_first) - double(free_memory())) / double(mib));
}

TEST_F(checkpoint_gpu, without_prepare_is_noticed_and_put_right) {
    constexpr std::size_t size = 4 * mib;
    device_block const block(size);
    device const gpu = device::open(0);
    mapping const map = gpu.pin(block.address(), size).map();
    std::vector<std::byte> seen(size);
    for (unsigned i = 0; i < rounds(3); ++i) {
        map.copy_to_cpu(seen, 0);
        (void)round();
        EXPECT_EQ(code_of([&] { map.copy_to_cpu(seen, 0); }), errc::checkpointed);
        EXPECT_EQ(code_of([&] { (void)gpu.pin(block.address(), 8); }), errc::checkpointed);
        EXPECT_EQ(code_of([] { checkpoint_prepare(); }), errc::checkpointed);
        checkpoint_restore();
        expect_same_memory(map, block.address(), i);
        map.copy_to_cpu(seen, 0);
        EXPECT_TRUE(seen == read_by_driver(block.address(), size));
    }
}

TEST_F(checkpoint_gpu, a_hundred_mappings_take_little_time) {
    constexpr std::size_t count = 100;
    device const gpu = device::open(0);
    std::vector<std::unique_ptr<device_block>> blocks;
    std::vector<mapping> maps;
    for (std::size_t i = 0; i < count; ++i) {
        blocks.push_back(std::make_unique<device_block>(mib));
        maps.push_back(gpu.pin(blocks.back()->address(), mib).map());
    }
    std::vector<double> prepare_ms, restore_ms;
    for (int i = 0; i < 7; ++i) {
        auto begin = clock::now();
        checkpoint_prepare();
        prepare_ms.push_back(milliseconds_since(begin));
        if (i % 2 == 0)
            (void)round();
        begin = clock::now();
        checkpoint_restore();
        restore_ms.push_back(milliseconds_since(begin));
    }
    for (std::size_t i = 0; i < count; i += 9)
        expect_same_memory(maps[i], blocks[i]->address(), unsigned(i));
    std::ranges::sort(prepare_ms);
    std::ranges::sort(restore_ms);
    std::printf("100 mappings of 1 MiB: %.1f ms to prepare (most %.1f), %.1f ms to restore (most "
                "%.1f), at the median\n",
                prepare_ms[3], prepare_ms[6], restore_ms[3], restore_ms[6]);
}

/// What might tell that CUDA was restored behind barmap's back, and how long it takes to ask.
class candidates {
public:
    candidates(CUdeviceptr block, mapping const& map) : block_(block), map_(map) {}

    void print(char const* when) {
        std::printf("%s\n", when);
        CUipcMemHandle handle{};
        double const ipc_us =
            time([&] { expect_success(cuda::api().ipc_get_mem_handle(&handle, block_)); });
        rm::ipc_fields const fields = rm::parse(handle);
        std::printf("  IPC handle: client %08x, object %08x, in %.1f us; all of it:", fields.client,
                    fields.memory, ipc_us);
        for (std::byte const each : std::as_bytes(std::span(handle.reserved)))
            std::printf(" %02x", std::to_integer<unsigned>(each));
        if (!first_)
            first_ = fields;
        rm::client const own(identify(0).pci);
        double const duplicate_us = time([&] {
            if (auto const copy = own.try_duplicate(first_->client, first_->memory)) {
                own.free(*copy);
                was_there_ = true;
            } else {
                was_there_ = false;
            }
        });
        std::printf("\n  the object of the first time: %s, in %.1f us\n",
                    was_there_ ? "is there" : "is not there", duplicate_us);
        unsigned long long id = 0;
        double const id_us = time([&] {
            expect_success(cuda::api().pointer_get_attribute(&id, cuda::pointer_buffer_id, block_));
        });
        std::printf("  buffer id: %llu, in %.2f us\n", id, id_us);
        print_context_id();
        int state = -1;
        if (auto* const get = reinterpret_cast<CUresult (*)(int, int*)>(
                ::dlsym(cuda::api().library, "cuCheckpointProcessGetState"))) {
            CUresult result = 0;
            double const state_us = time([&] { result = get(::getpid(), &state); });
            std::printf("  cuCheckpointProcessGetState: %d, state %d, in %.1f us\n", result, state,
                        state_us);
        }
        double nonce_us = 0;
        bool same = false;
        {
            cuda::context_scope const scope = cuda::context_scope::on_device(0);
            nonce_us = time([&] {
                cuda::nonce_stream const stream;
                cuda::nonce const sent = cuda::random_nonce();
                cuda::nonce seen{};
                write(map_.window(0, sizeof sent), std::as_bytes(std::span(sent)));
                stream.from_gpu(seen, block_);
                same = seen == sent;
            });
        }
        std::printf("  a random value through the mapping: %s by CUDA, in %.1f us\n",
                    same ? "seen" : "NOT SEEN", nonce_us);
        for (auto const& each : std::filesystem::directory_iterator("/proc/self/fd")) {
            std::error_code ignored;
            std::string const target = std::filesystem::read_symlink(each.path(), ignored).string();
            struct stat about {};
            if (target.starts_with("/dev/nvidia") && ::stat(each.path().c_str(), &about) == 0)
                std::printf("  descriptor %s of %s, inode %lu\n", each.path().filename().c_str(),
                            target.c_str(), static_cast<unsigned long>(about.st_ino));
        }
        std::fflush(stdout);
    }

private:
    /// In microseconds, the least of a few times.
    template <class Action>
    static double time(Action action) {
        double best = 1e9;
        for (int i = 0; i < 5; ++i) {
            auto const begin = clock::now();
            action();
            best = std::min(best, milliseconds_since(begin) * 1e3);
        }
        return best;
    }

    static void print_context_id() {
        CUcontext context = nullptr;
        expect_success(cuda::api().ctx_get_current(&context));
        unsigned long long id = 0;
        if (auto* const get = reinterpret_cast<CUresult (*)(CUcontext, unsigned long long*)>(
                ::dlsym(cuda::api().library, "cuCtxGetId")))
            get(context, &id);
        std::printf("  context %p, id %llu\n", static_cast<void*>(context), id);
    }

    CUdeviceptr block_;
    mapping const& map_;
    std::optional<rm::ipc_fields> first_;
    bool was_there_ = false;
};

/// Not a test: prints, for whoever decides what barmap goes by.
TEST_F(checkpoint_gpu, DISABLED_what_tells_that_cuda_was_restored) {
    device_block const block(4 * mib);
    device const gpu = device::open(0);
    mapping const map = gpu.pin(block.address(), 4 * mib, {.backend = "rm"}).map();
    candidates all(block.address(), map);
    all.print("before");
    all.print("once more");
    print("a checkpoint that nothing was prepared for", round());
    all.print("after it");
    print("another one", round());
    all.print("after that");
}

} // namespace
} // namespace barmap::gpu_test
