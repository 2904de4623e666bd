// SPDX-License-Identifier: MIT
#pragma once

#include "batch/batch_methods.hpp"
#include "command/options.hpp"
#include "output/results.hpp"

#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <vector>

/// barmap batch: compares batches of scattered copies by device::batch_queue() with the machine's
/// other methods.
namespace barmap::tool {

struct batch_options : options {
    std::vector<std::size_t> pieces; ///< empty: the measurement's default
    std::vector<std::string> directions{"to_cpu", "to_gpu"};
    std::vector<std::string> orders{"contiguous", "random"};
    std::vector<std::string> methods = batch_method_names();
    std::size_t pool = 0;
    std::string between = "host"; ///< host, peer or inside: the other side of each copy
    int peer = -1;                ///< ordinal; -1: the first GPU that is not the device
    std::size_t in_flight = 1;    ///< batches of the table
    bool same = false;            ///< the same pieces in each round
    bool both = false;
    std::string beside;
    bool ordered = false;
    std::uint64_t check = 0, round_trips = 0;
    std::uint64_t seed = 1;
};

/// A method, and its name on the command line.
struct named_method {
    std::string name;
    std::unique_ptr<batch_method> method;
};

/// A number of pieces of one size.
struct batch_shape {
    std::size_t pieces, size;
    [[nodiscard]] std::size_t bytes() const { return pieces * size; }
    [[nodiscard]] std::string text() const; ///< "64 x 4 KiB"
};
/// Adds pieces and size to a row.
void put(json& row, batch_shape const& shape);

/// The inputs of every measurement. The GPU's context is current.
struct batch_bench {
    report& out;
    opened_gpu const& gpu;
    gpu_kernels const& kernels; ///< from batch_kernels.ptx
    batch_options const& values;
    opened_gpu const* other = nullptr; ///< the other side of the copies; null: host memory

    [[nodiscard]] batch_pools pools(std::size_t bytes) const; ///< @throws error

    /// The requested directions; inside one GPU both are the same.
    [[nodiscard]] std::vector<copy_direction> directions() const;
    /// "d2h", "h2d", "to_peer", "from_peer" or "inside".
    [[nodiscard]] std::string_view name_of(copy_direction way) const;
    [[nodiscard]] std::vector<batch_order> orders() const;
    [[nodiscard]] std::size_t rounds(std::size_t usual) const; ///< --iterations, or else these
    /// The requested methods. Reports those that the machine lacks.
    [[nodiscard]] std::vector<named_method> methods() const;
    void tell(std::vector<left_out> const& missing) const;
    /// The result of a method at a shape.
    [[nodiscard]] result_row result_of(copy_direction way, batch_shape const& shape,
                                       batch_method const& method) const;
};

/// The shapes of the command line, by default of these numbers and sizes, without those that take
/// more than a quarter of a pool. @throws usage_error if none is left
[[nodiscard]] std::vector<batch_shape> shapes_of(batch_options const& values,
                                                 std::vector<std::size_t> const& pieces,
                                                 std::vector<std::size_t> const& sizes);

/// Copies one batch, and compares every byte in it and around it. @throws error
[[nodiscard]] batch_faults
verify_batch(batch_pools& pools, copy_direction way, batch_order order, batch_shape const& shape,
             std::uint64_t seed, std::function<void(std::span<copy_piece const>)> const& copy);
[[nodiscard]] batch_faults verify_batch(batch_method& method, batch_pools& pools,
                                        copy_direction way, batch_order order,
                                        batch_shape const& shape, std::uint64_t seed);

/// Adds wrong_bytes and guard_bytes to a row.
void put(json& row, batch_faults const& found);
/// A table's text for a rate in GB/s, or that bytes were wrong.
[[nodiscard]] std::string rate_or_wrong(double rate, batch_faults const& found);

// Each function measures, reports, and returns whether every byte was right. @throws error

/// Every method, by number of pieces, size, direction and order.
[[nodiscard]] bool measure_batches(batch_bench const& bench);
/// --both: every method in both directions at once.
[[nodiscard]] bool measure_both_ways(batch_bench const& bench);
/// --beside gemm: how much each method slows a matrix product. @throws error if there is no cuBLAS
[[nodiscard]] bool measure_beside_gemm(batch_bench const& bench);
/// --beside copy: how long a CUDA copy of 4 KiB takes beside each method.
[[nodiscard]] bool measure_beside_copy(batch_bench const& bench);
/// --ordered: the time between two kernels of one stream, with a batch between them.
[[nodiscard]] bool measure_order(batch_bench const& bench);
/// --check: random batches, every byte verified.
[[nodiscard]] bool check_batches(batch_bench const& bench);
/// --round-trips: a kernel writes, the copy engine copies out and in, a kernel checks.
[[nodiscard]] bool make_round_trips(batch_bench const& bench);

} // namespace barmap::tool
