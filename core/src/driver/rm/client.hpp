// SPDX-License-Identifier: MIT
#pragma once

#include "cuda/gpu.hpp"
#include "driver/rm/driver_series.hpp"
#include "nvidia/rm.hpp"
#include "system/fd.hpp"
#include "system/process.hpp"

#include <barmap/types.hpp>

#include <cstdint>
#include <mutex>
#include <optional>
#include <span>
#include <string>
#include <vector>

/// NVIDIA's resource manager (RM), the part of its kernel driver that owns every object of a GPU,
/// as an ordinary user reaches it: by ioctls of /dev/nvidiactl. Set-up path only. All errors come
/// without a backend's name, which the user of the client adds.
namespace barmap::rm {

/// A client of the resource manager with one GPU open: a tree client > device > subdevice.
/// Everything it allocated in the kernel is freed with its control fd at the latest.
/// A forked child shares that fd with its parent, so there its destructors only close descriptors.
/// Thread rule: const members may be called at once; the kernel serialises.
class client {
public:
    /// @throws error errc::backend_absent where there is no /dev/nvidiactl or it does not list the
    ///         GPU, else what failed
    explicit client(cuda::pci_location const& gpu);
    client(client const&) = delete;
    client& operator=(client const&) = delete;
    ~client();

    [[nodiscard]] std::uint32_t gpu_id() const noexcept { return gpu_id_; }
    [[nodiscard]] abi::handle device() const noexcept { return device_; }
    /// Made when it is first asked for: mapping needs none. @throws error
    [[nodiscard]] abi::handle subdevice() const;

    /// A new object of a class without parameters below `parent`. @param what for the error's text
    /// @throws error with the NV_STATUS
    [[nodiscard]] abi::handle allocate(abi::handle parent, std::uint32_t object_class,
                                       char const* what) const {
        return allocate(parent, object_class, nullptr, 0, what);
    }
    /// The same with parameters.
    template <class Parameters>
    [[nodiscard]] abi::handle allocate(abi::handle parent, std::uint32_t object_class,
                                       Parameters const& parameters, char const* what) const {
        abi::roomy<Parameters> request{parameters};
        return allocate(parent, object_class, &request, sizeof parameters, what);
    }

    /// A control command of an object. @return its NV_STATUS. @throws error if it was not answered
    template <class Parameters>
    [[nodiscard]] std::uint32_t control(abi::handle object, std::uint32_t command,
                                        Parameters& parameters, char const* what) const {
        return control(object, command, &parameters, sizeof parameters, what);
    }

    /// Takes a second reference to another client's memory object. @throws error
    [[nodiscard]] abi::handle duplicate(abi::handle source_client, abi::handle source_object) const;

    /// Takes a reference to the memory object that a descriptor carries, after checking that it is
    /// on this GPU: RM itself reports success for the wrong one. @throws error
    [[nodiscard]] abi::handle import(int descriptor) const;

    /// A descriptor by which any process can import these memory objects of the client. They live
    /// as long as it does. @throws error
    [[nodiscard]] os::fd export_objects(std::span<abi::handle const> objects) const;

    /// References to the first `count` objects that such a descriptor names, which are the caller's
    /// to free; after a failure, some go with the client only. @throws error errc::wrong_device if
    /// they are on another GPU, errc::unsupported_memory if one is not there
    [[nodiscard]] std::vector<abi::handle> import_objects(int descriptor, std::size_t count) const;

    /// The same as duplicate(), or nothing where there is no such object or it cannot be
    /// duplicated.
    [[nodiscard]] std::optional<abi::handle>
    try_duplicate(abi::handle source_client, abi::handle source_object) const noexcept;

    /// The class of an object of this client; 0 if it cannot be told.
    [[nodiscard]] std::uint32_t class_of(abi::handle object) const noexcept;

    /// Size of a memory object of this client, bytes.
    /// @throws error errc::unsupported_memory if it is not in video memory
    [[nodiscard]] std::uint64_t size_of(abi::handle memory) const;

    /// Drops a reference. Does nothing in a forked child.
    /// @return whether RM says that the object is gone
    bool free(abi::handle object) const noexcept { return free(device_, object); }
    bool free(abi::handle parent, abi::handle object) const noexcept;

    /// The version of NVIDIA's kernel driver, "580.159.04". @throws error
    [[nodiscard]] std::string driver_version() const;

    /// Its series; nothing if it is not known.
    [[nodiscard]] std::optional<driver_series> const& series() const noexcept { return series_; }

    /// The classes of object that this GPU has. @throws error
    [[nodiscard]] std::vector<std::uint32_t> classes() const;

    /// A memory object over pages of this process, which stay where they are until it is freed.
    /// @param pages whole pages. @throws error
    [[nodiscard]] abi::handle describe_host(void* pages, std::size_t bytes) const;

    /// One ioctl of the control file, whose answer's status has to be ok. @throws error
    template <class Parameters>
    void request(unsigned escape, Parameters& parameters, char const* what) const {
        submit(escape, &parameters, sizeof parameters, what);
        expect_ok(parameters.status, what);
    }

    /// @throws error with the NV_STATUS if it is not ok
    static void expect_ok(std::uint32_t status, char const* what);

    [[nodiscard]] abi::handle root() const noexcept { return client_; }
    [[nodiscard]] int control_fd() const noexcept { return control_fd_.get(); }

    /// A part of an object that the CPU may mmap at file offset 0.
    class view {
    public:
        /// @param flags abi::map_flags_...: default caching goes through BAR1 with write-combining,
        ///        or by a coherent link where the CPU has one, unless PCIe is asked for
        /// @throws error errc::bar1_exhausted, errc::backend_absent where the GPU maps nothing for
        ///         the CPU (confidential mode), or what failed
        view(client const& owner, abi::handle memory, std::uint64_t offset, std::uint64_t length,
             std::uint32_t flags = abi::map_flags_default_caching);
        view(view const&) = delete;
        view& operator=(view const&) = delete;
        ~view();
        /// Never for another process: its mmap holds no reference to the memory. On an H200, after
        /// the owner had freed that, it reached the owner's next allocation.
        [[nodiscard]] int fd() const noexcept { return fd_.get(); }
        /// The mmap outlives the descriptor, of which a process has a limited number.
        void close_fd() noexcept { fd_ = {}; }

    private:
        client const& owner_;
        abi::handle memory_;
        std::uint64_t linear_address_ = 0;
        os::fd fd_;
    };

    /// @throws error
    [[nodiscard]] bar1_info bar1() const;

    /// Whether this is the process that made the client.
    [[nodiscard]] bool in_own_process() const noexcept;

private:
    void find_gpu(cuda::pci_location const& gpu);
    abi::handle allocate(abi::handle parent, std::uint32_t object_class, void* parameters,
                         std::uint32_t size, char const* what) const;
    std::uint32_t control(abi::handle object, std::uint32_t command, void* parameters,
                          std::uint32_t size, char const* what) const;
    /// One whose parameters do not have the same size in each series. In a series that is not
    /// known, each known size is tried, the newest first.
    std::uint32_t control(abi::handle object, std::uint32_t command, void* parameters,
                          data::values const& sizes, char const* what) const;
    std::optional<driver_series> find_series() const noexcept;
    template <class Parameters>
    void call(unsigned escape, Parameters& parameters, char const* what) const {
        submit(escape, &parameters, sizeof parameters, what);
    }
    void submit(unsigned escape, void* parameters, std::size_t size, char const* what) const;
    os::fd device_file() const;
    struct export_origin {
        std::uint32_t device_instance;
        bool is_tagged; ///< made by export_objects()
    };
    export_origin origin_of(int descriptor) const;
    /// @throws error errc::bar1_exhausted if less is known to be free
    void expect_bar1(std::uint64_t wanted, char const* what) const;

    os::fd control_fd_;
    std::string device_path_;
    os::fd device_fd_; ///< RM lets a process use a GPU of which it has a device file open
    os::process_id owner_;
    std::optional<driver_series> series_;
    std::uint32_t gpu_id_ = 0;
    std::uint32_t device_instance_ = 0;
    std::uint32_t subdevice_instance_ = 0;
    abi::handle client_ = 0, device_ = 0;
    mutable std::mutex making_;
    mutable abi::handle subdevice_ = 0; ///< under the lock
};

} // namespace barmap::rm
