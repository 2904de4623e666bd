// SPDX-License-Identifier: MIT
#include "bw/copy_team.hpp"

#include <algorithm>
#include <cstring>

namespace barmap::tool {
namespace {

/// Spins, since waking a thread takes longer than the copies; yields where there are too few CPUs.
template <class Condition>
void spin_until(Condition condition) {
    for (unsigned tries = 0; !condition(); ++tries)
        if (tries % 1024 == 1023)
            std::this_thread::yield();
}

} // namespace

copy_team::copy_team(unsigned threads, window whole)
    : whole_(whole), host_(whole.size), members_(threads) {
    std::memset(host_.data(), 0x5a, host_.size());
    for (unsigned member = 1; member < threads; ++member)
        threads_.emplace_back([this, member] { work(member); });
}

copy_team::~copy_team() {
    ending_ = true;
    ++round_;
    for (std::thread& thread : threads_)
        thread.join();
}

std::size_t copy_team::share(std::size_t bytes) const {
    constexpr std::size_t line = 64;
    return (bytes / members_ + line - 1) / line * line;
}

double copy_team::transfer(copy_direction way, std::size_t bytes, unsigned times) {
    order_ = {way, bytes, times};
    busy_ = members_;
    return time_of(times, [&] {
        ++round_;
        do_part(0);
        spin_until([&] { return busy_.load() == 0; });
    });
}

void copy_team::work(unsigned member) {
    for (unsigned seen = 0;;) {
        spin_until([&] { return round_.load() != seen; });
        seen = round_.load();
        if (ending_)
            return;
        do_part(member);
    }
}

void copy_team::do_part(unsigned member) {
    std::size_t const part = members_ == 1 ? order_.bytes : share(order_.bytes);
    std::size_t const from = std::min(order_.bytes, part * member);
    // Rounded to lines, the shares may leave a rest, which is the last member's.
    std::size_t const end =
        member + 1 == members_ ? order_.bytes : std::min(order_.bytes, from + part);
    if (from < end) {
        window const gpu = whole_.subwindow(from, end - from);
        std::span<std::byte> const cpu = std::span(host_).subspan(from, end - from);
        for (unsigned i = 0; i < order_.times; ++i)
            order_.way == copy_direction::to_gpu ? write(gpu, cpu) : read(cpu, gpu);
    }
    --busy_;
}

} // namespace barmap::tool
