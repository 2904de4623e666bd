// SPDX-License-Identifier: MIT
#pragma once

#include "map/backend.hpp"
#include "system/process.hpp"

#include <memory>
#include <mutex>

namespace barmap::backend {

/// The one view that all mappings of a pin share, for drivers that map memory once at a time. It
/// lives from the first mapping to the last. In a forked child the end of a mapping does nothing.
/// Thread rule: map() and its results' destructors may be called at once.
class shared_view {
public:
    /// @param make makes the view, a std::unique_ptr to a mapped, where there is none.
    /// @throws what make throws. This object must outlive the result.
    template <class Make>
    [[nodiscard]] std::unique_ptr<mapped> map(Make make) {
        return std::make_unique<user>(*this, make);
    }

private:
    class user final : public mapped {
    public:
        template <class Make>
        user(shared_view& owner, Make& make) : owner_(owner) {
            std::lock_guard const guard(owner.lock_);
            if (!owner.view_)
                owner.view_ = make();
            ++owner.users_;
            data = owner.view_->data;
            kind = owner.view_->kind;
        }
        user(user const&) = delete;
        user& operator=(user const&) = delete;
        std::shared_ptr<os::region> addresses() const noexcept override {
            std::lock_guard const guard(owner_.lock_);
            return owner_.view_->addresses();
        }
        ~user() override {
            // Another thread may have held the lock at the fork.
            if (!os::is_this_process(owner_.process_))
                return;
            std::lock_guard const guard(owner_.lock_);
            if (--owner_.users_ == 0)
                owner_.view_.reset(); // under the lock: unmapped before it is mapped again
        }

    private:
        shared_view& owner_;
    };

    os::process_id process_ = os::this_process();
    std::mutex lock_;
    unsigned users_ = 0;
    std::unique_ptr<mapped> view_;
};

} // namespace barmap::backend
