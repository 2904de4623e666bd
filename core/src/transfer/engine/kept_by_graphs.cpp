// SPDX-License-Identifier: MIT
#include "transfer/engine/kept_by_graphs.hpp"

#include "cuda/context_scope.hpp"
#include "cuda/driver_api.hpp"
#include "system/process.hpp"
#include "transfer/engine/own_thread.hpp"

#include <chrono>
#include <condition_variable>
#include <mutex>
#include <utility>

namespace barmap::engine {
namespace {

struct graph_share {
    std::shared_ptr<void const> what;
    graph_share* next = nullptr; ///< in the collector's list
};

/// Drops what graphs no longer keep, in a thread of its own, since CUDA's thread that tells of it
/// must not call CUDA. Never destroyed: CUDA may tell of it while the process exits.
class share_collector {
public:
    share_collector() {
        start_own_thread("barmap-graphs", "start the thread that frees what graphs have used",
                         [this] { run(); })
            .detach();
    }

    void take(graph_share* gone) noexcept {
        if (!os::is_this_process(owner_))
            return; // a forked child lacks the thread
        std::lock_guard const hold(lock_);
        gone->next = std::exchange(first_, gone);
        changed_.notify_all();
    }

    /// From now on nothing is dropped.
    void end() noexcept {
        constexpr std::chrono::seconds longest{2}; // the GPU may be busy
        if (!os::is_this_process(owner_))
            return;
        std::unique_lock hold(lock_);
        ends_ = true;
        (void)changed_.wait_for(hold, longest, [this] { return !is_dropping_; });
    }

private:
    void run() {
        std::unique_lock hold(lock_);
        for (;;) {
            changed_.wait(hold, [this] { return first_ && !ends_; });
            std::unique_ptr<graph_share> gone(std::exchange(first_, first_->next));
            is_dropping_ = true;
            hold.unlock();
            {
                cuda::relaxed_capture const relaxed;
                gone.reset();
            }
            hold.lock();
            is_dropping_ = false;
            changed_.notify_all();
        }
    }

    os::process_id const owner_ = os::this_process();
    std::mutex lock_; // guards the members below
    std::condition_variable changed_;
    graph_share* first_ = nullptr;
    bool is_dropping_ = false, ends_ = false;
};

share_collector& the_collector() {
    struct at_exit {
        share_collector* const of = new share_collector;
        ~at_exit() { of->end(); } // before the driver goes, which was loaded earlier
    };
    static at_exit const made;
    return *made.of;
}

} // namespace

bool keep_if_captured(CUstream stream, std::shared_ptr<void const> const& what) {
    constexpr char operation[] = "have a graph keep what it uses";
    cuda::driver_api const& cu = cuda::api();
    int status = cuda::capture_status_none;
    CUgraph graph = nullptr;
    cuda::check(cu.stream_get_capture_info(stream, &status, nullptr, &graph, nullptr, nullptr),
                "ask whether a stream is captured", "give a stream of this GPU that still exists");
    if (status != cuda::capture_status_active)
        return false;
    static share_collector& collector = the_collector();
    auto share = std::make_unique<graph_share>(graph_share{what});
    CUuserObject object = nullptr;
    cuda::check(cu.user_object_create(
                    &object, share.get(),
                    [](void* gone) { collector.take(static_cast<graph_share*>(gone)); }, 1,
                    cuda::user_object_no_destructor_sync),
                operation);
    (void)share.release(); // the collector gets it
    CUresult const given =
        cu.graph_retain_user_object(graph, object, 1, cuda::graph_user_object_move);
    if (given != cuda::success)
        cu.user_object_release(object, 1);
    cuda::check(given, operation);
    return true;
}

} // namespace barmap::engine
