// SPDX-License-Identifier: MIT
#include "copy_methods.hpp"

#include "units.hpp"

#include <algorithm>
#include <cstring>
#include <random>

namespace barmap::tool {
namespace {

/// A method that goes through `whole`, the window over the mapped memory.
copy_method through(std::string name, window whole, std::span<std::byte> host) {
    copy_method method;
    method.name = std::move(name);
    method.repeat = [whole, host](direction way, std::size_t bytes, unsigned times) {
        window const gpu = whole.subwindow(0, bytes);
        std::span<std::byte> const cpu = host.first(bytes);
        if (way == direction::to_gpu) {
            for (unsigned i = 0; i < times; ++i)
                write(gpu, cpu);
        } else {
            for (unsigned i = 0; i < times; ++i)
                read(cpu, gpu);
        }
    };
    return method;
}

copy_method by_driver(std::string name, CUdeviceptr gpu, std::byte* host) {
    copy_method method;
    method.name = std::move(name);
    method.mapped = false;
    method.repeat = [gpu, host](direction way, std::size_t bytes, unsigned times) {
        cuda::driver_api const& cu = cuda::api();
        for (unsigned i = 0; i < times; ++i) {
            CUresult const result = way == direction::to_gpu ? cu.memcpy_htod(gpu, host, bytes)
                                                             : cu.memcpy_dtoh(host, gpu, bytes);
            cuda::check(result, "copy with cuMemcpy");
        }
    };
    method.routine = [](direction, std::size_t) { return std::string(); };
    return method;
}

/// About how long one operation takes, from as few as give an idea.
double estimate(copy_method const& method, direction way, std::size_t bytes) {
    constexpr double long_ns = 5e6;
    double best = time_of(1, [&] { method.repeat(way, bytes, 1); });
    for (int i = 0; i < 3 && best < long_ns; ++i)
        best = std::min(best, time_of(4, [&] { method.repeat(way, bytes, 4); }));
    return best;
}

} // namespace

std::string_view name_of(direction way) {
    return way == direction::to_gpu ? "h2d" : "d2h";
}

copy_methods::copy_methods(opened_gpu const& gpu, options const& values, std::size_t max)
    : values_(values), target_(reach(gpu, values, max)), host_(max), pinned_(max) {
    std::memset(host_.data(), 0x5a, max);
}

copy_method copy_methods::chosen() {
    copy_method method = through(values_.routine, target_.mapping.window(), host_);
    method.routine = [this](direction way, std::size_t bytes) {
        return std::string(way == direction::to_gpu ? target_.mapping.store_routine(bytes)
                                                    : target_.mapping.load_routine(bytes));
    };
    return method;
}

std::vector<copy_method> copy_methods::every_routine() {
    std::vector<copy_method> methods;
    for (copy_routine_report const& routine : copy_routines()) {
        if (!routine.supported)
            continue;
        copy_plan const& plan = plans_.emplace_back(
            copy::plan_of_one(copy::find_routine(routine.name), target_.mapping.kind()));
        window whole = target_.mapping.window();
        whole.plan = &plan;
        methods.push_back(through(routine.name, whole, host_));
        methods.back().routine = [name = routine.name](direction, std::size_t) { return name; };
    }
    return methods;
}

std::vector<copy_method> copy_methods::driver() {
    return {by_driver("cuMemcpy pageable", address(), host_.data()),
            by_driver("cuMemcpy pinned", address(), pinned_.data())};
}

std::vector<measured_method> measure_in_turn(std::span<copy_method const> methods, direction way,
                                             std::size_t bytes, double budget_s,
                                             std::size_t iterations) {
    std::vector<double> about;
    for (copy_method const& method : methods)
        about.push_back(estimate(method, way, bytes));
    double fastest_mapped = 1e18;
    for (std::size_t i = 0; i < methods.size(); ++i)
        if (methods[i].mapped)
            fastest_mapped = std::min(fastest_mapped, about[i]);

    std::vector<samples> taken;
    std::vector<std::size_t> in_turn;
    for (std::size_t i = 0; i < methods.size(); ++i) {
        // All routines alike: a batch of one costs another bit than a batch of many.
        taken.emplace_back(operations_per_sample(methods[i].mapped ? fastest_mapped : about[i]));
        bool const too_slow = about[i] > 8 * fastest_mapped && about[i] > budget_s * 1e9 / 20;
        if (too_slow)
            taken[i].add(about[i]);
        else
            in_turn.push_back(i);
    }

    constexpr std::size_t fewest = 5, most = 20000;
    std::size_t const wanted = iterations ? iterations : most;
    std::minstd_rand order;
    clock::time_point const begin = clock::now();
    for (std::size_t round = 0; round < wanted; ++round) {
        if (!iterations && round >= fewest && seconds_since(begin) > budget_s)
            break;
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
        found.push_back({methods[i].name, methods[i].routine(way, bytes), methods[i].mapped,
                         taken[i].summarise()});
    return found;
}

json row_of(measured_method const& found, direction way, std::size_t bytes) {
    json row;
    row["measurement"] = "copy";
    row["direction"] = name_of(way);
    row["size"] = bytes;
    row["method"] = found.name;
    row["routine"] = found.routine.empty() ? json(nullptr) : json(found.routine);
    put(row, found.times);
    row["gb_per_s"] = gigabytes_per_second(bytes, found.times.p50_ns);
    return row;
}

} // namespace barmap::tool
