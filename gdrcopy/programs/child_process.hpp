// SPDX-License-Identifier: MIT
#pragma once

#include "system/fd.hpp"

#include <cstdint>
#include <functional>
#include <string>
#include <sys/types.h>

namespace barmap::tool::gdrcopy::sanity {

enum class verdict { passed, failed, waived };

struct outcome {
    verdict what = verdict::failed;
    std::string reason; ///< empty when passed
};

/// Work in a forked child. The child dies with its parent, and with this object.
class child_process {
public:
    /// Forks. The work passes by returning, is waived by throwing waived, and fails by throwing
    /// anything else, by crashing, or by taking longer than the limit.
    /// @throws std::system_error
    explicit child_process(std::function<void()> const& work, unsigned limit_s = 60);
    child_process(child_process const&) = delete;
    child_process& operator=(child_process const&) = delete;
    ~child_process();

    [[nodiscard]] outcome wait(); ///< until it has ended; once
    void join();                  ///< wait(), @throws failed or waived with the child's reason

private:
    pid_t process_ = -1;
    os::fd report_;
};

/// Two ends by which a process and its forked child wait for each other.
class channel {
public:
    channel(); ///< @throws std::system_error
    /// Says on which side of the fork this process is; before it sends or receives.
    void in_parent() { ends_[1] = os::fd(); }
    void in_child() { ends_[0] = os::fd(); }
    void send(std::uint64_t value) const;        ///< @throws failed if the other has gone
    [[nodiscard]] std::uint64_t receive() const; ///< @throws failed if the other has gone

private:
    [[nodiscard]] int end() const noexcept;
    os::fd ends_[2];
};

} // namespace barmap::tool::gdrcopy::sanity
