// SPDX-License-Identifier: MIT
#include "base/library_ioctls.hpp"
#include "contract/machine.hpp"
#include "driver/rm/exported_objects.hpp"
#include "fake/rm_driver.hpp"

#include <array>
#include <cstdint>
#include <initializer_list>
#include <utility>
#include <vector>

/// A libcuda that names the right objects of a range, and miscounts what each has of it.
namespace barmap::contract {
namespace {

constexpr std::size_t pool_object = 32 * mib;

class miscounted_export_test : public testing::TestWithParam<unsigned> {
protected:
    void SetUp() override {
        set_environment("BARMAP_BACKEND", "rm");
        set_environment("BARMAP_SIM_MEMORY", "1G");
        machine_.emplace(std::to_string(GetParam()).c_str());
        machine_->add<fake::rm_driver>({.series = GetParam()});
        machine_->use();
        is_older = GetParam() < 570;
        static os::library_ioctls& of_library =
            *new os::library_ioctls(cuda::api().library); // stays, as the library does
        ioctls = &of_library;
    }
    void TearDown() override { machine_.reset(); }

    /// While this lives, libcuda says so of this range alone.
    class told : changed_driver {
    public:
        told(std::uintptr_t from, std::size_t bytes, rm::exported_objects what) {
            from_ = from;
            bytes_ = bytes;
            what_ = std::move(what);
            asked_ = 0;
            (*this)->mem_get_handle_for_address_range =
                [](void* to, CUdeviceptr at, std::size_t size, int type, unsigned long long flags) {
                    if (at != from_ || size != bytes_)
                        return real.mem_get_handle_for_address_range(to, at, size, type, flags);
                    ++asked_;
                    if (is_older)
                        tell<rm::abi::export_to_dma_buf_parameters_535>();
                    else
                        tell<rm::abi::export_to_dma_buf_parameters>();
                    return cuda::error_not_supported;
                };
        }
        [[nodiscard]] static int asked() { return asked_; }

    private:
        template <class Parameters>
        static void tell() {
            static Parameters parameters;
            parameters = {};
            parameters.fd = -1;
            parameters.client = what_.client;
            parameters.total_objects = what_.in_all;
            parameters.objects = static_cast<std::uint32_t>(what_.parts.size());
            parameters.total_size = bytes_;
            for (std::size_t i = 0; i < what_.parts.size(); ++i) {
                parameters.handles[i] = what_.parts[i].object;
                parameters.offsets[i] = what_.parts[i].offset;
                parameters.sizes[i] = what_.parts[i].bytes;
            }
            // As libcuda calls it: by its own table of what it imports.
            using function = int (*)(int, unsigned long, ...);
            auto const call = reinterpret_cast<function>(*ioctls->places().front());
            (void)call(-1, rm::abi::request<Parameters>(rm::abi::esc_export_to_dma_buf_fd),
                       &parameters);
        }
        static inline std::uintptr_t from_ = 0;
        static inline std::size_t bytes_ = 0;
        static inline rm::exported_objects what_;
        static inline int asked_ = 0;
    };

    /// Memory of which 3 MiB lie at the end of one object, and 3 MiB at the start of the next.
    struct range_of_two_objects {
        static constexpr std::size_t bytes = 6 * mib;
        pool_block large{100 * mib, pool_block::from::the_default_pool};
        std::uintptr_t from = (large.address() / pool_object + 1) * pool_object - bytes / 2;
        rm::exported_objects truth;

        range_of_two_objects() {
            auto const found = rm::exported_objects::of(from, bytes);
            EXPECT_TRUE(found && found->parts.size() == 2);
            truth = found.value();
        }
    };

    static inline bool is_older = false;
    static inline os::library_ioctls* ioctls = nullptr;

private:
    std::optional<machine> machine_;
};

TEST_P(miscounted_export_test, sizes_that_do_not_add_up_are_not_believed) {
    device const gpu = device::open(0);
    range_of_two_objects const range;
    // Where each object begins does not depend on what is counted.
    ASSERT_EQ(range.truth.parts[0].offset, pool_object - 3 * mib);
    unsigned seed = 1;
    using sizes = std::array<std::size_t, 2>;
    for (sizes const& each :
         {sizes{mib, mib}, sizes{3 * mib, mib}, sizes{mib, 3 * mib}, sizes{mib, 64 * mib},
          sizes{0, range.bytes}, sizes{range.bytes + mib, mib}, sizes{5 * mib, 3 * mib},
          sizes{mib, ~std::size_t{0} - mib + 1}}) {
        SCOPED_TRACE(testing::Message() << each[0] << " and " << each[1]);
        rm::exported_objects wrong = range.truth;
        wrong.parts[0].bytes = each[0];
        wrong.parts[1].bytes = each[1];
        wrong.parts[1].offset = 0;
        told const lie(range.from, range.bytes, wrong);
        mapping const map = gpu.pin(range.from, range.bytes).map();
        EXPECT_GT(lie.asked(), 0);
        expect_same_memory(map, range.from, ++seed);
    }
}

// Of more objects than one export names, the first ones must be less than all.
TEST_P(miscounted_export_test, the_first_of_several_exports_is_not_all) {
    device const gpu = device::open(0);
    range_of_two_objects const range;
    for (std::size_t const first : {3 * mib, 6 * mib, mib}) {
        SCOPED_TRACE(first);
        rm::exported_objects part = range.truth;
        part.parts.resize(1);
        part.parts[0].bytes = first;
        told const lie(range.from, range.bytes, part);
        expect_same_memory(gpu.pin(range.from, range.bytes).map(), range.from,
                           static_cast<unsigned>(first >> 20));
        EXPECT_GT(lie.asked(), 0);
    }
}

INSTANTIATE_TEST_SUITE_P(drivers, miscounted_export_test, testing::Values(535u, 580u),
                         [](auto const& each) { return "rm_" + std::to_string(each.param); });

} // namespace
} // namespace barmap::contract
