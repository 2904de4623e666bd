// SPDX-License-Identifier: MIT
#include "contract/machine.hpp"

#include "cuda/context_scope.hpp"
#include "cuda/memory.hpp"
#include "cuda/virtual_block.hpp"
#include "gpu/gpu_identity.hpp"

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <fcntl.h>
#include <functional>
#include <string>
#include <sys/resource.h>
#include <thread>
#include <unistd.h>
#include <vector>

/// A driver that answers what no driver should is not believed: it costs an error, never more.
namespace barmap::contract {
namespace {

constexpr CUresult planned = cuda::error_unknown;

/// The values that cuPointerGetAttributes has filled in, for a lie to change.
struct told {
    unsigned count;
    int const* names;
    void** values;
    template <class Value>
    void set(int name, Value value) const {
        for (unsigned i = 0; i < count; ++i)
            if (names[i] == name)
                std::memcpy(values[i], &value, sizeof value);
    }
    void range(CUdeviceptr start, std::size_t size) const {
        set(cuda::pointer_range_start_addr, start);
        set(cuda::pointer_range_size, size);
    }
};

class lying_driver_test : public testing::Test {
protected:
    void SetUp() override {
        set_environment("BARMAP_BACKEND", "dmabuf");
        machine_.emplace("610");
        machine_->use();
        driver_.emplace();
    }
    void TearDown() override {
        driver_.reset();
        order_.clear();
        machine_.reset();
    }

    /// What barmap calls, and what the driver would say.
    static cuda::driver_api& table() { return changed_driver::table; }
    static cuda::driver_api const& truth() { return changed_driver::real; }

    /// From now on each pointer's attributes are changed so.
    static void lie_about_pointers(std::function<void(CUdeviceptr, told const&)> how) {
        how_ = std::move(how);
        table().pointer_get_attributes = [](unsigned count, int* names, void** values,
                                            CUdeviceptr address) {
            CUresult const result = truth().pointer_get_attributes(count, names, values, address);
            how_(address, {count, names, values});
            return result;
        };
    }

    static inline std::function<void(CUdeviceptr, told const&)> how_;
    static inline std::vector<std::string> order_;

private:
    std::optional<machine> machine_;
    std::optional<changed_driver> driver_;
};

TEST_F(lying_driver_test, a_name_without_an_end_is_cut) {
    table().device_get_name = [](char* name, int size, CUdevice) {
        std::memset(name, 'x', static_cast<std::size_t>(size));
        return cuda::success;
    };
    EXPECT_EQ(device::open(0).name(), std::string(255, 'x'));
}

TEST_F(lying_driver_test, an_integrated_gpu_is_coherent_and_a_card_is_not) {
    EXPECT_FALSE(identify(0).coherent);
    table().device_get_attribute = [](int* value, int attribute, CUdevice gpu) {
        CUresult const result = truth().device_get_attribute(value, attribute, gpu);
        if (attribute == cuda::attribute_integrated)
            *value = 1;
        return result;
    };
    EXPECT_TRUE(identify(0).coherent);
}

TEST_F(lying_driver_test, a_granularity_of_0_is_an_error) {
    device const gpu = device::open(0);
    table().mem_get_allocation_granularity = [](std::size_t* granule, CUmemAllocationProp const*,
                                                int) {
        *granule = 0;
        return cuda::success;
    };
    expect_refusal([&] { (void)gpu.allocate(gpu_page_size); }, errc::unknown_layout, "granularity");
}

TEST_F(lying_driver_test, bounds_that_wrap_around_or_lie_elsewhere_are_an_error) {
    device_block const block(mib);
    std::uintptr_t const at = block.address();
    using bounds = std::pair<CUdeviceptr, std::size_t>; // not bindings: a lambda cannot take those
    constexpr std::size_t all = ~std::size_t{0};
    for (bounds const& told_ones : {bounds{at, all},
                                    {at + 256, all},
                                    {at, 0},
                                    {at - gpu_page_size, gpu_page_size},
                                    {at + mib, mib},
                                    {at, 0 - at}}) {
        lie_about_pointers([told_ones](CUdeviceptr, told const& values) {
            values.range(told_ones.first, told_ones.second);
        });
        EXPECT_EQ(refusal_of([&] { (void)cuda::describe(at, 1); }).code, errc::unknown_layout)
            << told_ones.first - at << ' ' << told_ones.second;
        EXPECT_EQ(refusal_of([&] { (void)cuda::describe_pages(at, 1); }).code, errc::unknown_layout)
            << told_ones.first - at << ' ' << told_ones.second;
    }
}

TEST_F(lying_driver_test, pages_of_two_kinds_or_two_gpus_are_refused) {
    device_block const block(mib);
    std::uintptr_t const first = block.address(), second = first + gpu_page_size;
    auto const a_page_each = [=](CUdeviceptr address, told const& values) {
        values.range(address < second ? first : second, gpu_page_size);
    };
    lie_about_pointers(a_page_each);
    EXPECT_EQ(cuda::describe_pages(first, 2 * gpu_page_size).chunks.size(), 2u);
    lie_about_pointers([=](CUdeviceptr address, told const& values) {
        a_page_each(address, values);
        values.set(cuda::pointer_is_managed, int{address >= second});
    });
    expect_refusal([&] { (void)cuda::describe_pages(first, 2 * gpu_page_size); },
                   errc::out_of_range, "one kind");
    lie_about_pointers([=](CUdeviceptr address, told const& values) {
        a_page_each(address, values);
        values.set(cuda::pointer_device_ordinal, int{address >= second});
    });
    expect_refusal([&] { (void)cuda::describe_pages(first, 2 * gpu_page_size); },
                   errc::out_of_range, "one GPU");
}

TEST_F(lying_driver_test, chunks_of_two_gpus_are_refused) {
    auto const chunks = make_memory(memory_kind::virtual_exportable, 4 * mib);
    std::uintptr_t const middle = chunks->address() + 2 * mib;
    table().mem_get_address_range = [](CUdeviceptr* start, std::size_t* size, CUdeviceptr address) {
        *start = address / (2 * mib) * (2 * mib);
        *size = 2 * mib;
        return cuda::success;
    };
    lie_about_pointers([](CUdeviceptr, told const&) {});
    EXPECT_EQ(cuda::describe(middle - 8, 16).chunks.size(), 2u);
    lie_about_pointers([=](CUdeviceptr address, told const& values) {
        values.set(cuda::pointer_device_ordinal, int{address >= middle});
    });
    expect_refusal([&] { (void)cuda::describe(middle - 8, 16); }, errc::out_of_range, "one GPU");
}

TEST_F(lying_driver_test, a_chunk_of_a_gpu_that_cannot_be_opened_is_an_error) {
    auto const chunks = make_memory(memory_kind::virtual_exportable, 2 * mib);
    table().device_get = [](CUdevice*, int) { return cuda::error_invalid_device; };
    EXPECT_EQ(caught([&] { (void)cuda::describe(chunks->address(), 16); }).code(),
              std::error_code(cuda::error_invalid_device, cuda_category()));
}

TEST_F(lying_driver_test, a_context_that_cannot_be_put_back_is_reported) {
    set_environment("BARMAP_LOG", "info");
    table().ctx_pop_current = [](CUcontext* context) {
        truth().ctx_pop_current(context);
        return cuda::error_invalid_context;
    };
    table().primary_ctx_release = [](CUdevice device) {
        truth().primary_ctx_release(device);
        return cuda::error_invalid_value;
    };
    testing::internal::CaptureStderr();
    std::thread([] { cuda::context_scope const scope = cuda::context_scope::on_device(0); }).join();
    std::string const said = testing::internal::GetCapturedStderr();
    EXPECT_NE(said.find("restore the thread's CUDA context: CUDA_ERROR_INVALID_CONTEXT"),
              std::string::npos)
        << said;
    EXPECT_NE(said.find("release the primary CUDA context: CUDA_ERROR_INVALID_VALUE"),
              std::string::npos)
        << said;
}

TEST_F(lying_driver_test, a_gpu_that_cannot_be_asked_what_it_is_is_not_opened) {
    auto const refused = [&](void (*lie_in)(cuda::driver_api&)) {
        table() = truth();
        lie_in(table());
        return caught([] { (void)device::open(0); }).code();
    };
    std::error_code const expected(cuda::error_unknown, cuda_category());
    EXPECT_EQ(refused([](auto& cu) { cu.device_get_count = [](int*) { return planned; }; }),
              expected);
    EXPECT_EQ(refused([](auto& cu) { cu.device_get = [](CUdevice*, int) { return planned; }; }),
              expected);
    EXPECT_EQ(refused([](auto& cu) {
                  cu.device_get_name = [](char*, int, CUdevice) { return planned; };
              }),
              expected);
    EXPECT_EQ(refused([](auto& cu) { cu.device_get_uuid = [](auto*, auto) { return planned; }; }),
              expected);
}

TEST_F(lying_driver_test, virtual_memory_that_may_not_be_accessed_is_freed) {
    table().mem_set_access = [](auto...) { return planned; };
    table().mem_address_free = [](CUdeviceptr address, std::size_t bytes) {
        order_.push_back("free addresses");
        return truth().mem_address_free(address, bytes);
    };
    EXPECT_EQ(caught([] { cuda::virtual_block const block(0, gpu_page_size); }).code(),
              std::error_code(planned, cuda_category()));
    EXPECT_EQ(order_, (std::vector<std::string>{"free addresses"}));
}

// Success without an answer.
TEST_F(lying_driver_test, what_is_not_answered_is_not_made_up) {
    table().device_get_count = [](int*) { return cuda::success; };
    EXPECT_EQ(device::count(), 0);
    table() = truth();
    table().device_get_attribute = [](int* value, int which, CUdevice gpu) {
        return which == cuda::attribute_dma_buf ? cuda::success
                                                : truth().device_get_attribute(value, which, gpu);
    };
    expect_refusal([] { (void)device::open(0); }, errc::backend_absent, "export dma-bufs");
    table() = truth();
    static int retained; // contexts, of which the device keeps one unless it has found another
    table().ctx_get_device = [](CUdevice*) { return cuda::success; };
    table().primary_ctx_retain = [](CUcontext* context, CUdevice gpu) {
        return ++retained, truth().primary_ctx_retain(context, gpu);
    };
    table().primary_ctx_release = [](CUdevice gpu) {
        return --retained, truth().primary_ctx_release(gpu);
    };
    retained = 0;
    device const gpu = device::open(0);
    EXPECT_EQ(retained, 1);
}

// With a context of the caller's, barmap holds no more of the driver than some memory.
TEST_F(lying_driver_test, at_the_end_of_the_process_the_driver_is_not_called) {
    auto const end_with_a_device = [] {
        static std::optional<device> early; // goes last: made before anything that is kept
        early = device::open(0);
        table().pointer_get_attribute = [](auto...) -> CUresult { ::_exit(3); };
        table().mem_free = [](auto...) -> CUresult { ::_exit(4); };
        std::exit(0);
    };
    testing::FLAGS_gtest_death_test_style = "threadsafe"; // a new process: CUDA does not fork
    EXPECT_EXIT(end_with_a_device(), testing::ExitedWithCode(0), "") << "O25";
}

// It is somebody else's to release then.
TEST_F(lying_driver_test, a_primary_context_that_cannot_be_retained_is_not_released) {
    static int releases;
    releases = 0;
    table().primary_ctx_retain = [](CUcontext*, CUdevice) { return cuda::error_out_of_memory; };
    table().primary_ctx_release = [](CUdevice) { return ++releases, cuda::success; };
    refusal seen;
    std::thread([&] {
        error const failure = caught([] { (void)cuda::context_scope::on_device(0); });
        seen = {failure.code(), failure.what(), failure.advice()};
    }).join();
    EXPECT_EQ(seen.code, std::error_code(cuda::error_out_of_memory, cuda_category()));
    EXPECT_NE(seen.text.find("retain the primary CUDA context"), std::string::npos) << seen.text;
    EXPECT_EQ(releases, 0);
}

// Work that still uses the memory would end with its context.
TEST_F(lying_driver_test, virtual_memory_is_unmapped_when_the_gpu_has_finished) {
    table().ctx_synchronize = [] {
        order_.push_back("synchronize");
        return truth().ctx_synchronize();
    };
    table().mem_unmap = [](CUdeviceptr address, std::size_t bytes) {
        order_.push_back("unmap");
        return truth().mem_unmap(address, bytes);
    };
    { cuda::virtual_block const block(0, gpu_page_size); }
    EXPECT_EQ(order_, (std::vector<std::string>{"synchronize", "unmap"}));
}

TEST_F(lying_driver_test, a_refusal_names_what_was_wanted) {
    expect_refusal([] { (void)device::from_pointer(nullptr); }, errc::invalid_argument,
                   "cannot find the GPU that owns 1 byte at 0x0");
    device const gpu = device::open(0);
    expect_refusal([&] { (void)gpu.pin(nullptr, 8); }, errc::invalid_argument,
                   "cannot pin 8 bytes at 0x0");
}

TEST_F(lying_driver_test, a_lack_of_descriptors_is_reported_as_such) {
#if defined(__SANITIZE_ADDRESS__)
    GTEST_SKIP() << "the sanitizers' own checks need descriptors";
#endif
    device const gpu = device::open(0);
    device_block const block(4 * mib);
    int const next = ::open("/dev/null", O_RDONLY | O_CLOEXEC);
    ::close(next);
    rlimit before{};
    ASSERT_EQ(::getrlimit(RLIMIT_NOFILE, &before), 0);
    rlimit const few{static_cast<rlim_t>(next), before.rlim_max};
    ASSERT_EQ(::setrlimit(RLIMIT_NOFILE, &few), 0);
    refusal const seen = refusal_of([&] { (void)gpu.pin(block.address(), mib); });
    ASSERT_EQ(::setrlimit(RLIMIT_NOFILE, &before), 0);
    EXPECT_EQ(seen.code, std::error_code(EMFILE, std::system_category())) << seen.text;
    EXPECT_NE(seen.text.find("ulimit -n"), std::string::npos) << seen.text;
    EXPECT_NO_THROW((void)gpu.pin(block.address(), mib));
}

} // namespace
} // namespace barmap::contract
