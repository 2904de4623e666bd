// SPDX-License-Identifier: MIT
#include "fake/rm_objects.hpp"

#include "fake/gpu_memory.hpp"

#include <algorithm>
#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>
#include <utility>

namespace barmap::fake::rm {

memory_file::memory_file(int fd, std::uint64_t offset, std::uint64_t size, int ordinal)
    : fd_(::fcntl(fd, F_DUPFD_CLOEXEC, 0)), offset_(offset), size_(size), ordinal_(ordinal) {}

memory_file::~memory_file() {
    ::close(fd_);
}

std::shared_ptr<memory_file> memory_file::fresh(char const* name, std::uint64_t size, int ordinal) {
    int const fd = ::memfd_create(name, MFD_CLOEXEC);
    bool const made = ::ftruncate(fd, static_cast<off_t>(size)) == 0;
    auto result = std::make_shared<memory_file>(fd, 0, made ? size : 0, ordinal);
    ::close(fd);
    return result;
}

dma_view::~dma_view() {
    space->unmap(address);
}

object const* client::find(handle which, std::uint32_t object_class) const {
    auto const found = objects.find(which);
    bool const matches = found != objects.end() && found->second.object_class == object_class;
    return matches ? &found->second : nullptr;
}

bool client::has_children(handle which) const {
    for (auto const& [name, each] : objects)
        if (each.parent == which)
            return true;
    return false;
}

bool client::is_below(handle which, handle root) const {
    std::set<handle> tree;
    add_tree(root, tree);
    return tree.contains(which);
}

void client::add_tree(handle root, std::set<handle>& to) const {
    to.insert(root);
    for (auto const& [name, each] : objects)
        if (each.parent == root)
            add_tree(name, to);
}

bool client::is_used(handle which) const {
    std::set<handle> tree;
    add_tree(which, tree);
    auto const in_tree = [&](handle name) { return tree.contains(name); };
    for (auto const& [name, each] : objects)
        if (!in_tree(name) && std::any_of(each.uses.begin(), each.uses.end(), in_tree))
            return true;
    return std::any_of(dma_views.begin(), dma_views.end(), [&](auto const& entry) {
        return in_tree(entry.first.first) || in_tree(entry.second.memory);
    });
}

handle object_table::add_client() {
    handle const name = next_client_++;
    clients_.try_emplace(name);
    return name;
}

handle object_table::add(client& to, object added) {
    handle const name = next_object_++;
    to.objects.emplace(name, std::move(added));
    return name;
}

bool object_table::add(client& to, handle name, object added) {
    return to.objects.emplace(name, std::move(added)).second;
}

client* object_table::find_client(handle which) {
    auto const found = clients_.find(which);
    return found == clients_.end() ? nullptr : &found->second;
}

void object_table::free(handle client, handle which) {
    if (which == client) {
        clients_.erase(client);
        return;
    }
    auto& owner = clients_.at(client);
    std::vector<handle> below;
    for (auto const& [name, each] : owner.objects)
        if (each.parent == which)
            below.push_back(name);
    for (handle const each : below)
        free(client, each);
    std::erase_if(owner.views, [&](auto const& entry) { return entry.second.memory == which; });
    std::erase_if(owner.dma_views, [&](auto const& entry) {
        return entry.first.first == which || entry.second.memory == which;
    });
    owner.objects.erase(which);
}

std::size_t object_table::size() const {
    std::size_t total = clients_.size();
    for (auto const& [name, each] : clients_)
        total += each.objects.size();
    return total;
}

std::size_t object_table::views() const {
    std::size_t total = 0;
    for (auto const& [name, each] : clients_)
        total += each.views.size() + each.dma_views.size();
    return total;
}

std::uint64_t object_table::bar1_used(int ordinal) const {
    std::uint64_t total = 0;
    for (auto const& [name, each] : clients_)
        for (auto const& [address, view] : each.views)
            total += view.ordinal == ordinal ? view.length : 0;
    return total;
}

} // namespace barmap::fake::rm
