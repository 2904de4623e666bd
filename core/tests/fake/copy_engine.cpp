// SPDX-License-Identifier: MIT
#include "fake/copy_engine.hpp"

#include "nvidia/channel.hpp"

#include <algorithm>
#include <mutex>
#include <unistd.h>
#include <utility>

namespace barmap::fake::gpu {
namespace {

namespace abi = barmap::rm::abi;
using namespace std::chrono_literals;
using guard = std::lock_guard<std::recursive_mutex>;

constexpr unsigned polls_before_sleep = 200;
constexpr auto between_polls = 50us;
/// On a busy machine each yield may cost this thread some milliseconds.
constexpr unsigned turns_before_yield = 32;
/// What a turn may count for: where it took longer, this thread did not run.
constexpr std::chrono::nanoseconds longest_turn = 200us;

} // namespace

copy_engine::copy_engine(kernel& host) : host_(host), owner_(::getpid()) {}

copy_engine::~copy_engine() {
    end();
}

void copy_engine::end() noexcept {
    if (!thread_.joinable())
        return;
    if (::getpid() != owner_) { // a forked child has no such thread
        new std::thread(std::move(thread_));
        return;
    }
    ends_ = true;
    thread_.join();
}

void copy_engine::stall() {
    guard const hold(host_.lock());
    orders_.stalled = true;
}

void copy_engine::resume() {
    guard const hold(host_.lock());
    orders_.stalled = false;
}

void copy_engine::hold(std::uint32_t engine_type) {
    guard const lock(host_.lock());
    orders_.held_engine = engine_type;
}

void copy_engine::release() {
    guard const lock(host_.lock());
    orders_.held_engine.reset();
}

bool copy_engine::is_held() const {
    guard const lock(host_.lock());
    return orders_.held_engine.has_value();
}

void copy_engine::lose_doorbells(unsigned n) {
    guard const hold(host_.lock());
    to_lose_ = n;
}

void copy_engine::delay_next(clock::duration wait) {
    guard const hold(host_.lock());
    orders_.delay = wait;
}

void copy_engine::fail_next(std::uint32_t info) {
    guard const hold(host_.lock());
    orders_.failure = info;
}

void copy_engine::take_unflushed_after(clock::duration wait) {
    guard const hold(host_.lock());
    orders_.until_unflushed_arrive = wait;
}

activity copy_engine::done() const {
    guard const hold(host_.lock());
    return orders_.done;
}

bool copy_engine::idle() const {
    guard const hold(host_.lock());
    for (auto const& each : pages_)
        if (auto const page = each.lock(); page && page->load(abi::usermode_doorbell) != 0)
            return false;
    for (auto const& each : channels_)
        if (auto const one = each.lock(); one && !one->idle())
            return false;
    return true;
}

void copy_engine::start() {
    if (thread_.joinable())
        return;
    host_.run_for(std::chrono::nanoseconds(0)); // its time is the device's before anybody waits
    thread_ = std::thread(&copy_engine::run, this);
}

void copy_engine::run() {
    clock::time_point last = clock::now();
    for (unsigned polls = 0, turns = 0; !ends_; ++turns) {
        polls = turn() ? 0 : polls + 1;
        clock::time_point const now = clock::now();
        host_.run_for(is_held() ? std::chrono::nanoseconds(0)
                                : std::min<std::chrono::nanoseconds>(now - last, longest_turn));
        last = now;
        if (polls >= polls_before_sleep)
            std::this_thread::sleep_for(between_polls);
        else if (polls > 0 || turns % turns_before_yield == 0)
            std::this_thread::yield();
    }
}

// An entry of each channel at a time, so that others get the lock in between.
bool copy_engine::turn() {
    guard const hold(host_.lock());
    take_doorbells();
    std::erase_if(channels_, [](auto const& each) { return each.expired(); });
    bool busy = false;
    clock::time_point const now{clock::duration(os::current().device_time())};
    for (auto const& each : channels_) {
        auto const one = each.lock();
        bool const kept = is_kept_from(*one, now);
        orders_.done.kept += kept;
        busy |= one->step(now, orders_, !kept);
    }
    for (std::string& each : std::exchange(orders_.violations, {}))
        host_.violation("copy engine: " + std::move(each));
    return busy;
}

bool copy_engine::is_kept_from(channel const& one, clock::time_point now) const {
    return std::ranges::any_of(channels_, [&](auto const& each) {
        auto const other = each.lock();
        return other.get() != &one && other->engine_type() == one.engine_type() &&
               other->ordinal() == one.ordinal() && other->keeps_engine(now);
    });
}

void copy_engine::take_doorbells() {
    std::erase_if(pages_, [](auto const& each) { return each.expired(); });
    for (auto const& each : pages_)
        if (std::uint32_t const token = each.lock()->exchange(abi::usermode_doorbell, 0))
            ring(token);
}

void copy_engine::ring(std::uint32_t token) {
    bool const lost = to_lose_ > 0;
    to_lose_ -= lost;
    orders_.done.doorbells += !lost;
    if (token <= first_token || token > next_token_ || (token - first_token) % token_step != 0)
        host_.violation("copy engine: a doorbell with what is no token");
    for (auto const& each : channels_) {
        auto const one = each.lock();
        if (!one || one->token() != token)
            continue; // freed meanwhile
        if (!one->scheduled())
            host_.violation("copy engine: a doorbell of a channel that is not scheduled");
        else if (lost)
            one->miss();
        else
            one->ring();
    }
    // Of two stores that come between two polls only the last is seen here. A GPU hears both.
    if (!lost)
        for (auto const& each : channels_)
            if (auto const one = each.lock(); one && (finds_unrung_ || one->was_rung()))
                one->look();
}

} // namespace barmap::fake::gpu
