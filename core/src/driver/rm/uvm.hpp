// SPDX-License-Identifier: MIT
#pragma once

#include "driver/rm/client.hpp"
#include "nvidia/cuda.hpp"
#include "system/fd.hpp"

namespace barmap::rm {

/// A channel that is registered with NVIDIA's unified memory driver, which owns the page tables of
/// CUDA's address space and handles the faults in it. A fault of a channel that it does not know is
/// never reported, and the channel hangs for ever (H200, 580.159.04).
class uvm_registration {
public:
    /// By the descriptor of /dev/nvidia-uvm that CUDA has open in this process.
    /// @param channel of the client, in CUDA's address space of this GPU
    /// @param long_unregister how the driver's series ends it
    /// @throws error errc::backend_absent if there is no such descriptor, else the NV_STATUS: the
    ///         channel may be in another address space
    uvm_registration(client const& owner, CUuuid const& gpu, abi::handle channel,
                     bool long_unregister);
    uvm_registration(uvm_registration const&) = delete;
    uvm_registration& operator=(uvm_registration const&) = delete;
    /// Before the channel is freed. Does nothing in a forked child.
    ~uvm_registration();

private:
    client const& owner_;
    CUuuid gpu_;
    abi::handle channel_;
    bool long_unregister_;
    os::fd file_; ///< of our own: CUDA may close its
};

} // namespace barmap::rm
