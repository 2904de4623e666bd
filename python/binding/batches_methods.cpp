// SPDX-License-Identifier: MIT
// The class BatchQueue, as the Python part of the package calls it.
#include "arguments.hpp"
#include "batches.hpp"
#include "cuda/stream_gpu.hpp"
#include "errors.hpp"
#include "own_memory.hpp"
#include "released_gil.hpp"
#include "reports.hpp"
#include "system/of_thread.hpp"

#include <barmap/device.hpp>
#include <barmap/waits.hpp>

#include <nanobind/ndarray.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/string_view.h>
#include <nanobind/stl/tuple.h>

#include <algorithm>
#include <cstdlib>
#include <memory>
#include <string>
#include <tuple>
#include <utility>

namespace nb = nanobind;

namespace barmap::python {
namespace {

using numbers = nb::ndarray<std::int64_t const, nb::ndim<1>, nb::c_contig, nb::device::cpu>;

/// The list that this thread's batches are made in, so that none is allocated each time.
class piece_list {
public:
    [[nodiscard]] std::vector<copy_piece>& operator*() noexcept {
        return of_thread_ ? of_thread_->list : own_;
    }

private:
    struct kept {
        std::vector<copy_piece> list;
    };
    kept* const of_thread_ = os::of_thread<kept>::get();
    std::vector<copy_piece> own_;
};

std::span<copy_piece const> fill(piece_list& list, std::int64_t const* to, std::int64_t const* from,
                                 std::int64_t const* sizes, std::size_t count) {
    std::vector<copy_piece>& pieces = *list;
    pieces.resize(count);
    for (std::size_t i = 0; i < count; ++i)
        pieces[i] = {static_cast<std::uintptr_t>(to[i]), static_cast<std::uintptr_t>(from[i]),
                     static_cast<std::size_t>(sizes[i])};
    return pieces;
}

batches& open(int ordinal) {
    released_gil const others_run;
    return batches::of(ordinal);
}

std::uint64_t submit(batches& of, numbers const& to, numbers const& from, numbers const& sizes,
                     std::optional<std::uintptr_t> first, std::optional<std::uintptr_t> last,
                     std::optional<std::int64_t> at_most_ns) {
    std::size_t const count = sizes.size();
    if (to.size() != count || from.size() != count)
        throw nb::value_error("to, from_ and sizes must have the same length");
    released_gil const others_run;
    piece_list list;
    std::optional<batch_queue::after> begin;
    if (first)
        begin = batch_queue::after{stream_of(*first)};
    if (begin && at_most_ns)
        begin->at_most = std::chrono::nanoseconds(*at_most_ns);
    std::optional<batch_queue::then> end;
    if (last)
        end = batch_queue::then{stream_of(*last)};
    return static_cast<std::uint64_t>(
        of.queue().submit(fill(list, to.data(), from.data(), sizes.data(), count), begin, end));
}

bool wait(batches& of, std::uint64_t ticket, std::optional<double> seconds) {
    using namespace std::chrono;
    auto const begin = steady_clock::now();
    for (;;) {
        // In slices, between which Python may handle a signal.
        nanoseconds slice = milliseconds(50);
        bool is_last = false;
        if (seconds) {
            auto const left =
                begin - steady_clock::now() + barmap::detail::wait_of_seconds(*seconds);
            is_last = left <= slice;
            slice = std::clamp<nanoseconds>(left, nanoseconds(0), slice);
        }
        {
            released_gil const others_run;
            if (of.queue().wait(batch_ticket{ticket}, slice))
                return true;
        }
        if (is_last)
            return false;
        if (PyErr_CheckSignals() != 0)
            throw nb::python_error();
    }
}

row_list reports(batches& of) {
    std::vector<engine_report> found;
    {
        released_gil const others_run;
        found = of.queue().reports();
    }
    return rows_of(found);
}

/// address of row 0, rows, bytes from one to the next
using axis = std::tuple<std::uintptr_t, std::int64_t, std::int64_t>;
using optional_numbers = std::optional<numbers>;

bool is_pinned(std::uintptr_t address, std::size_t bytes) {
    return barmap::is_pinned({reinterpret_cast<std::byte const*>(address), bytes});
}

void expect_pinned(rows const& host, std::size_t row_bytes) {
    std::int64_t const reach = (host.count - 1) * host.stride;
    auto const first = host.first + static_cast<std::uintptr_t>(std::min<std::int64_t>(reach, 0));
    if (!is_pinned(first, static_cast<std::size_t>(std::abs(reach)) + row_bytes))
        throw std::invalid_argument(host.array +
                                    " is not in pinned memory: allocate it by "
                                    "barmap.pinned(shape, dtype), torch.empty(..., "
                                    "pin_memory=True) or cupyx.empty_pinned(shape, dtype)");
}

/// The GPU that has an array. Nothing for host memory, which has to be pinned.
std::optional<int> gpu_of(rows const& array, bool is_on_gpu, std::size_t row_bytes) {
    if (is_on_gpu)
        return device_that_owns(array.first).ordinal();
    expect_pinned(array, row_bytes);
    return std::nullopt;
}

/// Whether the arrays do not say which GPU a stream is of. With an array on one GPU, the default
/// stream is that GPU's.
bool is_ambiguous(std::uintptr_t stream, std::optional<int> to, std::optional<int> from) {
    constexpr std::uintptr_t last_default = 2;
    return stream > last_default || (to && from && *to != *from);
}

/// Submits a batch, in the order of a stream where one is given.
batch_ticket submit_on(batches& of, std::span<copy_piece const> pieces,
                       std::optional<std::uintptr_t> stream) {
    if (!stream)
        return of.queue().submit(pieces);
    void* const its = stream_of(*stream);
    return of.queue().submit(pieces, batch_queue::after{.stream = its}, batch_queue::then{its});
}

/// Submits joined rows. A refusal names the row instead of the piece, and rows that lie in several
/// allocations are submitted one by one where only all of them together are refused.
/// @param apart makes a piece of each row, in the same list
batch_ticket submit_rows(batches& of, std::vector<copy_piece> const& pieces, std::size_t row_bytes,
                         std::optional<std::uintptr_t> stream, auto const& apart) {
    try {
        return submit_on(of, pieces, stream);
    } catch (error const& why) {
        if (!why.piece())
            throw;
        if (why.code() != errc::out_of_range) {
            std::size_t const row = first_row_of(pieces, *why.piece(), row_bytes);
            throw error(why.code(), "copy piece " + std::to_string(row) + " of a batch", "",
                        why.advice(), row);
        }
    }
    apart();
    return submit_on(of, pieces, stream);
}

/// @param arrays what keeps both sides: the copy keeps it where a signal ends the wait
void copy_rows(axis const& to, optional_numbers const& to_rows, bool to_is_on_gpu, axis const& from,
               optional_numbers const& from_rows, bool from_is_on_gpu, std::size_t row_bytes,
               std::optional<std::uintptr_t> stream, std::optional<int> gpu_of_stream,
               nb::object arrays) {
    auto const side = [](axis const& at, optional_numbers const& which, char const* array,
                         char const* argument) {
        auto const& [first, count, stride] = at;
        return rows{first, count, stride, which ? which->data() : nullptr, array, argument};
    };
    rows const target = side(to, to_rows, "to", "to_rows");
    rows const source = side(from, from_rows, "from_", "from_rows");
    std::size_t const how_many = from_rows ? from_rows->size()
                                 : to_rows ? to_rows->size()
                                           : static_cast<std::size_t>(source.count);
    std::vector<nb::object> ended;
    batches* engine = nullptr;
    batch_ticket ticket{};
    {
        released_gil const others_run;
        piece_list list;
        std::vector<copy_piece>& pieces = *list;
        make_pieces(pieces, target, source, how_many, row_bytes);
        if (pieces.empty() || row_bytes == 0)
            return;
        std::optional<int> const gpu_of_target = gpu_of(target, to_is_on_gpu, row_bytes);
        std::optional<int> const gpu_of_source = gpu_of(source, from_is_on_gpu, row_bytes);
        if (stream && !gpu_of_stream && is_ambiguous(*stream, gpu_of_target, gpu_of_source))
            gpu_of_stream = cuda::ordinal_of(static_cast<CUstream>(stream_of(*stream)));
        // Between two GPUs the source's pushes: NVIDIA's own kernel driver (uvm_hal_*_ce.c) makes
        // no copy engine read another GPU's memory.
        engine = &batches::of(gpu_of_stream   ? *gpu_of_stream
                              : gpu_of_source ? *gpu_of_source
                                              : gpu_of_target.value());
        engine->expect_none_failed(ended);
        ticket = submit_rows(*engine, pieces, row_bytes, stream, [&] {
            make_pieces(pieces, target, source, how_many, row_bytes, false);
        });
        if (stream)
            return engine->leave(ticket, {});
    }
    try {
        (void)wait(*engine, static_cast<std::uint64_t>(ticket), std::nullopt);
    } catch (nb::python_error const&) {
        engine->leave(ticket, std::move(arrays));
        throw;
    }
}

void swap_blocks(batches& of, std::uintptr_t from, std::uintptr_t to, std::uintptr_t sizes,
                 std::size_t count, std::uintptr_t stream) {
    auto const numbers_at = [](std::uintptr_t address) {
        return reinterpret_cast<std::int64_t const*>(address);
    };
    std::vector<nb::object> ended;
    released_gil const others_run;
    of.expect_none_failed(ended);
    piece_list list;
    of.leave(submit_on(of, fill(list, numbers_at(to), numbers_at(from), numbers_at(sizes), count),
                       stream),
             {});
}

using array_of_bytes = nb::ndarray<nb::numpy, std::uint8_t, nb::ndim<1>>;

array_of_bytes pinned(std::size_t bytes, int ordinal) {
    std::unique_ptr<host_buffer> buffer;
    {
        released_gil const others_run;
        buffer = std::make_unique<host_buffer>(opened_device(ordinal).allocate_host(bytes));
    }
    std::byte* const data = buffer->data();
    nb::capsule const owner(buffer.get(), [](void* gone) noexcept {
        released_gil const others_run; // CUDA may wait for the GPU
        delete static_cast<host_buffer*>(gone);
    });
    (void)buffer.release();
    return array_of_bytes(data, {bytes}, owner);
}

} // namespace

void bind_batches(nb::module_& module) {
    nb::class_<batches>(module, "BatchQueue")
        .def("submit", &submit, nb::arg("to").noconvert(), nb::arg("from_").noconvert(),
             nb::arg("sizes").noconvert(), nb::arg("after").none(), nb::arg("then").none(),
             nb::arg("at_most_ns").none())
        .def(
            "done",
            [](batches& of, std::uint64_t ticket) {
                released_gil const others_run;
                return of.queue().done(batch_ticket{ticket});
            },
            nb::arg("ticket"))
        .def("wait", &wait, nb::arg("ticket"), nb::arg("seconds").none())
        .def("swap_blocks", &swap_blocks, nb::arg("src"), nb::arg("dst"), nb::arg("sizes"),
             nb::arg("count"), nb::arg("stream"))
        .def_prop_ro("engine",
                     [](batches& of) {
                         released_gil const others_run;
                         return std::string(of.queue().engine());
                     })
        .def_prop_ro("reports", &reports);
    module.def("batch_queue", &open, nb::arg("ordinal"), nb::rv_policy::reference);
    module.def("copy_rows", &copy_rows, nb::arg("to"), nb::arg("to_rows").none(),
               nb::arg("to_is_on_gpu"), nb::arg("from_"), nb::arg("from_rows").none(),
               nb::arg("from_is_on_gpu"), nb::arg("row_bytes"), nb::arg("stream").none(),
               nb::arg("gpu_of_stream").none(), nb::arg("arrays"));
    module.def("is_pinned", &is_pinned, nb::arg("address"), nb::arg("nbytes"));
    module.def("pinned", &pinned, nb::arg("nbytes"), nb::arg("device"));
}

} // namespace barmap::python
