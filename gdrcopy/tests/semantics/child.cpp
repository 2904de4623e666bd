// SPDX-License-Identifier: MIT
#include "semantics/child.hpp"

#include <array>
#include <cstdlib>
#include <cstring>
#include <poll.h>
#include <sys/wait.h>
#include <unistd.h>

namespace barmap::dropin {
namespace {

// What is inherited would change what a test looks at. The path of the simulated GPU is not
// changed.
void forget_settings() {
    for (char const* each :
         {"GDRCOPY_ENABLE_LOGGING", "GDRCOPY_LOG_LEVEL", "GDRCOPY_USE_DMABUF_MMAP", "BARMAP_LOG",
          "BARMAP_BACKEND", "BARMAP_COPY", "BARMAP_REQUIRE"})
        ::unsetenv(each);
}

void read_both(std::array<int, 2> const& ends, std::array<std::string*, 2> const& texts) {
    std::array<pollfd, 2> waiting{pollfd{ends[0], POLLIN, 0}, pollfd{ends[1], POLLIN, 0}};
    for (unsigned open = 2; open > 0;) {
        ::poll(waiting.data(), waiting.size(), -1);
        for (unsigned i = 0; i < 2; ++i) {
            if (waiting[i].fd < 0 || waiting[i].revents == 0)
                continue;
            char block[4096];
            ssize_t const got = ::read(waiting[i].fd, block, sizeof block);
            if (got > 0) {
                texts[i]->append(block, static_cast<std::size_t>(got));
            } else {
                ::close(waiting[i].fd);
                waiting[i].fd = -1;
                --open;
            }
        }
    }
}

} // namespace

bool ending::exited_with(int code) const {
    return WIFEXITED(status) && WEXITSTATUS(status) == code;
}

ending run_child(std::string const& action, std::map<std::string, std::string> const& environment) {
    ending result;
    int out[2], err[2];
    if (::pipe(out) != 0 || ::pipe(err) != 0)
        return result;
    pid_t const child = ::fork();
    if (child == 0) {
        ::dup2(out[1], STDOUT_FILENO);
        ::dup2(err[1], STDERR_FILENO);
        for (int const each : {out[0], out[1], err[0], err[1]})
            ::close(each);
        forget_settings();
        for (auto const& [name, value] : environment)
            ::setenv(name.c_str(), value.c_str(), 1);
        ::execl("/proc/self/exe", "semantics_test", "--child", action.c_str(), nullptr);
        ::_exit(127);
    }
    ::close(out[1]);
    ::close(err[1]);
    read_both({out[0], err[0]}, {&result.out, &result.err});
    ::waitpid(child, &result.status, 0);
    return result;
}

} // namespace barmap::dropin
