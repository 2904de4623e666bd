// SPDX-License-Identifier: MIT
#include "gdrcopy/programs/sanity.hpp"

#include "gdrcopy/programs/child_process.hpp"
#include "gdrcopy/programs/programs.hpp"
#include "gdrcopy/programs/short_options.hpp"

#include <barmap/copy.hpp>

#include <algorithm>
#include <csetjmp>
#include <csignal>
#include <cstring>
#include <vector>

namespace barmap::tool::gdrcopy::sanity {
namespace {

constexpr unsigned limit_s = 300; // of one test

std::vector<test> all_tests() {
    std::vector<test> all;
    for (auto const tests : {basic_tests(), data_tests(), invalidation_tests(), fork_tests()})
        all.insert(all.end(), tests.begin(), tests.end());
    std::sort(all.begin(), all.end(), [](test const& a, test const& b) { return a.name < b.name; });
    return all;
}

void list(std::vector<test> const& tests) {
    say("List of all available tests:\n");
    for (test const& one : tests)
        if (!one.extended)
            say("    {}\n", one.name);
    say("\nList of all available extended tests:\n");
    for (test const& one : tests)
        if (one.extended)
            say("    {}\n", one.name);
}

std::vector<test> chosen(std::vector<test> const& tests, std::vector<std::string> const& names,
                         bool extended) {
    std::vector<test> result;
    if (names.empty())
        std::copy_if(tests.begin(), tests.end(), std::back_inserter(result),
                     [&](test const& one) { return extended || !one.extended; });
    for (std::string const& name : names) {
        auto const found = std::find_if(tests.begin(), tests.end(),
                                        [&](test const& one) { return one.name == name; });
        if (found == tests.end())
            throw std::runtime_error(formatted("there is no test {}: -l lists them all", name));
        result.push_back(*found);
    }
    return result;
}

void tell(std::string const& text) {
    std::fputs(text.c_str(), stderr);
}

char const* word_of(verdict what) {
    return what == verdict::passed ? "PASSED" : what == verdict::waived ? "WAIVED" : "FAILED";
}

/// One test and what came of it.
struct judged {
    std::string_view name;
    outcome result;
};

judged run(test const& one, settings with) {
    with.allocation = one.allocation;
    with.pin_flags = one.pin_flags;
    if (with.verbose)
        tell(formatted("&&&& RUNNING {}\n", one.name));
    child_process process([&] { one.run(with); }, limit_s);
    judged const found{one.name, process.wait()};
    if (with.verbose)
        tell(formatted("{}&&&& {} {}\n",
                       found.result.reason.empty() ? "" : found.result.reason + "\n",
                       word_of(found.result.what), one.name));
    return found;
}

std::size_t count(std::vector<judged> const& all, verdict what) {
    return std::size_t(std::count_if(all.begin(), all.end(),
                                     [&](judged const& one) { return one.result.what == what; }));
}

void say_names(std::vector<judged> const& all, verdict what, char const* title) {
    if (count(all, what) == 0)
        return;
    say("\n{}:\n", title);
    for (judged const& one : all)
        if (one.result.what == what)
            say("    {}{}\n", one.name,
                one.result.reason.empty() ? "" : formatted(" ({})", one.result.reason));
}

void say_summary(std::vector<judged> const& all) {
    say("Total: {}, Passed: {}, Failed: {}, Waived: {}\n", all.size(), count(all, verdict::passed),
        count(all, verdict::failed), count(all, verdict::waived));
    say_names(all, verdict::failed, "List of failed tests");
    say_names(all, verdict::waived, "List of waived tests");
}

sigjmp_buf after_fault;

void leave_fault(int) {
    siglongjmp(after_fault, 1);
}

} // namespace

void expect(bool holds, std::string_view what) {
    if (!holds)
        throw failed(formatted("this did not hold: {}", what));
}

void expect_refused(int result, std::string_view call) {
    if (result == 0)
        throw failed(formatted("{} returned 0, but must refuse", call));
}

bench::bench(settings const& with, std::size_t bytes)
    : gpu(with.device), buffer(gpu, with.allocation, bytes) {
    buffer.fill(0x95);
}

int attribute(session const& of, gdr_attr_t which) {
    int value = 0;
    return gdrapi().get_attribute(of.get(), which, &value) == 0 ? value : 0;
}

std::uint32_t word_by_driver(CUdeviceptr address) {
    std::uint32_t word = 0;
    read_gpu(std::as_writable_bytes(std::span(&word, 1)), address);
    return word;
}

void store_word(std::byte* to, std::uint32_t value) {
    *reinterpret_cast<std::uint32_t volatile*>(to) = value;
    flush_stores();
}

std::uint32_t load_word(std::byte const* from) {
    return *reinterpret_cast<std::uint32_t const volatile*>(from);
}

bool faults(std::byte const* at) {
    struct sigaction leave {
    }, segv{}, bus{};
    leave.sa_handler = leave_fault;
    sigaction(SIGSEGV, &leave, &segv);
    sigaction(SIGBUS, &leave, &bus);
    bool volatile faulted = true;
    if (sigsetjmp(after_fault, 1) == 0) {
        (void)load_word(at);
        faulted = false;
    }
    sigaction(SIGSEGV, &segv, nullptr);
    sigaction(SIGBUS, &bus, nullptr);
    return faulted;
}

void waive_unless_pin_flags_work(bench const& on, gdr_pin_flags_t flags) {
    if (!(flags & GDR_PIN_FLAG_FORCE_PCIE))
        return;
    if (!attribute(on.through, GDR_ATTR_SUPPORT_PIN_FLAG_FORCE_PCIE))
        throw waived("GDR_PIN_FLAG_FORCE_PCIE is not supported here");
    // The attribute says that the flag is known, which then needs a platform for it.
    if (!on.gpu.attribute(attribute_host_page_tables) ||
        on.gpu.attribute(cuda::attribute_compute_capability_major) < 10)
        throw waived("GDR_PIN_FLAG_FORCE_PCIE needs a coherent platform");
}

p2p_tokens tokens_of(CUdeviceptr address) {
    p2p_tokens tokens{};
    if (cuda::api().pointer_get_attribute(&tokens, pointer_p2p_tokens, address) != cuda::success)
        return {};
    return tokens;
}

void waive_where_forks_inherit(session const& through) {
    if (!gdrapi().beside_tool && attribute(through, GDR_ATTR_USING_DMA_BUF_MMAP))
        throw waived("this libgdrapi maps by dma-buf, which forked children inherit");
}

} // namespace barmap::tool::gdrcopy::sanity

namespace barmap::tool::gdrcopy {

int run_sanity(int argc, char** argv) {
    bool no_summary = false, only_list = false, extended = false;
    std::vector<std::string> names;
    sanity::settings with;
    short_options options("Tests of libgdrapi, each in a separate process");
    options.flag('v', with.verbose, "report each test, on stderr");
    options.flag('s', no_summary, "leave out the summary");
    options.flag('l', only_list, "list the tests");
    options.words('t', names, "run this test only; may be given several times");
    options.device(with.device);
    options.flag('e', extended, "run the extended tests as well");
    options.footer("A test is waived if this machine lacks what it tests; the summary says why.");
    return options.run(argc, argv, [&] {
        std::vector<sanity::test> const tests = sanity::all_tests();
        if (only_list) {
            sanity::list(tests);
            return 0;
        }
        auto const to_run = sanity::chosen(tests, names, extended);
        (void)gdrapi(); // told once, not by every test
        std::vector<sanity::judged> found;
        for (sanity::test const& one : to_run)
            found.push_back(sanity::run(one, with));
        if (!no_summary)
            sanity::say_summary(found);
        std::size_t const failures = sanity::count(found, sanity::verdict::failed);
        if (failures)
            throw std::runtime_error(formatted("{} of {} tests failed", failures, found.size()));
        return 0;
    });
}

} // namespace barmap::tool::gdrcopy
