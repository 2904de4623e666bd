// SPDX-License-Identifier: MIT
#include "measure/link_load.hpp"

#include "output/units.hpp"

namespace barmap::tool {
namespace {
constexpr std::size_t each_way = 4 * MiB;
} // namespace

link_load::link_load(opened_gpu const& gpu)
    : gpu_(gpu), host_(host_memory_kind::pinned, 2 * each_way),
      memory_(gpu_memory::device(2 * each_way)), thread_([this] { work(); }) {}

link_load::~link_load() {
    ending_ = true;
    thread_.join();
}

void link_load::work() {
    cuda::driver_api const& cu = cuda::api();
    cuda::context_scope const scope = gpu_.enter();
    std::byte* const host = host_.bytes().data();
    while (!ending_) {
        cu.memcpy_htod_async(memory_.address(), host, each_way, streams_[0].get());
        cu.memcpy_dtoh_async(host + each_way, memory_.address() + each_way, each_way,
                             streams_[1].get());
        for (cuda_stream const& each : streams_)
            cu.stream_synchronize(each.get());
    }
}

} // namespace barmap::tool
