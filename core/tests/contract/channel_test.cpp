// SPDX-License-Identifier: MIT
#include "contract/engine_machine.hpp"
#include "contract/machine.hpp"
#include "fake/faults.hpp"
#include "nvidia/uvm.hpp"
#include "shared/changed_calls.hpp"
#include "transfer/engine/channel/generation.hpp"
#include "transfer/engine/transfer.hpp"

#include <algorithm>
#include <cerrno>
#include <fcntl.h>
#include <string_view>
#include <thread>

/// What goes wrong with a channel, and what copies make of it.
namespace barmap::contract {
namespace {

using namespace std::chrono_literals;

engine_report report_of(device const& gpu, std::string_view name) {
    for (engine_report const& each : gpu.engines())
        if (each.name == name)
            return each;
    return {};
}

std::unique_ptr<engine::copy_engine> make_channel() {
    return engine::registry().front().make(identify(0), engine::lane::held);
}

/// A program that copies adaptively.
struct program {
    device gpu = device::open(0);
    device_block block{mib};
    pin pinned = gpu.pin(block.address(), mib);
    mapping map = pinned.map();
    std::vector<std::byte> host = pattern(200 * kib, 1);

    void use_own_memory() { // which every engine reaches
        pinned = gpu.allocate(mib);
        map = pinned.map();
    }

    // Both expect the right bytes, whatever happens below.
    void copy(unsigned seed) {
        auto const sent = pattern(host.size(), seed);
        map.copy_to_gpu(0, sent);
        EXPECT_TRUE(read_by_driver(pinned.gpu_address(), sent.size()) == sent);
        copy_back(seed);
    }
    void copy_back(unsigned seed) {
        auto const sent = pattern(host.size(), seed);
        write(map.window(), sent);
        std::ranges::fill(host, std::byte{});
        map.copy_to_cpu(host, 0);
        EXPECT_TRUE(host == sent);
    }
};

TEST(channel_test, is_absent_where_the_driver_or_the_gpu_is_not_known) {
    struct {
        fake::rm_driver::behaviour how;
        char const* words;
    } const cases[] = {
        {{.version = "700.10"}, "driver version 700.10"},
        {{.version = "quite new"}, "driver version quite new"},
        {{.version = "580"}, "driver version 580"},
        {{.chip = fake::rm::unknown_chip}, "generation"},
        {{.all_engines_shared = true}, "copy engine that nothing else uses"},
    };
    for (auto const& each : cases) {
        engine_machine machine(nullptr, each.how);
        auto const which = make_channel();
        expect_refusal([&] { which->start(); }, errc::backend_absent, each.words);
        device const gpu = device::open(0);
        EXPECT_EQ(report_of(gpu, "channel").state, backend_state::absent);
        EXPECT_NE(report_of(gpu, "channel").reason.find(each.words), std::string::npos);
        EXPECT_EQ(report_of(gpu, "driver").state, backend_state::usable);
    }
}

/// What another thread does to the first descriptor of /dev/nvidia-uvm while it is looked at.
class descriptor_that_goes : changed_calls {
public:
    enum class fate { closed, replaced };
    explicit descriptor_that_goes(fate what) {
        fate_ = what;
        replaced_by_ = -1;
        went_ = false;
        wrong_ = 0;
        table.duplicate = [](int fd) {
            char target[32]{};
            std::string const path = "/proc/self/fd/" + std::to_string(fd);
            (void)real.readlink(path.c_str(), target, sizeof target);
            if (went_ || std::string_view(target) != "/dev/nvidia-uvm")
                return real.duplicate(fd);
            went_ = true;
            if (fate_ == fate::replaced)
                return replaced_by_ = ::open("/dev/null", O_RDWR | O_CLOEXEC);
            errno = EBADF;
            return -1;
        };
        table.ioctl = [](int fd, unsigned long request, void* argument) {
            wrong_ += fd == replaced_by_;
            return real.ioctl(fd, request, argument);
        };
        table.close = [](int fd) {
            if (fd == replaced_by_)
                replaced_by_ = -1;
            return real.close(fd);
        };
    }
    [[nodiscard]] static bool went() { return went_; }
    /// Calls of the file that has taken its place.
    [[nodiscard]] static unsigned wrong() { return wrong_; }

private:
    static inline fate fate_ = fate::closed;
    static inline int replaced_by_ = -1;
    static inline bool went_ = false;
    static inline unsigned wrong_ = 0;
};

TEST(channel_test, descriptors_may_go_while_that_of_uvm_is_looked_for) {
    using fate = descriptor_that_goes::fate;
    for (fate const each : {fate::closed, fate::replaced}) {
        engine_machine machine("channel");
        device const gpu = device::open(0);
        descriptor_that_goes const meanwhile(each);
        EXPECT_EQ(gpu.batch_queue().engine(), "channel");
        EXPECT_TRUE(meanwhile.went());
        EXPECT_EQ(meanwhile.wrong(), 0u);
    }
}

TEST(channel_test, a_descriptor_of_uvm_that_refuses_is_passed_over) {
    engine_machine machine("channel");
    device const gpu = device::open(0);
    static bool has_refused;
    has_refused = false;
    changed_calls refusing;
    refusing->ioctl = [](int fd, unsigned long request, void* argument) {
        if (request != rm::uvm_abi::register_channel || has_refused)
            return changed_calls::real.ioctl(fd, request, argument);
        has_refused = true;
        errno = EINVAL;
        return -1;
    };
    EXPECT_EQ(gpu.batch_queue().engine(), "channel");
    EXPECT_TRUE(has_refused);
}

TEST(channel_test, is_absent_where_it_has_not_been_tried) {
    engine_machine machine(nullptr);
    engine::gpu slice = identify(0), coherent = identify(0);
    slice.mig = true;
    coherent.coherent = true;
    for (auto const& [gpu, words] : {std::pair{slice, "MIG"}, {coherent, "coherent"}})
        expect_refusal(
            [&, &which = gpu] {
                engine::registry().front().make(which, engine::lane::held)->start();
            },
            errc::backend_absent, words);
}

// The memory to test and measure in may be gone with its context, and other memory be at its
// address.
TEST(channel_test, is_not_measured_in_memory_that_has_become_anothers) {
    engine_machine machine(nullptr);
    std::optional<program> p(std::in_place);
    expect_success(cuda::api().primary_ctx_reset(0));
    machine->use();
    std::vector<std::unique_ptr<device_block>> others;
    auto const theirs = pattern(2 * mib, 8);
    for (int i = 0; i < 12; ++i) {
        others.push_back(std::make_unique<device_block>(2 * mib));
        write_by_driver(others.back()->address(), theirs);
    }
    std::vector<std::byte> seen(200 * kib);
    p->map.copy_to_cpu(seen, 0); // measures
    p->map.copy_to_gpu(0, seen);
    for (auto const& each : others)
        EXPECT_TRUE(read_by_driver(each->address(), theirs.size()) == theirs);
    for (copy_crossover const& each : p->gpu.copy_crossovers("rm"))
        EXPECT_EQ(each.method, "mapping");
    p->block.forget();
}

// What is late may still come to its staging memory: nobody else is given that.
TEST(channel_test, staging_memory_of_a_late_copy_is_not_lent_again) {
    engine_machine machine(nullptr);
    engine::worker worker(make_channel());
    device_block block(64 * kib);
    auto const reached = worker.engine().reach(cuda::describe(block.address(), 64 * kib));
    std::vector<std::byte> host(32 * kib);
    using engine::copy_outcome;
    using engine::direction;
    EXPECT_EQ(worker.copy_staged(direction::to_cpu, *reached, 0, host.data(), host.size()),
              copy_outcome::done);
    machine.gpu().stall();
    EXPECT_EQ(worker.copy_staged(direction::to_cpu, *reached, 0, host.data(), host.size()),
              copy_outcome::late);
    machine.gpu().resume();
    EXPECT_TRUE(worker.is_retired());
    EXPECT_EQ(worker.copy_staged(direction::to_gpu, *reached, 0, host.data(), host.size()),
              copy_outcome::failed);
    EXPECT_EQ(worker.copy_pinned(direction::to_gpu, *reached, 4096), copy_outcome::failed);
}

TEST(channel_test, copies_large_memory_through_little_staging_memory) {
    engine_machine machine(nullptr);
    constexpr std::size_t bytes = 100 * kib - 100;
    engine::worker worker(make_channel(), 1s, os::page_size());
    EXPECT_EQ(worker.staging().runs.front().bytes, os::page_size());
    device_block block(mib);
    auto const reached = worker.engine().reach(cuda::describe(block.address(), mib));
    std::vector<std::byte> const sent = pattern(bytes, 7);
    std::vector<std::byte> from(sent), seen(bytes);
    using engine::copy_outcome;
    using engine::direction;
    EXPECT_EQ(worker.copy_staged(direction::to_gpu, *reached, 50, from.data(), bytes),
              copy_outcome::done);
    EXPECT_TRUE(read_by_driver(block.address() + 50, bytes) == sent);
    EXPECT_EQ(worker.copy_staged(direction::to_cpu, *reached, 50, seen.data(), bytes),
              copy_outcome::done);
    EXPECT_TRUE(seen == sent);
}

// Nor is one on a machine that has a driver, but simulates its GPU.
TEST(channel_test, is_absent_on_a_simulated_GPU_without_a_kernel_driver) {
    set_environment("BARMAP_BACKEND", "dmabuf");
    machine plain("610");
    plain.use();
    expect_refusal([] { make_channel()->start(); }, errc::backend_absent,
                   cuda::simulation_has_kernel_driver() ? no_simulated_gpu_in_the_driver()
                                                        : "simulated");
}

// What lies in no run, such as the end of a page that an object lacks, is left to the mapping.
TEST(channel_test, a_range_with_a_hole_is_not_covered) {
    engine::reachable memory;
    memory.runs = {{0, 10, 100}, {20, 10, 200}};
    EXPECT_TRUE(engine::covers(memory, 0, 10));
    EXPECT_TRUE(engine::covers(memory, 22, 8));
    EXPECT_FALSE(engine::covers(memory, 5, 10));
    EXPECT_FALSE(engine::covers(memory, 9, 12));
    EXPECT_FALSE(engine::covers(memory, 25, 10));
}

// A copy waits for all that others have submitted before.
TEST(channel_test, is_given_time_for_all_that_is_under_way) {
    engine_machine machine(nullptr);
    engine::worker const worker(make_channel());
    EXPECT_EQ(worker.patience(0), 50ms);
    EXPECT_GE(worker.patience(std::size_t{8} << 30), 10s) << "0.2 GB/s and more";
    EXPECT_LE(worker.patience(mib), 100ms);
}

TEST(channel_test, an_engine_that_is_asked_for_must_be_usable) {
    engine_machine machine("channel", {.all_engines_shared = true});
    expect_refusal([] { (void)device::open(0); }, errc::backend_absent, "channel");
    set_environment("BARMAP_ENGINE", "chanel");
    expect_refusal([] { (void)device::open(0); }, errc::invalid_argument,
                   "channel, driver, and none");
    set_environment("BARMAP_ENGINE", "none");
    program p;
    p.copy(1);
    EXPECT_EQ(report_of(p.gpu, "driver").copies, 0u);
    for (copy_crossover const& each : p.gpu.copy_crossovers("rm"))
        EXPECT_EQ(each.method, "mapping");
}

TEST(channel_test, every_refused_call_makes_it_absent_or_broken_and_leaves_nothing) {
    engine_machine machine(nullptr);
    make_channel()->start(); // what CUDA keeps after its first use
    fake::left_over const before = machine->held();
    for (auto const& [source, code] : {std::pair{fake::fault_source::system, EINVAL},
                                       {fake::fault_source::status, 0x1a},
                                       {fake::fault_source::status, 0x56}}) {
        unsigned which = 1;
        for (; which < 300; ++which) {
            fake::the_faults().arm(source, which, code);
            bool const refused = [&] {
                auto const made = make_channel();
                try {
                    made->start();
                } catch (error const&) {
                    return true;
                }
                return false;
            }();
            bool const fired = !fake::the_faults().fired().empty();
            fake::the_faults().disarm();
            EXPECT_EQ(machine->held(), before) << which;
            if (!fired)
                break;
            // One that only makes an engine unavailable is passed over.
            if (!refused)
                continue;
        }
        EXPECT_GT(which, 15u);
        EXPECT_LT(which, 300u);
    }
}

TEST(channel_test, a_copy_that_stalls_is_made_in_another_way) {
    engine_machine machine("channel");
    program p;
    p.use_own_memory();
    p.copy(1);
    for (unsigned failure = 1; failure <= 3; ++failure) {
        EXPECT_EQ(report_of(p.gpu, "channel").state, backend_state::usable);
        machine.gpu().stall();
        p.copy_back(10 + failure);
        machine.gpu().resume();
        EXPECT_EQ(report_of(p.gpu, "channel").failures, failure);
        p.copy(20 + failure); // by a new one, or by none
    }
    engine_report const last = report_of(p.gpu, "channel");
    EXPECT_EQ(last.state, backend_state::broken) << "after three it stays off";
    EXPECT_EQ(report_of(p.gpu, "driver").copies, 0u) << "the one that was asked for, or none";
    EXPECT_NE(last.reason.find("3 copies"), std::string::npos) << last.reason;
    EXPECT_FALSE(last.advice.empty());
}

TEST(channel_test, a_lost_doorbell_and_an_error_are_no_worse) {
    engine_machine machine("channel");
    program p;
    p.copy(1);
    while (!machine.gpu().idle()) // one that is still awake needs no doorbell
        std::this_thread::yield();
    machine.gpu().lose_doorbells(100);
    p.copy_back(2);
    machine.gpu().lose_doorbells(0);
    EXPECT_EQ(report_of(p.gpu, "channel").failures, 1u);
    p.copy(3);
    auto const begin = std::chrono::steady_clock::now();
    machine.gpu().fail_next();
    p.copy(4);
    EXPECT_LT(std::chrono::steady_clock::now() - begin, 5s);
    EXPECT_EQ(report_of(p.gpu, "channel").failures, 2u);
}

TEST(channel_test, what_comes_late_reaches_nobody) {
    engine_machine machine("channel");
    program p;
    p.copy(1);
    machine.gpu().delay_next(1500ms);
    auto const sent = pattern(p.host.size(), 5);
    p.map.copy_to_gpu(0, sent); // late, and made by stores
    auto const later = pattern(p.host.size(), 6);
    write(p.map.window(0, later.size()), later);
    std::this_thread::sleep_for(2000ms);
    EXPECT_TRUE(read_by_driver(p.pinned.gpu_address(), later.size()) == later);

    void* allocated = nullptr;
    expect_success(cuda::api().mem_host_alloc(&allocated, 200 * kib, 0));
    std::span const pinned(static_cast<std::byte*>(allocated), 200 * kib);
    machine.gpu().delay_next(1500ms);
    p.map.copy_to_cpu(pinned, 0);
    EXPECT_TRUE(std::ranges::equal(pinned, later));
    std::ranges::fill(pinned, std::byte{0x33});
    std::this_thread::sleep_for(2000ms);
    EXPECT_TRUE(std::ranges::all_of(pinned, [](std::byte b) { return b == std::byte{0x33}; }));
    EXPECT_EQ(report_of(p.gpu, "channel").failures, 2u);
    expect_success(cuda::api().mem_free_host(allocated));
}

TEST(channel_test, one_that_cannot_be_started_again_stays_off_in_the_end) {
    engine_machine machine("channel");
    program p;
    p.copy(1);
    machine.gpu().stall();
    for (unsigned i = 0; i < 4; ++i)
        p.copy_back(40 + i);
    machine.gpu().resume();
    EXPECT_EQ(report_of(p.gpu, "channel").state, backend_state::broken);
    EXPECT_EQ(report_of(p.gpu, "channel").failures, 3u);
    p.copy(50);
}

TEST(channel_test, others_are_told_of_a_failure_at_once) {
    engine_machine machine("channel");
    program p;
    p.copy(1);
    machine.gpu().stall();
    std::vector<std::thread> all;
    for (unsigned i = 0; i < 4; ++i)
        all.emplace_back([&, i] {
            auto const sent = pattern(100 * kib, 30 + i);
            p.map.copy_to_gpu(i * 200 * kib, sent);
            std::vector<std::byte> seen(sent.size());
            p.map.copy_to_cpu(seen, i * 200 * kib);
            EXPECT_TRUE(seen == sent);
        });
    for (std::thread& each : all)
        each.join();
    machine.gpu().resume();
    EXPECT_LE(report_of(p.gpu, "channel").failures, 3u);
    EXPECT_GE(report_of(p.gpu, "channel").failures, 1u);
}

TEST(channel_test, takes_an_engine_of_its_own) {
    engine_machine machine("channel");
    program p;
    p.copy(1);
    constexpr std::uint32_t copy4 = 13; // the only one of the fake that is neither shared nor GRCE
    EXPECT_EQ(machine.gpu().done().engine_type, copy4);
}

TEST(generation_test, takes_the_newest_whose_classes_are_all_there) {
    using engine::generation_of;
    std::vector<std::uint32_t> hopper{0xc86f, 0xc8b5, 0xc661, 0xc56f, 0xc7b5, 0xc561};
    EXPECT_EQ(generation_of(hopper).name, "Hopper");
    hopper[1] = 0;
    EXPECT_EQ(generation_of(hopper).name, "Ampere B or Ada");
    for (fake::rm::data::chip const& each : fake::rm::data::chips) {
        engine::generation const& found =
            generation_of(std::vector<std::uint32_t>(each.classes.begin(), each.classes.end()));
        fake::rm::channel_classes const newest = fake::rm::classes_of(each.name);
        EXPECT_EQ(found.channel, newest.channel) << each.name;
        EXPECT_EQ(found.copy, newest.copy) << each.name;
        EXPECT_TRUE(fake::rm::lists(each.name, found.usermode)) << each.name;
    }
    EXPECT_EQ(refusal_of([] { (void)generation_of({}); }).code,
              make_error_code(errc::backend_absent));
}

} // namespace
} // namespace barmap::contract
