// SPDX-License-Identifier: MIT
#include "contract/machine.hpp"

#include "fake/faults.hpp"
#include "fake/gdrdrv_driver.hpp"
#include "fake/rm_driver.hpp"
#include "map/backend.hpp"
#include "shared/changed_calls.hpp"

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <utility>

/// Which backend is used, and what is said where none can be.
namespace barmap::contract {
namespace {

/// Every call of a driver fails: the first with EFAULT, those after it with EACCES.
class failing_drivers : changed_calls {
public:
    failing_drivers() {
        calls_ = 0;
        table.ioctl = [](int, unsigned long, void*) {
            errno = calls_++ == 0 ? EFAULT : EACCES;
            return -1;
        };
    }
    [[nodiscard]] static int calls() { return calls_; }

private:
    static inline int calls_ = 0;
};

class choice_test : public testing::Test {
protected:
    void SetUp() override {
        clear_environment("BARMAP_BACKEND");
        clear_environment("BARMAP_REQUIRE");
    }

    /// A machine with these drivers.
    void boot(char const* series, bool with_rm, bool with_gdrdrv) {
        machine_.emplace(series);
        if (with_rm)
            machine_->add<fake::rm_driver>();
        if (with_gdrdrv)
            machine_->add<fake::gdrdrv_driver>();
        machine_->use();
    }

    static backend_report report_of(device const& gpu, std::string_view name) {
        for (backend_report const& each : gpu.backends())
            if (each.name == name)
                return each;
        ADD_FAILURE() << "no report on " << name;
        return {};
    }

private:
    std::optional<machine> machine_;
};

TEST_F(choice_test, the_first_usable_backend_is_used) {
    boot("610", true, true);
    device_block const block(mib);
    device const gpu = device::open(0);
    EXPECT_EQ(gpu.pin(block.address(), mib).backend(), "gdrdrv");
    for (std::string_view const name : {"gdrdrv", "dmabuf", "rm"}) {
        EXPECT_EQ(report_of(gpu, name).state, backend_state::usable) << name;
        mapping const map = gpu.pin(block.address(), mib, {.backend = std::string(name)}).map();
        EXPECT_EQ(map.backend(), name);
        expect_same_memory(map, block.address(), 1);
    }
    EXPECT_EQ(backend_names(), (std::vector<std::string>{"gdrdrv", "dmabuf", "rm", "vulkan"}));
}

// Also those of kinds that no self-test has: what barmap allocates by another backend.
TEST_F(choice_test, each_backend_tells_which_memory_it_pins) {
    boot("610", true, true);
    device const gpu = device::open(0);
    for (auto const& reports : {device::probe(0), gpu.backends()})
        for (backend_report const& each : reports) {
            SCOPED_TRACE(each.name);
            auto const pins = [&](memory_kind kind) {
                return std::ranges::find(each.pins, kind) != each.pins.end();
            };
            EXPECT_TRUE(pins(memory_kind::virtual_exportable));
            EXPECT_EQ(pins(memory_kind::device), each.name != "vulkan");
            EXPECT_EQ(pins(memory_kind::allocated), each.name == "rm" || each.name == "vulkan");
            EXPECT_FALSE(pins(memory_kind::host) || pins(memory_kind::managed) ||
                         pins(memory_kind::unknown));
        }
}

TEST_F(choice_test, a_gpu_that_is_not_there_is_named) {
    boot("610", false, false);
    refusal const seen = refusal_of([] { (void)cuda::device_with(9); });
    EXPECT_EQ(seen.code, std::error_code(cuda::error_invalid_device, cuda_category()));
    EXPECT_NE(seen.text.find("open GPU 9"), std::string::npos) << seen.text;
    EXPECT_NE(seen.text.find("barmap info"), std::string::npos) << seen.text;
}

TEST_F(choice_test, it_is_chosen_by_what_the_memory_is) {
    boot("610", true, false);
    device const gpu = device::open(0);
    virtual_block const opaque(0, {2 * mib}, cuda::handle_type_none);
    EXPECT_EQ(gpu.pin(opaque.address(), mib).backend(), "dmabuf");
    pool_block const pooled(2 * mib, pool_block::from::the_default_pool);
    EXPECT_EQ(gpu.pin(pooled.address(), mib).backend(), "rm");
    expect_refusal([&] { (void)gpu.pin(pooled.address(), mib, {.backend = "dmabuf"}); },
                   errc::unsupported_memory, "backend dmabuf");
}

TEST_F(choice_test, the_next_backend_is_tried_if_one_fails) {
    boot("580", true, true);
    device const gpu = device::open(0);
    device_block const block(mib);
    fake::the_faults().arm(fake::fault_source::system, 1, EINVAL); // gdrdrv's pin
    pin const pinned = gpu.pin(block.address(), mib);
    EXPECT_EQ(fake::the_faults().fired(), "ioctl");
    EXPECT_EQ(pinned.backend(), "rm");
    expect_same_memory(pinned.map(), block.address(), 1);
}

TEST_F(choice_test, if_all_fail_the_first_failure_is_told) {
    boot("580", true, true);
    device const gpu = device::open(0);
    device_block const block(mib);
    EXPECT_EQ(gpu.pin(block.address(), mib, {.backend = "rm"}).backend(), "rm");
    failing_drivers const failing;
    refusal const seen = refusal_of([&] { (void)gpu.pin(block.address(), mib); });
    EXPECT_EQ(seen.code, std::error_code(EFAULT, std::system_category())) << seen.text;
    EXPECT_NE(seen.text.find("backend gdrdrv"), std::string::npos) << seen.text;
    EXPECT_GE(failing.calls(), 2) << "the next one was tried";
}

TEST_F(choice_test, without_any_driver_all_are_absent) {
    boot("580", false, false);
    device const gpu = device::open(0);
    for (std::string_view const name : {"gdrdrv", "dmabuf", "rm"}) {
        backend_report const seen = report_of(gpu, name);
        EXPECT_EQ(seen.state, backend_state::absent) << seen.reason;
        EXPECT_FALSE(seen.reason.empty()) << name;
        EXPECT_FALSE(seen.advice.empty()) << name;
    }
    device_block const block(mib);
    refusal const seen = refusal_of([&] { (void)gpu.pin(block.address(), mib); });
    for (char const* each : {"gdrdrv: cannot", "dmabuf: cannot", "rm: cannot", "cudaMalloc memory"})
        expect_refusal(seen, errc::backend_absent, each);
}

TEST_F(choice_test, a_simulated_gpu_has_no_kernel_driver_of_its_own) {
    EXPECT_FALSE(cuda::simulation_has_kernel_driver());
}

// Where the GPU is simulated and a real driver is there, the two know nothing of each other.
TEST_F(choice_test, backends_of_a_kernel_driver_say_so) {
    backend::gpu const gpu;
    for (backend::registration const& each : backend::registry())
        EXPECT_EQ(each.make(gpu)->capabilities().needs_kernel_driver,
                  each.name == "gdrdrv" || each.name == "rm")
            << each.name;
}

TEST_F(choice_test, a_forced_backend_that_is_absent_is_an_error) {
    boot("580", false, true);
    set_environment("BARMAP_BACKEND", "rm");
    expect_refusal([] { (void)device::open(0); }, errc::backend_absent,
                   no_simulated_gpu_in_the_driver());
    set_environment("BARMAP_BACKEND", "dmabuf");
    expect_refusal([] { (void)device::open(0); }, errc::backend_absent, "13.3");
    set_environment("BARMAP_BACKEND", "gdrdrv");
    device const gpu = device::open(0);
    EXPECT_EQ(report_of(gpu, "gdrdrv").state, backend_state::usable);
}

TEST_F(choice_test, a_forced_backend_excludes_the_others) {
    boot("610", true, true);
    set_environment("BARMAP_BACKEND", "rm");
    device const gpu = device::open(0);
    device_block const block(mib);
    EXPECT_EQ(gpu.pin(block.address(), mib).backend(), "rm");
    EXPECT_EQ(gpu.pin(block.address(), mib, {.backend = "rm"}).backend(), "rm");
    expect_refusal([&] { (void)gpu.pin(block.address(), mib, {.backend = "dmabuf"}); },
                   errc::backend_absent, "BARMAP_BACKEND allows only rm");
    EXPECT_EQ(gpu.allocate(mib).backend(), "rm");
}

TEST_F(choice_test, an_unknown_backend_is_an_error_that_lists_them) {
    boot("610", false, false);
    char const all[] = "gdrdrv, dmabuf, rm, vulkan";
    device_block const block(mib);
    {
        device const gpu = device::open(0);
        expect_refusal([&] { (void)gpu.pin(block.address(), mib, {.backend = "nonsense"}); },
                       errc::invalid_argument, all);
        expect_refusal([&] { (void)gpu.allocate(mib, "nonsense"); }, errc::invalid_argument, all);
    }
    set_environment("BARMAP_BACKEND", "nonsense");
    expect_refusal([] { (void)device::open(0); }, errc::invalid_argument, all);
    set_environment("BARMAP_BACKEND", "rm,dmabuf");
    expect_refusal([] { (void)device::open(0); }, errc::invalid_argument, all);
}

TEST_F(choice_test, auto_and_nothing_mean_any) {
    boot("610", false, false);
    device_block const block(mib);
    for (char const* value : {"auto", ""}) {
        set_environment("BARMAP_BACKEND", value);
        EXPECT_EQ(device::open(0).pin(block.address(), mib).backend(), "dmabuf");
    }
}

TEST_F(choice_test, a_required_backend_must_be_usable) {
    boot("610", true, false);
    for (char const* met : {"rm", "rm,dmabuf", "dmabuf,rm,", ","}) {
        set_environment("BARMAP_REQUIRE", met);
        EXPECT_NO_THROW((void)device::open(0)) << met;
    }
    for (char const* missed : {"gdrdrv", "rm,gdrdrv", "gdrdrv,rm"}) {
        set_environment("BARMAP_REQUIRE", missed);
        expect_refusal([] { (void)device::open(0); }, errc::backend_absent, "/dev/gdrdrv");
    }
    // A misspelt requirement must not be met by nothing.
    set_environment("BARMAP_REQUIRE", "rm,gdrdvr");
    expect_refusal([] { (void)device::open(0); }, errc::invalid_argument,
                   "gdrdrv, dmabuf, rm, vulkan");
}

TEST_F(choice_test, a_value_that_is_not_allowed_is_an_error_that_lists_what_is) {
    boot("610", false, false);
    set_environment("BARMAP_SIM", "maybe");
    expect_refusal([] { (void)device::open(0); }, errc::invalid_argument, "BARMAP_SIM=maybe");
    expect_refusal([] { (void)device::open(0); }, errc::invalid_argument, "0, 1");
}

TEST_F(choice_test, a_value_that_only_the_log_has_stops_nothing) {
    boot("610", false, false);
    set_environment("BARMAP_LOG", "loud");
    EXPECT_NO_THROW((void)device::open(0));
}

TEST_F(choice_test, a_misspelt_wish_for_the_simulated_gpu_loads_no_driver) {
    set_environment("BARMAP_SIM", "yes");
    expect_refusal([] { (void)device::open(0); }, errc::invalid_argument, "BARMAP_SIM");
    EXPECT_EQ(device::count(), 0);
}

// What a program changes later would otherwise hold for some objects and not for others.
// BARMAP_SIM=1 is set in these tests: to set it would be no advice.
TEST_F(choice_test, the_advice_without_a_gpu_is_that_of_a_refused_setting) {
    set_environment("BARMAP_POLICY", "nonsense");
    error const refusal = caught([] { expect_settings(); });
    EXPECT_EQ(refusal.operation(), "use BARMAP_POLICY=nonsense");
    EXPECT_EQ(cuda::advice_without_gpu(), refusal.advice());
}

TEST_F(choice_test, the_environment_is_read_once) {
    boot("610", true, true);
    device_block const block(mib);
    device const gpu = device::open(0);
    ::setenv("BARMAP_BACKEND", "nonsense", 1);
    ::setenv("BARMAP_REQUIRE", "nonsense", 1);
    ::setenv("BARMAP_COPY", "nonsense", 1);
    EXPECT_EQ(gpu.pin(block.address(), mib).map().backend(), "gdrdrv");
}

TEST_F(choice_test, a_device_is_opened_once) {
    boot("580", true, false);
    device const first = device::open(0), second = device::open(0);
    EXPECT_EQ(first.pci_address(), second.pci_address());
    EXPECT_EQ(barmap_device_name(first.c_handle()), barmap_device_name(second.c_handle()))
        << "one state, in which the name lies";
    EXPECT_TRUE(first.simulated());
    EXPECT_EQ(first.driver_version(), 13000);
    EXPECT_EQ(device::count(), 1);
}

TEST_F(choice_test, an_unknown_copy_routine_is_an_error) {
    boot("610", false, false);
    set_environment("BARMAP_COPY", "nonsense");
    expect_refusal([] { (void)device::open(0); }, errc::invalid_argument, "nonsense");
    set_environment("BARMAP_COPY", "portable");
    device const gpu = device::open(0);
    device_block const block(mib);
    mapping map = gpu.pin(block.address(), mib).map();
    EXPECT_EQ(map.store_routine(64), "portable");
    expect_refusal([&] { map.use_copy_routine("nonsense"); }, errc::invalid_argument, "nonsense");
    expect_same_memory(map, block.address(), 1);
}

TEST_F(choice_test, a_machine_without_gdrdrv_says_so) {
    boot("610", false, false);
    EXPECT_EQ(refusal_of([] { (void)kernel_module(); }).code,
              std::error_code(ENOENT, std::system_category()));
}

TEST_F(choice_test, each_routine_copies_what_another_one_copied) {
    boot("610", false, false);
    device const gpu = device::open(0);
    device_block const block(mib);
    mapping const map = gpu.pin(block.address(), mib).map();
    std::string const routine(map.store_routine(4096));
    std::vector<std::byte> seen(4099);
    for (copy_routine_report const& each : copy_routines()) {
        if (!each.supported)
            continue;
        SCOPED_TRACE(each.name);
        window const by_one = map.window_by(each.name);
        EXPECT_EQ(by_one.data, map.data());
        EXPECT_EQ(by_one.size, map.size());
        EXPECT_EQ(by_one.plan, map.window_by(each.name).plan) << "kept";
        auto const sent = pattern(seen.size(), static_cast<unsigned>(each.name.size()));
        write(by_one.subwindow(5, sent.size()), sent);
        read(seen, map.window(5, seen.size()));
        EXPECT_TRUE(seen == sent);
        std::ranges::fill(seen, std::byte{});
        read(seen, by_one.subwindow(5, seen.size()));
        EXPECT_TRUE(seen == sent);
    }
    EXPECT_EQ(map.store_routine(4096), routine) << "the mapping stays as it is";
    expect_refusal([&] { (void)map.window_by("nonsense"); }, errc::invalid_argument, "nonsense");
    mapping const empty;
    EXPECT_EQ(empty.window_by("portable").size, 0u);
}

/// Which backend allocates where several could.
using allocating_choice_test = choice_test;

TEST_F(allocating_choice_test, the_first_usable_backend_does_it) {
    boot("580", true, false);
    device const gpu = device::open(0);
    EXPECT_EQ(gpu.allocate(mib).backend(), "rm");
    for (backend_report const& each : gpu.backends())
        EXPECT_TRUE(each.allocates) << each.name;
}

TEST_F(allocating_choice_test, every_usable_backend_can_be_named) {
    boot("610", true, true);
    device const gpu = device::open(0);
    EXPECT_EQ(gpu.allocate(mib).backend(), "gdrdrv");
    for (std::string_view const name : {"gdrdrv", "dmabuf", "rm"}) {
        pin const pinned = gpu.allocate(mib, name);
        EXPECT_EQ(pinned.backend(), name);
        expect_same_memory(pinned.map(), pinned.gpu_address(), 1);
    }
}

TEST_F(allocating_choice_test, the_next_one_is_tried_if_one_fails) {
    boot("580", true, true);
    device const gpu = device::open(0);
    fake::the_faults().arm(fake::fault_source::system, 1, EINVAL); // gdrdrv's pin
    pin const pinned = gpu.allocate(mib);
    EXPECT_EQ(fake::the_faults().fired(), "ioctl");
    EXPECT_EQ(pinned.backend(), "rm");
    expect_same_memory(pinned.map(), pinned.gpu_address(), 1);
}

TEST_F(allocating_choice_test, if_all_fail_the_first_failure_is_told) {
    boot("580", true, true);
    device const gpu = device::open(0);
    EXPECT_EQ(gpu.allocate(mib, "rm").backend(), "rm");
    failing_drivers const failing;
    refusal const seen = refusal_of([&] { (void)gpu.allocate(mib); });
    EXPECT_EQ(seen.code, std::error_code(EFAULT, std::system_category())) << seen.text;
    EXPECT_NE(seen.text.find("backend gdrdrv"), std::string::npos) << seen.text;
    EXPECT_GE(failing.calls(), 2) << "the next one was tried";
}

TEST_F(allocating_choice_test, where_there_is_no_memory_left_no_other_is_tried) {
    boot("580", true, true);
    device const gpu = device::open(0);
    static int tries;
    tries = 0;
    changed_driver driver;
    driver->mem_create = [](CUmemGenericAllocationHandle*, std::size_t, CUmemAllocationProp const*,
                            unsigned long long) {
        ++tries;
        return cuda::error_out_of_memory;
    };
    refusal const alone = refusal_of([&] { (void)gpu.allocate(mib, "gdrdrv"); });
    int const tries_of_one = std::exchange(tries, 0);
    refusal const seen = refusal_of([&] { (void)gpu.allocate(mib); });
    driver.restore();
    EXPECT_EQ(seen.code, std::error_code(cuda::error_out_of_memory, cuda_category()));
    EXPECT_EQ(seen.text, alone.text);
    EXPECT_EQ(tries, tries_of_one);
}

// Drivers make files for it, and say that memory is used up where they cannot.
TEST_F(allocating_choice_test, too_few_descriptors_are_not_taken_for_too_little_memory) {
    boot("580", false, true);
    device const gpu = device::open(0);
    changed_driver driver;
    driver->mem_create = [](CUmemGenericAllocationHandle*, std::size_t, CUmemAllocationProp const*,
                            unsigned long long) { return cuda::error_out_of_memory; };
    changed_calls few;
    few->open = [](char const*, int) {
        errno = EMFILE;
        return -1;
    };
    refusal const seen = refusal_of([&] { (void)gpu.allocate(mib); });
    few.restore();
    refusal const usual = refusal_of([&] { (void)gpu.allocate(mib); });
    driver.restore();
    EXPECT_EQ(seen.code, std::error_code(EMFILE, std::system_category())) << seen.text;
    EXPECT_NE(seen.advice.find("ulimit -n"), std::string::npos) << seen.advice;
    EXPECT_EQ(usual.code, std::error_code(cuda::error_out_of_memory, cuda_category()));
}

TEST_F(allocating_choice_test, without_any_usable_backend_it_is_said_why) {
    boot("580", false, false);
    device const gpu = device::open(0);
    refusal const seen = refusal_of([&] { (void)gpu.allocate(mib); });
    for (char const* each : {"gdrdrv: cannot", "dmabuf: cannot", "rm: cannot", "vulkan: cannot"})
        expect_refusal(seen, errc::backend_absent, each);
}

} // namespace
} // namespace barmap::contract
