// SPDX-License-Identifier: MIT
#include "pygpu/runtime/runtime.hpp"

#include "cuda/driver_lifetime.hpp"
#include "system/environment.hpp"
#include "system/region.hpp"

#include <barmap/error.hpp>

#include <array>
#include <atomic>
#include <string_view>
#include <type_traits>
#include <unistd.h>
#include <utility>

namespace barmap::runtime {
namespace {

constexpr std::size_t most_devices = 64;
std::array<std::atomic<unsigned>, most_devices> resets{};

/// The answer of each function of a table without a runtime.
status code_without_runtime = insufficient_driver; // both written before the table is used
std::string why_without_runtime;
static_assert(std::is_trivially_destructible_v<status>);
constinit thread_local status refused_here = success;

template <status const& Code, class... Arguments>
status refuse(Arguments...) {
    return refused_here = Code;
}

status refused_last_error() {
    return std::exchange(refused_here, success);
}

status refused_peek() {
    return refused_here;
}

char const* refused_string(status code) {
    return code == code_without_runtime && !why_without_runtime.empty()
               ? why_without_runtime.c_str()
               : cuda_error_string(code);
}

template <status const& Code, class Function>
struct refusing;
template <status const& Code, class... Arguments>
struct refusing<Code, status (*)(Arguments...)> {
    static constexpr auto function = &refuse<Code, Arguments...>;
};

/// A table of which every function returns Code.
template <status const& Code>
function_table refusing_table(char const* vendor) {
    function_table result{};
    result.vendor = vendor;
    auto const fill = [](auto&... members) {
        ((members = refusing<Code, std::remove_reference_t<decltype(members)>>::function), ...);
    };
    function_table& t = result;
    fill(t.device_count, t.set_device, t.get_device, t.synchronize_device, t.reset_device,
         t.describe_device, t.memory_info, t.allocate, t.free, t.pin_host, t.unpin_host,
         t.address_range, t.copy, t.copy_rows, t.create_stream, t.destroy_stream,
         t.synchronize_stream, t.query_stream, t.wait_for_event, t.create_event, t.destroy_event,
         t.record_event, t.synchronize_event, t.query_event, t.elapsed_time);
    t.last_error = &refused_last_error;
    t.peek_at_last_error = &refused_peek;
    t.error_name = &cuda_error_name;
    t.error_string = &refused_string;
    return result;
}

/// Whether a vendor's runtime reports that it has no GPU. A runtime that fails may have one.
bool lacks_gpu(vendor_table const& of) {
    if (!of.functions)
        return of.answer == insufficient_driver || of.answer == no_device;
    int count = 0;
    status const answer = of.functions->device_count(&count);
    of.functions->last_error();
    return answer == no_device || (answer == success && count == 0);
}

bool has_gpu(vendor_table const& of) {
    int count = 0;
    bool const has = of.functions && of.functions->device_count(&count) == success && count > 0;
    if (!has && of.functions)
        of.functions->last_error();
    return has;
}

vendor_table const& choose(std::string_view wanted) {
    if (wanted == "cuda")
        return cuda_table();
    if (wanted == "hip")
        return hip_table();
    if (!wanted.empty())
        throw error(errc::invalid_argument,
                    "choose a GPU runtime by BARMAP_RUNTIME=" + std::string(wanted), "",
                    "set it to cuda or hip, or unset it");
    if (lacks_gpu(cuda_table()) && has_gpu(hip_table()))
        return hip_table();
    return cuda_table();
}

struct chosen {
    function_table const* functions = nullptr;
    os::process_id owner = os::this_process();

    chosen() {
        char const* const wanted = os::environment("BARMAP_RUNTIME");
        vendor_table const& found = choose(wanted ? wanted : "");
        functions = found.functions;
        if (functions)
            return;
        code_without_runtime = found.answer;
        why_without_runtime = found.why;
        static function_table const without = refusing_table<code_without_runtime>(
            wanted && std::string_view(wanted) == "hip" ? "hip" : "cuda");
        functions = &without;
    }
};

chosen const& choice() {
    static auto const* const instance = new chosen; // never destroyed, as what it loaded
    return *instance;
}

} // namespace

function_table const& current() {
    chosen const& here = choice();
    if (os::is_this_process(here.owner)) [[likely]]
        return *here.functions;
    static function_table const in_child =
        refusing_table<initialization_error>(here.functions->vendor);
    return in_child;
}

unsigned resets_of(int device) noexcept {
    auto const at = static_cast<std::size_t>(device);
    return at < most_devices ? resets[at].load(std::memory_order_relaxed) : 0;
}

status reset_current_device() {
    int device = -1;
    if (status const failed = current().get_device(&device))
        return failed;
    status const answer = current().reset_device();
    if (auto const at = static_cast<std::size_t>(device); answer == success && at < most_devices)
        resets[at].fetch_add(1, std::memory_order_relaxed);
    return answer;
}

bool may_give_back(os::process_id owner) noexcept {
    return cuda::drivers_are_up(owner);
}

int current_device() {
    int device = -1;
    return current().get_device(&device) == success ? device : -1;
}

device_scope::device_scope(int device) {
    int const now = current_device();
    if (now < 0 || now == device)
        return;
    if (current().current_context)
        context_ = current().current_context();
    if (current().set_device(device) == success)
        before_ = now;
}

device_scope::~device_scope() {
    if (before_ < 0)
        return;
    if (current().current_context)
        current().use_context(before_, context_);
    else
        current().set_device(before_);
}

} // namespace barmap::runtime
