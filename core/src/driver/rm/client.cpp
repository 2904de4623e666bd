// SPDX-License-Identifier: MIT
#include "driver/rm/client.hpp"

#include "nvidia/channel.hpp"
#include "system/calls.hpp"
#include "system/region.hpp"

#include <barmap/error.hpp>

#include <algorithm>
#include <array>
#include <atomic>
#include <cerrno>
#include <cstring>
#include <fcntl.h>
#include <string_view>
#include <utility>

namespace barmap::rm {
namespace {

constexpr char control_path[] = "/dev/nvidiactl";

bool is_exhausted(std::uint32_t status) noexcept {
    return status == abi::err_insufficient_resources || status == abi::err_no_memory;
}

[[noreturn]] void fail_status(std::uint32_t status, char const* what) {
    throw error({static_cast<int>(status), rm_category()}, what, "",
                is_exhausted(status)
                    ? "the GPU's BAR1 aperture or the driver's memory is used up: unmap "
                      "something, or see the free BAR1 in `barmap info`"
                    : "see `barmap info`; another backend may work");
}

std::uint64_t address_of(void const* object) {
    return reinterpret_cast<std::uintptr_t>(object);
}

/// One ioctl. @return 0 or errno. RM returns EAGAIN if a signal interrupts it: the ioctl is then
/// repeated, but not forever.
int request(int fd, unsigned escape, void* parameters, std::size_t size) noexcept {
    constexpr int most_tries = 1000;
    int code = 0;
    for (int i = 0; i < most_tries; ++i) {
        if (os::current().ioctl(fd, abi::request(escape, size), parameters) == 0)
            return 0;
        code = errno;
        if (code != EAGAIN)
            break;
    }
    return code;
}

os::fd open_node(std::string const& path) {
    try {
        return os::open_file(path, O_RDWR);
    } catch (error const& failure) {
        int const code = failure.code().value();
        if (code != ENOENT && code != ENXIO && code != ENODEV)
            throw;
        throw error(errc::backend_absent, "open " + path, "",
                    "load NVIDIA's kernel driver, or give " + path + " to the container");
    }
}

/// Marks the exports of export_objects(). Another export may name an object of another GPU.
constexpr std::string_view export_tag = "barmap";

} // namespace

void client::expect_ok(std::uint32_t status, char const* what) {
    if (status != abi::ok)
        fail_status(status, what);
}

void client::submit(unsigned escape, void* parameters, std::size_t size, char const* what) const {
    int const code = rm::request(control_fd_.get(), escape, parameters, size);
    if (code != 0)
        throw error({code, std::system_category()}, what, "",
                    "the driver refuses the call: its version may be unknown to this barmap");
}

std::optional<driver_series> client::find_series() const noexcept {
    try {
        return driver_series::of(driver_version());
    } catch (error const&) {
        return std::nullopt; // as a series that is not known
    }
}

// RM refuses another size than its own and does nothing.
std::uint32_t client::control(abi::handle object, std::uint32_t command, void* parameters,
                              data::values const& sizes, char const* what) const {
    if (series_)
        return control(object, command, parameters, series_->value(sizes), what);
    std::uint32_t status = abi::err_invalid_param_struct, tried = 0;
    for (auto size = sizes.rbegin();
         size != sizes.rend() && status == abi::err_invalid_param_struct; ++size)
        if (*size != std::exchange(tried, *size))
            status = control(object, command, parameters, *size, what);
    return status;
}

std::uint32_t client::control(abi::handle object, std::uint32_t command, void* parameters,
                              std::uint32_t size, char const* what) const {
    abi::control_parameters request{};
    request.client = client_;
    request.object = object;
    request.command = command;
    request.parameters = address_of(parameters);
    request.parameters_size = size;
    call(abi::esc_rm_control, request, what);
    return request.status;
}

client::client(cuda::pci_location const& gpu)
    : control_fd_(open_node(control_path)), owner_(os::this_process()) {
    find_gpu(gpu);
    device_fd_ = open_node(device_path_);
    series_ = find_series();
    client_ = allocate(0, abi::class_root_client, "make an RM client");

    abi::id_info_parameters info{};
    info.gpu_id = gpu_id_;
    expect_ok(control(client_, abi::cmd_gpu_get_id_info_v2, info, "read the GPU's RM instance"),
              "read the GPU's RM instance");
    device_instance_ = info.device_instance;

    abi::device_alloc_parameters device{};
    device.device_id = info.device_instance;
    device.client_share = client_;
    device_ = allocate(client_, abi::class_device, device, "open the GPU in RM");
    subdevice_instance_ = info.subdevice_instance;
}

abi::handle client::subdevice() const {
    std::lock_guard const hold(making_);
    if (subdevice_ == 0) {
        abi::subdevice_alloc_parameters parameters{};
        parameters.subdevice_id = subdevice_instance_;
        subdevice_ =
            allocate(device_, abi::class_subdevice, parameters, "open the GPU's subdevice in RM");
    }
    return subdevice_;
}

// The kernel frees the client and all below it when the last descriptor of the control file is
// closed, so a constructor that throws leaves nothing behind either.
client::~client() {
    if (in_own_process())
        free(0, client_);
}

void client::find_gpu(cuda::pci_location const& gpu) {
    std::array<abi::card_info, abi::max_cards> cards{};
    call(abi::esc_card_info, cards, "list the GPUs of the driver");
    for (abi::card_info const& card : cards) {
        if (!card.valid || card.pci_domain != gpu.domain || card.pci_bus != gpu.bus ||
            card.pci_slot != gpu.slot)
            continue;
        gpu_id_ = card.gpu_id;
        device_path_ = "/dev/nvidia" + std::to_string(card.minor_number);
        return;
    }
    throw error(errc::backend_absent, "find GPU " + gpu.text() + " in the driver's list", "",
                "the container may hide it: give it /dev/nvidiaN");
}

abi::handle client::allocate(abi::handle parent, std::uint32_t object_class, void* parameters,
                             std::uint32_t size, char const* what) const {
    abi::alloc_parameters request{};
    request.root = client_;
    request.parent = parent;
    request.object_class = object_class;
    request.parameters = address_of(parameters);
    request.parameters_size = size;
    call(abi::esc_rm_alloc, request, what);
    expect_ok(request.status, what);
    return request.object;
}

abi::handle client::duplicate(abi::handle source_client, abi::handle source_object) const {
    constexpr char what[] = "duplicate the memory's RM object";
    abi::dup_parameters request{};
    request.client = client_;
    request.parent = device_;
    request.source_client = source_client;
    request.source_object = source_object;
    call(abi::esc_rm_dup_object, request, what);
    expect_ok(request.status, what);
    return request.object;
}

std::optional<abi::handle> client::try_duplicate(abi::handle source_client,
                                                 abi::handle source_object) const noexcept {
    abi::dup_parameters request{};
    request.client = client_;
    request.parent = device_;
    request.source_client = source_client;
    request.source_object = source_object;
    if (rm::request(control_fd_.get(), abi::esc_rm_dup_object, &request, sizeof request) != 0 ||
        request.status != abi::ok)
        return std::nullopt;
    return request.object;
}

std::uint32_t client::class_of(abi::handle object) const noexcept {
    abi::handle_info_parameters info{object, abi::handle_info_class, 0};
    abi::control_parameters request{};
    request.client = client_;
    request.object = client_;
    request.command = abi::cmd_get_handle_info;
    request.parameters = address_of(&info);
    request.parameters_size = sizeof info;
    bool const answered =
        rm::request(control_fd_.get(), abi::esc_rm_control, &request, sizeof request) == 0 &&
        request.status == abi::ok;
    return answered ? static_cast<std::uint32_t>(info.result) : 0;
}

std::uint64_t client::size_of(abi::handle memory) const {
    constexpr char what[] = "read the size of a memory object";
    std::array<abi::surface_info, 2> list{
        {{abi::surface_info_physical_size, 0}, {abi::surface_info_address_space, 0}}};
    abi::surface_info_parameters request{list.size(), address_of(list.data())};
    expect_ok(control(memory, abi::cmd_get_surface_info, request, what), what);
    if (list[1].data != abi::address_space_video_memory)
        throw error(errc::unsupported_memory, "map memory that is not in the GPU's own memory", "",
                    "it is in host memory: use it there, or allocate with cudaMalloc");
    constexpr std::uint64_t unit = 4096;
    return list[0].data * unit;
}

client::export_origin client::origin_of(int descriptor) const {
    constexpr char what[] = "ask which GPU exported a file descriptor";
    auto const read = [](auto const& info) {
        return export_origin{info.device_instance,
                             std::memcmp(info.metadata, export_tag.data(), export_tag.size()) == 0};
    };
    if (!series_ || series_->long_export_info()) {
        abi::export_object_info info{};
        info.fd = descriptor;
        std::uint32_t const status = control(client_, abi::cmd_get_export_object_info, info, what);
        if (status == abi::ok)
            return read(info);
        if (series_ || status != abi::err_invalid_param_struct)
            fail_status(status, what);
    }
    abi::export_object_info_535 older{};
    older.fd = descriptor;
    expect_ok(control(client_, abi::cmd_get_export_object_info, older, what), what);
    return read(older);
}

abi::handle client::import(int descriptor) const {
    constexpr char what[] = "import the memory's file descriptor into RM";
    if (origin_of(descriptor).device_instance != device_instance_)
        throw error(
            errc::wrong_device, what, "",
            "open the device that owns the memory, for example with device::from_pointer(pointer)");
    abi::import_object_parameters request{};
    request.fd = descriptor;
    request.type = abi::export_type_rm;
    request.device = device_;
    request.parent = device_;
    expect_ok(control(client_, abi::cmd_import_object_from_fd, request, what), what);
    return request.object;
}

os::fd client::export_objects(std::span<abi::handle const> objects) const {
    constexpr char what[] = "export memory objects of RM";
    os::fd file = open_node(control_path);
    for (std::size_t done = 0; done < objects.size();) {
        std::size_t const some = std::min(objects.size() - done, abi::export_objects_max);
        abi::export_objects_parameters request{};
        request.fd = file.get();
        request.device = device_;
        request.max_objects = static_cast<std::uint16_t>(objects.size());
        std::ranges::copy(export_tag, request.metadata);
        std::ranges::copy(objects.subspan(done, some), request.objects);
        request.count = static_cast<std::uint16_t>(some);
        request.index = static_cast<std::uint16_t>(done);
        expect_ok(control(client_, abi::cmd_export_objects_to_fd, request, what), what);
        done += some;
    }
    return file;
}

std::vector<abi::handle> client::import_objects(int descriptor, std::size_t count) const {
    constexpr char what[] = "import memory objects of another process";
    export_origin const origin = origin_of(descriptor);
    if (origin.device_instance != device_instance_ || !origin.is_tagged)
        throw error(errc::wrong_device, what, "",
                    "pass on the descriptor of pin::share() unchanged");
    std::vector<abi::handle> result;
    while (result.size() < count) {
        std::size_t const some = std::min(count - result.size(), abi::import_objects_max);
        abi::import_objects_parameters request{};
        request.fd = descriptor;
        request.parent = device_;
        request.count = static_cast<std::uint16_t>(some);
        request.index = static_cast<std::uint16_t>(result.size());
        expect_ok(control(client_, abi::cmd_import_objects_from_fd, request, what), what);
        if (std::find(request.types, request.types + some, 0) != request.types + some)
            throw error(errc::unsupported_memory, what, "",
                        "the descriptor no longer holds this memory: a process that received it "
                        "has removed it");
        result.insert(result.end(), request.objects, request.objects + some);
    }
    return result;
}

bool client::free(abi::handle parent, abi::handle object) const noexcept {
    if (!in_own_process())
        return false;
    abi::free_parameters request{};
    request.root = client_;
    request.parent = parent;
    request.object = object;
    return rm::request(control_fd_.get(), abi::esc_rm_free, &request, sizeof request) == 0 &&
           request.status == abi::ok;
}

os::fd client::device_file() const {
    os::fd file = os::open_file(device_path_, O_RDWR);
    abi::register_fd_parameters registration{control_fd_.get()};
    if (int const code =
            rm::request(file.get(), abi::esc_register_fd, &registration, sizeof registration);
        code != 0)
        throw error({code, std::system_category()}, "register a mapping with RM", "",
                    "the driver's version may be unknown to this barmap");
    return file;
}

std::string client::driver_version() const {
    abi::version_parameters query{};
    query.command = abi::version_query;
    call(abi::esc_check_version, query, "read the driver's version");
    return {query.text, ::strnlen(query.text, sizeof query.text)};
}

std::vector<std::uint32_t> client::classes() const {
    constexpr char what[] = "list the GPU's classes";
    abi::class_list_parameters query{};
    expect_ok(control(device_, abi::cmd_gpu_get_class_list, query, what), what);
    std::vector<std::uint32_t> list(query.count);
    query.list = address_of(list.data());
    expect_ok(control(device_, abi::cmd_gpu_get_class_list, query, what), what);
    list.resize(std::min<std::size_t>(list.size(), query.count));
    return list;
}

abi::handle client::describe_host(void* pages, std::size_t bytes) const {
    constexpr char what[] = "let the GPU reach host memory";
    // The one kind of object that has no name before the caller gives it one.
    static std::atomic<abi::handle> next{0xba000001};
    os::fd const file = device_file();
    abi::os_descriptor_parameters request{};
    request.root = client_;
    request.parent = device_;
    request.object = next.fetch_add(1, std::memory_order_relaxed);
    request.object_class = abi::class_os_descriptor;
    request.flags = abi::os_descriptor_flags;
    request.memory = address_of(pages);
    request.limit = bytes - 1;
    request.fd = -1;
    if (int const code =
            rm::request(file.get(), abi::esc_rm_alloc_memory, &request, sizeof request);
        code != 0)
        throw error({code, std::system_category()}, what, "",
                    "the driver's version may be unknown to this barmap");
    expect_ok(request.status, what);
    return request.object;
}

client::view::view(client const& owner, abi::handle memory, std::uint64_t offset,
                   std::uint64_t length, std::uint32_t flags)
    : owner_(owner), memory_(memory), fd_(owner.device_file()) {
    constexpr char what[] = "map GPU memory through BAR1";
    abi::map_parameters request{};
    request.client = owner.client_;
    request.device = owner.device_;
    request.memory = memory;
    request.offset = offset;
    request.length = length;
    request.flags = flags;
    request.fd = fd_.get();
    owner.call(abi::esc_rm_map_memory, request, what);
    if (is_exhausted(request.status))
        owner.expect_bar1(length, what);
    if (request.status == abi::err_not_supported && (flags & abi::map_flags_bus_pcie) != 0)
        throw error(errc::unsupported_operation, what, "",
                    "from R595 on, the driver maps a GPU with a coherent link by that link only: "
                    "pin without force_pcie");
    if (request.status == abi::err_not_supported)
        throw error(errc::backend_absent, what, "",
                    "the driver maps none of this GPU's memory for the CPU, as in confidential "
                    "mode: use cudaMemcpy");
    expect_ok(request.status, what);
    linear_address_ = request.linear_address;
}

client::view::~view() {
    if (!owner_.in_own_process())
        return;
    abi::unmap_parameters request{};
    request.client = owner_.client_;
    request.device = owner_.device_;
    request.memory = memory_;
    request.linear_address = linear_address_;
    (void)rm::request(owner_.control_fd_.get(), abi::esc_rm_unmap_memory, &request, sizeof request);
}

bar1_info client::bar1() const {
    constexpr char what[] = "read the size of BAR1";
    abi::fb_get_info_parameters request{};
    request.count = 2;
    request.list[0].index = abi::fb_info_bar1_size;
    request.list[1].index = abi::fb_info_bar1_avail_size;
    constexpr data::values sizes = data::size_of("NV2080_CTRL_FB_GET_INFO_V2_PARAMS");
    static_assert(*std::ranges::max_element(sizes) <= sizeof request);
    expect_ok(control(subdevice(), abi::cmd_fb_get_info_v2, &request, sizes, what), what);
    constexpr std::uint64_t kib = 1024;
    return {request.list[0].data * kib, request.list[1].data * kib};
}

// RM gives the same status where the kernel's memory is used up or BAR1 is in pieces.
void client::expect_bar1(std::uint64_t wanted, char const* what) const {
    bar1_info size;
    try {
        size = bar1();
    } catch (error const&) {
        return; // what made the caller ask matters more
    }
    if (size.available < wanted)
        throw error(errc::bar1_exhausted, what, "",
                    std::to_string(wanted) + " bytes are wanted and " +
                        std::to_string(size.available) + " of " + std::to_string(size.total) +
                        " are free: map less at a time, unmap something, or enable Resizable BAR");
}

bool client::in_own_process() const noexcept {
    return os::is_this_process(owner_);
}

} // namespace barmap::rm
