// SPDX-License-Identifier: MIT
#include "fake/kernel.hpp"

#include "fake/faults.hpp"
#include "shared/caught.hpp"
#include "shared/in_child.hpp"
#include "system/calls.hpp"
#include "system/fd.hpp"
#include "system/region.hpp"

#include <barmap/error.hpp>

#include <cerrno>
#include <fcntl.h>
#include <future>
#include <gtest/gtest.h>
#include <mutex>
#include <sys/mman.h>
#include <thread>
#include <unistd.h>

namespace barmap::fake {
namespace {

std::size_t const page_bytes = os::page_size();

/// A device of four pages, which counts.
class counting_driver final : public device_driver {
public:
    struct file final : open_file {
        explicit file(counting_driver& of) : driver(of) { ++driver.open_files; }
        ~file() override { --driver.open_files; }
        int ioctl(unsigned long request, void*) override {
            ++driver.ioctls;
            return request == 1 ? 0 : ENOTTY;
        }
        int map(std::size_t, off_t offset, placement& where) override {
            where = {driver.memory, offset, {nullptr, [of = &driver](void*) { --of->mapped; }}};
            ++driver.mapped;
            return 0;
        }
        [[nodiscard]] bool gives_back(unsigned long request) const override { return request == 1; }
        counting_driver& driver;
    };

    counting_driver() : memory(::memfd_create("test", MFD_CLOEXEC)) {
        EXPECT_EQ(::ftruncate(memory, 4 * page_bytes), 0);
    }
    ~counting_driver() override { ::close(memory); }
    [[nodiscard]] bool serves(std::string_view path) const override {
        return path == "/dev/counting";
    }
    int open(std::string_view, std::shared_ptr<open_file>& opened) override {
        opened = std::make_shared<file>(*this);
        return 0;
    }

    int memory, open_files = 0, ioctls = 0, mapped = 0;
};

class kernel_test : public testing::Test {
protected:
    void SetUp() override { kernel_.add(driver_); }
    void TearDown() override { the_faults().disarm(); }
    std::shared_ptr<counting_driver> driver_ = std::make_shared<counting_driver>();
    kernel kernel_;
};

TEST_F(kernel_test, other_files_are_the_real_ones) {
    os::fd const zero = os::open_file("/dev/zero", O_RDWR);
    char byte = 1;
    EXPECT_EQ(::read(zero.get(), &byte, 1), 1);
    EXPECT_EQ(byte, 0);
    EXPECT_EQ(kernel_.descriptors(), 0u);
    EXPECT_THROW((void)os::open_file("/dev/no such device", O_RDWR), error);
}

TEST_F(kernel_test, a_file_goes_with_its_last_descriptor_and_mapping) {
    {
        os::region region = os::region::reserve(4 * page_bytes);
        {
            os::fd const first = os::open_file("/dev/counting", O_RDWR);
            {
                os::fd const second = os::duplicate(first.get());
                EXPECT_EQ(kernel_.descriptors(), 2u);
                EXPECT_EQ(driver_->open_files, 1);
            }
            region.place(page_bytes, 2 * page_bytes, first.get(), page_bytes);
        }
        EXPECT_EQ(kernel_.descriptors(), 0u);
        EXPECT_EQ(kernel_.mappings(), 3u) << "the reservation's two ends, and the device";
        EXPECT_EQ(driver_->open_files, 1);
        EXPECT_EQ(driver_->mapped, 1);
        region.data()[page_bytes] = std::byte{7};
        char byte = 0;
        EXPECT_EQ(::pread(driver_->memory, &byte, 1, page_bytes), 1);
        EXPECT_EQ(byte, 7);
    }
    EXPECT_EQ(kernel_.mappings(), 0u);
    EXPECT_EQ(driver_->open_files, 0);
    EXPECT_EQ(driver_->mapped, 0);
    EXPECT_TRUE(kernel_.violations().empty());
}

TEST_F(kernel_test, errors_come_as_errno) {
    os::fd const file = os::open_file("/dev/counting", O_RDWR);
    EXPECT_EQ(os::current().ioctl(file.get(), 1, nullptr), 0);
    EXPECT_EQ(os::current().ioctl(file.get(), 2, nullptr), -1);
    EXPECT_EQ(errno, ENOTTY);
    EXPECT_EQ(os::current().mmap(nullptr, page_bytes, PROT_READ | PROT_WRITE, MAP_SHARED, file.get(),
                                 static_cast<off_t>(page_bytes / 2)),
              MAP_FAILED);
    EXPECT_EQ(errno, EINVAL);
}

TEST_F(kernel_test, misuse_is_a_violation) {
    os::fd const file = os::open_file("/dev/counting", O_RDWR);
    void* at = os::current().mmap(nullptr, page_bytes, PROT_READ, MAP_SHARED, file.get(), 0);
    os::current().munmap(at, page_bytes);
    EXPECT_EQ(kernel_.violations().size(), 1u) << "read-only";
    at = os::current().mmap(nullptr, page_bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE, file.get(), 0);
    os::current().munmap(at, page_bytes);
    EXPECT_EQ(kernel_.violations().size(), 2u) << "private";
    at = os::current().mmap(nullptr, 2 * page_bytes, PROT_READ | PROT_WRITE, MAP_SHARED, file.get(), 0);
    os::current().munmap(static_cast<std::byte*>(at) + page_bytes, page_bytes);
    EXPECT_EQ(kernel_.violations().size(), 3u) << "unmapped in part";
    os::current().munmap(at, page_bytes);
    EXPECT_EQ(kernel_.mappings(), 0u);
}

TEST_F(kernel_test, a_forked_child_does_not_get_through) {
    os::fd const file = os::open_file("/dev/counting", O_RDWR);
    test::expect_exit(kernel::reached_by_child,
                      test::in_child(0, [&] { os::current().ioctl(file.get(), 1, nullptr); }));
}

TEST_F(kernel_test, a_child_does_not_wait_for_a_thread_of_its_parent) {
    os::fd file = os::open_file("/dev/counting", O_RDWR);
    std::promise<void> held, ended;
    std::thread holder([&] {
        std::lock_guard const hold(kernel_.lock());
        held.set_value();
        ended.get_future().wait();
    });
    held.get_future().wait();
    int const status = test::in_child(0, [&] {
        ::alarm(10);
        file = {};
    });
    ended.set_value();
    holder.join();
    EXPECT_EQ(status, 0);
}

TEST_F(kernel_test, the_nth_call_fails) {
    the_faults().arm(fault_source::system, 3, EMFILE);
    os::fd const first = os::open_file("/dev/counting", O_RDWR);
    EXPECT_EQ(os::current().ioctl(first.get(), 1, nullptr), 0) << "gives back: not counted";
    os::region const region = os::region::reserve(page_bytes);
    EXPECT_TRUE(the_faults().fired().empty());
    EXPECT_EQ(test::caught([] { (void)os::open_file("/dev/counting", O_RDWR); }).code(),
              std::error_code(EMFILE, std::system_category()));
    EXPECT_EQ(the_faults().fired(), "open");
    EXPECT_NO_THROW((void)os::open_file("/dev/counting", O_RDWR)) << "once only";
    EXPECT_EQ(the_faults().next(fault_source::cuda, "cuInit"), 0) << "another source";
}

TEST_F(kernel_test, a_failing_fixed_mmap_has_unmapped_what_was_there) {
    os::region const reserved = os::region::reserve(2 * page_bytes);
    std::size_t const before = kernel_.mappings();
    the_faults().arm(fault_source::system, 1, EIO);
    EXPECT_EQ(os::current().mmap(reserved.data(), page_bytes, PROT_READ, MAP_SHARED | MAP_FIXED, -1, 0),
              MAP_FAILED);
    EXPECT_EQ(errno, EIO);
    unsigned char resident = 0;
    EXPECT_NE(::mincore(reserved.data(), page_bytes, &resident), 0) << "a hole";
    EXPECT_EQ(::mincore(reserved.data() + page_bytes, page_bytes, &resident), 0);
    EXPECT_EQ(kernel_.mappings(), before) << "the other page";
}

} // namespace
} // namespace barmap::fake
