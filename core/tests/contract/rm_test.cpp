// SPDX-License-Identifier: MIT
#include "contract/engine_machine.hpp"
#include "cuda/memory.hpp"
#include "driver/rm/client.hpp"
#include "driver/rm/ipc_handle.hpp"
#include "fake/faults.hpp"
#include "fake/rm_driver.hpp"
#include "map/backend.hpp"
#include "shared/changed_calls.hpp"

#include <cerrno>
#include <cstring>
#include <functional>
#include <sys/resource.h>
#include <vector>

/// What only the rm backend can get wrong: it leans on a handle whose layout nobody documents and
/// on a resource manager that does not look whose memory it is.
namespace barmap::contract {
namespace {

class rm_test : public testing::Test {
protected:
    void TearDown() override {
        cuda::replace_api(nullptr);
        machine_.reset();
    }

    /// Boots a machine whose resource manager behaves so.
    void boot(fake::rm_driver::behaviour how = {}) { machine_.emplace(nullptr, how); }

    [[nodiscard]] fake::rm_driver& driver() { return machine_->driver(); }
    [[nodiscard]] engine_machine& the_machine() { return *machine_; }

    /// From now on CUDA's IPC handles come out changed.
    static void change_handles(std::function<void(CUipcMemHandle&)> change) {
        change_ = std::move(change);
        static cuda::driver_api table;
        real_ = cuda::api().ipc_get_mem_handle;
        table = cuda::api();
        table.ipc_get_mem_handle = [](CUipcMemHandle* handle, CUdeviceptr address) {
            CUresult const result = real_(handle, address);
            if (result == cuda::success)
                change_(*handle);
            return result;
        };
        cuda::replace_api(&table);
    }

    /// As on a GPU that offers no dma-bufs: the IPC handle alone says where memory is.
    static void take_exports_away() {
        static cuda::driver_api table;
        table = cuda::api();
        table.mem_get_handle_for_address_range = [](void*, CUdeviceptr, std::size_t, int,
                                                    unsigned long long) {
            return cuda::error_not_supported;
        };
        cuda::replace_api(&table);
    }

    template <class Field>
    static std::function<void(CUipcMemHandle&)> field(std::size_t offset, Field difference) {
        return [=](CUipcMemHandle& handle) {
            Field value;
            std::memcpy(&value, handle.reserved + offset, sizeof value);
            value = static_cast<Field>(value + difference);
            std::memcpy(handle.reserved + offset, &value, sizeof value);
        };
    }

    /// The report on rm where it was not forced.
    static backend_report report() {
        set_environment("BARMAP_BACKEND", "auto");
        for (backend_report const& each : device::open(0).backends())
            if (each.name == "rm")
                return each;
        return {};
    }

private:
    static inline std::function<void(CUipcMemHandle&)> change_;
    static inline decltype(cuda::driver_api::ipc_get_mem_handle) real_ = nullptr;
    std::optional<engine_machine> machine_;
};

/// Changes to a handle, as another driver's layout would bring them.
struct change {
    char const* what;
    std::size_t offset;
    bool wide;
    std::uint64_t difference;
    char const* category;
    int code;
};
constexpr int as_int(errc code) {
    return static_cast<int>(code);
}
constexpr change changes[] = {
    {"process", 8, true, 1, "barmap", as_int(errc::unsupported_memory)},
    {"process, beyond 32 bits", 8, true, std::uint64_t{1} << 32, "barmap",
     as_int(errc::unsupported_memory)},
    {"size, larger", 16, true, 8, "barmap", as_int(errc::unknown_layout)},
    {"size, smaller", 16, true, ~std::uint64_t{0}, "barmap", as_int(errc::unknown_layout)},
    {"object size", 24, false, ~std::uint64_t{0} - 511, "barmap", as_int(errc::unknown_layout)},
    {"offset in the object", 28, false, 4u << 20, "barmap", as_int(errc::unknown_layout)},
    {"GPU", 32, false, 1, "barmap", as_int(errc::wrong_device)},
    {"client", 48, false, 1, "rm", 0x57},
    {"object", 52, false, 0x100, "rm", 0x57},
};

class layout_test : public rm_test, public testing::WithParamInterface<change> {
protected:
    void change_as_told() const {
        change const& told = GetParam();
        if (told.wide)
            change_handles(field<std::uint64_t>(told.offset, told.difference));
        else
            change_handles(field(told.offset, static_cast<std::uint32_t>(told.difference)));
    }
};

TEST_P(layout_test, an_unknown_layout_breaks_the_backend) {
    boot();
    device_block const block(2 * mib);
    take_exports_away();
    change_as_told();
    backend_report const seen = report();
    EXPECT_EQ(seen.state, backend_state::broken) << GetParam().what;
    EXPECT_FALSE(seen.reason.empty());
    EXPECT_FALSE(seen.advice.empty());
    device const gpu = device::open(0);
    expect_refusal([&] { (void)gpu.pin(block.address(), mib); }, errc::backend_broken,
                   "rm: " + seen.reason);
    expect_refusal([&] { (void)gpu.pin(block.address(), mib, {.backend = "rm"}); },
                   errc::backend_broken, seen.reason);
    EXPECT_EQ(driver().bar1_used(0), 0u) << "nothing stays mapped";
}

TEST_P(layout_test, each_pin_is_checked_as_well) {
    boot();
    device_block const block(2 * mib);
    device const gpu = device::open(0);
    fake::left_over const before = the_machine()->held();
    take_exports_away();
    change_as_told();
    refusal const seen = refusal_of([&] { (void)gpu.pin(block.address(), mib); });
    EXPECT_EQ(seen.code.category().name(), std::string_view(GetParam().category)) << seen.text;
    EXPECT_EQ(seen.code.value(), GetParam().code) << seen.text;
    cuda::replace_api(nullptr);
    EXPECT_EQ(the_machine()->held(), before);
    expect_same_memory(gpu.pin(block.address(), mib).map(), block.address(), 1);
}

TEST_P(layout_test, an_export_is_believed_no_more_than_the_handle) {
    boot();
    device_block const block(2 * mib);
    device const gpu = device::open(0);
    fake::left_over const before = the_machine()->held();
    change_as_told();
    refusal const seen = refusal_of([&] { (void)gpu.pin(block.address(), mib); });
    int const code = GetParam().category == std::string_view("barmap")
                         ? GetParam().code
                         : as_int(errc::unknown_layout);
    EXPECT_EQ(seen.code, static_cast<errc>(code)) << seen.text;
    EXPECT_EQ(the_machine()->held(), before);
}

void PrintTo(change const& what, std::ostream* out) {
    *out << what.what;
}

INSTANTIATE_TEST_SUITE_P(fields, layout_test, testing::ValuesIn(changes), [](auto const& info) {
    std::string name = info.param.what;
    std::erase_if(name, [](char c) { return !std::isalnum(static_cast<unsigned char>(c)); });
    return name;
});

// A GPU page that begins before the object would be mapped from its very end.
TEST_F(rm_test, bytes_before_the_object_are_refused) {
    boot();
    take_exports_away();
    device_block const first(512), second(512);
    device const gpu = device::open(0);
    pin_options const whole{.whole_pages = true};
    ASSERT_LT(gpu.pin(second.address(), 8, whole).gpu_address(), second.address());
    change_handles([](CUipcMemHandle& handle) {
        constexpr std::size_t object_offset = 28;
        std::memset(handle.reserved + object_offset, 0, 4);
    });
    expect_refusal([&] { (void)gpu.pin(second.address(), 8, whole); }, errc::unknown_layout,
                   "IPC handle");
    EXPECT_EQ(gpu.pin(second.address(), 8).size(), 8u) << "those are not wanted here";
}

// All fields are plausible, but the object is another one of the same size.
TEST_F(rm_test, a_plausible_handle_of_other_memory_breaks_the_backend) {
    boot();
    device_block const other(2 * mib);
    CUipcMemHandle others{};
    expect_success(cuda::api().ipc_get_mem_handle(&others, other.address()));
    take_exports_away();
    change_handles([others](CUipcMemHandle& handle) {
        std::memcpy(handle.reserved + 52, others.reserved + 52, 4);
    });
    backend_report const seen = report();
    EXPECT_EQ(seen.state, backend_state::broken);
    EXPECT_NE(seen.reason.find("random value"), std::string::npos) << seen.reason;
}

TEST_F(rm_test, a_mapping_that_reaches_other_memory_breaks_the_backend) {
    boot({.maps_other_memory = true});
    EXPECT_EQ(report().state, backend_state::broken);
    EXPECT_NE(report().reason.find("random value"), std::string::npos) << report().reason;
    EXPECT_NE(report().advice.find("report this"), std::string::npos);
    set_environment("BARMAP_BACKEND", "rm");
    expect_refusal([] { (void)device::open(0); }, errc::backend_broken, "rm");
}

TEST_F(rm_test, too_little_bar1_is_told_with_numbers) {
    boot({.bar1 = 16 * mib});
    device const gpu = device::open(0);
    EXPECT_EQ(gpu.bar1().total, 16 * mib);
    EXPECT_EQ(gpu.bar1().available, 14 * mib) << "the self-test's memory stays mapped";
    device_block const block(32 * mib);
    pin const large = gpu.pin(block.address(), 20 * mib);
    refusal const seen = refusal_of([&] { (void)large.map(); });
    expect_refusal(seen, errc::bar1_exhausted, std::to_string(20 * mib) + " bytes are wanted");
    expect_refusal(seen, errc::bar1_exhausted, std::to_string(14 * mib) + " of ");
    EXPECT_NE(seen.advice.find("Resizable BAR"), std::string::npos);
    {
        pin const part = gpu.pin(block.address(), 8 * mib);
        mapping const first = part.map();
        expect_refusal([&] { (void)part.map(); }, errc::bar1_exhausted, "wanted");
        expect_same_memory(first, block.address(), 1);
    }
    EXPECT_EQ(gpu.bar1().available, 14 * mib) << "a failed mapping leaves nothing behind";
    expect_same_memory(gpu.pin(block.address() + 5, 14 * mib - 5).map(), block.address() + 5, 2);
}

// The kernel keeps a mapping without the descriptor it was made by, and descriptors are few.
TEST_F(rm_test, mappings_take_no_descriptors) {
    boot();
    device_block const block(mib);
    pin const pinned = device::open(0).pin(block.address(), 64 * kib);
    rlimit before{};
    ASSERT_EQ(::getrlimit(RLIMIT_NOFILE, &before), 0);
    rlimit const few{256, before.rlim_max};
    ASSERT_EQ(::setrlimit(RLIMIT_NOFILE, &few), 0);
    std::vector<mapping> mappings;
    for (int i = 0; i < 10'000; ++i)
        mappings.push_back(pinned.map());
    ::setrlimit(RLIMIT_NOFILE, &before);
    expect_same_memory(mappings.front(), block.address(), 1);
    expect_same_memory(mappings.back(), block.address(), 2);
}

// RM has one status for two things that can run out.
TEST_F(rm_test, it_is_not_blamed_on_bar1_while_enough_of_it_is_free) {
    boot();
    device_block const block(4 * mib);
    pin const pinned = device::open(0).pin(block.address(), 4 * mib);
    for (int const status : {0x1a, 0x51}) {
        fake::the_faults().arm(fake::fault_source::status, 1, status);
        refusal const seen = refusal_of([&] { (void)pinned.map(); });
        fake::the_faults().disarm();
        EXPECT_EQ(seen.code, std::error_code(status, rm_category())) << seen.text;
        EXPECT_NE(seen.text.find("map GPU memory through BAR1"), std::string::npos) << seen.text;
    }
    expect_same_memory(pinned.map(), block.address(), 1);
}

TEST_F(rm_test, a_size_of_bar1_that_cannot_be_read_hides_nothing) {
    boot({.bar1 = 8 * mib});
    device_block const block(32 * mib);
    pin const pinned = device::open(0).pin(block.address(), 32 * mib);
    fake::the_faults().arm(fake::fault_source::status, 2, 0x56); // the question after the mapping
    refusal const seen = refusal_of([&] { (void)pinned.map(); });
    EXPECT_EQ(fake::the_faults().fired(), "RM escape");
    EXPECT_EQ(seen.code, std::error_code(0x1a, rm_category())) << seen.text;
    EXPECT_NE(seen.text.find("map GPU memory through BAR1"), std::string::npos) << seen.text;
}

// The second of three chunks does not fit; the first is unmapped again.
TEST_F(rm_test, a_range_of_chunks_is_mapped_as_a_whole_or_not_at_all) {
    boot({.bar1 = 8 * mib});
    virtual_block const chunks(0, {4 * mib, 4 * mib, 2 * mib});
    device const gpu = device::open(0);
    pin const pinned = gpu.pin(chunks.address(), chunks.size());
    fake::left_over const before = the_machine()->held();
    expect_refusal([&] { (void)pinned.map(); }, errc::bar1_exhausted, "wanted");
    EXPECT_EQ(the_machine()->held(), before);
    EXPECT_EQ(gpu.bar1().available, 6 * mib);
}

TEST_F(rm_test, bar1_too_small_for_the_self_test_breaks_the_backend) {
    boot({.bar1 = 1 * mib});
    EXPECT_EQ(report().state, backend_state::broken);
    EXPECT_NE(report().reason.find("BAR1"), std::string::npos) << report().reason;
    EXPECT_NE(report().advice.find("bytes are wanted"), std::string::npos) << report().advice;
}

// Read in the open driver's source: such a GPU maps nothing of its memory for the CPU.
TEST_F(rm_test, a_gpu_in_confidential_mode_makes_it_absent) {
    boot({.confidential = true});
    EXPECT_EQ(report().state, backend_state::absent) << report().reason;
    EXPECT_NE(report().advice.find("confidential"), std::string::npos) << report().advice;
}

// Read there as well: by a coherent link where there is one, unless PCIe is asked for.
TEST_F(rm_test, a_coherent_gpu_is_cached_unless_the_pcie_path_is_forced) {
    boot();
    device_block const block(2 * mib);
    cuda::memory const memory = cuda::describe(block.address(), mib);
    int bus = 0;
    expect_success(cuda::api().device_get_attribute(&bus, cuda::attribute_pci_bus_id, 0));
    for (bool const coherent : {false, true})
        for (bool const force : {false, true}) {
            backend::gpu gpu;
            gpu.pci.bus = static_cast<std::uint32_t>(bus);
            gpu.coherent = coherent;
            auto const backend = backend::make_rm(gpu);
            backend->start();
            EXPECT_TRUE(backend->properties().forces_pcie);
            auto const pinned = backend->pin(memory, {.force_pcie = force});
            auto const mapped = pinned->map();
            EXPECT_EQ(mapped->kind,
                      coherent && !force ? cache_kind::cached : cache_kind::write_combining);
            auto const flags = (6u << 23) | (force ? 2u << 20 : 0u);
            EXPECT_EQ(driver().last_map_flags(), flags);
            backend::shared_memory shared = pinned->share();
            shared.gpu = gpu.pci;
            auto const opened = backend::open_rm(std::move(shared));
            EXPECT_EQ(opened->map()->kind, mapped->kind);
            EXPECT_EQ(driver().last_map_flags(), flags) << "also where it is opened";
        }
}

// What RM answers where a signal came in its way.
TEST_F(rm_test, a_call_that_a_signal_disturbed_is_made_again) {
    boot();
    device_block const block(2 * mib);
    device const gpu = device::open(0);
    unsigned repeated = 0;
    for (unsigned which = 1; which <= 8; ++which) {
        fake::the_faults().arm(fake::fault_source::system, which, EAGAIN);
        try {
            expect_same_memory(gpu.pin(block.address(), mib).map(), block.address(), which);
            repeated += fake::the_faults().fired() == "ioctl";
        } catch (error const& failure) {
            EXPECT_NE(fake::the_faults().fired(), "ioctl") << failure.what();
        }
        fake::the_faults().disarm();
    }
    EXPECT_EQ(repeated, 3u) << "duplicate, register, map";
}

TEST_F(rm_test, a_driver_that_is_disturbed_for_ever_is_not_waited_for) {
    boot();
    device_block const block(2 * mib);
    device const gpu = device::open(0);
    static int calls;
    calls = 0;
    changed_calls disturbed;
    disturbed->ioctl = [](int, unsigned long, void*) {
        errno = ++calls < 100'000 ? EAGAIN : EIO;
        return -1;
    };
    refusal const seen = refusal_of([&] { (void)gpu.pin(block.address(), mib); });
    EXPECT_EQ(seen.code, std::error_code(EAGAIN, std::system_category())) << seen.text;
}

TEST_F(rm_test, no_device_node_makes_it_absent) {
    for (int const code : {ENOENT, ENXIO, ENODEV}) {
        boot();
        backend::gpu const gpu;
        fake::the_faults().arm(fake::fault_source::system, 1, code);
        refusal const seen = refusal_of([&] { backend::make_rm(gpu)->start(); });
        fake::the_faults().disarm();
        expect_refusal(seen, errc::backend_absent, "open /dev/nvidiactl");
    }
}

TEST_F(rm_test, a_device_node_without_permission_is_named) {
    boot();
    fake::the_faults().arm(fake::fault_source::system, 1, EACCES);
    refusal const seen = refusal_of([] { (void)device::open(0); });
    fake::the_faults().disarm();
    expect_refusal(seen, errc::backend_broken, "give this user read and write access");
    EXPECT_NE(seen.text.find("/dev/nvidiactl"), std::string::npos) << seen.text;
}

class rm_two_gpus_test : public rm_test {
protected:
    void SetUp() override {
        set_environment("BARMAP_SIM_DEVICES", "2");
        boot();
    }

    static cuda::pci_location describe(int ordinal) {
        int bus = 0;
        expect_success(cuda::api().device_get_attribute(&bus, cuda::attribute_pci_bus_id, ordinal));
        return {0, static_cast<std::uint32_t>(bus), 0};
    }
};

// RM itself answers success here and would map the wrong memory.
TEST_F(rm_two_gpus_test, a_descriptor_of_the_other_gpu_is_refused) {
    virtual_block const chunks(0, {2 * mib});
    os::fd const descriptor =
        cuda::export_chunk({chunks.address(), chunks.size(), 0, chunks.size()});
    rm::client const right(describe(0)), wrong(describe(1));
    right.free(right.import(descriptor.get()));
    expect_refusal([&] { wrong.free(wrong.import(descriptor.get())); }, errc::wrong_device,
                   "import", "device::from_pointer");
}

TEST_F(rm_two_gpus_test, a_gpu_that_the_driver_does_not_list_makes_rm_absent) {
    cuda::pci_location const there = describe(1);
    for (cuda::pci_location const& hidden : {cuda::pci_location{there.domain, 0xee, there.slot},
                                           {there.domain + 1, there.bus, there.slot},
                                           {there.domain, there.bus, there.slot + 1}}) {
        expect_refusal([&] { rm::client const none(hidden); }, errc::backend_absent, hidden.text(),
                       "/dev/nvidiaN");
    }
}

// Even if CUDA said that the memory is on the asked GPU, the handle tells.
TEST_F(rm_two_gpus_test, a_handle_of_the_other_gpu_is_refused) {
    device const second = device::open(1);
    device_block const block(2 * mib);
    changed_driver driver;
    driver.tell(cuda::pointer_device_ordinal, 1);
    expect_refusal([&] { (void)second.pin(block.address(), mib); }, errc::wrong_device,
                   "backend rm");
}

} // namespace
} // namespace barmap::contract
