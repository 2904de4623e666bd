// SPDX-License-Identifier: MIT
#include "contract/changed_parcel.hpp"
#include "contract/ways_that_share.hpp"
#include "driver/rm/client.hpp"
#include "gpu/gpu_identity.hpp"
#include "map/shared_memory.hpp"
#include "shared/changed_calls.hpp"
#include "shared/rounds.hpp"
#include "system/parcel.hpp"

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <fcntl.h>
#include <random>
#include <string_view>
#include <sys/socket.h>
#include <unistd.h>

/// What comes out of descriptors that are not what pin::share() makes.
namespace barmap::contract {
namespace {

using forged_share_test = contract_test;

TEST_P(forged_share_test, what_is_no_shared_memory_is_refused) {
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
                       "open shared memory", "share() made");
    std::array<char, 64> left{};
    EXPECT_EQ(::read(near.get(), left.data(), left.size()), static_cast<ssize_t>(words.size()))
        << "nothing is taken out of a socket";
    expect_refusal([] { (void)pin().share(); }, errc::invalid_argument, "share", "pin some memory");
}

constexpr std::size_t version_at = 8, backend_at = 16, pci_bus_at = 52, parts_at = 64;

TEST_P(forged_share_test, a_changed_descriptor_is_refused) {
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
           "open", "pass on the descriptor");
    expect([](auto& it) { it.put(parts_at, std::uint64_t{64} << 20); }, errc::out_of_range, "open",
           "pass on the descriptor");
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
    expect([](auto& it) { it.put(0, 'B'); }, errc::invalid_argument, "open", "as it was received");
    for (std::size_t const at : {12u, 32u, 36u, 40u, 44u, 60u}) // of which no value is so large
        expect([&](auto& it) { it.put(at, ~std::uint32_t{0}); }, errc::invalid_argument, "open",
               "as it was received");
    expect([](auto& it) { it.put(parts_at + 16, std::uint64_t{3} << 20); }, errc::invalid_argument,
           "open", "as it was received");
    expect(
        [](auto& it) {
            it.put(parts_at + 8, std::uint64_t{4096});
            it.put(parts_at + 16, std::uint64_t{4096});
        },
        errc::out_of_range, "open", "pass on the descriptor");
    if (GetParam().backend == std::string_view("rm"))
        expect([](auto& it) { it.put(pci_bus_at, std::uint32_t{0xee}); }, errc::backend_absent,
               "0000:ee:00.0", "/dev/nvidiaN");
    EXPECT_EQ(the_machine().held(), before);
}

TEST_P(forged_share_test, an_emptied_descriptor_is_refused) {
    device_block const block(2 * mib);
    os::fd const descriptor(device::open(0).pin(block.address(), mib).share());
    std::array<char, 8> some{};
    ASSERT_GT(::recv(descriptor.get(), some.data(), some.size(), 0), 0);
    expect_refusal([&] { (void)open_shared(descriptor.get()); }, errc::invalid_argument, "open",
                   "as it was received");
}

/// The system's calls where no descriptor is left: of a message's files the kernel drops some.
struct no_descriptors : changed_calls {
    no_descriptors() {
        table.peek_message = [](int socket, msghdr* message) {
            ssize_t const length = real.peek_message(socket, message);
            message->msg_flags |= MSG_CTRUNC;
            return length;
        };
        table.open = [](char const*, int) {
            errno = EMFILE;
            return -1;
        };
    }
};

TEST_P(forged_share_test, too_few_descriptors_are_said_to_be_too_few) {
    virtual_block const chunks(0, {2 * mib, 2 * mib});
    os::fd const descriptor(device::open(0).pin(chunks.address(), chunks.size()).share());
    fake::left_over const before = the_machine().held();
    {
        no_descriptors const left;
        refusal const seen = refusal_of([&] { (void)open_shared(descriptor.get()); });
        EXPECT_EQ(seen.code, std::error_code(EMFILE, std::system_category())) << seen.text;
        EXPECT_NE(seen.advice.find("ulimit -n"), std::string::npos);
    }
    EXPECT_EQ(the_machine().held(), before);
}

// A sender can have the kernel add one to each look.
TEST(forged_parcel, the_descriptor_of_a_process_is_not_left) {
    constexpr int pass_pidfd = 76, on = 1; // SO_PASSPIDFD
    int ends[2];
    ASSERT_EQ(::socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends), 0);
    os::fd const sender(ends[0]), forged(ends[1]);
    for (int const each : ends)
        if (::setsockopt(each, SOL_SOCKET, pass_pidfd, &on, sizeof on) != 0)
            GTEST_SKIP() << "this kernel adds none";
    ASSERT_EQ(::write(sender.get(), "x", 1), 1);
    EXPECT_EQ(os::parcel::look_into(forged.get()).files.size(), 1u);
    int const next = ::dup(forged.get());
    ::close(next);
    for (int i = 0; i < 3; ++i)
        expect_refusal([&] { (void)open_shared(forged.get()); }, errc::invalid_argument, "open",
                       "as it was received");
    int const still_next = ::dup(forged.get());
    ::close(still_next);
    EXPECT_EQ(still_next, next);
}

// Not more, for the sanitizers' sake.
TEST_P(forged_share_test, random_descriptors_leave_nothing) {
    device_block const block(2 * mib);
    pin const given = device::open(0).pin(block.address(), 2 * mib);
    os::fd const descriptor(given.share());
    (void)open_shared(descriptor.get());
    fake::left_over const before = the_machine().held();
    std::mt19937 random(1);
    std::size_t const count = rounds(10'000);
    std::size_t refused = 0;
    for (std::size_t i = 0; i < count; ++i) {
        changed_parcel changed(descriptor.get());
        changed.change(random, i % 4 == 0);
        os::fd const packed = changed.pack();
        try {
            mapping const map = open_shared(packed.get()).map();
        } catch (error const& failure) {
            EXPECT_FALSE(failure.advice().empty());
            ++refused;
        }
    }
    EXPECT_GT(refused, count / 2);
    EXPECT_LT(refused, count / 10 * 9) << "some descriptors were not changed, and must open";
    EXPECT_EQ(the_machine().held(), before);
}

INSTANTIATE_TEST_SUITE_P(ways, forged_share_test, over(ways_that_share()),
                         [](auto const& info) { return name_of(info.param); });

using backend_share_test = contract_test;

TEST_P(backend_share_test, a_backend_that_cannot_share_says_which_can) {
    auto const block = some_memory(2 * mib);
    pin const given = device::open(0).pin(block->address(), mib);
    if (shares(GetParam()))
        os::fd const shared(given.share());
    else
        expect_refusal([&] { (void)given.share(); }, errc::unsupported_operation,
                       "share pinned memory", "\"rm\"");
}

BARMAP_OVER_ALL_WAYS(backend_share_test);

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
                   "import memory objects", "has removed it");
    expect_same_memory(opened_before, block.address(), 1);
}

TEST_F(share_by_rm_test, a_descriptor_that_names_the_other_gpu_is_refused) {
    device_block const block(2 * mib);
    os::fd const descriptor(device::open(0).pin(block.address(), mib).share());
    changed_parcel changed(descriptor.get());
    changed.put(pci_bus_at, identify(1).pci.bus);
    os::fd const packed = changed.pack();
    expect_refusal([&] { (void)open_shared(packed.get()); }, errc::wrong_device,
                   "import memory objects", "pass on the descriptor");
}

// One that any process with CUDA can make: it names memory, too, but not what a pin has.
TEST_F(share_by_rm_test, an_export_of_cuda_or_of_another_program_is_refused) {
    device_block const block(2 * mib);
    pin const given = device::open(0).pin(block.address(), mib);
    os::fd const descriptor(given.share());
    auto const expect_refused_with = [&](os::fd file) {
        changed_parcel forged(descriptor.get());
        forged.is.files.clear();
        forged.is.files.push_back(std::move(file));
        os::fd const packed = forged.pack();
        expect_refusal([&] { (void)open_shared(packed.get()); }, errc::wrong_device,
                       "import memory objects", "pass on the descriptor");
    };
    CUmemAllocationProp properties{};
    properties.type = cuda::allocation_type_pinned;
    properties.requestedHandleTypes = cuda::handle_type_posix_fd;
    properties.location = {cuda::location_type_device, 0};
    CUmemGenericAllocationHandle of_cuda = 0;
    expect_success(cuda::api().mem_create(&of_cuda, 2 * mib, &properties, 0));
    int exported = -1;
    expect_success(cuda::api().mem_export_to_shareable_handle(&exported, of_cuda,
                                                              cuda::handle_type_posix_fd, 0));
    expect_refused_with(os::fd(exported));
    expect_success(cuda::api().mem_release(of_cuda));
    // By the same call as ours, with other words of the program's own.
    rm::client const other(identify(0).pci);
    os::parcel const content = os::parcel::look_into(descriptor.get());
    rm::abi::handle const object = other.import_objects(content.files.at(0).get(), 1).at(0);
    for (std::string_view const words : {"", "Barmap", "barmaP"}) {
        SCOPED_TRACE(words);
        os::fd file = os::open_file("/dev/nvidiactl", O_RDWR);
        rm::abi::export_objects_parameters request{};
        request.fd = file.get();
        request.device = other.device();
        request.max_objects = request.count = 1;
        std::ranges::copy(words, request.metadata);
        request.objects[0] = object;
        ASSERT_EQ(other.control(other.root(), rm::abi::cmd_export_objects_to_fd, request, "export"),
                  rm::abi::ok);
        expect_refused_with(std::move(file));
    }
    EXPECT_TRUE(other.free(other.device(), object));
}

using forged_share_alone_test = simulated_gpu_alone;

TEST_F(forged_share_alone_test, a_process_without_the_simulated_gpu_is_refused) {
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
                   "open shared memory", "as it was received");
    // A dma-buf, whose size cannot change, is enough.
    changed_calls calls;
    calls->file_system = [](int) -> long { return 0x444d4142; };
    EXPECT_EQ(open_shared(packed.get()).map().size(), mib);
    set_environment("BARMAP_SIM", "1");
}

} // namespace
} // namespace barmap::contract
