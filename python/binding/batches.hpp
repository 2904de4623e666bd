// SPDX-License-Identifier: MIT
#pragma once

#include <barmap/batch_queue.hpp>
#include <barmap/unheld_batches.hpp>

#include <nanobind/nanobind.h>

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace barmap::python {

/// One side of a copy of rows: the first axis of an array, and which of its rows.
struct rows {
    std::uintptr_t first = 0;            ///< address of row 0
    std::int64_t count = 0, stride = 0;  ///< of the axis; bytes from one row to the next
    std::int64_t const* which = nullptr; ///< as many as are copied; null: the first ones
    std::string array, indices;          ///< what the arguments are called

    /// @throws std::out_of_range if there is no such row, std::invalid_argument for a negative one
    [[nodiscard]] std::int64_t row(std::size_t at) const;
};

/// The pieces that copy rows.
/// @param joined whether neighbours on both sides make one piece: not where CUDA's copies take no
///               piece that lies in several allocations
/// @throws as rows::row(); std::invalid_argument if a row would be written twice, or be read from
///         where another one is written
void make_pieces(std::vector<copy_piece>& pieces, rows const& to, rows const& from,
                 std::size_t how_many, std::size_t row_bytes, bool joined = true);

/// The row, in the order of the list, that a piece of joined rows begins with.
[[nodiscard]] std::size_t first_row_of(std::span<copy_piece const> pieces, std::size_t piece,
                                       std::size_t row_bytes) noexcept;

/// The queue that copies batches for one GPU, kept open until the process ends, and the batches
/// whose tickets nobody has. Thread rule: members may be called at once. None needs the GIL.
class batches {
public:
    /// @throws error as device::open and device::batch_queue
    [[nodiscard]] static batches& of(int ordinal);

    [[nodiscard]] batch_queue& queue() noexcept { return queue_; }

    /// Has the next call of expect_none_failed() report how a batch ended.
    /// @param arrays what Python keeps until then
    void leave(batch_ticket ticket, nanobind::object arrays);

    /// @param ended receives the arrays of those that have ended: release them with the GIL
    /// @throws error by which a batch that nobody has a ticket of has failed, once
    void expect_none_failed(std::vector<nanobind::object>& ended);

private:
    explicit batches(batch_queue queue) : queue_(std::move(queue)) {}

    batch_queue queue_;
    unheld_batches<nanobind::object> unheld_;
};

/// Adds the class BatchQueue, and pinned host memory.
void bind_batches(nanobind::module_& module);

} // namespace barmap::python
