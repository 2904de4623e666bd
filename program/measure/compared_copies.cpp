// SPDX-License-Identifier: MIT
#include "measure/compared_copies.hpp"

#include "output/units.hpp"

#include <barmap/error.hpp>

#include <algorithm>
#include <random>

namespace barmap::tool {
namespace {

void copy_again(mapping const& gpu, copy_direction way, std::span<std::byte> host, unsigned times) {
    for (unsigned i = 0; i < times; ++i)
        way == copy_direction::to_gpu ? gpu.copy_to_gpu(0, host) : gpu.copy_to_cpu(host, 0);
}

/// About how long one operation takes, from as few as give an idea.
double estimate(copy_method const& method, copy_direction way, std::size_t bytes) {
    constexpr double long_ns = 5e6;
    double best = time_of(1, [&] { method.repeat(way, bytes, 1); });
    for (int i = 0; i < 3 && (best < long_ns || i == 0); ++i) // once may be a hiccup
        best = std::min(best, time_of(4, [&] { method.repeat(way, bytes, 4); }));
    return best;
}

} // namespace

compared_copies::compared_copies(opened_gpu const& gpu, options const& values, std::size_t max)
    : gpu_(gpu), values_(values), max_(max), target_(reach(gpu, values, max)) {}

copy_method compared_copies::through(std::string name, mover by, window whole,
                                     host_memory_kind kind) {
    copy_method method{std::move(name), by, kind};
    method.repeat = [whole, host = new_host(kind)](copy_direction way, std::size_t bytes,
                                                   unsigned times) {
        window const gpu = whole.subwindow(0, bytes);
        std::span<std::byte> const cpu = host.first(bytes);
        if (way == copy_direction::to_gpu) {
            for (unsigned i = 0; i < times; ++i)
                write(gpu, cpu);
        } else {
            for (unsigned i = 0; i < times; ++i)
                read(cpu, gpu);
        }
    };
    return method;
}

copy_method compared_copies::chosen(host_memory_kind host) {
    bool const pinned = host == host_memory_kind::pinned;
    copy_method method = through(values_.routine + (pinned ? " pinned" : ""), mover::chosen,
                                 target_.mapping.window(), host);
    method.routine = [this](copy_direction way, std::size_t bytes) {
        return std::string(way == copy_direction::to_gpu ? target_.mapping.store_routine(bytes)
                                                         : target_.mapping.load_routine(bytes));
    };
    return method;
}

std::vector<copy_method> compared_copies::every_routine() {
    std::vector<copy_method> methods;
    for (copy_routine_report const& routine : copy_routines()) {
        if (!routine.supported)
            continue;
        window const whole = target_.mapping.window_by(routine.name);
        methods.push_back(through(routine.name, mover::routine, whole, host_memory_kind::pageable));
        methods.back().routine = [name = routine.name](copy_direction, std::size_t) {
            return name;
        };
    }
    return methods;
}

copy_method compared_copies::adaptive(host_memory_kind kind) {
    copy_method method{"adaptive " + std::string(to_string(kind)), mover::adaptive, kind};
    method.repeat = [&mapping = target_.mapping,
                     host = new_host(kind)](copy_direction way, std::size_t bytes, unsigned times) {
        copy_again(mapping, way, host.first(bytes), times);
    };
    return method;
}

std::vector<copy_method> compared_copies::engines(host_memory_kind kind) {
    if (of_engines_.empty())
        for (std::string const& each : usable_engines(gpu_))
            of_engines_.push_back({each, reach_for(each, gpu_, values_, max_)});
    std::vector<copy_method> methods;
    for (engine_memory& by : of_engines_) {
        copy_method method{by.engine + " " + std::string(to_string(kind)), mover::engine, kind};
        method.repeat = [&by, host = new_host(kind)](copy_direction way, std::size_t bytes,
                                                     unsigned times) {
            with_next_engine(by.reached.mapping, by.engine, by.late, [&] {
                copy_again(by.reached.mapping, way, host.first(bytes), times);
            });
        };
        methods.push_back(std::move(method));
    }
    return methods;
}

std::vector<copy_method> compared_copies::driver(bool to_the_end) {
    std::vector<copy_method> methods;
    for (host_memory_kind const kind : both_kinds) {
        copy_method method{"cuMemcpy " + std::string(to_string(kind)), mover::driver, kind};
        bool const wait = to_the_end && kind == host_memory_kind::pageable;
        method.repeat = [gpu = address(), host = new_host(kind).data(),
                         wait](copy_direction way, std::size_t bytes, unsigned times) {
            cuda::driver_api const& cu = cuda::api();
            for (unsigned i = 0; i < times; ++i) {
                CUresult result = way == copy_direction::to_gpu ? cu.memcpy_htod(gpu, host, bytes)
                                                                : cu.memcpy_dtoh(host, gpu, bytes);
                if (wait && way == copy_direction::to_gpu && result == cuda::success)
                    result = cu.stream_synchronize(nullptr);
                cuda::check(result, "copy with cuMemcpy");
            }
        };
        methods.push_back(std::move(method));
    }
    return methods;
}

std::vector<measured_method> measure_in_turn(std::span<copy_method const> all, copy_direction way,
                                             std::size_t bytes, options const& values) {
    std::vector<copy_method> methods;
    for (copy_method const& each : all)
        if (way == copy_direction::to_gpu || bytes <= each.most_read)
            methods.push_back(each);
    std::vector<double> about;
    for (copy_method const& method : methods)
        about.push_back(estimate(method, way, bytes));
    auto const may_be_mapped = [](copy_method const& method) {
        return method.by != mover::engine && method.by != mover::driver;
    };
    double fastest_mapped = 1e18;
    for (std::size_t i = 0; i < methods.size(); ++i)
        if (may_be_mapped(methods[i]))
            fastest_mapped = std::min(fastest_mapped, about[i]);

    std::vector<samples> taken;
    std::vector<std::size_t> in_turn;
    for (std::size_t i = 0; i < methods.size(); ++i) {
        // All routines alike: a batch of one costs another bit than a batch of many.
        taken.emplace_back(
            operations_per_sample(may_be_mapped(methods[i]) ? fastest_mapped : about[i]));
        bool const too_slow =
            about[i] > 8 * fastest_mapped && about[i] > values.budget_s * 1e9 / 20;
        if (too_slow)
            taken[i].add(about[i]);
        else
            in_turn.push_back(i);
    }

    std::minstd_rand order;
    for (repetitions rounds(values.iterations, values.budget_s); rounds.next();) {
        // In another order each time: none always finds the caches and branch predictors that the
        // same other one has left.
        std::shuffle(in_turn.begin(), in_turn.end(), order);
        for (std::size_t const i : in_turn) {
            unsigned const operations = taken[i].operations();
            taken[i].add(time_of(operations, [&] { methods[i].repeat(way, bytes, operations); }));
        }
    }

    std::vector<measured_method> found;
    for (std::size_t i = 0; i < methods.size(); ++i)
        found.push_back({methods[i].name, methods[i].routine(way, bytes), methods[i].by,
                         methods[i].host, taken[i].summarise()});
    return found;
}

result_row result_of(measured_method const& found, copy_direction way, std::size_t bytes) {
    return result_row({{"direction", name_of(way)},
                       {"size", bytes},
                       {"method", found.name},
                       {"host", to_string(found.host)},
                       {"routine", or_null(found.routine)}})
        .with(found.times)
        .has("gb_per_s", gigabytes_per_second(bytes, found.times.p50_ns));
}

} // namespace barmap::tool
