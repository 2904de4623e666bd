// SPDX-License-Identifier: MIT
#include "c_api/played_core.hpp"

#include <barmap/checkpoint.hpp>

#include <memory>
#include <pthread.h>
#include <span>
#include <string>
#include <string_view>

namespace played_core {

std::function<void()> failure;
barmap::pin_options pinned_with;
std::vector<std::uint64_t> handed_on;
barmap::ipc_handle pinned_by;
barmap::cache_kind kind_of_mappings = barmap::cache_kind::cached;
submission submitted;
std::chrono::nanoseconds waited;
std::optional<barmap::batch_ticket> ticket_of_a_started_engine;
copy copied;

} // namespace played_core

namespace barmap {

using namespace played_core;

struct device_state {};
struct batch_queue_state {};
struct pin_state {};
struct mapping_state {};

device::device(std::shared_ptr<device_state> state) noexcept : state_(std::move(state)) {}
int device::count() noexcept {
    ::pthread_testcancel();
    return 0;
}
device device::open(int ordinal) {
    handed_on = {static_cast<std::uint64_t>(ordinal)};
    failure();
    return device(std::make_shared<device_state>());
}
device device::from_pointer(void const* pointer) {
    device result = open(0);
    handed_on = {reinterpret_cast<std::uintptr_t>(pointer)};
    return result;
}
device device::open() {
    return open(5);
}
bar1_info device::bar1() const {
    failure();
    return {31, 30};
}
int device::ordinal() const noexcept {
    return 6;
}
std::string const& device::pci_address() const noexcept {
    static std::string const address = "0000:65:00.0";
    return address;
}
int device::driver_version() const noexcept {
    return 12080;
}
bool device::simulated() const noexcept {
    return true;
}
std::string const& device::name() const noexcept {
    static std::string const name = "none";
    return name;
}
pin device::allocate(std::size_t bytes, std::string_view backend) const {
    handed_on = {bytes, backend.size()};
    return {};
}
pin device::pin(std::uintptr_t address, std::size_t bytes, pin_options const& how) const {
    handed_on = {address, bytes};
    pinned_with = how;
    return {};
}

pin device::pin(ipc_handle const& handle, std::size_t offset, std::size_t bytes,
                pin_options const& how) const {
    handed_on = {offset, bytes};
    pinned_by = handle;
    pinned_with = how;
    return {};
}
pin BARMAP_INLINE_NAMESPACE::open_shared(int descriptor) {
    handed_on = {static_cast<std::uint64_t>(descriptor)};
    return {};
}
int pin::share() const {
    failure();
    return 17;
}

struct host_buffer_state {};
host_buffer::host_buffer() noexcept = default;
host_buffer::host_buffer(host_buffer&&) noexcept = default;
host_buffer::~host_buffer() = default;
std::byte* host_buffer::data() const noexcept {
    return reinterpret_cast<std::byte*>(21);
}
std::size_t host_buffer::size() const noexcept {
    return 22;
}
std::uintptr_t host_buffer::gpu_address() const noexcept {
    return 23;
}
bool BARMAP_INLINE_NAMESPACE::is_pinned(std::span<std::byte const> memory) noexcept {
    return memory.size() == 24;
}
host_buffer device::allocate_host(std::size_t bytes) const {
    handed_on = {bytes};
    return {};
}

void BARMAP_INLINE_NAMESPACE::checkpoint_prepare(std::chrono::nanoseconds at_most) {
    handed_on = {static_cast<std::uint64_t>(at_most.count())};
}
void BARMAP_INLINE_NAMESPACE::checkpoint_restore() {
    failure();
}

batch_queue device::batch_queue() const {
    return barmap::batch_queue(nullptr);
}
batch_queue::batch_queue(std::shared_ptr<batch_queue_state>) noexcept {}
batch_queue::batch_queue(batch_queue const&) noexcept = default;
batch_queue::~batch_queue() {
    ::pthread_testcancel();
}
batch_ticket batch_queue::submit(std::span<copy_piece const> pieces, std::optional<after> begin,
                                 std::optional<then> end) {
    failure();
    submitted = {pieces.data(), pieces.size(), begin, end};
    return batch_ticket{1234};
}
std::optional<batch_ticket> batch_queue::submit_started(std::span<copy_piece const> pieces,
                                                        std::optional<after> begin,
                                                        std::optional<then> end) {
    failure();
    submitted = {pieces.data(), pieces.size(), begin, end};
    return ticket_of_a_started_engine;
}
std::string_view batch_queue::open_queues() {
    failure();
    return "driver";
}
bool batch_queue::done(batch_ticket ticket) const {
    failure();
    return ticket == batch_ticket{1234};
}
bool batch_queue::wait(batch_ticket ticket, std::chrono::nanoseconds at_most) const {
    waited = at_most;
    return done(ticket);
}
std::string_view batch_queue::engine() const {
    failure();
    return "driver";
}

pin::pin() noexcept = default;
pin::pin(pin&&) noexcept = default;
pin::~pin() = default;
std::uintptr_t pin::gpu_address() const noexcept {
    return 11;
}
std::size_t pin::size() const noexcept {
    return 12;
}
std::string_view pin::backend() const noexcept {
    return std::string_view("dmabufs").substr(0, 6); // which ends without a NUL
}
mapping pin::map() const {
    return {};
}

mapping::mapping() noexcept = default;
mapping::mapping(mapping&&) noexcept = default;
mapping::~mapping() = default;
window mapping::window() const& noexcept {
    return {};
}
cache_kind mapping::kind() const noexcept {
    return kind_of_mappings;
}

void mapping::copy_much_to_gpu(std::size_t offset, std::span<std::byte const> bytes) const {
    copied = {bytes.data(), offset, bytes.size()};
    failure();
}
void mapping::copy_much_to_cpu(std::span<std::byte> bytes, std::size_t offset) const {
    copy_much_to_gpu(offset, bytes);
}

} // namespace barmap
