// SPDX-License-Identifier: MIT
// What barmap says to drivers are numbers. The simulated ones are built with the same declarations,
// and would follow any slip in them; so the numbers stand here a second time. Those of RM that
// NVIDIA's headers define are in driver_data_test.cpp.
#include "nvidia/cuda.hpp"
#include "nvidia/rm.hpp"
#include "map/gdrdrv/gdrdrv_abi.hpp"

#include <gtest/gtest.h>

#include <cstdint>
#include <initializer_list>

namespace barmap {
namespace {

struct number {
    std::uint64_t ours, theirs;
};

void expect_same(std::initializer_list<number> numbers) {
    int place = 0;
    for (number const& each : numbers) {
        ++place;
        EXPECT_EQ(each.ours, each.theirs) << "in place " << place;
    }
}

TEST(numbers, of_cuda_errors) {
    expect_same({{cuda::success, 0},
                 {cuda::error_invalid_value, 1},
                 {cuda::error_out_of_memory, 2},
                 {cuda::error_not_initialized, 3},
                 {cuda::error_deinitialized, 4},
                 {cuda::error_stub_library, 34},
                 {cuda::error_no_device, 100},
                 {cuda::error_invalid_device, 101},
                 {cuda::error_invalid_context, 201},
                 {cuda::error_invalid_handle, 400},
                 {cuda::error_not_found, 500},
                 {cuda::error_not_ready, 600},
                 {cuda::error_context_is_destroyed, 709},
                 {cuda::error_not_permitted, 800},
                 {cuda::error_not_supported, 801},
                 {cuda::error_unknown, 999}});
}

TEST(numbers, of_cuda_pointer_attributes) {
    expect_same({{cuda::pointer_context, 1},
                 {cuda::pointer_memory_type, 2},
                 {cuda::pointer_device_pointer, 3},
                 {cuda::pointer_host_pointer, 4},
                 {cuda::pointer_sync_memops, 6},
                 {cuda::pointer_buffer_id, 7},
                 {cuda::pointer_is_managed, 8},
                 {cuda::pointer_device_ordinal, 9},
                 {cuda::pointer_is_legacy_cuda_ipc_capable, 10},
                 {cuda::pointer_range_start_addr, 11},
                 {cuda::pointer_range_size, 12},
                 {cuda::pointer_mapped, 13},
                 {cuda::pointer_allowed_handle_types, 14},
                 {cuda::pointer_is_gpu_direct_rdma_capable, 15},
                 {cuda::pointer_mempool_handle, 17},
                 {cuda::memory_type_host, 1},
                 {cuda::memory_type_device, 2}});
}

TEST(numbers, of_cuda_device_attributes) {
    expect_same({{cuda::attribute_max_threads_per_block, 1},
                 {cuda::attribute_warp_size, 10},
                 {cuda::attribute_multiprocessor_count, 16},
                 {cuda::attribute_integrated, 18},
                 {cuda::attribute_pci_bus_id, 33},
                 {cuda::attribute_pci_device_id, 34},
                 {cuda::attribute_unified_addressing, 41},
                 {cuda::attribute_pci_domain_id, 50},
                 {cuda::attribute_compute_capability_major, 75},
                 {cuda::attribute_compute_capability_minor, 76},
                 {cuda::attribute_managed_memory, 83},
                 {cuda::attribute_host_page_tables, 100},
                 {cuda::attribute_virtual_memory_management, 102},
                 {cuda::attribute_posix_fd_handle, 103},
                 {cuda::attribute_gpu_direct_rdma_of_virtual_memory, 110},
                 {cuda::attribute_memory_pools, 115},
                 {cuda::attribute_gpu_direct_rdma, 116},
                 {cuda::attribute_flush_writes_options, 117},
                 {cuda::attribute_writes_ordering, 118},
                 {cuda::attribute_dma_buf, 124},
                 {cuda::attribute_dma_buf_mmap, 152}});
}

TEST(numbers, of_cuda_memory_properties) {
    expect_same({{cuda::allocation_type_pinned, 1},
                 {cuda::location_type_device, 1},
                 {cuda::handle_type_none, 0},
                 {cuda::handle_type_posix_fd, 1},
                 {cuda::access_read_write, 3},
                 {cuda::granularity_minimum, 0},
                 {cuda::external_handle_opaque_fd, 1},
                 {cuda::range_flag_dma_buf_pcie, 1},
                 {cuda::range_handle_dma_buf_fd, 1},
                 {cuda::mem_attach_global, 1},
                 {cuda::mem_host_register_portable, 1}});
}

TEST(numbers, of_the_resource_manager) {
    namespace abi = rm::abi;
    expect_same({{abi::ok, 0},
                 {abi::err_insufficient_resources, 0x1a},
                 {abi::err_invalid_param_struct, 0x3a},
                 {abi::err_no_memory, 0x51},
                 {abi::err_not_supported, 0x56},
                 {abi::map_flags_default_caching, 0x0300'0000},
                 {abi::map_flags_bus_pcie, 0x0020'0000},
                 {abi::export_type_rm, 1}});
}

// As strace prints them: direction, size of the parameters, 'F', number.
TEST(numbers, of_the_resource_managers_requests) {
    namespace abi = rm::abi;
    expect_same({{abi::request<abi::free_parameters>(abi::esc_rm_free), 0xc0104629},
                 {abi::request<abi::control_parameters>(abi::esc_rm_control), 0xc020462a},
                 {abi::request<abi::alloc_parameters>(abi::esc_rm_alloc), 0xc020462b},
                 {abi::request<abi::dup_parameters>(abi::esc_rm_dup_object), 0xc01c4634},
                 {abi::request<abi::map_parameters>(abi::esc_rm_map_memory), 0xc038464e},
                 {abi::request<abi::unmap_parameters>(abi::esc_rm_unmap_memory), 0xc020464f},
                 {abi::request<abi::card_info[abi::max_cards]>(abi::esc_card_info), 0xc90046c8},
                 {abi::request<abi::register_fd_parameters>(abi::esc_register_fd), 0xc00446c9}});
}

TEST(numbers, of_gdrdrv) {
    namespace abi = backend::gdrdrv::abi;
    expect_same({{abi::pin, 0xc028da01},
                 {abi::unpin, 0xc008da02},
                 {abi::get_callback_flag, 0xc008da03},
                 {abi::get_info, 0xc008da04},
                 {abi::get_info_v2, 0xc008da05},
                 {abi::get_attribute, 0xc008da06},
                 {abi::pin_v2, 0xc020da07},
                 {abi::request_mapping_type, 0xc008da08},
                 {abi::get_features, 0xc018da40},
                 {abi::get_usage, 0xc038da41},
                 {abi::get_version, 0xc008daff},
                 {abi::oldest_version, 0x20000},
                 {abi::version_with_info_v2, 0x20004},
                 {abi::version_with_pin_v2, 0x20005},
                 {abi::version_with_attributes, 0x20005},
                 {abi::version_with_requests, 0x20005},
                 {abi::version_with_events, 0x20006},
                 {abi::newest_major, 2},
                 {abi::pin_flag_force_pcie, 1},
                 {abi::attribute_persistent, 1},
                 {abi::attribute_force_pcie, 2},
                 {abi::feature_events, 1}});
}

} // namespace
} // namespace barmap
