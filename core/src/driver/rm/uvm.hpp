// SPDX-License-Identifier: MIT
#pragma once

#include "driver/rm/client.hpp"
#include "nvidia/cuda.hpp"
#include "system/fd.hpp"
#include "system/region.hpp"

#include <cstddef>
#include <cstdint>

namespace barmap::rm {

/// A channel that is registered with NVIDIA's unified memory driver, which owns the page tables of
/// CUDA's address space and handles the faults in it. A fault of a channel that it does not know is
/// never reported, and the channel hangs forever (H200, 580.159.04).
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

    [[nodiscard]] int file() const noexcept { return file_.get(); }

private:
    client const& owner_;
    CUuuid gpu_;
    abi::handle channel_;
    bool long_unregister_;
    os::fd file_; ///< of our own: CUDA may close its
};

/// An RM object that kernels of one GPU reach at an address of CUDA's address space, and at which
/// the CPU has nothing. No kernel may run that uses the address when it is destroyed: its access
/// would lose the CUDA context (Xid 31; H100, H200, 580.159.04).
class uvm_mapping {
public:
    /// @param by of a channel of the same GPU: its descriptor is that of CUDA's address space
    /// @param object of the client; `bytes` of it are mapped, whole pages of 64 KiB
    /// @throws error the NV_STATUS, or errno
    uvm_mapping(client const& owner, uvm_registration const& by, CUuuid const& gpu,
                abi::handle object, std::size_t bytes, driver_series const& series);
    uvm_mapping(uvm_mapping const&) = delete;
    uvm_mapping& operator=(uvm_mapping const&) = delete;
    /// Does nothing in a forked child.
    ~uvm_mapping();

    [[nodiscard]] std::uint64_t address() const noexcept { return address_; }

private:
    client const& owner_;
    std::size_t bytes_;
    bool long_free_;
    os::region reserved_; ///< so that nothing else of the process gets the address
    std::uint64_t address_;
    os::fd file_; ///< of our own
};

} // namespace barmap::rm
