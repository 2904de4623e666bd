// SPDX-License-Identifier: MIT
#pragma once

#include <chrono>
#include <list>
#include <string_view>
#include <utility>

/// Prepares the process for a checkpoint of CUDA and restores it: a list of all objects whose
/// resources CUDA cannot save, and a gate for every call that uses them.
namespace barmap::checkpoint {

/// A forked child has a separate state, without its parent's survivors.
struct process_state;

/// An object that releases its resources before a checkpoint and restores them after it. While
/// these members run, no object leaves the list. Except during is_overtaken(), no thread holds a
/// pass, and every object that left the list is destroyed.
class survivor {
public:
    survivor() noexcept = default;
    survivor(survivor const&) = delete;
    survivor& operator=(survivor const&) = delete;

    /// Checks that restore() can restore it. @throws error errc::unsupported_operation
    /// @param is_overtaken CUDA has been restored already; resources outside CUDA are unchanged
    virtual void expect_restorable(bool /*is_overtaken*/) const {}
    /// Whether its copies are in flight.
    [[nodiscard]] virtual bool is_busy() { return false; }
    /// Whether CUDA was restored since, in a process that was not prepared. Called at any time.
    [[nodiscard]] virtual bool is_overtaken() { return false; }
    /// Releases its driver resources, except its addresses. Idempotent. @throws error
    virtual void release() = 0;
    /// Restores it. Callable again after a failure, or if nothing is missing. @throws error
    virtual void restore() = 0;

protected:
    ~survivor();

private:
    friend class membership;
    process_state* leaves_ = nullptr; ///< set during its destruction
};

/// A survivor's place in the list, in construction order: a survivor depends only on earlier ones.
/// Declare it as the last member. Its destructor then runs first and waits for prepare() and
/// restore(), except in a forked child.
class membership {
public:
    explicit membership(survivor& of);
    membership(membership const&) = delete;
    membership& operator=(membership const&) = delete;
    ~membership() { leave(); }
    /// Leaves the list before the destructor does.
    void leave() noexcept;

private:
    process_state* in_;
    std::list<survivor*>::iterator at_;
};

/// Every call that uses a survivor's resources holds one. Passes of a thread nest.
class pass {
public:
    /// Waits while prepare() decides whether it can prepare the process.
    /// @throws error errc::checkpointed if the process is prepared or was overtaken
    explicit pass(std::string_view operation);
    pass(pass&& other) noexcept : through_(std::exchange(other.through_, nullptr)) {}
    pass& operator=(pass&&) = delete;
    ~pass();

private:
    process_state* through_;
};

/// CUDA takes longer than this to checkpoint and restore (H100: 700 ms).
inline constexpr std::chrono::milliseconds shortest{100};

/// Records that CUDA was checkpointed and restored in a process that was not prepared, so mappings
/// reach CUDA's old memory. Every new pass throws until checkpoint_restore() has repaired them.
/// @throws error errc::checkpointed
[[noreturn]] void refuse_overtaken(std::string_view operation);

/// @throws error as checkpoint_prepare() and checkpoint_restore()
void prepare(std::chrono::nanoseconds at_most);
void restore();

} // namespace barmap::checkpoint
