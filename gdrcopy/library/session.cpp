// SPDX-License-Identifier: MIT
#include "session.hpp"

#include "boundary.hpp"
#include "mapped_handle.hpp"

#include "cuda/current_gpu.hpp"
#include "cuda/driver_api.hpp"
#include "system/environment.hpp"

#include <barmap/report.hpp>

#include <atomic>
#include <deque>
#include <fcntl.h>
#include <optional>
#include <pthread.h>
#include <string>

namespace barmap::gdrapi {
namespace {

constexpr std::string_view gdrdrv = "gdrdrv";
constexpr std::string_view dma_buf = "dmabuf";

bool only_dma_buf() noexcept {
    char const* const value = os::environment("GDRCOPY_USE_DMABUF_MMAP");
    return value && std::string_view(value) == "1";
}

/// Only the backends themselves know, and they need cuInit.
bool a_backend_is_asked_for() noexcept {
    return only_dma_buf() || setting("BARMAP_BACKEND");
}

/// The process in which CUDA was seen in use, if any: its forked children cannot use CUDA.
std::atomic<os::process_id> cuda_user{};

void expect_no_forked_child() {
    if (os::process_id const user = cuda_user; user.number != 0 && !os::is_this_process(user))
        throw error(errc::forked_child, "open libgdrapi", "",
                    "the parent has used CUDA: open in the parent, or fork before");
}

/// The first backend that can be tried, on the first GPU that has one.
backend_report first_offer() {
    (void)cuda::api(); // says why there is no driver
    int const count = device::count();
    if (count == 0)
        throw error(errc::no_device, "find a GPU", "",
                    "CUDA shows none to this process: see `barmap info`");
    std::string said;
    for (int ordinal = 0; ordinal < count; ++ordinal)
        for (backend_report const& report : device::probe(ordinal)) {
            if (report.state == backend_state::usable &&
                (!only_dma_buf() || report.name == dma_buf))
                return report;
            said += report.name + ": " + report.reason + "; ";
        }
    throw error(errc::backend_absent, "reach GPU memory",
                only_dma_buf() ? std::string(dma_buf) : "", said + "see `barmap info`");
}

/// All sessions. Never destroyed: other threads may still call while the process exits.
struct open_sessions {
    std::mutex lock;
    std::vector<std::shared_ptr<session>> list;
    std::deque<gdr> shown; ///< of every session that ever was
};

open_sessions& sessions() {
    static auto* const instance = [] {
        // A forked child finds the list whole, and its handles void.
        pthread_atfork(
            [] {
                sessions().lock.lock();
                lock_handles();
            },
            [] {
                unlock_handles();
                sessions().lock.unlock();
            },
            [] {
                void_all_handles();
                unlock_handles();
                sessions().lock.unlock();
            });
        return new open_sessions;
    }();
    return *instance;
}

} // namespace

session::session() {
    expect_settings();
    expect_no_forked_child();
    if (a_backend_is_asked_for() || cuda_is_initialised()) {
        cuda_user = os::this_process();
        backend_report const first = first_backend();
        log(severity::information, "backend " + first.name + " is there: " + first.reason);
        if (first.name == gdrdrv)
            module_ = {first.module.value(), first.persistent, first.forces_pcie};
    } else if (module_ = find_kernel_module(); !module_) {
        expect_gpu();
        log(severity::information, "there is a GPU; which backend reaches it is found when memory "
                                   "is pinned");
    }
    if (module_)
        module_fd_ = os::open_file("/dev/gdrdrv", O_RDWR);
}

session::~session() = default;

backend_report session::first_backend() {
    backend_report const offered = first_offer();
    std::optional<int> const ordinal = cuda::current_ordinal();
    if (!ordinal)
        return offered;
    device const gpu = device::open(*ordinal);
    std::string said;
    for (backend_report const& report : gpu.started_backends()) {
        if (report.state == backend_state::usable && (!only_dma_buf() || report.name == dma_buf)) {
            keep(gpu);
            return report;
        }
        said += report.name + ": " + report.reason + "; ";
    }
    throw error(errc::backend_absent, "reach memory of GPU " + std::to_string(*ordinal), "",
                said + "see `barmap info`");
}

namespace {

/// Only there are two ways to the memory, of which one can be forced.
bool is_coherent(device const& gpu) {
    constexpr int pageable_memory_access_uses_host_page_tables = 100; // CUdevice_attribute
    cuda::driver_api const& cu = cuda::api();
    CUdevice handle = 0;
    int coherent = 0;
    return cu.device_get(&handle, gpu.ordinal()) == cuda::success &&
           cu.device_get_attribute(&coherent, pageable_memory_access_uses_host_page_tables,
                                   handle) == cuda::success &&
           coherent != 0;
}

} // namespace

void session::keep(device const& gpu) {
    std::lock_guard const guard(lock_);
    for (device const& known : devices_)
        if (known.ordinal() == gpu.ordinal())
            return;
    devices_.push_back(gpu);
}

// With gdrdrv there, everything goes through it, as programs for gdrcopy expect; unless it does not
// work on this GPU.
std::string_view session::only_backend(device const& gpu) const {
    if (only_dma_buf())
        return dma_buf;
    if (!module_)
        return {};
    for (backend_report const& report : gpu.started_backends())
        if (report.name == gdrdrv && report.state == backend_state::usable)
            return gdrdrv;
    return {};
}

std::shared_ptr<buffer> session::pin(std::uintptr_t address, std::size_t bytes,
                                     pin_options options) {
    cuda_user = os::this_process();
    device const gpu = device::from_pages(address, bytes);
    keep(gpu);
    if (options.force_pcie && !is_coherent(gpu))
        throw error(errc::unsupported_operation, "force the PCIe path", "",
                    "pin without GDR_PIN_FLAG_FORCE_PCIE: this GPU is reached through PCIe alone");
    options.backend = only_backend(gpu);
    options.whole_pages = true;
    auto made = std::make_shared<buffer>(gpu);
    made->pinned = gpu.pin(address, bytes, options);
    made->address = address;
    made->size = made->pinned.size() - (address - made->pinned.gpu_address());
    log(severity::debug, std::to_string(bytes) + " bytes are pinned by backend " +
                             std::string(made->pinned.backend()));
    made->handle = allocate_handle();
    std::lock_guard const guard(lock_);
    try {
        if (closed_)
            throw error(errc::invalid_argument, "pin through a closed gdr_t", "",
                        "call gdr_open() first");
        buffers_.emplace(made->handle, made);
    } catch (...) {
        free_handle(made->handle);
        throw;
    }
    return made;
}

std::shared_ptr<buffer> session::find(unsigned long handle) {
    std::lock_guard const guard(lock_);
    auto const found = buffers_.find(handle);
    return found == buffers_.end() ? nullptr : found->second;
}

namespace {

void let_go(buffer& what) {
    std::lock_guard const guard(what.lock);
    what.alive = false;
    unmap(what);
    what.pinned = {};
    free_handle(what.handle);
}

} // namespace

bool session::unpin(unsigned long handle) {
    std::shared_ptr<buffer> gone;
    {
        std::lock_guard const guard(lock_);
        auto const found = buffers_.find(handle);
        if (found == buffers_.end())
            return false;
        gone = std::move(found->second);
        buffers_.erase(found);
    }
    let_go(*gone);
    return true;
}

void session::forget() noexcept {
    module_fd_ = {};
}

void session::close() {
    decltype(buffers_) gone;
    {
        std::lock_guard const guard(lock_);
        closed_ = true;
        gone.swap(buffers_);
    }
    for (auto const& [handle, each] : gone)
        let_go(*each);
}

std::shared_ptr<session> find_session(gdr_t pointer) {
    open_sessions& open = sessions();
    std::lock_guard const guard(open.lock);
    for (std::shared_ptr<session> const& each : open.list)
        if (each->shown == pointer)
            return each;
    return {};
}

gdr_t open_session() {
    auto made = std::make_shared<session>();
    open_sessions& open = sessions();
    std::lock_guard const guard(open.lock);
    made->shown = &open.shown.emplace_back();
    made->shown->fd = made->module_fd();
    open.list.push_back(made);
    return made->shown;
}

std::shared_ptr<session> remove_session(gdr_t pointer) {
    open_sessions& open = sessions();
    std::lock_guard const guard(open.lock);
    for (std::shared_ptr<session>& each : open.list) {
        if (each->shown != pointer)
            continue;
        pointer->fd = -1;
        std::shared_ptr<session> result = std::move(each);
        each = std::move(open.list.back());
        open.list.pop_back();
        return result;
    }
    return {};
}

void map(buffer& what, std::optional<cache_kind> kind) {
    what.mapped = kind ? what.pinned.map(*kind) : what.pinned.map();
    publish_handle(what.handle, what.data(), what.size, what.mapped);
}

void prepare_large_copies(buffer const& what) noexcept {
    try {
        (void)what.gpu.copy_crossovers(what.mapped.backend());
    } catch (std::exception const& failure) {
        log(severity::warning, failure.what());
    }
}

void unmap(buffer& what) noexcept {
    void_handle(what.handle);
    what.mapped = {};
}

} // namespace barmap::gdrapi
