// SPDX-License-Identifier: MIT
#include "backend_engine.hpp"

#include "cuda/driver_api.hpp"
#include "request.hpp"
#include "system/no_cancellation.hpp"

#include <barmap/error.hpp>

#include <charconv>
#include <cstdio>
#include <fstream>
#include <sstream>
#include <stdexcept>
#include <system_error>

namespace barmap::nixl {
namespace {

struct unknown_agent : std::runtime_error {
    using runtime_error::runtime_error;
};

nixl_status_t status_of(std::error_code const& code) noexcept {
    if (code == errc::invalid_argument || code == errc::out_of_range)
        return NIXL_ERR_INVALID_PARAM;
    if (code == errc::unsupported_memory || code == errc::unsupported_operation ||
        code == errc::wrong_device)
        return NIXL_ERR_NOT_SUPPORTED;
    if (code == errc::unknown_layout)
        return NIXL_ERR_MISMATCH;
    if (code == std::errc::connection_refused)
        return NIXL_ERR_REMOTE_DISCONNECT;
    return NIXL_ERR_BACKEND;
}

/// The status that a member of the back-end returns.
template <class Body>
nixl_status_t answer(Body const& body) noexcept {
    os::no_cancellation const uncancelled;
    try {
        return body();
    } catch (std::system_error const& failure) {
        say(failure.what());
        return status_of(failure.code());
    } catch (unknown_agent const& failure) {
        say(failure.what());
        return NIXL_ERR_NOT_FOUND;
    } catch (std::exception const& failure) {
        say(failure.what());
        return NIXL_ERR_BACKEND;
    }
}

/// Differs from machine to machine, and from start to start of one.
std::string name_of_this_start() {
    std::string name;
    std::ifstream("/proc/sys/kernel/random/boot_id") >> name;
    return name.empty() ? "unknown" : name;
}

std::optional<int> number_in(nixl_b_params_t const& parameters) {
    auto const found = parameters.find("gpu");
    if (found == parameters.end())
        return std::nullopt;
    int number = 0;
    char const* const end = found->second.data() + found->second.size();
    if (auto const read = std::from_chars(found->second.data(), end, number);
        read.ec != std::errc{} || read.ptr != end)
        throw error(errc::invalid_argument, "read the parameter gpu=" + found->second, "",
                    "give CUDA's ordinal of a GPU");
    return number;
}

} // namespace

void say(char const* what) noexcept {
    std::fprintf(stderr, "barmap: NIXL back-end: %s\n", what);
}

backend_engine::backend_engine(nixlBackendInitParams const* parameters)
    : nixlBackendEngine(parameters), gpu_(number_in(*parameters->customParams)),
      notices_(localAgent) {
    (void)cuda::device_with(gpu()); // refuses a machine without this GPU now, not at a transfer
    agents_[localAgent] = notices_.own();
}

// Memory

nixl_status_t backend_engine::registerMem(nixlBlobDesc const& range, nixl_mem_t const& kind,
                                          nixlBackendMD*& out) {
    return answer([&] {
        auto made = std::make_unique<known_place>(localAgent, range, kind,
                                                  std::make_shared<place>(range, kind, gpu()));
        registered_places::add(*made);
        out = made.release();
        return NIXL_SUCCESS;
    });
}

nixl_status_t backend_engine::deregisterMem(nixlBackendMD* known) {
    if (is_copy())
        return NIXL_SUCCESS;
    auto const owned = std::unique_ptr<known_place>(static_cast<known_place*>(known));
    registered_places::remove(*owned);
    owned->known->close();
    prepared_transfer::wait_for_copies(*owned->known);
    owned->known->unpin();
    return NIXL_SUCCESS;
}

nixl_status_t backend_engine::getPublicData(nixlBackendMD const* known, std::string& out) const {
    return answer([&] {
        out = static_cast<known_place const*>(known)->find()->publish();
        return NIXL_SUCCESS;
    });
}

nixl_status_t backend_engine::loadLocalMD(nixlBackendMD* known, nixlBackendMD*& out) {
    return answer([&] {
        out = new known_place(*static_cast<known_place const*>(known));
        return NIXL_SUCCESS;
    });
}

nixl_status_t backend_engine::loadRemoteMD(nixlBlobDesc const& range, nixl_mem_t const& kind,
                                           std::string const& agent, nixlBackendMD*& out) {
    return answer([&] {
        // Memory that is out of reach does not hide the agent's other memory.
        std::shared_ptr<place> at;
        if (!address_of(agent))
            at = std::make_shared<place>("agent " + agent + " is on another machine");
        else if (!place::is_of_this_process(range.metaInfo))
            at = std::make_shared<place>(range, kind, range.metaInfo);
        out = new known_place(agent, range, kind, std::move(at));
        return NIXL_SUCCESS;
    });
}

nixl_status_t backend_engine::unloadMD(nixlBackendMD* known) {
    delete known;
    return NIXL_SUCCESS;
}

// Other agents

nixl_status_t backend_engine::getConnInfo(std::string& out) const {
    return answer([&] {
        out = name_of_this_start() + ' ' + notices_.own().socket + ' ' + notices_.own().key;
        return NIXL_SUCCESS;
    });
}

nixl_status_t backend_engine::loadRemoteConnInfo(std::string const& agent,
                                                 std::string const& info) {
    return answer([&] {
        std::istringstream words(info);
        std::string start;
        notices::address told;
        if (!(words >> start >> told.socket >> told.key))
            return NIXL_ERR_MISMATCH;
        std::optional<notices::address> at;
        if (start == name_of_this_start())
            at = std::move(told);
        std::lock_guard const hold(lock_);
        agents_[agent] = at;
        return at ? NIXL_SUCCESS : NIXL_ERR_NOT_SUPPORTED; // NIXL tries other back-ends
    });
}

nixl_status_t backend_engine::connect(std::string const& agent) {
    return answer([&] { return address_of(agent) ? NIXL_SUCCESS : NIXL_ERR_NOT_SUPPORTED; });
}

nixl_status_t backend_engine::disconnect(std::string const& agent) {
    std::lock_guard const hold(lock_);
    agents_.erase(agent);
    return NIXL_SUCCESS;
}

std::optional<notices::address> backend_engine::address_of(std::string const& agent) const {
    std::lock_guard const hold(lock_);
    if (auto const found = agents_.find(agent); found != agents_.end())
        return found->second;
    throw unknown_agent("agent " + agent + " has sent no address: load its metadata");
}

void backend_engine::send(std::string const& agent, std::string const& text) const {
    std::optional<notices::address> const to = address_of(agent);
    if (!to)
        throw error(errc::unsupported_operation, "notify agent " + agent, "",
                    "it is on another machine: use another back-end for it");
    notices_.send(*to, text);
}

// Transfers

batch_queue backend_engine::queue_of(int gpu) const {
    std::lock_guard const hold(lock_);
    auto found = queues_.find(gpu);
    if (found == queues_.end())
        found = queues_.emplace(gpu, device::open(gpu).batch_queue()).first;
    return found->second;
}

nixl_status_t backend_engine::prepXfer(nixl_xfer_op_t const& operation,
                                       nixl_meta_dlist_t const& local,
                                       nixl_meta_dlist_t const& remote, std::string const& agent,
                                       nixlBackendReqH*& out, nixl_opt_b_args_t const*) const {
    return answer([&] {
        // The GPU of the first descriptor that is on one: a GPU pushes its own memory, and pulls
        // into it.
        int gpu = this->gpu();
        for (nixl_meta_dlist_t const* const side : {&remote, &local})
            if (!side->isEmpty())
                if (int const its = place_of((*side)[0])->gpu(); its != place::host)
                    gpu = its;
        out = new request(queue_of(gpu), make_pieces(operation, local, remote, gpu), agent);
        return NIXL_SUCCESS;
    });
}

void backend_engine::refuse_closed(std::string const& agent) const {
    std::optional<notices::address> const other = address_of(agent);
    if (other && !notices::is_there(*other))
        throw std::system_error(std::make_error_code(std::errc::connection_refused),
                                "agent " + agent + " has ended");
    throw error(errc::invalid_argument, "post a transfer", "",
                "its memory is no longer registered");
}

nixl_status_t backend_engine::postXfer(nixl_xfer_op_t const&, nixl_meta_dlist_t const&,
                                       nixl_meta_dlist_t const&, std::string const&,
                                       nixlBackendReqH*& prepared,
                                       nixl_opt_b_args_t const* options) const {
    return answer([&] {
        auto& posted = static_cast<request&>(*prepared);
        posted.notification.reset();
        if (options && options->hasNotif)
            posted.notification = options->notifMsg;
        if (!posted.copies.post())
            refuse_closed(posted.agent);
        return NIXL_IN_PROG;
    });
}

nixl_status_t backend_engine::checkXfer(nixlBackendReqH* request_of_nixl) const {
    return answer([&] {
        auto& posted = static_cast<request&>(*request_of_nixl);
        if (!posted.copies.is_done())
            return NIXL_IN_PROG;
        if (posted.notification)
            send(posted.agent, *posted.notification);
        posted.notification.reset(); // not sent again if the caller asks again
        return NIXL_SUCCESS;
    });
}

nixl_status_t backend_engine::releaseReqH(nixlBackendReqH* request_of_nixl) const {
    if (!is_copy())
        delete request_of_nixl;
    return NIXL_SUCCESS;
}

// Notifications

nixl_status_t backend_engine::getNotifs(notif_list_t& out) {
    return answer([&] {
        out = notices_.take();
        return NIXL_SUCCESS;
    });
}

nixl_status_t backend_engine::genNotif(std::string const& agent, std::string const& text) const {
    return answer([&] {
        send(agent, text);
        return NIXL_SUCCESS;
    });
}

} // namespace barmap::nixl
