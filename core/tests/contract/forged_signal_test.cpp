// SPDX-License-Identifier: MIT
#include "contract/changed_parcel.hpp"
#include "contract/ways_that_share.hpp"
#include "shared/changed_calls.hpp"
#include "shared/rounds.hpp"

#include <barmap/counter.hpp>
#include <barmap/ring.hpp>

#include <cstdint>
#include <fcntl.h>
#include <functional>
#include <optional>
#include <random>
#include <string_view>
#include <sys/mman.h>
#include <unistd.h>

/// What comes out of descriptors that are not what share() of a ring or counter makes.
namespace barmap::contract {
namespace {

constexpr std::string_view open_it = "open shared memory", as_received = "as it was received";

/// Where a descriptor's bytes say what.
struct place {
    static constexpr std::size_t version = 8, kind = 12, bytes = 16, slots = 24, first = 32,
                                 gpu_parts = 40, host_parts = 56;
};

/// One of each kind, in an arena of their own, with their descriptors.
struct signals {
    arena memory;
    ring_to_gpu<int> there;
    ring_to_cpu<int> back;
    counter_to_gpu go;
    counter_to_cpu done;
    os::fd of_there, of_back, of_go, of_done;

    explicit signals(device const& gpu)
        : memory(gpu, 1 << 14, 1 << 14), there(memory, 8), back(memory, 8), go(memory),
          done(memory), of_there(there.share()), of_back(back.share()), of_go(go.share()),
          of_done(done.share()) {}
};

class forged_signal_test : public contract_test {
protected:
    void SetUp() override {
        contract_test::SetUp();
        signals_.emplace(device::open(0));
        before_ = the_machine().held();
    }
    void TearDown() override {
        EXPECT_EQ(the_machine().held(), before_);
        signals_.reset();
        contract_test::TearDown();
    }
    /// Opens what a descriptor becomes by a change.
    template <class Signal>
    void expect_refused(os::fd const& descriptor,
                        std::function<void(changed_parcel&)> const& change,
                        std::string_view advice = as_received, errc code = errc::invalid_argument) {
        changed_parcel changed(descriptor.get());
        change(changed);
        os::fd const packed = changed.pack();
        expect_refusal([&] { (void)Signal::open_shared(packed.get()); }, code, open_it, advice);
    }
    /// Puts the second part where the first one lies.
    static void lay_over(changed_parcel& of, std::size_t parts) {
        std::uint64_t first = 0;
        std::memcpy(&first, of.is.bytes.data() + parts, sizeof first);
        of.put(parts + sizeof first, first);
    }
    /// As whichever kind it says that it is.
    static void open_any(int descriptor) {
        os::parcel const content = os::parcel::look_into(descriptor);
        std::uint32_t kind = 0;
        if (content.bytes.size() >= place::kind + sizeof kind)
            std::memcpy(&kind, content.bytes.data() + place::kind, sizeof kind);
        if (kind == 1)
            (void)ring_to_gpu<int>::open_shared(descriptor);
        else if (kind == 2)
            (void)ring_to_cpu<int>::open_shared(descriptor);
        else if (kind == 3)
            (void)counter_to_gpu::open_shared(descriptor);
        else
            (void)counter_to_cpu::open_shared(descriptor);
    }

    std::optional<signals> signals_;

private:
    fake::left_over before_;
};

using to_gpu_of_ints = ring_to_gpu<int>;
using to_cpu_of_ints = ring_to_cpu<int>;

TEST_P(forged_signal_test, what_is_of_another_kind_is_refused) {
    expect_refusal([&] { (void)to_gpu_of_ints::open_shared(signals_->of_back.get()); },
                   errc::invalid_argument, open_it, "it is a ring_to_cpu");
    expect_refusal([&] { (void)to_cpu_of_ints::open_shared(signals_->of_there.get()); },
                   errc::invalid_argument, open_it, "it is a ring_to_gpu");
    expect_refusal([&] { (void)counter_to_gpu::open_shared(signals_->of_done.get()); },
                   errc::invalid_argument, open_it, "it is a counter_to_cpu");
    expect_refusal([&] { (void)counter_to_cpu::open_shared(signals_->of_go.get()); },
                   errc::invalid_argument, open_it, "it is a counter_to_gpu");
    expect_refusal([&] { (void)ring_to_gpu<long>::open_shared(signals_->of_there.get()); },
                   errc::invalid_argument, open_it, "the same type");
    expect_refusal([&] { (void)ring_to_cpu<char>::open_shared(signals_->of_back.get()); },
                   errc::invalid_argument, open_it, "have 4 bytes, and those of this type 1");
    expect_refusal([&] { (void)open_shared(signals_->of_there.get()); }, errc::invalid_argument,
                   open_it, "pin::share()");
    device_block const block(2 * mib);
    os::fd const memory(device::open(0).pin(block.address(), mib).share());
    for (int const each : {-1, 9999, memory.get()})
        expect_refusal([&] { (void)to_gpu_of_ints::open_shared(each); }, errc::invalid_argument,
                       open_it, as_received);
}

TEST_P(forged_signal_test, a_changed_descriptor_is_refused) {
    auto const there = [&](std::function<void(changed_parcel&)> const& change) {
        expect_refused<to_gpu_of_ints>(signals_->of_there, change);
    };
    auto const put = [](std::size_t at, auto value) {
        return [=](changed_parcel& it) { it.put(at, value); };
    };
    expect_refused<to_gpu_of_ints>(signals_->of_there, put(place::version, std::uint32_t{2}),
                                   "one version in both processes", errc::unsupported_operation);
    there(put(0, 'B'));
    there(put(place::kind, std::uint32_t{0}));
    there(put(place::kind, std::uint32_t{5}));
    there([](auto& it) { it.is.bytes.resize(it.is.bytes.size() - 1); });
    there([](auto& it) { it.is.bytes.resize(it.is.bytes.size() + 1); });
    there([](auto& it) { it.is.bytes.resize(11); });
    there(put(place::first, std::uint64_t{1}));
    // Parts: not at a line, outside, wrapped round, and of each other.
    there(put(place::gpu_parts, std::uint64_t{8}));
    there(put(place::gpu_parts, std::uint64_t{1} << 40));
    there(put(place::gpu_parts, ~std::uint64_t{127}));
    there([&](auto& it) { lay_over(it, place::gpu_parts); });
    there(put(place::host_parts, std::uint64_t{4}));
    there(put(place::host_parts, std::uint64_t{1} << 14));
    there(put(place::host_parts + 8, std::uint64_t{128})); // which it has not
    there(put(place::slots, std::uint64_t{1} << 20));
    there([](auto& it) { it.is.files.pop_back(); });
    there([](auto& it) { it.is.files.clear(); });
    there([](auto& it) { it.is.files.push_back(os::memory_file(4096)); });
    there([](auto& it) { std::swap(it.is.files[0], it.is.files[1]); });
    expect_refused<to_cpu_of_ints>(signals_->of_back,
                                   put(place::gpu_parts + 8, std::uint64_t{128}));
    expect_refused<to_cpu_of_ints>(signals_->of_back,
                                   [&](auto& it) { lay_over(it, place::host_parts); });
    expect_refused<counter_to_gpu>(signals_->of_go, put(place::bytes, std::uint64_t{8}));
    expect_refused<counter_to_gpu>(signals_->of_go, put(place::slots, std::uint64_t{8}));
    expect_refused<counter_to_gpu>(signals_->of_go,
                                   [](auto& it) { it.is.files.push_back(os::memory_file(4096)); });
    expect_refused<counter_to_cpu>(signals_->of_done, put(place::slots, std::uint64_t{8}));
    for (std::uint64_t const slots : {0u, 3u}) {
        changed_parcel changed(signals_->of_there.get());
        changed.put(place::slots, slots);
        os::fd const packed = changed.pack();
        expect_refusal([&] { (void)to_gpu_of_ints::open_shared(packed.get()); },
                       errc::invalid_argument, "slots", "a power of two");
    }
    changed_parcel changed(signals_->of_there.get());
    changed.put(place::bytes, std::uint64_t{2} << 20);
    os::fd const packed = changed.pack();
    expect_refusal([&] { (void)detail::byte_ring_to_gpu::open_shared(packed.get()); },
                   errc::invalid_argument, "slots", "1 byte to 1 MiB");
}

// An access to a file that another process has made shorter would end the program.
TEST_P(forged_signal_test, host_memory_that_may_go_is_refused) {
    constexpr std::size_t bytes = 1 << 14;
    auto const there = [&](int file) {
        expect_refused<to_gpu_of_ints>(signals_->of_there,
                                       [file](auto& it) { it.is.files[1] = os::fd(file); });
    };
    int const unsealed = ::memfd_create("unsealed", MFD_CLOEXEC | MFD_ALLOW_SEALING);
    ASSERT_EQ(::ftruncate(unsealed, bytes), 0);
    there(::dup(unsealed));
    ASSERT_EQ(::fcntl(unsealed, F_ADD_SEALS, F_SEAL_GROW), 0);
    there(unsealed);
    int const empty = ::memfd_create("empty", MFD_CLOEXEC | MFD_ALLOW_SEALING);
    ASSERT_EQ(::fcntl(empty, F_ADD_SEALS, F_SEAL_SHRINK), 0);
    there(empty);
    there(os::memory_file(64).release()); // sealed, and too small for the part
    there(os::open_file("/dev/null", O_RDWR).release());
    there(os::open_file("/dev/zero", O_RDWR).release());
    // Of huge pages there may be none left at the first access.
    changed_parcel const whole(signals_->of_there.get());
    os::fd const packed = whole.pack();
    (void)to_gpu_of_ints::open_shared(packed.get());
    changed_calls calls;
    calls->file_system = [](int) -> long { return 0x958458f6; };
    expect_refusal([&] { (void)to_gpu_of_ints::open_shared(packed.get()); }, errc::invalid_argument,
                   open_it, as_received);
}

// What is asked first may have changed by the time that the second thing is asked.
TEST_P(forged_signal_test, host_memory_that_is_made_shorter_before_it_is_sealed_is_refused) {
    constexpr std::size_t bytes = 1 << 14;
    static int forged;
    forged = ::memfd_create("unsealed", MFD_CLOEXEC | MFD_ALLOW_SEALING);
    ASSERT_EQ(::ftruncate(forged, bytes), 0);
    changed_parcel changed(signals_->of_there.get());
    changed.is.files[1] = os::fd(forged);
    os::fd const packed = changed.pack();
    os::calls const* const before = &os::current();
    os::calls table = *before;
    table.seals = [](int file) {
        EXPECT_EQ(::ftruncate(forged, 0), 0);
        EXPECT_EQ(::fcntl(forged, F_ADD_SEALS, F_SEAL_SHRINK), 0);
        return ::fcntl(file, F_GET_SEALS);
    };
    os::replace(&table);
    refusal const seen = refusal_of([&] { (void)to_gpu_of_ints::open_shared(packed.get()); });
    os::replace(before);
    expect_refusal(seen, errc::invalid_argument, open_it, as_received);
}

// A store of a whole line faults there.
TEST_P(forged_signal_test, gpu_memory_that_begins_inside_a_line_is_refused) {
    device_block const block(2 * mib);
    pin const given = device::open(0).pin(block.address() + 8, mib);
    expect_refused<to_gpu_of_ints>(signals_->of_there,
                                   [&](auto& it) { it.is.files[0] = os::fd(given.share()); });
}

TEST_P(forged_signal_test, random_descriptors_leave_nothing) {
    std::mt19937 random(1);
    os::fd const* const all[] = {&signals_->of_there, &signals_->of_back, &signals_->of_go,
                                 &signals_->of_done};
    std::size_t const count = rounds(10'000);
    std::size_t refused = 0;
    for (std::size_t i = 0; i < count; ++i) {
        changed_parcel changed(all[i % 4]->get());
        changed.change(random, i / 4 % 4 == 0);
        os::fd const packed = changed.pack();
        try {
            open_any(packed.get());
        } catch (error const& failure) {
            EXPECT_FALSE(failure.advice().empty());
            ++refused;
        }
    }
    EXPECT_GT(refused, count / 2);
    EXPECT_LT(refused, count / 10 * 9) << "some descriptors were not changed, and must open";
}

INSTANTIATE_TEST_SUITE_P(ways, forged_signal_test, over(ways_that_share()),
                         [](auto const& info) { return name_of(info.param); });

using unshared_signal_test = contract_test;

TEST_P(unshared_signal_test, what_its_backend_cannot_share_is_refused) {
    ring_to_gpu<int> ring(device::open(0), 4);
    if (shares(GetParam()))
        os::fd const shared(ring.share());
    else
        expect_refusal([&] { (void)ring.share(); }, errc::unsupported_operation,
                       "share pinned memory", "\"rm\"");
}

BARMAP_OVER_NEWEST_WAYS(unshared_signal_test);

} // namespace
} // namespace barmap::contract
