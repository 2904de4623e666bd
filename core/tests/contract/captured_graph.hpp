// SPDX-License-Identifier: MIT
#pragma once

#include "contract/kernel_side.hpp"
#include "contract/machine.hpp"
#include "fake/simulation.hpp"
#include "shared/changed_driver.hpp"

#include <barmap/kernel_queue.hpp>

#include <atomic>
#include <cstdint>
#include <gtest/gtest.h>
#include <map>
#include <set>
#include <string_view>
#include <thread>
#include <tuple>
#include <vector>

namespace barmap::contract {

/// A CUDA that captures streams into one graph, which the test destroys. Kernels become its nodes;
/// the test replays them, a thread in the place of a warp. Calls that would end the capture, and
/// calls from the thread in which CUDA says that the graph has gone, fail the test. One at a time.
class captured_graph {
public:
    struct node {
        CUstream stream;
        kernel_side::task task;
    };

    explicit captured_graph(device const& gpu) : rings_(gpu) {
        nodes_.clear();
        objects_.clear();
        kept_ = 0;
        end_capture();
        driver_->stream_is_capturing = [](CUstream stream, int* status) {
            *status = captured_.contains(stream) ? 1 : 0;
            return cuda::success;
        };
        driver_->stream_get_capture_info = [](CUstream stream, int* status, std::uint64_t*,
                                              CUgraph* graph, CUgraphNode const**, std::size_t*) {
            *status = captured_.contains(stream) ? 1 : 0;
            *graph = *status != 0 ? the_graph() : nullptr;
            return cuda::success;
        };
        driver_->user_object_create = [](CUuserObject* made, void* pointer, void (*destroy)(void*),
                                         unsigned references, unsigned flags) {
            EXPECT_EQ(std::tuple(references, flags), std::tuple(1u, 1u));
            auto const number = ++latest_object_;
            *made = reinterpret_cast<CUuserObject>(number);
            objects_[*made] = {pointer, destroy};
            return cuda::success;
        };
        driver_->graph_retain_user_object = [](CUgraph graph, CUuserObject what,
                                               unsigned references, unsigned flags) {
            EXPECT_TRUE(graph == the_graph() && objects_.contains(what));
            EXPECT_EQ(std::tuple(references, flags), std::tuple(1u, 1u));
            ++kept_;
            return cuda::success;
        };
        driver_->user_object_release = [](CUuserObject what, unsigned references) {
            EXPECT_EQ(references, 1u);
            in_cudas_thread([=] { drop(what); });
            return cuda::success;
        };
        driver_->module_get_function = [](CUfunction* found, CUmodule of, char const* name) {
            if (std::string_view(name) != "barmap_queue_submit")
                return changed_driver::real.module_get_function(found, of, name);
            *found = reinterpret_cast<CUfunction>(std::uintptr_t{1});
            return cuda::success;
        };
        driver_->launch_kernel = [](CUfunction, unsigned x, unsigned y, unsigned z,
                                    unsigned threads, unsigned, unsigned, unsigned, CUstream stream,
                                    void** arguments, void**) {
            EXPECT_EQ(std::tuple(x, y, z, threads), std::tuple(1u, 1u, 1u, 32u));
            EXPECT_TRUE(captured_.contains(stream));
            EXPECT_GT(kept_, nodes_.size()) << "before there is a node that needs it";
            nodes_.push_back({stream, *static_cast<kernel_side::task*>(arguments[0])});
            return cuda::success;
        };
        watch<&cuda::driver_api::mem_alloc>();
        watch<&cuda::driver_api::mem_free>();
        watch<&cuda::driver_api::stream_create>();
        watch<&cuda::driver_api::stream_synchronize>();
        watch<&cuda::driver_api::memcpy_htod_async>();
        watch<&cuda::driver_api::module_load_data>();
        watch<&cuda::driver_api::module_unload>();
        driver_->ctx_get_current = [](CUcontext* current) {
            EXPECT_FALSE(is_cudas_thread_) << "a call of CUDA in the thread that must make none";
            return changed_driver::real.ctx_get_current(current);
        };
        driver_->ctx_synchronize = [] {
            EXPECT_FALSE(is_capturing_) << "it would end the capture";
            return changed_driver::real.ctx_synchronize();
        };
    }
    captured_graph(captured_graph const&) = delete;
    captured_graph& operator=(captured_graph const&) = delete;
    ~captured_graph() { destroy(); }

    static void capture(CUstream stream) {
        captured_.insert(stream);
        is_capturing_ = true;
    }
    static void end_capture() {
        captured_.clear();
        is_capturing_ = false;
    }
    [[nodiscard]] static std::vector<node> const& nodes() { return nodes_; }
    /// Shares that the graph has.
    [[nodiscard]] static std::size_t kept() { return kept_; }
    [[nodiscard]] static std::size_t objects() { return objects_.size(); }
    [[nodiscard]] cuda::driver_api* operator->() { return driver_.operator->(); }

    /// Destroys the graph and all that was made of it.
    static void destroy() {
        in_cudas_thread([] {
            while (!objects_.empty())
                drop(objects_.begin()->first);
        });
    }

    /// @return what the node's kernel returns
    kernel_side::status replay(std::size_t which) {
        kernel_side::task task = nodes_.at(which).task;
        task.queue.doorbell = rings_.handle_for_thread().doorbell; // which is one for all
        for (auto* const each : {&task.queue.put, &task.queue.commands, &task.queue.semaphore})
            *each = on_cpu(*each);
        task.queue.entries = on_cpu(task.queue.entries);
        task.queue.state = on_cpu(task.queue.state);
        if (task.queue.sharing)
            task.queue.sharing = on_cpu(task.queue.sharing);
        task.pieces = on_cpu(task.pieces);
        task.count = on_cpu(task.count);
        return kernel_side::submit_and_wait(task);
    }

    /// Where the CPU sees memory of the GPU.
    template <class T>
    [[nodiscard]] static T* on_cpu(T* on_gpu) {
        void* view = nullptr;
        EXPECT_EQ(fake::the_simulation().reach(
                      0, reinterpret_cast<std::uintptr_t>(on_gpu),
                      [](void* to, int, std::uint64_t, void* found, std::uint64_t) {
                          *static_cast<void**>(to) = found;
                          return 0;
                      },
                      &view),
                  0)
            << "no memory is there";
        return static_cast<T*>(view);
    }

private:
    struct object {
        void* pointer;
        void (*destroy)(void*);
    };

    static CUgraph the_graph() { return reinterpret_cast<CUgraph>(std::uintptr_t{0x6789}); }
    static void drop(CUuserObject which) {
        object const gone = objects_.at(which);
        objects_.erase(which);
        gone.destroy(gone.pointer);
    }
    template <class Action>
    static void in_cudas_thread(Action action) {
        std::thread([=] {
            is_cudas_thread_ = true;
            action();
        }).join();
    }

    static int capture_mode() {
        int mode = 0, own = 0;
        changed_driver::real.thread_exchange_stream_capture_mode(&mode);
        own = mode;
        changed_driver::real.thread_exchange_stream_capture_mode(&mode);
        return own;
    }
    template <auto Member, class Result, class... Arguments>
    static void watch(Result (*cuda::driver_api::*)(Arguments...)) {
        changed_driver::table.*Member = [](Arguments... arguments) -> Result {
            constexpr int relaxed = 2;
            EXPECT_FALSE(is_cudas_thread_) << "a call of CUDA in the thread that must make none";
            EXPECT_TRUE(!is_capturing_ || capture_mode() == relaxed) << "it would end the capture";
            return (changed_driver::real.*Member)(arguments...);
        };
    }
    template <auto Member>
    static void watch() {
        watch<Member>(Member);
    }

    static inline std::vector<node> nodes_;
    static inline std::set<CUstream> captured_;
    static inline std::atomic<bool> is_capturing_ = false; ///< other threads ask as well
    static inline std::map<CUuserObject, object> objects_;
    static inline std::size_t kept_ = 0;
    static inline std::uintptr_t latest_object_ = 0;
    static inline thread_local bool is_cudas_thread_ = false;
    kernel_queue rings_;
    changed_driver driver_;
};

} // namespace barmap::contract
