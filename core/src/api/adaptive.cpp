// SPDX-License-Identifier: MIT
#include "api/adaptive.hpp"

#include <barmap/copy.hpp>
#include <barmap/error.hpp>

#include <exception>
#include <new>
#include <optional>

namespace barmap {
namespace {

enum class result { done, impossible, unfinished };

/// A copy to be made.
struct job {
    mapping_state const& mapping;
    copy_direction direction;
    std::size_t offset;
    std::byte* host;
    std::size_t bytes;

    [[nodiscard]] engine::direction way() const noexcept {
        return direction == copy_direction::to_gpu ? engine::direction::to_gpu
                                                   : engine::direction::to_cpu;
    }
    [[nodiscard]] host_reach& pinned() const noexcept { return mapping.pin->device->pinned; }

    /// Checks this seldom, and only for copies by engines: the others do not call CUDA.
    /// @throws error errc::checkpointed
    void expect_present_cuda() const {
        checkpoint::pass const looked =
            mapping.pin->device->enter("copy GPU memory", device_state::look::seldom);
    }

    /// The pinned allocation that the host's side lies in as a whole, or one of size 0.
    [[nodiscard]] host_reach::allocation look() const noexcept {
        if (mapping.pin->device->gpu.without_cuda)
            return {};
        host_reach::allocation const found = pinned().describe(host);
        return found.contains(reinterpret_cast<std::uintptr_t>(host), bytes)
                   ? found
                   : host_reach::allocation{};
    }
};

/// The engine at work and the job's memory as it reaches it, or null.
std::shared_ptr<engine_reach::reached const> reach(engine_slot& slot, job const& what) {
    std::shared_ptr<engine_reach::reached const> by = what.mapping.pin->engines.find(slot);
    if (!by || !by->memory || !engine::covers(*by->memory, what.offset, what.bytes) ||
        !by->memory->is_unchanged())
        return nullptr;
    return by;
}

using reached = std::shared_ptr<engine_reach::reached const>;

result result_of(engine::copy_outcome outcome, engine_slot& slot, reached const& by,
                 std::size_t bytes) {
    if (outcome == engine::copy_outcome::done) {
        slot.count(bytes);
        return result::done;
    }
    return engine_reach::retire(by) ? result::impossible : result::unfinished;
}

/// @param by what reach() has returned for the slot
/// @param in where the host's side is pinned; of size 0 if it is not
result copy_by(engine_slot& slot, reached const& by, job const& what,
               host_reach::allocation const& in) {
    if (!by)
        return result::impossible;
    host_reach::place place;
    if (in.size > 0)
        place = what.pinned().find(by->worker, in, what.host, what.bytes);
    flush_stores(); // those through the mapping
    engine::copy_outcome const outcome =
        place.runs().empty()
            ? by->worker->copy_staged(what.way(), *by->memory, what.offset, what.host, what.bytes)
            : by->worker->copy_direct(what.way(), *by->memory, what.offset, place.runs());
    return result_of(outcome, slot, by, what.bytes);
}

/// CUDA's answer about host memory, asked for while an engine was already copying.
struct answer {
    std::optional<host_reach::allocation> in;  ///< where the host's side is pinned
    std::exception_ptr refusal;                ///< why the mapping must not be used any more
};

/// Copies to or from where the host's memory was pinned at an earlier copy, and asks CUDA while the
/// engine copies: the answer takes up to a tenth of the time of a small copy. Where CUDA has other
/// memory there by now, the copy has to be made again: the engine has reached pages that it kept.
result copy_as_before(engine_slot& slot, reached const& by, job const& what, answer& now) {
    if (!by)
        return result::impossible;
    host_reach::place const place = what.pinned().recall(*by->worker, what.host, what.bytes);
    if (place.runs().empty())
        return result::impossible;
    flush_stores();
    engine::copy_outcome const outcome =
        by->worker->copy_direct(what.way(), *by->memory, what.offset, place.runs(), [&] {
            try {
                what.expect_present_cuda();
                now.in = what.look();
            } catch (error const&) {
                now.refusal = std::current_exception();
            }
        });
    if (outcome == engine::copy_outcome::done && (now.refusal || !place.is_in(*now.in)))
        return result::impossible;
    return result_of(outcome, slot, by, what.bytes);
}

/// @return whether the copy is made. @throws error errc::copy_unfinished
bool is_made(result outcome, engine_slot const& slot, job const& what) {
    switch (outcome) {
    case result::done:
        return true;
    case result::impossible:
        return false;
    case result::unfinished:
        break;
    }
    throw error(errc::copy_unfinished, "copy " + std::to_string(what.bytes) + " bytes", "",
                "copy engine " + std::string(slot.name()) +
                    " neither finished the copy nor stopped, so bytes of it may arrive later: use "
                    "neither side again");
}

} // namespace

void copy_by_mapping(mapping_state const& mapping, copy_direction direction, std::size_t offset,
                     std::byte* host, std::size_t bytes) noexcept {
    window const there{mapping.data + offset, bytes, &mapping.plan};
    if (direction == copy_direction::to_gpu)
        write(there, std::span<std::byte const>(host, bytes));
    else
        read(std::span(host, bytes), there);
}

copy_methods const& methods_of(pin_state const& pin) {
    checkpoint::pass const here = pin.device->enter("copy GPU memory", device_state::look::never);
    if (copy_methods const* const known = pin.slot->known_methods())
        return *known;
    return pin.slot->methods(pin.device->engines_to_measure());
}

namespace {

/// The same, or null where they cannot be measured now, for example because memory is used up:
/// loads and stores need none.
copy_methods const* methods_if_any(pin_state const& pin) {
    if (copy_methods const* const known = pin.slot->known_methods())
        return known;
    try {
        return &methods_of(pin);
    } catch (error const& failure) {
        std::error_code const& code = failure.code();
        if (code == errc::forked_child || code == errc::backend_absent ||
            code == errc::backend_broken)
            throw;
        return nullptr;
    } catch (std::bad_alloc const&) {
        return nullptr;
    }
}

/// A mapping for which one engine was chosen uses no other way. @throws error
[[noreturn]] void refuse_other_ways(engine_slot const& only, std::size_t bytes) {
    throw error(
        errc::backend_broken, "copy " + std::to_string(bytes) + " bytes", "",
        "copy engine " + std::string(only.name()) +
            " did not finish the copy in time, or no longer reaches the memory: copy again, "
            "or use another engine");
}

} // namespace

void use_engine(mapping_state& mapping, std::string_view name) {
    constexpr char what[] = "use one copy engine";
    device_state& device = *mapping.pin->device;
    checkpoint::pass const here = device.enter(what, device_state::look::always);
    engine_slot* chosen = nullptr;
    if (name != "mapping" && name != "auto") {
        for (std::unique_ptr<engine_slot> const& each : device.engines)
            if (each->name() == name)
                chosen = each.get();
        std::string_view const allowed = forced_engine();
        if (chosen && !allowed.empty() && allowed != name)
            throw error(errc::backend_absent, "use copy engine " + std::string(name), "",
                        "BARMAP_ENGINE=" + std::string(allowed) + " does not allow it: unset it");
        if (!chosen)
            throw error(errc::invalid_argument, "use copy engine " + std::string(name), "",
                        "give the name of one that `barmap info` prints, \"mapping\" or \"auto\"");
        chosen->require();
        auto const by = mapping.pin->engines.find(*chosen);
        if (!by || !by->memory)
            throw error(errc::unsupported_operation, "use copy engine " + std::string(name), "",
                        "it cannot hold this memory, which another thread may free during a copy: "
                        "allocate it with barmap");
    }
    mapping.by_engine = chosen;
    mapping.by_mapping = name == "mapping";
}

void copy_adaptively(mapping_state const& mapping, copy_direction direction, std::size_t offset,
                     std::byte* host, std::size_t bytes) {
    checkpoint::pass const here =
        mapping.pin->device->enter("copy GPU memory", device_state::look::never);
    device_state& device = *mapping.pin->device;
    engine_slot *pageable = mapping.by_engine, *pinned = mapping.by_engine;
    if (!mapping.by_engine) {
        copy_methods const* const methods = methods_if_any(*mapping.pin);
        if (!methods)
            return copy_by_mapping(mapping, direction, offset, host, bytes);
        pageable = methods->of(direction, host_memory_kind::pageable, bytes);
        pinned = methods->of(direction, host_memory_kind::pinned, bytes);
    }
    if (pageable || pinned) {
        job const what{mapping, direction, offset, host, bytes};
        answer now;
        auto by = pinned ? reach(*pinned, what) : nullptr;
        if (pinned && is_made(copy_as_before(*pinned, by, what, now), *pinned, what))
            return;
        if (now.refusal)
            std::rethrow_exception(now.refusal);
        if (mapping.by_engine && by && by->worker->is_retired())
            refuse_other_ways(*mapping.by_engine, bytes);
        if (!now.in) {
            what.expect_present_cuda();
            now.in = what.look();
        }
        host_reach::allocation const& in = *now.in;
        engine_slot* const chosen = in.size > 0 ? pinned : pageable;
        if (chosen && (chosen != pinned || (by && by->worker->is_retired())))
            by = reach(*chosen, what);
        if (chosen && is_made(copy_by(*chosen, by, what, in), *chosen, what))
            return;
        // Where that one has failed for good, or does not reach this memory, another may.
        if (mapping.by_engine)
            refuse_other_ways(*mapping.by_engine, bytes);
        if (chosen && !device.engine_is_forced)
            for (std::unique_ptr<engine_slot> const& each : device.engines)
                if (each.get() != chosen &&
                    is_made(copy_by(*each, reach(*each, what), what, in), *each, what))
                    return;
    }
    copy_by_mapping(mapping, direction, offset, host, bytes);
}

} // namespace barmap
