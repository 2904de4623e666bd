// SPDX-License-Identifier: MIT
#include "fake/rm_driver.hpp"

#include "fake/faults.hpp"
#include "fake/rm_control_file.hpp"
#include "fake/simulation.hpp"
#include "fake/uvm.hpp"

#include <cerrno>
#include <charconv>
#include <utility>

namespace barmap::fake {
namespace {

constexpr std::string_view control_path = "/dev/nvidiactl";
constexpr char uvm_path[] = "/dev/nvidia-uvm";
constexpr std::string_view device_prefix = "/dev/nvidia";

/// The CUDA ordinal of the GPU with this device node, or -1.
int ordinal_of(std::string_view path) {
    path.remove_prefix(device_prefix.size());
    unsigned number = 0;
    auto const [end, problem] = std::from_chars(path.data(), path.data() + path.size(), number);
    if (problem != std::errc{} || end != path.data() + path.size())
        return -1;
    for (int ordinal = 0; the_simulation().gpu_id(ordinal) != 0; ++ordinal)
        if (rm_driver::minor_number(ordinal) == number)
            return ordinal;
    return -1;
}

} // namespace

rm_driver::rm_driver(kernel& kernel, behaviour how)
    : kernel_(kernel), how_(std::move(how)), channel_objects_(*this),
      uvm_(std::make_shared<rm::uvm_file>(*this, rm::uvm_file::use::address_space)),
      copy_engine_(kernel) {
    if (how_.maps_other_doorbell)
        copy_engine_.need_own_doorbells();
    if (!how_.cuda_has_uvm)
        return;
    using rm::uvm_file;
    auto const unused = std::make_shared<uvm_file>(*this, uvm_file::use::none);
    kernel.open_for_cuda("/dev/nvidia-uvm-tools",
                         std::make_shared<uvm_file>(*this, uvm_file::use::tools));
    kernel.open_for_cuda(uvm_path, unused);
    kernel.open_for_cuda(uvm_path, uvm_);
    kernel.open_for_cuda(uvm_path, unused);
}

bool rm_driver::serves(std::string_view path) const {
    return path.starts_with(device_prefix);
}

int rm_driver::open(std::string_view path, std::shared_ptr<open_file>& file) {
    if (path == control_path) {
        file = std::make_shared<rm::control_file>(*this);
        return 0;
    }
    int const ordinal = ordinal_of(path);
    if (ordinal < 0)
        return refuse("there is no " + std::string(path), ENOENT);
    file = std::make_shared<rm::device_file>(*this, ordinal);
    return 0;
}

std::size_t rm_driver::objects() const {
    std::lock_guard const hold(kernel_.lock());
    return table_.size() + table_.views() + uvm_->channels() + uvm_->ranges();
}

std::uint64_t rm_driver::bar1_used(int ordinal) const {
    std::lock_guard const hold(kernel_.lock());
    return table_.bar1_used(ordinal);
}

std::uint64_t rm_driver::bar1_total(int ordinal) const {
    return how_.bar1 ? *how_.bar1 : the_simulation().bar1_total(ordinal);
}

std::string rm_driver::version() const {
    return how_.version.empty() ? std::to_string(how_.series) + ".288.01" : how_.version;
}

} // namespace barmap::fake

namespace barmap::fake::rm {

int device_file::ioctl(unsigned long request, void* argument) {
    if (request == abi::request<abi::os_descriptor_parameters>(abi::esc_rm_alloc_memory))
        return alloc_memory(*static_cast<abi::os_descriptor_parameters*>(argument));
    if (request != abi::request<abi::register_fd_parameters>(abi::esc_register_fd))
        return driver_.refuse("unknown ioctl of a device file", EINVAL);
    auto const& parameters = *static_cast<abi::register_fd_parameters const*>(argument);
    auto control =
        std::dynamic_pointer_cast<control_file>(driver_.host().file(parameters.control_fd));
    if (registered() || !control)
        return driver_.refuse("a device file is registered twice, or with no control file", EINVAL);
    control_ = std::move(control);
    return 0;
}

int device_file::alloc_memory(abi::os_descriptor_parameters& request) {
    auto const control = control_.lock();
    client* const owner = control ? control->own(request.root) : nullptr;
    if (request.status != 0)
        driver_.refuse("a status that is not 0 on entry", 0);
    if (!owner)
        request.status = driver_.refuse("memory of no client of the file that a device file is "
                                        "registered with",
                                        err_invalid_client);
    else if (int const injected = the_faults().next(fault_source::status, "RM escape"))
        request.status = static_cast<std::uint32_t>(injected);
    else
        request.status = driver_.channel_objects().alloc_os_descriptor(*owner, ordinal_, request);
    return 0;
}

void device_file::arm(std::shared_ptr<memory_file> memory, std::uint64_t offset, view const& seen) {
    memory_ = std::move(memory);
    offset_ = offset;
    length_ = seen.length;
    cpu_mapped_ = seen.cpu_mapped;
}

int device_file::map(std::size_t bytes, off_t offset, placement& where) {
    if (!memory_ || std::exchange(used_, true))
        return driver_.refuse("mmap of a device file without a view, or for a second time", EINVAL);
    if (offset != 0 || bytes != length_)
        return driver_.refuse("mmap of another part than the view", EINVAL);
    where.fd = memory_->fd();
    where.offset = static_cast<off_t>(memory_->offset() + offset_);
    *cpu_mapped_ = true;
    where.hold = {nullptr, [mapped = cpu_mapped_](void*) { *mapped = false; }};
    return 0;
}

} // namespace barmap::fake::rm
