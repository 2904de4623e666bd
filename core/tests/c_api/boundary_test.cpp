// SPDX-License-Identifier: MIT
// Where exceptions stop: what each one becomes for C. The core behind it is played.
#include <barmap/barmap.h>
#include <barmap/barmap.hpp>
#include <barmap/checkpoint.h>
#include <barmap/checkpoint.hpp>
#include <barmap/host_buffer.h>
#include <barmap/report.h>
#include <barmap/waits.hpp>

#include "c_api/played_core.hpp"
#include "shared/cancelled_thread.hpp"

#include <array>
#include <cstring>
#include <functional>
#include <gtest/gtest.h>
#include <new>
#include <stdexcept>
#include <utility>
#include <vector>

namespace barmap {
namespace {

using namespace played_core;

void expect(barmap_status status, int cause, std::string_view text) {
    barmap_device* device = nullptr;
    EXPECT_EQ(barmap_device_create(0, &device), status);
    EXPECT_EQ(device, nullptr);
    EXPECT_EQ(barmap_error_cause(), cause);
    EXPECT_EQ(barmap_error_message(), text);
}

void expect_code(std::error_code code, barmap_status status, int cause) {
    SCOPED_TRACE(code.message());
    error const thrown(code, "do it", "rm", "do something else");
    failure = [&] { throw thrown; };
    expect(status, cause, thrown.what());
    EXPECT_STREQ(barmap_error_operation(), "do it");
    EXPECT_STREQ(barmap_error_backend(), "rm");
    EXPECT_STREQ(barmap_error_advice(), "do something else");
    EXPECT_EQ(barmap_error_piece(), -1);
}

TEST(the_boundary, tells_the_piece_and_forgets_it) {
    failure = [] { throw error(errc::out_of_range, "copy piece 3 of a batch", "", "", 3); };
    expect(BARMAP_ERROR_OUT_OF_RANGE, 0, "cannot copy piece 3 of a batch: out of range");
    EXPECT_EQ(barmap_error_piece(), 3);
    failure = [] { throw std::bad_alloc(); };
    expect(BARMAP_ERROR_NO_MEMORY, 0, "out of memory");
    EXPECT_EQ(barmap_error_piece(), -1);
    EXPECT_STREQ(barmap_error_operation(), "");
}

TEST(the_boundary, each_refusal_has_its_status) {
    std::pair<errc, barmap_status> const all[] = {
        {errc::invalid_argument, BARMAP_ERROR_INVALID_ARGUMENT},
        {errc::out_of_range, BARMAP_ERROR_OUT_OF_RANGE},
        {errc::unsupported_memory, BARMAP_ERROR_UNSUPPORTED_MEMORY},
        {errc::unsupported_operation, BARMAP_ERROR_UNSUPPORTED_OPERATION},
        {errc::no_device, BARMAP_ERROR_NO_DEVICE},
        {errc::backend_absent, BARMAP_ERROR_BACKEND_ABSENT},
        {errc::backend_broken, BARMAP_ERROR_BACKEND_BROKEN},
        {errc::wrong_device, BARMAP_ERROR_WRONG_DEVICE},
        {errc::unknown_layout, BARMAP_ERROR_UNKNOWN_LAYOUT},
        {errc::bar1_exhausted, BARMAP_ERROR_BAR1_EXHAUSTED},
        {errc::forked_child, BARMAP_ERROR_FORKED_CHILD},
        {errc::copy_unfinished, BARMAP_ERROR_COPY_UNFINISHED},
        {errc::checkpointed, BARMAP_ERROR_CHECKPOINTED},
    };
    for (auto const& [code, status] : all)
        expect_code(code, status, 0);
    expect_code({9999, category()}, BARMAP_ERROR_UNEXPECTED, 0);
}

TEST(the_boundary, a_foreign_failure_keeps_its_number) {
    expect_code({EMFILE, std::system_category()}, BARMAP_ERROR_SYSTEM, EMFILE);
    expect_code({ENODEV, std::generic_category()}, BARMAP_ERROR_SYSTEM, ENODEV);
    expect_code({2, cuda_category()}, BARMAP_ERROR_CUDA, 2);
    expect_code({-2, vulkan_category()}, BARMAP_ERROR_VULKAN, -2);
    expect_code({0x51, rm_category()}, BARMAP_ERROR_RM, 0x51);
    expect_code(std::make_error_code(std::io_errc::stream), BARMAP_ERROR_UNEXPECTED, 1);
}

TEST(the_boundary, other_exceptions_stop_there_too) {
    failure = [] { throw std::bad_alloc(); };
    expect(BARMAP_ERROR_NO_MEMORY, 0, "out of memory");
    failure = [] { throw std::runtime_error("a fault"); };
    expect(BARMAP_ERROR_UNEXPECTED, 0, "a fault");
}

TEST(the_boundary, a_text_without_end_is_cut) {
    failure = [] { throw std::runtime_error(std::string(100000, 'x')); };
    expect(BARMAP_ERROR_UNEXPECTED, 0, std::string(4095, 'x'));
}

TEST(the_boundary, options_are_handed_on) {
    failure = [] {};
    barmap_device* device = nullptr;
    ASSERT_EQ(barmap_device_create(0, &device), BARMAP_OK);
    auto const pin_with = [&](char const* backend, std::uint64_t flags) {
        barmap_pin_options const how = {sizeof how, backend, flags};
        barmap_pin* pin = nullptr;
        EXPECT_EQ(barmap_pin_create(device, 1, 1, &how, &pin), BARMAP_OK);
        barmap_pin_destroy(pin);
    };
    pin_with("rm", BARMAP_PIN_FORCE_PCIE);
    EXPECT_EQ(pinned_with.backend, "rm");
    EXPECT_TRUE(pinned_with.force_pcie);
    EXPECT_FALSE(pinned_with.whole_pages);
    pin_with(nullptr, BARMAP_PIN_WHOLE_PAGES);
    EXPECT_EQ(pinned_with.backend, "");
    EXPECT_FALSE(pinned_with.force_pcie);
    EXPECT_TRUE(pinned_with.whole_pages);
    barmap_device_destroy(device);
}

TEST(the_boundary, every_argument_is_handed_on) {
    using numbers = std::vector<std::uint64_t>;
    failure = [] {};
    barmap_device *device = nullptr, *owner = nullptr;
    barmap_pin* pin = nullptr;
    auto const free_pin = [&] { barmap_pin_destroy(std::exchange(pin, nullptr)); };
    ASSERT_EQ(barmap_device_create(3, &device), BARMAP_OK);
    EXPECT_EQ(handed_on, numbers{3});
    ASSERT_EQ(barmap_device_create_from_pointer(0x7f0012345678, &owner), BARMAP_OK);
    EXPECT_EQ(handed_on, numbers{0x7f0012345678});
    barmap_device_destroy(owner);
    ASSERT_EQ(barmap_pin_allocate(device, 4097, &pin), BARMAP_OK);
    EXPECT_EQ(handed_on, (numbers{4097, 0}));
    free_pin();
    ASSERT_EQ(barmap_pin_create(device, 5, 6, nullptr, &pin), BARMAP_OK);
    EXPECT_EQ(handed_on, (numbers{5, 6}));
    free_pin();
    ASSERT_EQ(barmap_pin_open_shared(8, &pin), BARMAP_OK);
    EXPECT_EQ(handed_on, numbers{8});
    int descriptor = -1;
    EXPECT_EQ(barmap_pin_share(pin, &descriptor), BARMAP_OK);
    EXPECT_EQ(descriptor, 17);
    free_pin();
    std::array<unsigned char, 64> handle;
    for (std::size_t i = 0; i < handle.size(); ++i)
        handle[i] = static_cast<unsigned char>(i + 1);
    barmap_pin_options const how = {sizeof how, "rm", BARMAP_PIN_FORCE_PCIE};
    ASSERT_EQ(barmap_pin_create_ipc(device, handle.data(), 9, 10, &how, &pin), BARMAP_OK);
    EXPECT_EQ(handed_on, (numbers{9, 10}));
    EXPECT_EQ(std::memcmp(pinned_by.bytes.data(), handle.data(), 64), 0);
    EXPECT_EQ(pinned_with.backend, "rm");
    EXPECT_TRUE(pinned_with.force_pcie);
    free_pin();
    barmap_host_buffer* buffer = nullptr;
    ASSERT_EQ(barmap_host_buffer_create(device, 4098, &buffer), BARMAP_OK);
    EXPECT_EQ(handed_on, numbers{4098});
    barmap_host_buffer_destroy(buffer);
    EXPECT_EQ(barmap_checkpoint_prepare(7), BARMAP_OK);
    EXPECT_EQ(handed_on, numbers{7});
    EXPECT_EQ(barmap_checkpoint_prepare(~0ull), BARMAP_OK);
    EXPECT_EQ(handed_on.front(), static_cast<std::uint64_t>(detail::longest_wait.count()));
    failure = [] { throw error(errc::checkpointed, "restore", "", ""); };
    EXPECT_EQ(barmap_checkpoint_restore(), BARMAP_ERROR_CHECKPOINTED);
    barmap_device_destroy(device);
}

TEST(the_boundary, every_property_is_told) {
    failure = [] {};
    barmap_device* device = nullptr;
    barmap_pin* pin = nullptr;
    barmap_host_buffer* buffer = nullptr;
    ASSERT_EQ(barmap_device_create(0, &device), BARMAP_OK);
    ASSERT_EQ(barmap_pin_allocate(device, 1, &pin), BARMAP_OK);
    EXPECT_STREQ(barmap_device_name(device), "none");
    EXPECT_EQ(barmap_pin_gpu_address(pin), 11u);
    EXPECT_EQ(barmap_pin_size(pin), 12u);
    EXPECT_STREQ(barmap_pin_backend(pin), "dmabuf");
    std::pair<cache_kind, int> const kinds[] = {
        {cache_kind::write_combining, BARMAP_WRITE_COMBINING},
        {cache_kind::cached, BARMAP_CACHED},
        {cache_kind::uncached, BARMAP_UNCACHED}};
    for (auto const& [kind, number] : kinds) {
        barmap_mapping* map = nullptr;
        kind_of_mappings = kind;
        ASSERT_EQ(barmap_mapping_create(pin, &map), BARMAP_OK);
        EXPECT_EQ(barmap_mapping_kind(map), number);
        barmap_mapping_destroy(map);
    }
    ASSERT_EQ(barmap_host_buffer_create(device, 1, &buffer), BARMAP_OK);
    EXPECT_EQ(reinterpret_cast<std::uintptr_t>(barmap_host_buffer_data(buffer)), 21u);
    EXPECT_EQ(barmap_host_buffer_size(buffer), 22u);
    EXPECT_EQ(barmap_host_buffer_gpu_address(buffer), 23u);
    barmap_host_buffer_destroy(buffer);
    barmap_pin_destroy(pin);
    barmap_device_destroy(device);
}

TEST(the_boundary, a_copy_is_handed_on_and_its_failure_told) {
    barmap_pin_options const how = {sizeof how, nullptr, 0};
    barmap_device* device = nullptr;
    barmap_pin* pin = nullptr;
    barmap_mapping* map = nullptr;
    failure = [] {};
    ASSERT_EQ(barmap_device_create(0, &device), BARMAP_OK);
    ASSERT_EQ(barmap_pin_create(device, 1, 1, &how, &pin), BARMAP_OK);
    ASSERT_EQ(barmap_mapping_create(pin, &map), BARMAP_OK);
    std::byte host[16];
    auto const told = [&](auto call, int status) {
        copied = {};
        EXPECT_EQ(call(), status);
        EXPECT_EQ(copied.host, host);
        EXPECT_EQ(copied.offset, 5u);
        EXPECT_EQ(copied.bytes, 16u);
    };
    auto const to_gpu = [&] { return barmap_mapping_copy_to_gpu(map, 5, host, sizeof host); };
    auto const to_cpu = [&] { return barmap_mapping_copy_to_cpu(map, host, 5, sizeof host); };
    told(to_gpu, BARMAP_OK);
    told(to_cpu, BARMAP_OK);
    failure = [] { throw error(errc::copy_unfinished, "copy", "", ""); };
    told(to_gpu, BARMAP_ERROR_COPY_UNFINISHED);
    told(to_cpu, BARMAP_ERROR_COPY_UNFINISHED);
    failure = [] { throw std::bad_alloc(); };
    told(to_gpu, BARMAP_ERROR_NO_MEMORY);
    barmap_mapping_destroy(map);
    barmap_pin_destroy(pin);
    barmap_device_destroy(device);
}

TEST(the_boundary, a_batch_is_handed_on_and_its_failure_told) {
    using std::chrono::nanoseconds;
    failure = [] {};
    barmap_device* device = nullptr;
    barmap_batch_queue* queue = nullptr;
    ASSERT_EQ(barmap_device_create(0, &device), BARMAP_OK);
    ASSERT_EQ(barmap_batch_queue_create(device, &queue), BARMAP_OK);
    EXPECT_STREQ(barmap_batch_queue_engine(queue), "driver");
    barmap_copy_piece const pieces[2] = {{1, 2, 3}, {4, 5, 6}};
    int after = 0, then = 0;
    std::uint64_t ticket = 0;
    auto const submit = [&](std::uint64_t flags, std::uint64_t at_most) {
        barmap_batch_options const how = {sizeof how, flags, &after, at_most, &then};
        submitted = {};
        return barmap_batch_queue_submit(queue, pieces, 2, &how, &ticket);
    };
    ASSERT_EQ(submit(0, 5), BARMAP_OK);
    EXPECT_EQ(ticket, 1234u);
    EXPECT_EQ(static_cast<void const*>(submitted.pieces), pieces);
    EXPECT_EQ(submitted.count, 2u);
    EXPECT_EQ(submitted.pieces[1].to, 4u);
    EXPECT_EQ(submitted.pieces[1].from, 5u);
    EXPECT_EQ(submitted.pieces[1].bytes, 6u);
    EXPECT_FALSE(submitted.begin || submitted.end);
    ASSERT_EQ(submit(BARMAP_BATCH_AFTER, 5), BARMAP_OK);
    ASSERT_TRUE(submitted.begin && !submitted.end);
    EXPECT_EQ(submitted.begin->stream, &after);
    EXPECT_EQ(submitted.begin->at_most, nanoseconds(5));
    ASSERT_EQ(submit(BARMAP_BATCH_AFTER, 1), BARMAP_OK);
    EXPECT_EQ(submitted.begin->at_most, nanoseconds(1));
    ASSERT_EQ(submit(BARMAP_BATCH_AFTER, 0), BARMAP_OK);
    EXPECT_EQ(submitted.begin->at_most, barmap::batch_queue::after().at_most);
    ASSERT_EQ(submit(BARMAP_BATCH_AFTER | BARMAP_BATCH_THEN, ~0ull), BARMAP_OK);
    ASSERT_TRUE(submitted.begin && submitted.end);
    EXPECT_GT(submitted.begin->at_most, std::chrono::hours(24 * 300));
    EXPECT_EQ(submitted.end->stream, &then);

    ticket_of_a_started_engine = batch_ticket{77};
    ASSERT_EQ(submit(BARMAP_BATCH_STARTED | BARMAP_BATCH_AFTER, 5), BARMAP_OK);
    EXPECT_EQ(ticket, 77u);
    EXPECT_EQ(submitted.count, 2u);
    ASSERT_TRUE(submitted.begin && !submitted.end);
    EXPECT_EQ(submitted.begin->at_most, nanoseconds(5));
    ticket_of_a_started_engine = std::nullopt;
    EXPECT_EQ(submit(BARMAP_BATCH_STARTED, 0), BARMAP_ERROR_NOT_STARTED);
    EXPECT_EQ(ticket, 0u);
    EXPECT_STREQ(
        barmap_error_message(),
        "cannot copy a batch: no copy engine is at work; call barmap_batch_queue_open() in "
        "a thread that may wait");
    EXPECT_EQ(barmap_error_cause(), 0);
    EXPECT_STREQ(barmap_error_operation(), "copy a batch");
    EXPECT_STREQ(barmap_error_advice(), "call barmap_batch_queue_open() in a thread that may wait");
    EXPECT_EQ(submit(BARMAP_BATCH_STARTED << 1, 0), BARMAP_ERROR_INVALID_ARGUMENT);
    EXPECT_EQ(barmap_batch_queue_open(queue), BARMAP_OK);
    EXPECT_EQ(barmap_batch_queue_open(nullptr), BARMAP_ERROR_INVALID_ARGUMENT);

    int done = 7;
    EXPECT_EQ(barmap_batch_queue_wait(queue, 1234, 8, &done), BARMAP_OK);
    EXPECT_EQ(done, 1);
    EXPECT_EQ(waited, std::chrono::nanoseconds(8));
    EXPECT_EQ(barmap_batch_queue_wait(queue, 1233, ~0ull, &done), BARMAP_OK);
    EXPECT_EQ(done, 0);
    EXPECT_GT(waited, std::chrono::hours(1000));

    failure = [] { throw error(errc::copy_unfinished, "copy", "", ""); };
    EXPECT_EQ(barmap_batch_queue_open(queue), BARMAP_ERROR_COPY_UNFINISHED);
    EXPECT_EQ(submit(BARMAP_BATCH_STARTED, 0), BARMAP_ERROR_COPY_UNFINISHED);
    for (auto const look :
         {+[](barmap_batch_queue*of, int*out) { return barmap_batch_queue_done(of, 1234, out); },
          +[](barmap_batch_queue*of, int*out) {
              return barmap_batch_queue_wait(of, 1234, 1, out);
          }}) {
        done = 7;
        EXPECT_EQ(look(queue, &done), BARMAP_ERROR_COPY_UNFINISHED);
        EXPECT_EQ(done, 0);
    }
    failure = [] { throw error(errc::backend_broken, "copy", "", ""); };
    EXPECT_EQ(submit(0, 0), BARMAP_ERROR_BACKEND_BROKEN);
    EXPECT_EQ(ticket, 0u);
    EXPECT_STREQ(barmap_batch_queue_engine(queue), "");
    barmap_batch_queue_destroy(queue);
    barmap_device_destroy(device);
}

TEST(the_boundary, what_a_gpu_is_is_handed_on) {
    failure = [] {};
    barmap_device* gpu = nullptr;
    ASSERT_EQ(barmap_device_create_current(&gpu), BARMAP_OK);
    EXPECT_EQ(handed_on, std::vector<std::uint64_t>{5});
    EXPECT_EQ(barmap_device_ordinal(gpu), 6);
    EXPECT_STREQ(barmap_device_pci_address(gpu), "0000:65:00.0");
    EXPECT_EQ(barmap_device_driver_version(gpu), 12080);
    EXPECT_EQ(barmap_device_simulated(gpu), 1);
    std::uint64_t total = 7, available = 7;
    EXPECT_EQ(barmap_device_bar1(gpu, &total, &available), BARMAP_OK);
    EXPECT_EQ(total, 31u);
    EXPECT_EQ(available, 30u);
    failure = [] { throw error(errc::forked_child, "read", "", ""); };
    EXPECT_EQ(barmap_device_bar1(gpu, &total, &available), BARMAP_ERROR_FORKED_CHILD);
    EXPECT_EQ(total + available, 0u);
    EXPECT_EQ(barmap_is_pinned(&total, 24), 1);
    EXPECT_EQ(barmap_is_pinned(&total, 23), 0);
    barmap_device_destroy(gpu);
}

TEST(the_boundary, a_cancelled_thread_ends_after_the_call) {
    failure = [] { pthread_testcancel(); };
    EXPECT_TRUE(test::returns_to_a_cancelled_thread([] {
        EXPECT_EQ(barmap_device_count(), 0);
        barmap_device* device = nullptr;
        barmap_batch_queue* queue = nullptr;
        EXPECT_EQ(barmap_device_create(0, &device), BARMAP_OK);
        EXPECT_EQ(barmap_batch_queue_create(device, &queue), BARMAP_OK);
        barmap_batch_queue_destroy(queue);
        barmap_device_destroy(device);
    }));
    failure = nullptr;
}

} // namespace
} // namespace barmap
