// SPDX-License-Identifier: MIT
#include "fake/gpu_channel.hpp"

#include "nvidia/channel.hpp"

#include <barmap/gpu/copy_commands.cuh>

#include <cstddef>
#include <utility>

namespace barmap::fake::gpu {
namespace {

namespace abi = barmap::rm::abi;
namespace commands = barmap::gpu::commands;
using namespace std::chrono_literals;

constexpr auto until_fault_is_reported = 10ms, until_uvm_reports_it = 60ms;
constexpr auto time_slice = 2ms;

constexpr std::uint32_t incrementing_methods = 1, immediate_method = 4; // bits 31:29 of a header
constexpr std::uint64_t entry_address = 0xff'ffff'fffc;
constexpr unsigned entry_words_shift = 42;
constexpr std::uint64_t entry_words = 0x1f'ffff;
constexpr unsigned base_shift = 40;
constexpr std::uint64_t entry_base = 0x1ff'ff00; // in one that sets the base

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
    rung_ = was_rung_ = fresh_ = true;
}

void channel::look() noexcept {
    if (scheduled_ && !error_ && !deaf_ && !rung_ && put() != get_)
        ring();
}

bool channel::idle() const {
    return error_ ? reported_ || silent_ : (!rung_ || stopped_) && late_.empty();
}

bool channel::step(clock::time_point now, orders& from, bool has_engine) {
    now_ = now;
    try {
        return error_ ? report(now) : advance(now, from, has_engine);
    } catch (stop const& why) {
        error_ = why.info;
        late_.clear();
        acquire_.waits = false;
        if (!why.violation.empty()) {
            from.violations.push_back(why.violation);
        } else if (!in_space_of_cuda()) {
            report_at_ = now + until_fault_is_reported;
        } else {
            silent_ = !registered_;
            report_at_ = now + until_uvm_reports_it;
        }
        return true;
    }
}

bool channel::keeps_engine(clock::time_point now) const noexcept {
    return acquire_.waits && acquire_.keeps_engine && !stopped_ &&
           (now - acquire_.since) / time_slice % 2 == 0;
}

bool channel::report(clock::time_point now) {
    if (reported_ || silent_ || now < report_at_)
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

bool channel::advance(clock::time_point now, orders& from, bool has_engine) {
    if (!late_.empty() && now >= late_at_) {
        flush();
        return true;
    }
    if (!rung_ || stopped_ || from.stalled || from.held_engine == of_.engine_type ||
        now < not_before_ || !has_engine)
        return false;
    if (acquire_.waits) {
        if (!acquired())
            return false;
        execute(from);
        return true;
    }
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
    fetch(entry);
    execute(from);
    return true;
}

std::uint32_t channel::put() const {
    return of_.userd->load(of_.userd_offset + commands::userd_gp_put);
}

void channel::read(std::uint64_t address, void* to, std::size_t bytes) const {
    auto const at = of_.space->find(address, bytes);
    if (!at.of || !at.of->read(at.offset, to, bytes))
        throw stop::fault();
}

void channel::fetch(std::uint64_t entry) {
    std::size_t const count = entry >> entry_words_shift & entry_words;
    words_.assign(count, 0);
    at_ = 0;
    if (count == 0)
        return set_base(entry);
    if ((entry & ~(entry_address | entry_words << entry_words_shift)) != 0)
        throw stop::unknown("an unknown entry of a GPFIFO");
    read(base_ | (entry & entry_address), words_.data(), count * sizeof words_[0]);
}

// An entry without words has an operation of its own.
void channel::set_base(std::uint64_t entry) {
    std::uint64_t const operand = entry & entry_base;
    if (!of_.extended_base || entry != commands::gpfifo_extended_base(operand >> 8 << base_shift))
        throw stop::unknown("an unknown operation of an entry of a GPFIFO");
    base_ = operand >> 8 << base_shift;
}

void channel::execute(orders& from) {
    while (!acquire_.waits && at_ < words_.size()) {
        if (values_left_ > 0) {
            --values_left_;
            method(subchannel_, std::exchange(next_, next_ + 4), words_[at_++], from);
            continue;
        }
        std::uint32_t const header = words_[at_++];
        std::uint32_t const kind = header >> 29, value = header >> 16 & 0x1fff;
        subchannel_ = header >> 13 & 7;
        next_ = (header & 0xfff) << 2;
        if (kind == immediate_method)
            method(subchannel_, next_, value, from);
        else if (kind == incrementing_methods && value != 0 && value <= words_.size() - at_)
            values_left_ = value;
        else
            throw stop::unknown("a word that is no header of methods: " + std::to_string(header));
    }
}

bool channel::acquired() {
    auto const at = of_.space->find(acquire_.address, sizeof(std::uint32_t));
    std::uint32_t seen = 0;
    if (!at.of || !at.of->fetch(at.offset, seen))
        throw stop::fault();
    acquire_.waits = seen != static_cast<std::uint32_t>(acquire_.payload);
    return !acquire_.waits;
}

void channel::host_method(std::uint32_t which, std::uint32_t value, orders& from) {
    switch (which) {
    case abi::method_channel_semaphore:
        return set_low(acquire_.address, value);
    case abi::method_channel_semaphore + 4:
        return set_high(acquire_.address, value);
    case abi::method_channel_semaphore + 8:
        return set_low(acquire_.payload, value);
    case abi::method_channel_semaphore + 12:
        return set_high(acquire_.payload, value);
    case abi::method_channel_semaphore_execute:
        break;
    default:
        throw stop::unknown("method " + std::to_string(which) + " of the channel itself");
    }
    if (acquire_.address % sizeof(std::uint32_t) != 0 || acquire_.payload >> 32 != 0)
        throw stop::unknown("a semaphore that is not aligned, or a payload of 64 bits");
    if (!of_.extended_base && acquire_.address >> base_shift != 0)
        throw stop::unknown("a semaphore of an older channel above 2^40");
    if (value == abi::semaphore_release)
        return store_word(acquire_.address, static_cast<std::uint32_t>(acquire_.payload));
    if ((value & ~abi::semaphore_acquire_switch) != abi::semaphore_acquire)
        throw stop::unknown("SEM_EXECUTE of another operation: " + std::to_string(value));
    copy_all(from); // the engine goes on meanwhile
    acquire_.keeps_engine = (value & abi::semaphore_acquire_switch) == 0;
    acquire_.since = now_;
    acquire_.waits = true;
    static_cast<void>(acquired());
}

void channel::method(std::uint32_t subchannel, std::uint32_t which, std::uint32_t value,
                     orders& from) {
    constexpr std::uint32_t first_of_engine = 0x100;
    if (which != commands::method_set_object && which < first_of_engine)
        return host_method(which, value, from);
    if (subchannel != commands::copy_subchannel)
        throw stop::unknown("subchannel " + std::to_string(subchannel));
    if (which == commands::method_set_object) {
        if (value != of_.copy_class || !has_copy_object_)
            throw stop::unknown("SET_OBJECT of what is no object of the channel");
        bound_ = true;
        return;
    }
    if (!bound_)
        throw stop::unknown("a method before SET_OBJECT");
    switch (which) {
    case commands::method_set_semaphore:
        return set_high(semaphore_, value);
    case commands::method_set_semaphore + 4:
        return set_low(semaphore_, value);
    case commands::method_semaphore_payload:
        set_low(payload_, value);
        return;
    case commands::method_semaphore_payload_upper:
        if (!has_semaphores_of_8())
            break;
        set_high(payload_, value);
        return;
    case commands::method_nop:
        return;
    case commands::method_offset_in:
        return set_high(in_, value);
    case commands::method_offset_in + 4:
        return set_low(in_, value);
    case commands::method_offset_in + 8:
        return set_high(out_, value);
    case commands::method_offset_in + 12:
        return set_low(out_, value);
    case commands::method_line_length:
        length_ = value;
        return;
    case commands::method_launch_dma:
        return launch(value, from);
    default:
        break;
    }
    throw stop::unknown("method " + std::to_string(which));
}

bool channel::has_semaphores_of_8() const noexcept {
    constexpr std::uint32_t of_ga100 = 0xc6b5; // clc7b5.h is the first to have them
    return of_.copy_class > of_ga100;
}

void channel::launch(std::uint32_t flags, orders& from) {
    constexpr std::uint32_t transfer_type = 3;
    std::uint32_t const transfer = flags & transfer_type;
    std::uint32_t const of_8 = has_semaphores_of_8() ? commands::launch_semaphore_of_8 : 0;
    if ((flags & ~(transfer_type | commands::launch_flush | commands::launch_semaphore |
                   commands::launch_linear | of_8)) != 0 ||
        transfer == transfer_type)
        throw stop::unknown("LAUNCH_DMA with unknown flags: " + std::to_string(flags));
    ++from.done.launches;
    from.done.engine_type = of_.engine_type;
    ++from.done.launches_of[of_.engine_type];
    if (transfer != 0) {
        if ((flags & commands::launch_linear) != commands::launch_linear || length_ == 0)
            throw stop::unknown("a copy that is not of plain bytes, or of none");
        if (transfer == commands::launch_non_pipelined)
            copy_all(from);
        pipelined_.push_back({in_, out_, length_});
    }
    if ((flags & (commands::launch_flush | commands::launch_semaphore)) != 0)
        copy_all(from);
    if ((flags & commands::launch_flush) != 0)
        flush();
    if ((flags & commands::launch_semaphore) != 0) {
        release_semaphore((flags & commands::launch_semaphore_of_8) != 0);
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
    if (target.of->is_remote())
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

void channel::release_semaphore(bool of_8) {
    if (semaphore_ % (of_8 ? 8 : 4) != 0)
        throw stop::unknown("a semaphore that is not aligned");
    if (of_8)
        store_word(semaphore_ + 4, static_cast<std::uint32_t>(payload_ >> 32));
    store_word(semaphore_, static_cast<std::uint32_t>(payload_));
}

void channel::store_word(std::uint64_t address, std::uint32_t word) const {
    auto const at = of_.space->find(address, sizeof word);
    if (!at.of || !at.of->store(at.offset, word))
        throw stop::fault();
}

} // namespace barmap::fake::gpu
