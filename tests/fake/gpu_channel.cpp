// SPDX-License-Identifier: MIT
#include "fake/gpu_channel.hpp"

#include "rm/channel_abi.hpp"

#include <cstddef>
#include <utility>

namespace barmap::fake::gpu {
namespace {

namespace abi = barmap::rm::abi;
using namespace std::chrono_literals;

constexpr auto until_fault_is_reported = 10ms;

constexpr std::uint32_t incrementing_methods = 1, immediate_method = 4; // bits 31:29 of a header
constexpr std::uint64_t entry_address = 0xff'ffff'fffc;
constexpr unsigned entry_words_shift = 42;
constexpr std::uint64_t entry_words = 0x1f'ffff;

void set_high(std::uint64_t& address, std::uint32_t value) {
    address = (address & 0xffff'ffff) | static_cast<std::uint64_t>(value) << 32;
}

void set_low(std::uint64_t& address, std::uint32_t value) {
    address = (address & ~std::uint64_t{0xffff'ffff}) | value;
}

} // namespace

/// Why a channel stops. A fault is no violation: a program may meet one that is not its own.
struct channel::stop {
    std::uint32_t info;
    std::string violation;

    [[nodiscard]] static stop fault() { return {info_mmu_fault, ""}; }
    [[nodiscard]] static stop unknown(std::string what) {
        return {info_engine_exception, std::move(what)};
    }
};

void channel::ring() noexcept {
    deaf_ = false;
    rung_ = fresh_ = true;
}

void channel::look() noexcept {
    if (scheduled_ && !error_ && !deaf_ && !rung_ && put() != get_)
        ring();
}

bool channel::idle() const {
    return error_ ? reported_ : !rung_ && late_.empty();
}

bool channel::step(clock::time_point now, orders& from) {
    try {
        return error_ ? report(now) : advance(now, from);
    } catch (stop const& why) {
        error_ = why.info;
        late_.clear();
        if (why.violation.empty())
            report_at_ = now + until_fault_is_reported;
        else
            from.violations.push_back(why.violation);
        return true;
    }
}

bool channel::report(clock::time_point now) {
    if (reported_ || now < report_at_)
        return false;
    reported_ = true;
    abi::notification what{};
    what.time = static_cast<std::uint64_t>(now.time_since_epoch().count());
    what.info32 = *error_;
    what.status = 0xffff;
    constexpr std::size_t before_status = offsetof(abi::notification, status);
    // Where the notifier's memory has gone nobody is told.
    return of_.notifier->write(0, &what, before_status) &&
           of_.notifier->write(before_status, &what.status, sizeof what.status);
}

bool channel::advance(clock::time_point now, orders& from) {
    if (!late_.empty() && now >= late_at_) {
        flush();
        return true;
    }
    if (!rung_ || from.stalled || now < not_before_)
        return false;
    std::uint32_t const end = put();
    if (end >= of_.entries)
        throw stop::unknown("GP_PUT beyond the GPFIFO");
    if (end == get_) {
        copy_all(from);
        rung_ = false;
        return false;
    }
    if (std::exchange(fresh_, false)) {
        if (auto const failure = std::exchange(from.failure, {}))
            throw stop{*failure, ""};
        if (auto const delay = std::exchange(from.delay, {})) {
            not_before_ = now + *delay;
            return false;
        }
    }
    std::uint64_t entry = 0;
    read(of_.gpfifo + get_ * sizeof entry, &entry, sizeof entry);
    get_ = (get_ + 1) % of_.entries;
    ++from.done.entries;
    late_at_ = now + from.until_unflushed_arrive;
    run(entry, from);
    return true;
}

std::uint32_t channel::put() const {
    return of_.userd->load(of_.userd_offset + abi::userd_gp_put);
}

void channel::read(std::uint64_t address, void* to, std::size_t bytes) const {
    auto const at = of_.space->find(address, bytes);
    if (!at.of || !at.of->read(at.offset, to, bytes))
        throw stop::fault();
}

void channel::run(std::uint64_t entry, orders& from) {
    std::size_t const count = entry >> entry_words_shift & entry_words;
    if (count == 0 || (entry & ~(entry_address | entry_words << entry_words_shift)) != 0)
        throw stop::unknown("an unknown entry of a GPFIFO");
    std::vector<std::uint32_t> words(count);
    read(entry & entry_address, words.data(), count * sizeof words[0]);
    for (std::size_t at = 0; at < count;) {
        std::uint32_t const header = words[at++];
        std::uint32_t const kind = header >> 29, subchannel = header >> 13 & 7;
        std::uint32_t const first = (header & 0xfff) << 2, value = header >> 16 & 0x1fff;
        if (kind == immediate_method) {
            method(subchannel, first, value, from);
        } else if (kind == incrementing_methods && value != 0 && value <= count - at) {
            for (std::uint32_t k = 0; k < value; ++k)
                method(subchannel, first + 4 * k, words[at++], from);
        } else {
            throw stop::unknown("a word that is no header of methods: " + std::to_string(header));
        }
    }
}

void channel::method(std::uint32_t subchannel, std::uint32_t which, std::uint32_t value,
                     orders& from) {
    if (subchannel != abi::copy_subchannel)
        throw stop::unknown("subchannel " + std::to_string(subchannel));
    if (which == abi::method_set_object) {
        if (value != of_.copy_class || !has_copy_object_)
            throw stop::unknown("SET_OBJECT of what is no object of the channel");
        bound_ = true;
        return;
    }
    if (!bound_)
        throw stop::unknown("a method before SET_OBJECT");
    switch (which) {
    case abi::method_set_semaphore:
        return set_high(semaphore_, value);
    case abi::method_set_semaphore + 4:
        return set_low(semaphore_, value);
    case abi::method_semaphore_payload:
        payload_ = value;
        return;
    case abi::method_offset_in:
        return set_high(in_, value);
    case abi::method_offset_in + 4:
        return set_low(in_, value);
    case abi::method_offset_in + 8:
        return set_high(out_, value);
    case abi::method_offset_in + 12:
        return set_low(out_, value);
    case abi::method_line_length:
        length_ = value;
        return;
    case abi::method_launch_dma:
        return launch(value, from);
    default:
        throw stop::unknown("method " + std::to_string(which));
    }
}

void channel::launch(std::uint32_t flags, orders& from) {
    constexpr std::uint32_t transfer_type = 3;
    std::uint32_t const transfer = flags & transfer_type;
    if ((flags &
         ~(transfer_type | abi::launch_flush | abi::launch_semaphore | abi::launch_linear)) != 0 ||
        transfer == transfer_type)
        throw stop::unknown("LAUNCH_DMA with unknown flags: " + std::to_string(flags));
    ++from.done.launches;
    from.done.engine_type = of_.engine_type;
    if (transfer != 0) {
        if ((flags & abi::launch_linear) != abi::launch_linear || length_ == 0)
            throw stop::unknown("a copy that is not of plain bytes, or of none");
        if (transfer == abi::launch_non_pipelined)
            copy_all(from);
        pipelined_.push_back({in_, out_, length_});
    }
    if ((flags & (abi::launch_flush | abi::launch_semaphore)) != 0)
        copy_all(from);
    if ((flags & abi::launch_flush) != 0)
        flush();
    if ((flags & abi::launch_semaphore) != 0) {
        release_semaphore();
        ++from.done.semaphores;
    }
}

void channel::copy_all(orders& from) {
    std::vector<piece> const all = std::exchange(pipelined_, {});
    for (auto at = all.rbegin(); at != all.rend(); ++at)
        copy(*at, from);
}

void channel::copy(piece const& what, orders& from) {
    auto const source = of_.space->find(what.in, what.bytes);
    auto const target = of_.space->find(what.out, what.bytes);
    if (!source.of || !target.of)
        throw stop::fault();
    if (source.of->of_host())
        flush(); // a read across PCIe pushes writes before it
    std::vector<std::byte> bytes(what.bytes);
    if (!source.of->read(source.offset, bytes.data(), bytes.size()))
        throw stop::fault();
    from.done.bytes += bytes.size();
    if (target.of->of_host())
        late_.push_back({what.out, std::move(bytes)});
    else if (!target.of->write(target.offset, bytes.data(), bytes.size()))
        throw stop::fault();
}

void channel::flush() {
    for (late_bytes const& each : std::exchange(late_, {})) {
        auto const target = of_.space->find(each.to, each.what.size());
        // What was unmapped meanwhile had its writes waited for: there is nothing to write.
        if (target.of && !target.of->write(target.offset, each.what.data(), each.what.size()))
            throw stop::fault();
    }
}

void channel::release_semaphore() {
    auto const at = of_.space->find(semaphore_, sizeof payload_);
    if (semaphore_ % sizeof payload_ != 0)
        throw stop::unknown("a semaphore that is not aligned");
    if (!at.of || !at.of->store(at.offset, payload_))
        throw stop::fault();
}

} // namespace barmap::fake::gpu
