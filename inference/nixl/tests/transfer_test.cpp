// SPDX-License-Identifier: MIT
#include "backend_engine.hpp"
#include "contract/batch_fixture.hpp"
#include "prepared_transfer.hpp"
#include "shared/cancelled_thread.hpp"
#include "shared/in_child.hpp"

#include <array>
#include <barrier>

#include <sys/mman.h>

/// Memory whose registration ends while it is copied, or while a transfer of it is being posted.
namespace barmap::nixl {
namespace {

using namespace contract;

constexpr std::size_t size = mib / 2; // a larger batch may not take the own engine

/// What NIXL makes the back-end of an agent with.
nixlBackendInitParams describe(std::string const& name) {
    static nixl_b_params_t none;
    nixlBackendInitParams result;
    result.localAgent = name;
    result.customParams = &none;
    return result;
}

/// Pages that an agent has registered, until free(): a program unmaps them then.
class registered_pages {
public:
    explicit registered_pages(backend_engine& by) : by_(by) {
        data_ = mmap(nullptr, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
        nixlBlobDesc range;
        range.addr = address();
        range.len = size;
        range.devId = 0;
        EXPECT_EQ(by_.registerMem(range, DRAM_SEG, known_), NIXL_SUCCESS);
        std::ranges::copy(pattern(size, 7), static_cast<std::byte*>(data_));
    }
    ~registered_pages() { free(); }
    registered_pages(registered_pages const&) = delete;
    registered_pages& operator=(registered_pages const&) = delete;

    [[nodiscard]] std::uintptr_t address() const { return reinterpret_cast<std::uintptr_t>(data_); }
    [[nodiscard]] std::shared_ptr<place const> where() const {
        return static_cast<known_place&>(*known_).known;
    }
    void free() {
        if (known_) {
            EXPECT_EQ(by_.deregisterMem(std::exchange(known_, nullptr)), NIXL_SUCCESS);
            munmap(data_, size);
        }
    }

private:
    backend_engine& by_;
    void* data_;
    nixlBackendMD* known_ = nullptr;
};

/// A program that copies pages, which an agent has registered, to a GPU.
class transfer_test : public testing::Test {
protected:
    [[nodiscard]] kept_pieces pieces() const {
        std::vector<copy_piece> list;
        for (std::size_t at = 0; at < size; at += size / 4)
            list.push_back({block_.address() + at, pages_->address() + at, size / 4});
        return {list, {pages_->where()}};
    }
    [[nodiscard]] auto make_transfer() const {
        return std::make_unique<prepared_transfer>(queue_, pieces());
    }
    void expect_copied() {
        EXPECT_TRUE(read_by_driver(block_.address(), size) == pattern(size, 7));
    }
    /// What happens inside the next submission, which asks CUDA about an address.
    void when_submitting(std::function<void()> what) {
        static std::function<void()> once;
        once = std::move(what);
        changed_.emplace();
        (*changed_)->pointer_get_attributes = [](unsigned count, int* names, void** values,
                                                 CUdeviceptr address) {
            if (auto const now = std::exchange(once, nullptr))
                now();
            return changed_driver::real.pointer_get_attributes(count, names, values, address);
        };
    }
    /// Frees the pages in a thread. @return whether they are free 100 ms later
    [[nodiscard]] bool free_soon() {
        freeing_ = std::jthread([this] {
            pages_->free();
            is_free_ = true;
        });
        std::this_thread::sleep_for(100ms);
        return is_free_;
    }

    engine_machine machine_{"channel"};
    batch_queue queue_ = device::open(0).batch_queue();
    device_block block_{size};
    nixlBackendInitParams const described_ = describe("owner");
    backend_engine owner_{&described_};
    std::optional<registered_pages> pages_{owner_};
    std::optional<changed_driver> changed_;
    std::atomic<bool> is_free_ = false;
    std::jthread freeing_;
};

TEST_F(transfer_test, deregistering_waits_for_copies) {
    auto const posted = make_transfer();
    machine_.gpu().hold(own_engine);
    ASSERT_TRUE(posted->post());
    EXPECT_FALSE(free_soon());
    machine_.gpu().release();
    freeing_.join();
    expect_copied();
    EXPECT_TRUE(posted->is_done());
    EXPECT_FALSE(posted->post());
}

TEST_F(transfer_test, deregistering_waits_for_a_submission) {
    auto const posted = make_transfer();
    bool is_free = true;
    when_submitting([&] { is_free = free_soon(); });
    ASSERT_TRUE(posted->post());
    EXPECT_FALSE(is_free);
    freeing_.join();
    expect_copied();
    EXPECT_TRUE(posted->is_done());
}

TEST_F(transfer_test, a_cancelled_thread_ends_after_the_call) {
    EXPECT_TRUE(returns_to_a_cancelled_thread([&] {
        nixlBlobDesc range; // of the GPU, which is refused with a line on stderr
        range.addr = block_.address();
        range.len = size;
        range.devId = 0;
        nixlBackendMD* known = nullptr;
        EXPECT_EQ(owner_.registerMem(range, DRAM_SEG, known), NIXL_ERR_NOT_SUPPORTED);
    }));
}

// Also while others wait for its copies.
TEST_F(transfer_test, releasing_waits_for_copies) {
    auto posted = make_transfer();
    machine_.gpu().hold(own_engine);
    ASSERT_TRUE(posted->post());
    EXPECT_FALSE(free_soon());
    std::atomic<bool> is_released = false;
    std::jthread releasing([&] {
        posted.reset();
        is_released = true;
    });
    std::this_thread::sleep_for(100ms);
    EXPECT_FALSE(is_released);
    machine_.gpu().release();
    releasing.join();
    expect_copied();
}

// Whose parent's thread goes on with the submission, and not the child's.
TEST_F(transfer_test, a_child_waits_for_nothing) {
    auto const posted = make_transfer();
    int status = -1;
    when_submitting([&] {
        status = in_child(0, [&] {
            alarm(20); // ends a child that hangs
            pages_->free();
        });
    });
    ASSERT_TRUE(posted->post());
    expect_exit(0, status);
    while (!posted->is_done()) {
    }
    expect_copied();
}

TEST_F(transfer_test, posting_and_deregistering_at_once) {
    // It takes a while to ask many places whether they are open.
    std::vector<std::shared_ptr<place const>> others(20'000);
    for (auto& each : others)
        each = std::make_shared<place>("out of reach");
    for (int round = 0; round < 100; ++round) {
        pages_.emplace(owner_);
        kept_pieces of_many = pieces();
        of_many.places.insert(of_many.places.end(), others.begin(), others.end());
        std::ranges::sort(of_many.places);
        prepared_transfer posted(queue_, std::move(of_many));
        std::barrier together(2);
        std::jthread const freeing([&] {
            together.arrive_and_wait();
            pages_->free();
        });
        together.arrive_and_wait();
        if (posted.post())
            while (!posted.is_done()) { // throws if its memory has gone
            }
        else
            EXPECT_FALSE(posted.post());
    }
}

TEST_F(transfer_test, deregistering_other_memory_waits_for_nothing) {
    auto const posted = make_transfer();
    machine_.gpu().hold(own_engine);
    ASSERT_TRUE(posted->post());
    registered_pages other(owner_);
    EXPECT_TRUE(returns([&] { other.free(); }));
    EXPECT_FALSE(posted->is_done());
    machine_.gpu().release();
}

TEST_F(transfer_test, a_submission_that_fails_is_not_waited_for) {
    kept_pieces wrong = pieces();
    wrong.list.push_back({0, pages_->address(), 64});
    auto const posted = std::make_unique<prepared_transfer>(queue_, std::move(wrong));
    EXPECT_THROW((void)posted->post(), error);
    EXPECT_TRUE(returns([&] { pages_->free(); }));
}

TEST_F(transfer_test, a_batch_that_fails_is_not_waited_for) {
    auto const posted = make_transfer();
    machine_.gpu().fail_next();
    ASSERT_TRUE(posted->post());
    EXPECT_TRUE(returns([&] { pages_->free(); }));
    EXPECT_THROW((void)posted->is_done(), error);
}

} // namespace
} // namespace barmap::nixl
