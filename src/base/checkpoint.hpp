// SPDX-License-Identifier: MIT
#pragma once

#include <chrono>
#include <list>
#include <string_view>
#include <utility>

/// Prepares the process for a checkpoint of CUDA, and undoes that: a list of all objects that hold
/// what CUDA cannot save, and a gate for every call that uses them.
namespace barmap::checkpoint {

/// The state of one process. A forked child has a separate one, without its parent's survivors.
struct process_state;

/// An object that a checkpoint cannot save, and how it comes back. While these members run, no
/// object leaves the list; except for is_overtaken(), no pass is held, and no object that has left
/// the list is half destroyed.
class survivor {
public:
    survivor() noexcept = default;
    survivor(survivor const&) = delete;
    survivor& operator=(survivor const&) = delete;

    /// Checks that it can come back. @throws error errc::unsupported_operation
    /// @param is_overtaken CUDA has been restored: what is not CUDA's stays what it is
    virtual void expect_restorable(bool /*is_overtaken*/) const {}
    /// Whether copies that it began are in flight.
    [[nodiscard]] virtual bool is_busy() { return false; }
    /// Whether CUDA was restored since, without a prepared process. Called at any time.
    [[nodiscard]] virtual bool is_overtaken() { return false; }
    /// Releases all that the driver keeps for it, except its addresses. Idempotent. @throws error
    virtual void let_go() = 0;
    /// Restores it. After a failure, or if nothing is missing, it begins from the start again.
    /// @throws error
    virtual void bring_back() = 0;

protected:
    ~survivor();

private:
    friend class membership;
    process_state* leaves_ = nullptr; ///< while it is being destroyed
};

/// A survivor's place in the list, in the order in which they are made: what comes back relies on
/// what is before it only. It is the survivor's last member, and goes first: it waits there for
/// prepare() and restore(), but in a forked child.
class membership {
public:
    explicit membership(survivor& of);
    membership(membership const&) = delete;
    membership& operator=(membership const&) = delete;
    ~membership() { leave(); }
    /// The same before the end.
    void leave() noexcept;

private:
    process_state* in_;
    std::list<survivor*>::iterator at_;
};

/// Held by every call that uses what a checkpoint takes away. Calls may call each other.
class pass {
public:
    /// Waits while it is being decided whether the process can be prepared.
    /// @throws error errc::checkpointed if it is prepared, or was overtaken
    explicit pass(std::string_view operation);
    pass(pass&& other) noexcept : through_(std::exchange(other.through_, nullptr)) {}
    pass& operator=(pass&&) = delete;
    ~pass();

private:
    process_state* through_;
};

/// No checkpoint of CUDA's is restored within this time (H100: 700 ms).
inline constexpr std::chrono::milliseconds shortest{100};

/// CUDA was checkpointed and restored, and the process was not prepared: mappings reach what CUDA's
/// memory was before. From now on no pass is given, until checkpoint_restore() has put that right.
/// @throws error errc::checkpointed
[[noreturn]] void refuse_overtaken(std::string_view operation);

/// @throws error as checkpoint_prepare() and checkpoint_restore()
void prepare(std::chrono::nanoseconds at_most);
void restore();

} // namespace barmap::checkpoint
