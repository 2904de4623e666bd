// SPDX-License-Identifier: MIT
#include "gdrcopy/programs/sanity.hpp"

#include "gdrcopy/programs/child_process.hpp"

namespace barmap::tool::gdrcopy::sanity {
namespace {

constexpr std::uint32_t of_parent = 1234, of_child = 5678;
constexpr std::uint64_t go = 1;

void waive_unless_shared(selected_gpu const& gpu) {
    if (gpu.attribute(attribute_compute_mode) != 0)
        throw waived("the GPU's compute mode lets one process use it only");
}

/// A parent that reads through a mapping of what it has freed must not see another process's data.
void read_what_the_parent_freed(settings const& with) {
    channel talk;
    child_process child([&] {
        talk.in_child();
        (void)talk.receive();
        bench on(with);
        mapped_buffer range(on);
        store_word(range.data(), of_child);
        talk.send(go);
        (void)talk.receive();
        expect(load_word(range.data()) == of_child, "the child reads what it has written");
    });
    talk.in_parent();
    bench on(with);
    waive_unless_shared(on.gpu);
    mapped_buffer range(on);
    store_word(range.data(), of_parent);
    on.buffer.free();
    talk.send(go);
    (void)talk.receive();
    if (attribute(on.through, GDR_ATTR_USE_PERSISTENT_MAPPING))
        expect(load_word(range.data()) == of_parent, "the parent still reads its own data");
    else
        expect(faults(range.data()), "an access to freed memory faults");
    talk.send(go);
    child.join();
    range.undo();
    on.through.close();
}

void fork_with_a_mapping(settings const& with) {
    bench on(with);
    waive_where_forks_inherit(on.through);
    mapped_buffer range(on);
    channel talk;
    child_process child([&] {
        talk.in_child();
        (void)talk.receive();
        expect(faults(range.data()), "an access by the forked child faults");
        if (!gdrapi().beside_tool)
            return; // gdrcopy's own copies blindly, and would crash
        std::uint32_t word = 0;
        expect_refused(gdrapi().copy_from_mapping(range.handle(), &word, range.data(), sizeof word),
                       "gdr_copy_from_mapping in the forked child");
    });
    talk.in_parent();
    store_word(range.data(), of_parent);
    talk.send(go);
    child.join();
    expect(load_word(range.data()) == of_parent, "the parent's mapping is as it was");
    range.undo();
    on.through.close();
}

void map_what_the_parent_pinned(settings const& with) {
    bench on(with);
    waive_where_forks_inherit(on.through);
    mapped_range range(on.through, on.buffer.address(), GPU_PAGE_SIZE);
    child_process child([&] {
        void* start = nullptr;
        expect_refused(gdrapi().map(on.through.get(), range.handle(), &start, GPU_PAGE_SIZE),
                       "gdr_map in the forked child");
        if (!gdrapi().beside_tool)
            return; // gdrcopy's own libgdrapi promises no more
        gdr_mh_t handle{};
        expect_refused(gdrapi().pin_buffer(on.through.get(), on.buffer.address(), GPU_PAGE_SIZE, 0,
                                           0, &handle),
                       "gdr_pin_buffer in the forked child");
        check_call(gdrapi().close(on.through.get()), "gdr_close in the forked child");
    });
    child.join();
    range.map();
    store_word(range.data(), of_parent);
    expect(word_by_driver(on.buffer.address()) == of_parent, "the parent's pin is as it was");
    range.undo();
    on.through.close();
}

/// A process frees only its own memory.
void free_in_the_child(settings const& with) {
    channel talk;
    child_process child([&] {
        talk.in_child();
        bench on(with);
        mapped_buffer range(on);
        store_word(range.data(), of_child);
        (void)talk.receive();
        on.buffer.free();
        range.undo();
        on.through.close();
    });
    talk.in_parent();
    bench on(with);
    waive_unless_shared(on.gpu);
    mapped_buffer range(on);
    store_word(range.data(), of_parent);
    talk.send(go);
    child.join();
    expect(load_word(range.data()) == of_parent, "the parent's mapping is as it was");
    expect(word_by_driver(on.buffer.address()) == of_parent, "the parent's memory is as it was");
    range.undo();
    on.through.close();
}

/// Neither an address nor tokens let a process reach another one's memory.
void pin_memory_of_the_parent(settings const& with) {
    channel talk;
    child_process child([&] {
        talk.in_child();
        session through;
        CUdeviceptr const address = talk.receive();
        std::uint64_t const p2p = talk.receive();
        auto const address_space = std::uint32_t(talk.receive());
        gdr_mh_t handle{};
        if (gdrapi().pin_buffer(through.get(), address, GPU_PAGE_SIZE, p2p, address_space,
                                &handle) != 0)
            return;
        // The child may have other memory at the same address.
        void* start = nullptr;
        if (gdrapi().map(through.get(), handle, &start, GPU_PAGE_SIZE) != 0)
            return;
        gdr_info_t info{};
        check_call(gdrapi().get_info_v2(through.get(), handle, &info), "gdr_get_info");
        expect(load_word(static_cast<std::byte*>(start) + (address - info.va)) != of_parent,
               "the child does not see the parent's data");
    });
    talk.in_parent();
    bench on(with);
    write_gpu(on.buffer.address(), std::as_bytes(std::span(&of_parent, 1)));
    p2p_tokens const tokens = tokens_of(on.buffer.address());
    talk.send(on.buffer.address());
    talk.send(tokens.p2p);
    talk.send(tokens.address_space);
    child.join();
    expect(word_by_driver(on.buffer.address()) == of_parent, "the parent's memory is as it was");
}

void share_a_descriptor(settings const&) {
    throw waived("a gdr_t is opaque: it has no descriptor that could be sent through a socket");
}

void count_leaked_pages(settings const&) {
    throw waived("counts the pages that gdrdrv holds, from inside a gdr_t of gdrcopy's own");
}

} // namespace

std::span<test const> fork_tests() {
    static constexpr test tests[] = {
        {"invalidation_fork_access_after_free_cumemalloc", read_what_the_parent_freed},
        {"invalidation_fork_access_after_free_vmmalloc", read_what_the_parent_freed, "cuMemCreate"},
        {"invalidation_fork_after_gdr_map_cumemalloc", fork_with_a_mapping},
        {"invalidation_fork_after_gdr_map_vmmalloc", fork_with_a_mapping, "cuMemCreate"},
        {"invalidation_fork_child_gdr_map_parent_cumemalloc", map_what_the_parent_pinned},
        {"invalidation_fork_child_gdr_map_parent_vmmalloc", map_what_the_parent_pinned,
         "cuMemCreate"},
        {"invalidation_fork_child_gdr_pin_parent_with_tokens", pin_memory_of_the_parent},
        {"invalidation_fork_map_and_free_cumemalloc", free_in_the_child},
        {"invalidation_fork_map_and_free_vmmalloc", free_in_the_child, "cuMemCreate"},
        {"invalidation_unix_sock_shared_fd_gdr_map_cumemalloc", share_a_descriptor},
        {"invalidation_unix_sock_shared_fd_gdr_map_vmmalloc", share_a_descriptor},
        {"invalidation_unix_sock_shared_fd_gdr_pin_buffer_cumemalloc", share_a_descriptor},
        {"invalidation_unix_sock_shared_fd_gdr_pin_buffer_vmmalloc", share_a_descriptor},
        {.name = "leakage_pin_pages_fork_cumemalloc", .run = count_leaked_pages, .extended = true},
    };
    return tests;
}

} // namespace barmap::tool::gdrcopy::sanity
