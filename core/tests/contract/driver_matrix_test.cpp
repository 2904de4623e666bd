// SPDX-License-Identifier: MIT
#include "contract/batch_fixture.hpp"
#include "contract/engine_machine.hpp"
#include "driver/rm/client.hpp"
#include "fake/faults.hpp"
#include "fake/rm_tables.hpp"
#include "map/backend.hpp"
#include "transfer/engine/channel/engine_choice.hpp"
#include "transfer/engine/channel/generation.hpp"

#include <algorithm>
#include <cstring>
#include <string>
#include <string_view>
#include <vector>

/// What barmap gives on each series of the driver and on each chip of driver_data.hpp.
/// docs/platforms.md cites these tests.
namespace barmap::contract {
namespace {

namespace abi = rm::abi;
namespace data = rm::data;

rm::client client_of_gpu_0() {
    return rm::client(identify(0).pci);
}

engine_report channel_of(device const& gpu) {
    for (engine_report const& each : gpu.engines())
        if (each.name == "channel")
            return each;
    return {};
}

/// cudaMalloc memory, and memory that comes as a descriptor.
void expect_to_map(device const& gpu) {
    device_block const block(2 * mib);
    expect_same_memory(gpu.pin(block.address() + 5, mib).map(), block.address() + 5, 1);
    virtual_block const chunks(0, {2 * mib});
    expect_same_memory(gpu.pin(chunks.address(), mib).map(), chunks.address(), 2);
}

void expect_to_copy(device const& gpu) {
    device_block const block(mib);
    mapping const map = gpu.pin(block.address(), mib).map();
    auto const sent = pattern(300 * kib, 3);
    map.copy_to_gpu(0, sent);
    EXPECT_TRUE(read_by_driver(block.address(), sent.size()) == sent);
    std::vector<std::byte> seen(sent.size());
    map.copy_to_cpu(seen, 0);
    EXPECT_TRUE(seen == sent);
    EXPECT_EQ(channel_of(gpu).state, backend_state::usable) << channel_of(gpu).reason;
    EXPECT_EQ(channel_of(gpu).failures, 0u);
}

void expect_batches() {
    batch_program p;
    ASSERT_EQ(p.queue.engine(), "channel");
    p.expect_to_work(5, 165, 1000);
}

class driver_series_test : public testing::TestWithParam<unsigned> {};

std::vector<unsigned> every_series() {
    std::vector<unsigned> result;
    for (data::tagged_series const& each : data::all_series)
        result.push_back(each.number);
    result.insert(result.end(), {610, 615});
    return result;
}
INSTANTIATE_TEST_SUITE_P(drivers, driver_series_test, testing::ValuesIn(every_series()),
                         [](auto const& info) { return "R" + std::to_string(info.param); });

TEST_P(driver_series_test, maps_and_tells_bar1) {
    engine_machine machine(nullptr, {.series = GetParam(), .bar1 = 16 * mib});
    device const gpu = device::open(0);
    EXPECT_EQ(gpu.bar1().total, 16 * mib);
    EXPECT_EQ(gpu.bar1().available, 14 * mib) << "the self-test's memory stays mapped";
    expect_to_map(gpu);
    device_block const block(32 * mib);
    pin const large = gpu.pin(block.address(), 20 * mib);
    expect_refusal([&] { (void)large.map(); }, errc::bar1_exhausted,
                   std::to_string(14 * mib) + " of ");
}

TEST_P(driver_series_test, copies_by_a_channel) {
    engine_machine machine("channel", {.series = GetParam()});
    expect_to_copy(device::open(0));
}

TEST_P(driver_series_test, copies_batches_by_channels) {
    engine_machine machine("channel", {.series = GetParam()});
    expect_batches();
}

class chip_test : public testing::TestWithParam<std::string_view> {
protected:
    // Before the simulated GPU starts. So little fits below 2^40, even under ASan.
    chip_test() { set_environment("BARMAP_SIM_MEMORY", "128M"); }
};

std::vector<std::string_view> every_chip() {
    std::vector<std::string_view> result;
    for (data::chip const& each : data::chips)
        result.push_back(each.name);
    return result;
}
INSTANTIATE_TEST_SUITE_P(gpus, chip_test, testing::ValuesIn(every_chip()),
                         [](auto const& info) { return std::string(info.param); });

TEST_P(chip_test, maps_and_copies_by_a_channel) {
    engine_machine machine("channel", {.series = 595, .chip = GetParam()});
    device const gpu = device::open(0);
    expect_to_map(gpu);
    expect_to_copy(gpu);
}

TEST_P(chip_test, copies_batches_by_channels) {
    engine_machine machine("channel", {.series = 595, .chip = GetParam()});
    expect_batches();
}

/// As many engines as the chip may have: two that serve graphics, two that CUDA shares, and, as far
/// as there are more, one for each purpose, the last ones first.
std::vector<std::uint16_t> engines_of(data::chip const& chip) {
    std::vector<std::uint16_t> caps(chip.copy_engines);
    for (std::size_t i = 0; i < std::min<std::size_t>(2, caps.size()); ++i)
        caps[i] = abi::ce_cap_graphics | abi::ce_cap_shared;
    for (std::size_t i = 2; i < std::min<std::size_t>(3, caps.size()); ++i)
        caps[i] = abi::ce_cap_shared;
    std::uint16_t const purposes[]{abi::ce_cap_host_read, abi::ce_cap_host_write,
                                   abi::ce_cap_nvlink, abi::ce_cap_decompression};
    for (std::size_t i = 0; i < std::size(purposes) && caps.size() > 4 + i; ++i)
        caps[caps.size() - 1 - i] = purposes[i];
    return caps;
}

TEST_P(chip_test, has_an_engine_for_each_purpose) {
    data::chip const& chip = fake::rm::chip_called(GetParam());
    auto const caps = engines_of(chip);
    engine_machine machine(nullptr, {.series = 595, .chip = GetParam(), .engines = caps});
    auto const usable = engine::usable_engines(client_of_gpu_0());
    std::size_t decompress = 0;
    for (std::uint16_t const each : caps)
        decompress += (each & abi::ce_cap_decompression) != 0;
    EXPECT_EQ(usable.size(), caps.size() - 2 - decompress);
    std::uint32_t const last = chip.copy_engines - 1;
    using engine::direction;
    EXPECT_EQ(engine::own_engine_type(usable, direction::to_gpu), abi::engine_type_copy(last));
    if (chip.copy_engines > 5) {
        EXPECT_EQ(engine::own_engine_type(usable, direction::to_cpu),
                  abi::engine_type_copy(last - 1));
    }
    if (chip.copy_engines > 6) {
        EXPECT_EQ(engine::own_engine_type(usable, direction::among_gpus),
                  abi::engine_type_copy(last - 2));
    }
}

TEST(engine_choice_test, numbers_of_the_second_ten_are_engines_from_560_on) {
    std::vector<std::uint16_t> caps(20, abi::ce_cap_shared);
    caps[13] = 0;
    for (auto const& [series, all] :
         {std::pair{550u, 10u}, {555u, 10u}, {560u, 20u}, {615u, 20u}}) {
        engine_machine machine(nullptr, {.series = series, .engines = caps});
        auto const usable = engine::usable_engines(client_of_gpu_0());
        ASSERT_EQ(usable.size(), all) << series;
        EXPECT_EQ(usable[9].type, 0x12u);
        if (all == 20) {
            EXPECT_EQ(usable[10].type, 0x34u);
            EXPECT_EQ(engine::own_engine_type(usable, {}), 0x37u);
        }
    }
}

TEST(engine_choice_test, prefers_what_the_copies_need) {
    using engine::direction;
    constexpr std::uint16_t read = abi::ce_cap_host_read, write = abi::ce_cap_host_write,
                            nvlink = abi::ce_cap_nvlink, scrub = abi::ce_cap_scrub,
                            shared = abi::ce_cap_shared;
    auto const chosen = [](std::vector<std::uint16_t> const& caps, std::optional<direction> which) {
        std::vector<engine::copy_engine_caps> all;
        for (std::size_t i = 0; i < caps.size(); ++i)
            all.push_back({static_cast<std::uint32_t>(i), caps[i]});
        return engine::own_engine_type(all, which);
    };
    std::vector<std::uint16_t> const caps{shared, nvlink, read | nvlink, read, write, read | write};
    EXPECT_EQ(chosen(caps, direction::to_gpu), 3u) << "one that is not needed for NVLink";
    EXPECT_EQ(chosen(caps, direction::to_cpu), 4u);
    EXPECT_EQ(chosen(caps, direction::among_gpus), 1u);
    EXPECT_EQ(chosen(caps, {}), 5u);
    EXPECT_EQ(chosen({0, 0, 0}, direction::to_gpu), 0u) << "the first of equal ones";
    EXPECT_EQ(chosen({scrub, 0}, direction::to_cpu), 1u);
    EXPECT_EQ(chosen({scrub | read, 0}, direction::to_gpu), 0u);
    expect_refusal([&] { (void)chosen({shared}, {}); }, errc::backend_absent, "nothing else uses");
}

// Batches that wait for streams take the engine of their direction.
TEST(engine_choice_test, batches_take_the_engine_of_their_purpose) {
    std::vector<std::uint16_t> caps(20, abi::ce_cap_graphics);
    caps[11] = abi::ce_cap_host_read;
    caps[12] = abi::ce_cap_host_write;
    caps[15] = abi::ce_cap_decompression | abi::ce_cap_host_read | abi::ce_cap_host_write;
    engine_machine machine("channel", {.chip = "GB100", .engines = caps});
    batch_program p;
    auto const list = p.pieces(10, 1000);
    open_stream const stream;
    p.expect_done(p.queue.submit(list, after{stream.get()}));
    EXPECT_EQ(machine.gpu().done().engine_type, abi::engine_type_copy(12));
    p.expect_done(p.queue.submit(turned(list), after{stream.get()}));
    EXPECT_EQ(machine.gpu().done().engine_type, abi::engine_type_copy(11));
}

/// Drivers that this barmap does not know, with the structures of one that it does.
class unknown_series_test : public testing::TestWithParam<unsigned> {};
INSTANTIATE_TEST_SUITE_P(drivers, unknown_series_test, testing::Values(535u, 550u, 565u, 595u),
                         [](auto const& info) { return "as_R" + std::to_string(info.param); });

TEST_P(unknown_series_test, maps_and_has_no_channel) {
    engine_machine machine(nullptr, {.series = GetParam(), .bar1 = 16 * mib, .version = "620.6"});
    device const gpu = device::open(0);
    EXPECT_EQ(gpu.bar1().total, 16 * mib) << "by the sizes of other series";
    expect_to_map(gpu);
    EXPECT_EQ(channel_of(gpu).state, backend_state::absent);
    EXPECT_NE(channel_of(gpu).reason.find("driver version 620.6"), std::string::npos)
        << channel_of(gpu).reason;
    EXPECT_EQ(gpu.batch_queue().engine(), "driver");
}

TEST(unknown_driver_test, a_driver_that_does_not_tell_bar1_maps_without) {
    engine_machine machine(nullptr);
    device const gpu = device::open(0);
    for (auto const source : {fake::fault_source::status, fake::fault_source::system}) {
        fake::the_faults().arm(source, 1, source == fake::fault_source::status ? 0x56 : EINVAL);
        EXPECT_EQ(gpu.bar1().total, 0u);
        EXPECT_FALSE(fake::the_faults().fired().empty());
        fake::the_faults().disarm();
    }
    EXPECT_NE(gpu.bar1().total, 0u);
    expect_to_map(gpu);
}

// RM copies the parameters of a class back at its own size.
TEST(unknown_driver_test, longer_parameters_of_classes_overwrite_nothing) {
    engine_machine machine("channel", {.grown = 256});
    {
        struct {
            abi::address_space_parameters wanted{};
            std::uint8_t behind[256];
        } one;
        std::memset(one.behind, 0x5a, sizeof one.behind);
        rm::client const client = client_of_gpu_0();
        (void)client.allocate(client.device(), abi::class_address_space, one.wanted,
                              "make a GPU address space");
        for (std::uint8_t const each : one.behind)
            ASSERT_EQ(each, 0x5a);
    }
    expect_to_copy(device::open(0));
    expect_batches(); // registered with UVM, which does the same
}

// NVIDIA's driver maps such a GPU by PCIe up to R590, if it is asked to.
TEST(coherent_gpu_test, the_pcie_path_is_refused_from_595_on) {
    for (unsigned const series : {580u, 590u, 595u, 610u}) {
        SCOPED_TRACE(series);
        engine_machine machine(nullptr, {.series = series, .self_hosted = true});
        device_block const block(2 * mib);
        auto gpu = identify(0);
        gpu.coherent = true;
        auto const backend = backend::make_rm(gpu);
        backend->start();
        EXPECT_EQ(backend->properties().forces_pcie, series < 595);
        auto const pinned =
            backend->pin(cuda::describe(block.address(), mib), {.force_pcie = true});
        if (series < 595) {
            EXPECT_EQ(pinned->map()->kind, cache_kind::write_combining);
        } else {
            expect_refusal([&] { (void)pinned->map(); }, errc::unsupported_operation,
                           "coherent link", "without force_pcie");
        }
        EXPECT_EQ(backend->pin(cuda::describe(block.address(), mib), {})->map()->kind,
                  cache_kind::cached);
    }
}

TEST(coherent_gpu_test, a_driver_that_is_not_known_is_not_asked_for_the_pcie_path) {
    engine_machine machine(nullptr, {.version = "620.6"});
    auto gpu = identify(0);
    gpu.coherent = true;
    auto const backend = backend::make_rm(gpu);
    backend->start();
    EXPECT_FALSE(backend->properties().forces_pcie);
}

} // namespace
} // namespace barmap::contract
