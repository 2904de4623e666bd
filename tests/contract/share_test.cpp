// SPDX-License-Identifier: MIT
#include "base/parcel.hpp"
#include "contract/machine.hpp"
#include "driver/rm/client.hpp"
#include "gpu/gpu_identity.hpp"
#include "map/shared_memory.hpp"
#include "shared/in_child.hpp"

#include <algorithm>
#include <array>
#include <cstring>
#include <fcntl.h>
#include <iterator>
#include <random>
#include <string_view>
#include <sys/socket.h>
#include <sys/wait.h>
#include <thread>
#include <unistd.h>

/// Pins that are given to others by a descriptor, and what comes out of descriptors that are not
/// what they should be.
namespace barmap::contract {
namespace {

using share_test = contract_test;

bool shares(way const& which) {
    std::string_view const backend = which.backend;
    return backend == "rm" || backend == "dmabuf";
}

std::vector<way> ways_that_share() {
    std::vector<way> result;
    std::ranges::copy_if(all_ways(), std::back_inserter(result), shares);
    return result;
}

TEST_P(share_test, is_the_same_memory) {
    device const gpu = device::open(0);
    device_block const neighbour(kib), block(5 * mib);
    unsigned seed = 1;
    for (auto const& [offset, bytes] : std::initializer_list<std::pair<std::size_t, std::size_t>>{
             {0, 5 * mib}, {5, 69 * kib}, {mib - 1, 2}, {5 * mib - 1, 1}}) {
        pin const given = gpu.pin(block.address() + offset, bytes);
        os::fd const descriptor(given.share());
        pin const taken = open_shared(descriptor.get());
        EXPECT_EQ(taken.size(), bytes);
        EXPECT_EQ(taken.gpu_address(), 0u);
        EXPECT_EQ(taken.memory(), given.memory());
        EXPECT_EQ(taken.backend(), GetParam().backend);
        EXPECT_FALSE(taken.revoked());
        mapping const map = taken.map();
        EXPECT_EQ(map.kind(), given.map().kind());
        EXPECT_EQ(map.backend(), GetParam().backend);
        expect_same_memory(map, block.address() + offset, seed++);
    }
}

TEST_P(share_test, of_many_objects) {
    virtual_block const chunks(0, std::vector<std::size_t>(600, 2 * mib));
    device const gpu = device::open(0);
    std::uintptr_t const from = chunks.address() + 2 * mib - 4099;
    std::size_t const some = 140 * 2 * mib + 5000; // more than one call imports
    pin const given = gpu.pin(from, some);
    os::fd const descriptor(given.share());
    expect_same_memory(open_shared(descriptor.get()).map(), from, 1);
    if (GetParam().backend == std::string_view("dmabuf")) {
        expect_refusal([&] { (void)gpu.pin(chunks.address(), chunks.size()).share(); },
                       errc::unsupported_operation, "600 objects", "smaller pieces");
        return;
    }
    os::fd const all(gpu.pin(chunks.address(), chunks.size()).share()); // nor exports
    mapping const map = open_shared(all.get()).map();
    write_by_driver(chunks.address() + chunks.size() - kib, pattern(kib, 7));
    std::vector<std::byte> seen(kib);
    read(seen, map.window(chunks.size() - kib, kib));
    EXPECT_TRUE(seen == pattern(kib, 7));
}

TEST_P(share_test, large_copies) {
    device_block const block(4 * mib);
    os::fd const descriptor(device::open(0).pin(block.address(), 4 * mib).share());
    mapping const map = open_shared(descriptor.get()).map();
    auto const sent = pattern(4 * mib, 3);
    map.copy_to_gpu(0, sent);
    EXPECT_TRUE(read_by_driver(block.address(), 4 * mib) == sent);
    std::vector<std::byte> seen(4 * mib);
    map.copy_to_cpu(seen, 0);
    EXPECT_TRUE(seen == sent);
}

TEST_P(share_test, memory_stays_with_whoever_has_it) {
    fake::left_over const before = the_machine().held();
    {
        os::fd descriptor;
        auto const sent = pattern(2 * mib, 5);
        {
            device_block const block(2 * mib);
            write_by_driver(block.address(), sent);
            descriptor = os::fd(device::open(0).pin(block.address(), 2 * mib).share());
        } // freed, unpinned, the device closed
        std::vector<std::byte> seen(2 * mib);
        pin const taken = open_shared(descriptor.get());
        descriptor = {};
        mapping const map = taken.map();
        read(seen, map.window());
        EXPECT_TRUE(seen == sent);
        device_block const other(2 * mib);
        write_by_driver(other.address(), pattern(2 * mib, 6));
        read(seen, map.window());
        EXPECT_TRUE(seen == sent) << "not what was allocated later";
    }
    EXPECT_EQ(the_machine().held(), before);
}

TEST_P(share_test, can_be_opened_again_and_shared_on) {
    device_block const block(2 * mib);
    pin const given = device::open(0).pin(block.address() + 3, mib);
    fake::left_over const before = the_machine().held();
    {
        os::fd descriptor(given.share());
        for (int i = 0; i < 3; ++i) {
            pin const taken = open_shared(descriptor.get());
            expect_same_memory(taken.map(), block.address() + 3, static_cast<unsigned>(i));
            os::fd next(taken.share());
            descriptor = std::move(next);
        }
        expect_same_memory(open_shared(descriptor.get()).map(), block.address() + 3, 9);
    }
    EXPECT_EQ(the_machine().held(), before);
}

TEST_P(share_test, threads_share_and_open) {
    device_block const block(2 * mib);
    pin const given = device::open(0).pin(block.address(), 2 * mib);
    std::vector<std::jthread> all;
    for (unsigned t = 0; t < 4; ++t)
        all.emplace_back([&, t] {
            for (int i = 0; i < 20; ++i) {
                os::fd const descriptor(given.share());
                mapping const map = open_shared(descriptor.get()).map();
                window const own = map.window(t * kib, kib);
                write(own, pattern(kib, t));
                std::vector<std::byte> seen(kib);
                mapping const here = given.map();
                read(seen, here.window(t * kib, kib));
                EXPECT_TRUE(seen == pattern(kib, t));
            }
        });
}

TEST_P(share_test, what_is_no_shared_memory_is_refused) {
    int pipe_ends[2], plain[2];
    ASSERT_EQ(::pipe2(pipe_ends, O_CLOEXEC), 0);
    ASSERT_EQ(::socketpair(AF_UNIX, SOCK_STREAM, 0, plain), 0);
    os::fd const reads(pipe_ends[0]), writes(pipe_ends[1]), near(plain[0]), far(plain[1]);
    os::fd const null = os::open_file("/dev/null", O_RDWR);
    std::string_view const words = "to somebody else";
    ASSERT_EQ(::write(far.get(), words.data(), words.size()), static_cast<ssize_t>(words.size()));
    os::fd const foreign = os::parcel::pack(std::as_bytes(std::span(words)), {});
    for (int const each :
         {-1, 9999, null.get(), reads.get(), writes.get(), near.get(), far.get(), foreign.get()})
        expect_refusal([&] { (void)open_shared(each); }, errc::invalid_argument,
                       "open shared memory", "pin::share()");
    std::array<char, 64> left{};
    EXPECT_EQ(::read(near.get(), left.data(), left.size()), static_cast<ssize_t>(words.size()))
        << "nothing is taken out of a socket";
    expect_refusal([] { (void)pin().share(); }, errc::invalid_argument, "share", "pin some memory");
}

/// What a descriptor has, which a test then changes.
struct changed_parcel {
    explicit changed_parcel(int descriptor) : is(os::parcel::look_into(descriptor)) {}
    os::parcel is;

    template <class Value>
    void put(std::size_t at, Value value) {
        std::memcpy(is.bytes.data() + at, &value, sizeof value);
    }
    [[nodiscard]] os::fd pack() const { return os::parcel::pack(is.bytes, is.files); }
};
constexpr std::size_t version_at = 8, backend_at = 16, pci_bus_at = 52, parts_at = 64;

TEST_P(share_test, a_changed_descriptor_is_refused) {
    device_block const block(2 * mib);
    pin const given = device::open(0).pin(block.address(), 2 * mib);
    os::fd const descriptor(given.share());
    fake::left_over const before = the_machine().held();
    auto const expect = [&](auto change, errc code, std::string_view words,
                            std::string_view advice) {
        changed_parcel changed(descriptor.get());
        change(changed);
        os::fd const packed = changed.pack();
        expect_refusal([&] { (void)open_shared(packed.get()).map(); }, code, words, advice);
    };
    expect([](auto& it) { it.put(version_at, std::uint32_t{2}); }, errc::unsupported_operation,
           "open", "one version in both processes");
    expect([](auto& it) { it.put(backend_at, std::array<char, 8>{"vulkan"}); },
           errc::unsupported_operation, "open", "one version in both processes");
    expect([](auto& it) { it.put(backend_at, std::array<char, 8>{"none"}); },
           errc::unsupported_operation, "open", "one version in both processes");
    expect([](auto& it) { it.put(parts_at + 8, std::uint64_t{64} << 20); }, errc::out_of_range,
           "open", "do not change");
    expect([](auto& it) { it.put(parts_at, std::uint64_t{64} << 20); }, errc::out_of_range, "open",
           "do not change");
    expect([](auto& it) { it.put(parts_at, ~std::uint64_t{0}); }, errc::invalid_argument, "open",
           "as it was received");
    expect([](auto& it) { it.put(parts_at + 8, std::uint64_t{0}); }, errc::invalid_argument, "open",
           "as it was received");
    expect([](auto& it) { it.is.files.clear(); }, errc::invalid_argument, "open",
           "as it was received");
    expect([](auto& it) { it.is.bytes.resize(it.is.bytes.size() - 1); }, errc::invalid_argument,
           "open", "as it was received");
    expect([](auto& it) { it.is.bytes.resize(20); }, errc::invalid_argument, "open",
           "as it was received");
    if (GetParam().backend == std::string_view("rm"))
        expect([](auto& it) { it.put(pci_bus_at, std::uint32_t{0xee}); }, errc::backend_absent,
               "0000:ee:00.0", "/dev/nvidiaN");
    EXPECT_EQ(the_machine().held(), before);
}

// Ten thousand here and not more, for the sanitizers' sake.
TEST_P(share_test, random_descriptors_leave_nothing) {
    device_block const block(2 * mib);
    pin const given = device::open(0).pin(block.address(), 2 * mib);
    os::fd const descriptor(given.share());
    (void)open_shared(descriptor.get());
    fake::left_over const before = the_machine().held();
    std::mt19937 random(1);
    int refused = 0;
    for (int i = 0; i < 10'000; ++i) {
        changed_parcel changed(descriptor.get());
        std::size_t const bytes = changed.is.bytes.size();
        if (i % 4 == 0) {
            changed.is.bytes.resize(random() % 200 + 1);
            for (std::byte& each : changed.is.bytes)
                each = static_cast<std::byte>(random());
        } else {
            for (unsigned n = random() % 4; n > 0; --n)
                changed.is.bytes[random() % bytes] = static_cast<std::byte>(random());
        }
        os::fd const packed = changed.pack();
        try {
            mapping const map = open_shared(packed.get()).map();
        } catch (error const& failure) {
            EXPECT_FALSE(failure.advice().empty());
            ++refused;
        }
    }
    EXPECT_GT(refused, 5'000);
    EXPECT_LT(refused, 9'000) << "of those that nothing was changed in, too";
    EXPECT_EQ(the_machine().held(), before);
}

INSTANTIATE_TEST_SUITE_P(ways, share_test, testing::ValuesIn(ways_that_share()),
                         [](auto const& info) { return name_of(info.param); });

using share_refusal_test = contract_test;

TEST_P(share_refusal_test, a_backend_that_cannot_share_says_which_can) {
    auto const block = some_memory(2 * mib);
    pin const given = device::open(0).pin(block->address(), mib);
    if (shares(GetParam()))
        os::fd const shared(given.share());
    else
        expect_refusal([&] { (void)given.share(); }, errc::unsupported_operation,
                       "share pinned memory", "\"rm\"");
}

BARMAP_OVER_ALL_WAYS(share_refusal_test);

class share_by_rm_test : public testing::Test {
protected:
    void SetUp() override {
        set_environment("BARMAP_BACKEND", "rm");
        set_environment("BARMAP_SIM_DEVICES", "2");
        machine_.emplace(way_of("rm"));
        machine_->use();
    }

private:
    std::optional<machine> machine_;
};

// Every process that has the descriptor may do so.
TEST_F(share_by_rm_test, an_object_that_was_taken_out_is_missed) {
    device_block const block(2 * mib);
    os::fd const descriptor(device::open(0).pin(block.address(), mib).share());
    mapping const opened_before = open_shared(descriptor.get()).map();
    {
        os::parcel const content = os::parcel::look_into(descriptor.get());
        rm::client const receiver(identify(0).pci);
        rm::abi::export_objects_parameters take_out{};
        take_out.fd = content.files.at(0).get();
        take_out.device = receiver.device();
        take_out.max_objects = take_out.count = 1;
        ASSERT_EQ(receiver.control(receiver.root(), rm::abi::cmd_export_objects_to_fd, take_out,
                                   "take an object out"),
                  rm::abi::ok);
    }
    expect_refusal([&] { (void)open_shared(descriptor.get()); }, errc::unsupported_memory,
                   "import memory objects", "has taken it out");
    expect_same_memory(opened_before, block.address(), 1);
}

TEST_F(share_by_rm_test, a_descriptor_that_names_the_other_gpu_is_refused) {
    device_block const block(2 * mib);
    os::fd const descriptor(device::open(0).pin(block.address(), mib).share());
    changed_parcel changed(descriptor.get());
    changed.put(pci_bus_at, identify(1).pci.bus);
    os::fd const packed = changed.pack();
    expect_refusal([&] { (void)open_shared(packed.get()); }, errc::wrong_device,
                   "import memory objects", "do not change");
}

TEST(shared_memory, is_unpacked_as_it_was_packed) {
    backend::shared_memory given;
    given.backend = "vulkan";
    given.memory = memory_kind::pool;
    given.caching = cache_kind::cached;
    given.force_pcie = given.simulated = true;
    given.gpu = {0x10001, 0x65, 0x1f};
    given.parts = {{5, 7, 0}, {std::uint64_t{1} << 40, 4096, 60000}};
    given.files.push_back(os::open_file("/dev/null", O_RDWR));
    os::fd const packed = given.pack();
    auto const taken = backend::shared_memory::unpack(packed.get());
    EXPECT_EQ(taken.backend, given.backend);
    EXPECT_EQ(taken.memory, given.memory);
    EXPECT_EQ(taken.caching, given.caching);
    EXPECT_TRUE(taken.force_pcie && taken.simulated);
    EXPECT_EQ(taken.gpu.text(), "10001:65:1f.0");
    EXPECT_EQ(taken.bytes(), 7u + 4096 + 60000);
    ASSERT_EQ(taken.parts.size(), 2u);
    EXPECT_EQ(taken.parts[1].offset, given.parts[1].offset);
    EXPECT_EQ(taken.parts[1].beyond, 60000u);
    EXPECT_EQ(taken.files.size(), 1u);
    given.parts.resize(backend::shared_memory::most_parts + 1, {0, 1, 0});
    expect_refusal([&] { (void)given.pack(); }, errc::unsupported_operation, "4097 objects",
                   "smaller pieces");
}

/// Memory of a simulated GPU that needs no fake driver, which other processes can really open.
class share_between_processes_test : public testing::Test {
protected:
    void SetUp() override {
        set_environment("BARMAP_BACKEND", "dmabuf");
        machine_.emplace("610");
        machine_->use();
    }

private:
    std::optional<machine> machine_;
};

TEST_F(share_between_processes_test, a_forked_child_opens_its_own) {
    device_block const block(2 * mib);
    write_by_driver(block.address(), pattern(2 * mib, 1));
    pin const given = device::open(0).pin(block.address(), 2 * mib);
    os::fd const descriptor(given.share());
    pin const before_the_fork = open_shared(descriptor.get());
    expect_exit(0, in_child(1, [&] {
                    try {
                        (void)before_the_fork.map();
                    } catch (error const& failure) {
                        if (failure.code() != errc::forked_child ||
                            failure.advice().find("open_shared") == std::string::npos)
                            ::_exit(2);
                    }
                    mapping const map = open_shared(descriptor.get()).map();
                    std::vector<std::byte> seen(2 * mib);
                    read(seen, map.window());
                    if (seen != pattern(2 * mib, 1))
                        ::_exit(3);
                    write(map.window(), pattern(2 * mib, 2));
                    ::_exit(0);
                }));
    EXPECT_TRUE(read_by_driver(block.address(), 2 * mib) == pattern(2 * mib, 2));
}

TEST_F(share_between_processes_test, killed_receivers_leave_nothing) {
    device_block const block(2 * mib);
    pin const given = device::open(0).pin(block.address(), 2 * mib);
    for (int i = 0; i < 50; ++i) {
        os::fd const descriptor(given.share());
        int const status = in_child(1, [&] {
            mapping const map = open_shared(descriptor.get()).map();
            write_value(map.window(), i);
            ::raise(SIGKILL);
        });
        EXPECT_TRUE(WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL) << status;
        mapping const here = given.map();
        EXPECT_EQ(read_value<int>(here.window()), i);
    }
}

TEST_F(share_between_processes_test, a_process_without_the_simulated_gpu_is_refused) {
    device_block const block(2 * mib);
    os::fd const descriptor(device::open(0).pin(block.address(), mib).share());
    set_environment("BARMAP_SIM", "0");
    expect_refusal([&] { (void)open_shared(descriptor.get()); }, errc::unsupported_operation,
                   "open shared memory", "BARMAP_SIM=1");
    // Nor does it take a file that could become shorter for a dma-buf.
    changed_parcel forged(descriptor.get());
    forged.put(44, std::uint32_t{0}); // simulated
    os::fd const packed = forged.pack();
    expect_refusal([&] { (void)open_shared(packed.get()); }, errc::invalid_argument,
                   "open shared memory", "do not change");
    set_environment("BARMAP_SIM", "1");
}

} // namespace
} // namespace barmap::contract
