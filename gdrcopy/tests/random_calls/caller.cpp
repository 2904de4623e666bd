// SPDX-License-Identifier: MIT
#include "caller.hpp"

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <dlfcn.h>

namespace barmap::dropin {
namespace {

constexpr std::size_t buffer_size = 128 * 1024;
constexpr std::uint64_t absurd = std::uint64_t{1} << 63;
constexpr int last_errno = 133; // EHWPOISON, Linux's last one

[[noreturn]] void stop(char const* what, long value) {
    std::printf("%s: %ld\n", what, value);
    std::fflush(stdout);
    std::abort();
}

void require(bool condition, char const* what, std::uint64_t value) {
    if (!condition)
        stop(what, static_cast<long>(value));
}

template <class T>
T made_up(std::uint64_t number) {
    if constexpr (std::is_pointer_v<T>)
        return reinterpret_cast<T>(static_cast<std::uintptr_t>(number));
    else
        return static_cast<T>(number);
}

// The header hides the first generation behind a macro.
using info_v1_function = int (*)(gdr_t, gdr_mh_t, void*);
info_v1_function first_generation() {
    static auto const found =
        reinterpret_cast<info_v1_function>(::dlsym(RTLD_DEFAULT, "gdr_get_info"));
    return found;
}

} // namespace

unsigned playground::close_all() {
    std::lock_guard const lock(mutex_);
    for (gdr_t const each : ever_opened_)
        gdr_close(each);
    unsigned usable = 0;
    for (gdr_t const each : ever_opened_)
        usable += gdr_close(each) == 0;
    return usable;
}

caller::caller(playground& common, counts& counted, std::uint64_t seed)
    : common_(common), counts_(counted), random_(seed),
      buffer_(std::make_unique<std::byte[]>(buffer_size)) {}

int caller::counted(call which, int answer) {
    if (answer < 0 || answer > last_errno)
        stop(call_names[static_cast<unsigned>(which)], answer);
    counts_.add(which, answer == 0);
    return answer;
}

// Mostly the session that the handle was made with.
gdr_t caller::session_for(slot const& from) {
    std::uint64_t const dice = random_.below(100);
    if (dice < 90)
        return from.session;
    if (dice < 95)
        return random_.one_of(common_.sessions_);
    if (dice < 97)
        return nullptr;
    return dice < 98 ? reinterpret_cast<gdr_t>(buffer_.get()) : made_up<gdr_t>(random_.next());
}

gdr_mh_t caller::handle_of(slot const& from) {
    std::uint64_t const dice = random_.below(100);
    if (dice < 90)
        return {from.handle};
    if (dice < 94)
        return {random_.one_of(common_.former_handles_)};
    if (dice < 95)
        return {0};
    if (dice < 97)
        return {from.handle + 1};
    return {dice < 98   ? reinterpret_cast<unsigned long>(buffer_.get())
            : dice < 99 ? random_.below(1000)
                        : random_.next()};
}

std::size_t caller::size_near(std::uint64_t right) {
    std::uint64_t const dice = random_.below(100);
    if (dice < 85)
        return right;
    std::uint64_t const others[] = {0, 1, right + 1, right / 2, absurd, absurd + 1, ~0ull};
    return random_.one_of(others);
}

// An address in the slot's mapping (or nearly), and a size that the own buffer has, too, unless it
// is too large for any mapping.
void* caller::address_in(slot const& mapped, std::size_t& size) {
    std::uint64_t const all = mapped.size;
    auto* const start = static_cast<std::byte*>(mapped.va.load());
    static constexpr std::size_t sizes[] = {1, 2, 4, 8, 8, 16, 64, 65, 1000, 4096};
    size = random_.percent(95) ? random_.one_of(sizes) : random_.below(buffer_size + 1);
    std::uint64_t offset = all > size ? random_.below(all - size + 1) : 0;
    if (random_.percent(50))
        offset &= ~std::uint64_t{7};
    std::uint64_t const dice = random_.below(100);
    auto const address = reinterpret_cast<std::uintptr_t>(start);
    if (dice < 85)
        return reinterpret_cast<void*>(address + offset);
    if (dice < 88)
        return random_.one_of(common_.slots_).va;
    if (dice < 90)
        return reinterpret_cast<void*>(address - 1);
    if (dice < 92)
        return reinterpret_cast<void*>(address + all - size / 2);
    if (dice < 94)
        return nullptr;
    if (dice < 96)
        return buffer_.get();
    if (dice < 98)
        return made_up<void*>(random_.next());
    size = random_.percent(50) ? absurd : ~std::size_t{0} - random_.below(4096);
    return reinterpret_cast<void*>(address + offset);
}

void caller::open() {
    gdr_t const opened = gdr_open();
    counted(call::open, opened ? 0 : last_errno);
    if (!opened)
        return;
    {
        std::lock_guard const lock(common_.mutex_);
        common_.ever_opened_.insert(opened);
    }
    auto& place = common_.sessions_[random_.below(common_.sessions_.size())];
    if (gdr_t const before = place.exchange(opened))
        unmapping(call::close, [&] { return gdr_close(before); });
}

// Its pointer stays in use.
void caller::close() {
    std::uint64_t const dice = random_.below(100);
    gdr_t const which = dice < 8    ? random_.one_of(common_.sessions_).load()
                        : dice < 40 ? nullptr
                        : dice < 60 ? reinterpret_cast<gdr_t>(buffer_.get())
                                    : made_up<gdr_t>(random_.next());
    unmapping(call::close, [&] { return gdr_close(which); });
}

void caller::pin() {
    target const& memory = random_.one_of(common_.targets_);
    std::uint64_t const offset = random_.percent(50) ? random_.below(memory.size) : 0;
    std::uint64_t address = memory.address + offset;
    std::size_t size = 1 + random_.below(memory.size - offset);
    // What leaves all allocations is rare: to find that out takes a thousand calls of the driver.
    std::uint64_t const dice = random_.below(1000);
    if (dice < 20)
        address = 0;
    else if (dice < 22)
        address = reinterpret_cast<std::uintptr_t>(buffer_.get());
    else if (dice < 24)
        address = random_.next();
    else if (dice < 26)
        size = absurd;
    else if (dice < 60)
        size = random_.percent(50) ? 0 : ~std::size_t{0};
    gdr_mh_t made{0};
    slot& place = common_.slots_[random_.below(common_.slots_.size())];
    gdr_t session =
        random_.percent(92) ? random_.one_of(common_.sessions_).load() : session_for(place);
    int answer = 0;
    if (random_.percent(50)) {
        answer = counted(call::pin,
                         gdr_pin_buffer(session, address, size, random_.next(),
                                        static_cast<std::uint32_t>(random_.next()), or_null(made)));
    } else {
        std::uint32_t const flags = random_.percent(90)
                                        ? static_cast<std::uint32_t>(random_.below(2))
                                        : static_cast<std::uint32_t>(random_.next());
        answer =
            counted(call::pin_v2, gdr_pin_buffer_v2(session, address, size, flags, or_null(made)));
    }
    if (answer != 0)
        return;
    require(made.h != 0, "a pin gave handle", made.h);
    gdr_t const session_before = place.session.exchange(session);
    unsigned long const before = place.handle.exchange(made.h);
    place.va = nullptr;
    place.size = 0;
    common_.former_handles_[random_.below(common_.former_handles_.size())] = before;
    // The rest is left to gdr_close.
    if (before != 0 && random_.percent(90))
        unmapping(call::unpin, [&] { return gdr_unpin_buffer(session_before, {before}); });
}

void caller::unpin() {
    slot const& from = random_.one_of(common_.slots_);
    gdr_t const session = session_for(from);
    gdr_mh_t const handle = handle_of(from);
    unmapping(call::unpin, [&] { return gdr_unpin_buffer(session, handle); });
}

void caller::callback_flag() {
    slot const& from = random_.one_of(common_.slots_);
    int flag = -1;
    if (counted(call::callback_flag,
                gdr_get_callback_flag(session_for(from), handle_of(from), or_null(flag))) == 0)
        require(flag == 0, "callback flag", static_cast<std::uint64_t>(flag));
}

void caller::info_v1() {
    slot const& from = random_.one_of(common_.slots_);
    struct {
        std::uint64_t va, mapped_size;
        std::uint32_t page_size, padding;
        std::uint64_t tm_cycles;
        std::uint32_t cycles_per_ms, bits;
        std::uint64_t behind[4];
    } place{};
    std::uint64_t const canary = random_.next();
    for (std::uint64_t& each : place.behind)
        each = canary;
    int const answer = counted(
        call::info_v1, first_generation()(session_for(from), handle_of(from), or_null(place)));
    for (std::uint64_t const each : place.behind)
        require(each == canary, "gdr_get_info wrote behind its struct", each);
    if (answer == 0)
        require(place.page_size == GPU_PAGE_SIZE && place.va != 0, "gdr_get_info gave an address",
                place.va);
}

void caller::info_v2() {
    slot& from = common_.slots_[random_.below(common_.slots_.size())];
    gdr_info_t info{};
    unsigned long const handle = from.handle;
    gdr_mh_t const asked = handle_of(from);
    if (counted(call::info_v2, gdr_get_info(session_for(from), asked, or_null(info))) != 0)
        return;
    require(info.mapped_size > 0 && (info.va + info.mapped_size) % GPU_PAGE_SIZE == 0,
            "info.va and info.mapped_size", info.mapped_size);
    require(info.page_size == GPU_PAGE_SIZE, "info.page_size", info.page_size);
    require((info.mapping_type != GDR_MAPPING_TYPE_NONE) == info.mapped, "info.mapping_type",
            info.mapping_type);
    if (asked.h == handle)
        from.size = info.mapped_size;
}

void caller::map() {
    slot& place = common_.slots_[random_.below(common_.slots_.size())];
    gdr_t const session = session_for(place);
    gdr_mh_t const handle = handle_of(place);
    gdr_info_t info{};
    if (counted(call::info_v2, gdr_get_info(session, handle, &info)) != 0)
        info.mapped_size = GPU_PAGE_SIZE;
    std::size_t const size = size_near(info.mapped_size);
    void* va = nullptr;
    int answer = 0;
    if (random_.percent(50)) {
        answer = counted(call::map, gdr_map(session, handle, or_null(va), size));
    } else {
        int const flags = random_.percent(70) ? 0 : static_cast<int>(random_.below(6)) - 1;
        answer = counted(call::map_v2, gdr_map_v2(session, handle, or_null(va), size, flags));
    }
    if (answer != 0)
        return;
    require(va != nullptr, "a mapping is at", 0);
    place.size = info.mapped_size;
    place.va = va;
}

void caller::unmap() {
    slot const& from = random_.one_of(common_.slots_);
    std::uint64_t const dice = random_.below(100);
    void* va = from.va;
    if (dice < 5)
        va = reinterpret_cast<void*>(reinterpret_cast<std::uintptr_t>(va) + 4096);
    else if (dice < 8)
        va = buffer_.get();
    else if (dice < 10)
        va = nullptr;
    gdr_t const session = session_for(from);
    gdr_mh_t const handle = handle_of(from);
    std::size_t const size = size_near(from.size);
    unmapping(call::unmap, [&] { return gdr_unmap(session, handle, va, size); });
}

void caller::copy() {
    slot const& from = random_.one_of(common_.slots_);
    std::size_t size = 0;
    void* const device = address_in(from, size);
    std::byte* const host =
        random_.percent(2)
            ? nullptr
            : buffer_.get() + (size < buffer_size ? random_.below(buffer_size - size) : 0);
    turns::turn const mine(common_.turns_, turns::copying);
    if (random_.percent(50))
        counted(call::copy_to, gdr_copy_to_mapping(handle_of(from), device, host, size));
    else
        counted(call::copy_from, gdr_copy_from_mapping(handle_of(from), host, device, size));
}

void caller::versions() {
    int major = 0, minor = 0;
    gdr_runtime_get_version(&major, &minor);
    require(major == 2 && minor == 6, "runtime version 2.", static_cast<std::uint64_t>(minor));
    counted(call::runtime_version, 0);
    major = 0;
    slot const& from = random_.one_of(common_.slots_);
    if (counted(call::driver_version,
                gdr_driver_get_version(session_for(from), or_null(major), or_null(minor))) == 0)
        require(major == 2, "driver version", static_cast<std::uint64_t>(major));
}

void caller::attribute() {
    slot const& from = random_.one_of(common_.slots_);
    int value = -1;
    auto const which = static_cast<gdr_attr_t>(random_.below(5)); // 0 and GDR_ATTR_MAX are wrong
    if (counted(call::attribute, gdr_get_attribute(session_for(from), which, or_null(value))) == 0)
        require(value == 0 || value == 1, "attribute", static_cast<std::uint64_t>(value));
}

void caller::type_string() {
    char const* name = nullptr;
    auto const which = static_cast<gdr_mapping_type_t>(random_.below(6));
    if (counted(call::type_string, gdr_get_mapping_type_string(which, or_null(name))) == 0)
        require(name && std::strlen(name) > 0, "mapping type", which);
}

void caller::call_something() {
    struct choice {
        unsigned weight;
        void (caller::*function)();
    };
    static constexpr choice choices[] = {
        {1, &caller::open},           {3, &caller::close},      {30, &caller::pin},
        {6, &caller::unpin},          {40, &caller::info_v1},   {40, &caller::info_v2},
        {90, &caller::map},           {12, &caller::unmap},     {600, &caller::copy},
        {20, &caller::versions},      {20, &caller::attribute}, {10, &caller::type_string},
        {30, &caller::callback_flag},
    };
    static constexpr unsigned all = [] {
        unsigned sum = 0;
        for (choice const& each : choices)
            sum += each.weight;
        return sum;
    }();
    std::uint64_t dice = random_.below(all);
    for (choice const& each : choices) {
        if (dice < each.weight) {
            (this->*each.function)();
            return;
        }
        dice -= each.weight;
    }
}

} // namespace barmap::dropin
