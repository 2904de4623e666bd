// SPDX-License-Identifier: MIT
#pragma once

#include <mutex>
#include <string>
#include <string_view>

namespace barmap::fake {

/// Who answers a call that is made to fail.
enum class fault_source {
    system, ///< a system call or dlopen, with an errno
    status, ///< NVIDIA's resource manager, with an NV_STATUS in a call that otherwise succeeds
    cuda,   ///< the CUDA driver, with a CUresult
};

/// Makes the n-th call of one source fail, and counts. Calls that give something back (close,
/// munmap, cuMemFree, ...) are not counted and never fail: what they hold could not be released.
/// Thread rule: every member may be called at once.
class faults {
public:
    /// From now on counts the source's calls and makes the n-th of them fail (1 is the next).
    void arm(fault_source source, unsigned which, int code);
    void disarm();

    /// Called before each call: the code to fail with, or 0.
    [[nodiscard]] int next(fault_source source, std::string_view call);

    /// The name of the call that failed since arm(), or empty if the n-th call never came.
    [[nodiscard]] std::string fired() const;

private:
    mutable std::mutex lock_;
    bool armed_ = false;
    fault_source source_ = fault_source::system;
    unsigned remaining_ = 0;
    int code_ = 0;
    std::string fired_;
};

/// The one that the fakes of this process ask.
[[nodiscard]] faults& the_faults() noexcept;

} // namespace barmap::fake
