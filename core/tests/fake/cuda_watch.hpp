// SPDX-License-Identifier: MIT
#pragma once

namespace barmap::fake {

/// While it lives, every call that barmap makes to the CUDA driver asks the_faults() first.
/// Calls made through cuda::api() by the test itself do so too: keep those outside of an arming.
class cuda_watch {
public:
    cuda_watch();
    cuda_watch(cuda_watch const&) = delete;
    cuda_watch& operator=(cuda_watch const&) = delete;
    ~cuda_watch();
};

} // namespace barmap::fake
