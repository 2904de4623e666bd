// SPDX-License-Identifier: MIT
#pragma once

#include "fake/rm_driver.hpp"

#include <array>
#include <optional>
#include <set>

namespace barmap::fake::rm {

class control_file;

/// An open /dev/nvidiaN: what one view of memory is mapped through, and what pins pages of the
/// process.
class device_file final : public open_file {
public:
    device_file(rm_driver& driver, int ordinal) : driver_(driver), ordinal_(ordinal) {}
    int ioctl(unsigned long request, void* argument) override;
    int map(std::size_t bytes, off_t offset, placement& where) override;
    [[nodiscard]] bool gives_back(unsigned long) const override { return false; }

    [[nodiscard]] int ordinal() const noexcept { return ordinal_; }
    /// The control file that it was registered with.
    [[nodiscard]] std::shared_ptr<control_file> registered() const { return control_.lock(); }
    [[nodiscard]] bool armed() const noexcept { return memory_ != nullptr; }
    /// Lets the one mmap reach this part of a memory object.
    void arm(std::shared_ptr<memory_file> memory, std::uint64_t offset, view const& seen);

private:
    int alloc_memory(abi::os_descriptor_parameters& request);

    rm_driver& driver_;
    int ordinal_;
    std::weak_ptr<control_file> control_;
    std::shared_ptr<memory_file> memory_;
    std::uint64_t offset_ = 0, length_ = 0;
    std::shared_ptr<bool> cpu_mapped_;
    bool used_ = false;
};

/// An open /dev/nvidiactl. The clients made through it go with it.
class control_file final : public open_file {
public:
    explicit control_file(rm_driver& driver) : driver_(driver) {}
    ~control_file() override;
    int ioctl(unsigned long request, void* argument) override;
    int map(std::size_t bytes, off_t offset, placement& where) override;
    [[nodiscard]] bool gives_back(unsigned long request) const override;

    /// The client, if it was made through this file.
    client* own(handle name);

private:
    template <class Parameters>
    int serve(unsigned long request, void* argument,
              std::uint32_t (control_file::*action)(Parameters&));

    int card_info(unsigned long request, void* argument);
    int version(unsigned long request, void* argument);
    template <class Parameters>
    std::uint32_t map_dma(Parameters& request);
    template <class Parameters>
    std::uint32_t unmap_dma(Parameters& request);
    std::uint32_t alloc(abi::alloc_parameters& request);
    /// With RM's own copy of the parameters.
    std::uint32_t alloc_object(client& owner, abi::alloc_parameters& request);
    std::uint32_t alloc_device(client& owner, abi::alloc_parameters& request);
    std::uint32_t alloc_subdevice(client& owner, abi::alloc_parameters& request);
    std::uint32_t free(abi::free_parameters& request);
    std::uint32_t duplicate(abi::dup_parameters& request);
    /// One of CUDA's objects that is no memory of the simulation's, or nothing.
    std::optional<std::uint32_t> duplicate_of_cuda(client& owner, abi::dup_parameters& request);
    std::uint32_t handle_info(client const& owner, abi::handle_info_parameters& asked) const;
    void expect_unregistered(client const& owner, handle root, handle freed);
    std::uint32_t map_memory(abi::map_parameters& request);
    std::uint32_t unmap_memory(abi::unmap_parameters& request);
    std::uint32_t control(abi::control_parameters& request);
    std::uint32_t id_info(abi::id_info_parameters& info);
    std::uint32_t import(client& owner, abi::import_object_parameters& request);
    std::uint32_t export_objects(client& owner, abi::export_objects_parameters const& request);
    std::uint32_t import_objects(client& owner, abi::import_objects_parameters& request);
    /// The control file behind a descriptor that objects were exported to, or null.
    control_file* exported_by(int fd) const;
    std::uint32_t export_info(abi::control_parameters const& request);
    std::uint32_t surface_info(object const& memory,
                               abi::surface_info_parameters const& asked) const;
    std::uint32_t fb_info(object const& subdevice, abi::fb_get_info_parameters& request,
                          std::size_t size);
    handle add_memory(client& owner, handle device, std::shared_ptr<memory_file> memory);

    object const* find_mappable(client const& owner, abi::map_parameters const& request) const;

    rm_driver& driver_;
    std::set<handle> clients_;
    std::vector<std::shared_ptr<memory_file>> exported_; ///< empty: nothing was exported to this
    int exported_ordinal_ = -1;
    bool has_told_version_ = false;
    std::array<std::uint8_t, sizeof abi::export_objects_parameters::metadata> metadata_{};
};

} // namespace barmap::fake::rm
