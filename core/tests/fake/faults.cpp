// SPDX-License-Identifier: MIT
#include "fake/faults.hpp"

namespace barmap::fake {

void faults::arm(fault_source source, unsigned which, int code) {
    std::lock_guard const guard(lock_);
    armed_ = true;
    source_ = source;
    remaining_ = which;
    code_ = code;
    fired_.clear();
}

void faults::disarm() {
    std::lock_guard const guard(lock_);
    armed_ = false;
}

int faults::next(fault_source source, std::string_view call) {
    std::lock_guard const guard(lock_);
    if (!armed_ || source != source_ || remaining_ == 0 || --remaining_ > 0)
        return 0;
    fired_ = call;
    return code_;
}

std::string faults::fired() const {
    std::lock_guard const guard(lock_);
    return fired_;
}

faults& the_faults() noexcept {
    static faults instance;
    return instance;
}

} // namespace barmap::fake
