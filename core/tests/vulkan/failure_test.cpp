// SPDX-License-Identifier: MIT
#include "cuda/driver_api.hpp"
#include "cuda/memory.hpp"
#include "placed_layer.hpp"
#include "shared/changed_calls.hpp"
#include "software_gpu.hpp"
#include "watched_vulkan.hpp"

#include <cerrno>
#include <functional>

namespace barmap::test {
namespace {

using failure = cuda_test;

using action = std::function<void(backend::backend&)>;

/// Makes each Vulkan call of an action fail in turn; afterwards everything must be as it was.
void expect_clean_failures(watched_vulkan& watched, backend::backend& vulkan, unsigned at_least,
                           action const& act) {
    act(vulkan);
    live_objects const before = watched.live();
    std::size_t const descriptors = open_descriptors(), mappings = memory_mappings();
    unsigned call = 0;
    for (bool done = false; !done;) {
        ASSERT_LT(++call, 100u);
        watched.fail(call, VK_ERROR_TOO_MANY_OBJECTS);
        try {
            act(vulkan);
            done = true;
        } catch (error const& problem) {
            EXPECT_EQ(problem.code(), (std::error_code{-10, vulkan_category()})) << problem.what();
            EXPECT_EQ(problem.backend(), "");
            EXPECT_FALSE(problem.operation().empty());
            EXPECT_FALSE(problem.advice().empty());
        }
        EXPECT_EQ(watched.live(), before) << "call " << call;
        EXPECT_EQ(open_descriptors(), descriptors) << "call " << call;
        EXPECT_EQ(memory_mappings(), mappings) << "call " << call;
    }
    watched.fail(0, VK_SUCCESS);
    EXPECT_GT(call, at_least) << "fewer calls failed than there are";
}

TEST_F(failure, of_any_vulkan_call_while_allocating_and_mapping) {
    watched_vulkan watched;
    std::unique_ptr<backend::backend> const vulkan = started();
    expect_clean_failures(watched, *vulkan, 3,
                          [](backend::backend& backend) { (void)backend.allocate(mib)->map(); });
}

TEST_F(failure, of_any_vulkan_call_while_pinning_and_mapping) {
    virtual_block const memory(0, {2 * mib});
    watched_vulkan watched;
    std::unique_ptr<backend::backend> const vulkan = started();
    expect_clean_failures(watched, *vulkan, 2, [&](backend::backend& backend) {
        (void)backend.pin(cuda::describe(memory.address(), 1000))->map();
    });
}

TEST_F(failure, of_any_vulkan_call_while_pinning_and_mapping_several_chunks) {
    virtual_block const memory(0, {2 * mib, 2 * mib, 2 * mib});
    watched_vulkan watched;
    watched.add_placed_mapping();
    std::unique_ptr<backend::backend> const vulkan = started();
    auto const map_all = [&] {
        (void)vulkan->pin(cuda::describe(memory.address(), memory.size()))->map();
    };
    map_all();
    std::size_t const descriptors = open_descriptors(), mappings = memory_mappings();
    constexpr unsigned calls = 6; // three imports and three mappings
    for (unsigned call = 1; call <= calls; ++call) {
        watched.fail(call, VK_ERROR_MEMORY_MAP_FAILED);
        EXPECT_THROW(map_all(), error) << call;
        EXPECT_EQ(watched.live(), (live_objects{1, 1, 0, 0})) << call;
        EXPECT_EQ(open_descriptors(), descriptors) << call;
        EXPECT_EQ(memory_mappings(), mappings) << call;
    }
    map_all();
}

TEST_F(failure, to_unmap_keeps_the_addresses_from_being_given_to_someone_else) {
    virtual_block const memory(0, {2 * mib, 2 * mib});
    static void* released = nullptr;
    watched_vulkan watched;
    watched.add_placed_mapping();
    std::unique_ptr<backend::backend> const vulkan = started();
    std::unique_ptr<backend::pinned> const pinned =
        vulkan->pin(cuda::describe(memory.address(), memory.size()));
    std::unique_ptr<backend::mapped> mapped = pinned->map();
    changed_calls calls;
    calls->munmap = [](void* at, std::size_t bytes) {
        released = at;
        return os::linux_calls().munmap(at, bytes);
    };
    watched.fail("vkUnmapMemory2KHR", VK_ERROR_MEMORY_MAP_FAILED);
    mapped.reset();
    EXPECT_EQ(released, nullptr);
}

// Vulkan may have unmapped what was reserved there, and another thread may use the addresses by
// now.
TEST_F(failure, to_place_a_mapping_leaves_its_addresses_alone_and_frees_all_others) {
    virtual_block const memory(0, {2 * mib, 4 * mib, 2 * mib});
    static std::uintptr_t reserved, lost_begin, lost_end; // what is not freed of it is lost
    watched_vulkan watched;
    watched.add_placed_mapping();
    std::unique_ptr<backend::backend> const vulkan = started();
    std::unique_ptr<backend::pinned> const pinned =
        vulkan->pin(cuda::describe(memory.address(), memory.size()));
    changed_calls calls;
    calls->mmap = [](void* at, std::size_t bytes, int protection, int flags, int fd, off_t offset) {
        void* const result = os::linux_calls().mmap(at, bytes, protection, flags, fd, offset);
        if (!at) {
            reserved = lost_begin = reinterpret_cast<std::uintptr_t>(result);
            lost_end = reserved + bytes;
        }
        return result;
    };
    calls->munmap = [](void* at, std::size_t bytes) {
        auto const first = reinterpret_cast<std::uintptr_t>(at);
        if (first == lost_begin)
            lost_begin += bytes;
        else if (first + bytes == lost_end)
            lost_end -= bytes;
        return os::linux_calls().munmap(at, bytes);
    };
    watched.fail(2, VK_ERROR_MEMORY_MAP_FAILED);
    EXPECT_THROW((void)pinned->map(), error);
    calls.restore();
    std::uintptr_t const data =
        (reserved + placed_layer_alignment - 1) / placed_layer_alignment * placed_layer_alignment;
    EXPECT_EQ(lost_begin - data, 2 * mib);
    EXPECT_EQ(lost_end - lost_begin, 4 * mib);
    os::linux_calls().munmap(reinterpret_cast<void*>(lost_begin), lost_end - lost_begin);
}

/// One function of the table, put out of order.
struct broken_call {
    char const* what;
    void (*put_out_of_order)(cuda::driver_api&);
};

constexpr CUresult planned = cuda::error_unknown;

constexpr broken_call broken_calls[]{
    {"cuCtxGetCurrent",
     [](cuda::driver_api& cu) { cu.ctx_get_current = [](CUcontext*) { return planned; }; }},
    {"cuImportExternalMemory",
     [](cuda::driver_api& cu) {
         cu.import_external_memory =
             [](CUexternalMemory*, CUDA_EXTERNAL_MEMORY_HANDLE_DESC const*) { return planned; };
     }},
    {"cuExternalMemoryGetMappedBuffer",
     [](cuda::driver_api& cu) {
         cu.external_memory_get_mapped_buffer = [](CUdeviceptr*, CUexternalMemory,
                                                   CUDA_EXTERNAL_MEMORY_BUFFER_DESC const*) {
             return planned;
         };
     }},
};

TEST_F(failure, of_any_cuda_call_while_allocating) {
    watched_vulkan watched;
    std::unique_ptr<backend::backend> const vulkan = started();
    (void)vulkan->allocate(100);
    live_objects const before = watched.live();
    std::size_t const descriptors = open_descriptors(), mappings = memory_mappings();
    cuda::driver_api const real = cuda::api();
    for (broken_call const& broken : broken_calls) {
        cuda::driver_api table = real;
        broken.put_out_of_order(table);
        cuda::replace_api(&table);
        SCOPED_TRACE(broken.what);
        error const problem = caught([&] { (void)vulkan->allocate(100); });
        EXPECT_EQ(problem.code(), (std::error_code{planned, cuda_category()}));
        EXPECT_EQ(problem.backend(), "");
        cuda::replace_api(nullptr);
        EXPECT_EQ(watched.live(), before) << broken.what;
        EXPECT_EQ(open_descriptors(), descriptors) << broken.what;
        EXPECT_EQ(memory_mappings(), mappings) << broken.what;
    }
    (void)vulkan->allocate(100); // all in order again
}

TEST_F(failure, of_any_system_call) {
    virtual_block const memory(0, {2 * mib, 2 * mib});
    watched_vulkan watched;
    watched.add_placed_mapping();
    std::unique_ptr<backend::backend> const vulkan = started();
    auto const act = [&] {
        (void)vulkan->allocate(100)->map();
        (void)vulkan->pin(cuda::describe(memory.address(), memory.size()))->map();
    };
    act();
    live_objects const before = watched.live();
    std::size_t const descriptors = open_descriptors(), mappings = memory_mappings();
    static unsigned countdown;
    static auto const fails = [] {
        errno = ENOMEM;
        return countdown != 0 && --countdown == 0;
    };
    changed_calls calls;
    calls->duplicate = [](int fd) { return fails() ? -1 : os::linux_calls().duplicate(fd); };
    calls->mmap = [](void* at, std::size_t bytes, int protection, int flags, int fd, off_t offset) {
        return fails() ? reinterpret_cast<void*>(-1)
                       : os::linux_calls().mmap(at, bytes, protection, flags, fd, offset);
    };
    calls->madvise = [](void* at, std::size_t bytes, int advice) {
        return fails() ? -1 : os::linux_calls().madvise(at, bytes, advice);
    };
    unsigned call = 0;
    for (bool done = false; !done;) {
        ASSERT_LT(call, 100u);
        countdown = ++call;
        try {
            act();
            done = true;
        } catch (error const& problem) {
            EXPECT_EQ(problem.code(), (std::error_code{ENOMEM, std::system_category()}))
                << problem.what();
            EXPECT_EQ(problem.backend(), "");
            EXPECT_FALSE(problem.advice().empty());
        }
        EXPECT_EQ(watched.live(), before) << "call " << call;
        EXPECT_EQ(open_descriptors(), descriptors) << "call " << call;
        EXPECT_EQ(memory_mappings(), mappings) << "call " << call;
    }
    // duplicate and madvise; two duplicates, a reservation and madvise
    EXPECT_EQ(call, 7u);
}

} // namespace
} // namespace barmap::test
