// SPDX-License-Identifier: MIT
#include "mapped_memory.hpp"

#include "errors.hpp"
#include "host_buffer.hpp"
#include "own_memory.hpp"
#include "released_gil.hpp"

#include <barmap/copy.hpp>
#include <barmap/error.hpp>

#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/string_view.h>

#include <algorithm>
#include <cstring>
#include <span>
#include <utility>
#include <vector>

namespace nb = nanobind;

namespace barmap::python {
namespace {

/// A Python integer as a word of that many bytes; negative numbers in two's complement.
std::uint64_t word_of(nb::handle value, int size) {
    nb::object const number = nb::steal(PyNumber_Index(value.ptr()));
    if (!number.is_valid())
        throw nb::python_error();
    int overflow = 0;
    long long const narrow = PyLong_AsLongLongAndOverflow(number.ptr(), &overflow);
    if (overflow > 0 && size == 8) {
        unsigned long long const wide = PyLong_AsUnsignedLongLong(number.ptr());
        if (wide == static_cast<unsigned long long>(-1) && PyErr_Occurred())
            throw nb::python_error();
        return wide;
    }
    bool fits = overflow == 0;
    if (fits && size < 8)
        fits = narrow >= -(1LL << (8 * size - 1)) && narrow < (1LL << (8 * size));
    if (!fits)
        raise(PyExc_OverflowError, "the value does not fit into %d bytes", size);
    return static_cast<std::uint64_t>(narrow);
}

} // namespace

/// Lets other threads run meanwhile, unless it is for a short copy, and keeps them from unmapping.
class mapped_memory::use_without_gil {
public:
    /// Sharing
    explicit use_without_gil(mapped_memory& memory) noexcept
        : memory_(memory), users_(memory.shares_) {
        ++users_;
        released_.emplace();
    }
    /// Copying
    use_without_gil(mapped_memory& memory, copy_direction which, std::size_t bytes)
        : memory_(memory), users_(memory.copies_) {
        bool const is_long = !keeps_gil(which, bytes);
        ++users_;
        if (memory.runs_ || is_long)
            released_.emplace();
    }
    ~use_without_gil() {
        released_.reset();
        memory_.user_gone(users_);
    }
    use_without_gil(use_without_gil const&) = delete;
    use_without_gil& operator=(use_without_gil const&) = delete;

private:
    mapped_memory& memory_;
    std::size_t& users_;
    std::optional<released_gil> released_;
};

mapped_memory::mapped_memory()
    : inheritable([this] { return share(); },
                  [this](int descriptor) {
                      shared_memory memory = opened(descriptor);
                      if (closed()) // by another thread meanwhile
                          return;
                      leave_parents_users();
                      use(std::move(memory), window_.size);
                      has_events_ = false;
                  }) {}

mapped_memory::mapped_memory(std::uintptr_t address, std::size_t bytes, std::string const& backend,
                             bool read_only, bool events)
    : mapped_memory() {
    read_only_ = read_only;
    has_events_ = events;
    released_gil const others_run;
    expect_not_forked("map GPU memory");
    std::shared_ptr<own_memory> const own = own_memory::holding(address, bytes);
    if (own && bytes != 0 && !events && (backend.empty() || backend == own->backend())) {
        ordinal_ = own->ordinal();
        use({own, &own->mapped()}, own->address(), address, bytes);
        return;
    }
    barmap::device const& owner = device_that_owns(address);
    ordinal_ = owner.ordinal();
    pin_options how;
    how.backend = backend;
    how.events = events;
    pin_ = owner.pin(address, bytes, how);
    use(std::make_shared<mapping const>(pin_.map()), address, address, bytes);
}

mapped_memory::mapped_memory(nanobind::bytes const& told, std::size_t offset, std::size_t bytes,
                             int ordinal, std::string const& backend)
    : mapped_memory() {
    ordinal_ = ordinal;
    ipc_handle handle;
    if (told.size() != handle.bytes.size())
        raise(PyExc_ValueError, "a CUDA IPC handle has 64 bytes");
    std::memcpy(handle.bytes.data(), told.c_str(), handle.bytes.size());
    released_gil const others_run;
    expect_not_forked("map GPU memory");
    pin_ = barmap::device::open(ordinal).pin(handle, offset, bytes, {backend});
    use(std::make_shared<mapping const>(pin_.map()), 0, 0, bytes);
}

mapped_memory::mapped_memory(int descriptor, bool read_only) : mapped_memory() {
    read_only_ = read_only;
    shared_memory memory = opened(descriptor);
    std::size_t const bytes = memory.pinned.size();
    use(std::move(memory), bytes);
}

mapped_memory::mapped_memory(std::size_t bytes, int ordinal, std::string const& backend)
    : mapped_memory() {
    ordinal_ = ordinal;
    released_gil const others_run;
    std::shared_ptr<own_memory> const own = own_memory::allocate(bytes, ordinal, backend);
    use({own, &own->mapped()}, own->address(), own->address(), bytes);
}

void mapped_memory::use(std::shared_ptr<mapping const> memory, std::uintptr_t start,
                        std::uintptr_t address, std::size_t bytes) {
    mapping_ = std::move(memory);
    window_ = mapping_->window(address - start, bytes);
    address_ = address;
    backend_ = mapping_->backend();
    kind_ = mapping_->kind();
}

mapped_memory::shared_memory mapped_memory::opened(int descriptor) {
    released_gil const others_run;
    shared_memory result{barmap::open_shared(descriptor), nullptr};
    result.mapped = std::make_shared<mapping const>(result.pinned.map());
    return result;
}

void mapped_memory::use(shared_memory memory, std::size_t bytes) {
    use(std::move(memory.mapped), 0, 0, bytes);
    pin_ = std::move(memory.pinned);
    ordinal_ = -1;
}

int mapped_memory::share() {
    expect_open();
    use_without_gil const others_run(*this);
    if (pin_.size() > 0)
        return pin_.share();
    // Of memory that barmap allocated, only what this maps.
    return device_that_owns(address_).pin(address_, window_.size, {backend_}).share();
}

mapped_memory::~mapped_memory() {
    if (!mapping_)
        return;
    // Unmapping may wait for a kernel that another thread is about to answer.
    released_gil const others_run;
    pin_ = {};
    mapping_.reset();
}

void mapped_memory::expect_not_closed() const {
    if (closed()) [[unlikely]]
        raise(PyExc_ValueError, "this mapping is closed");
}

void mapped_memory::expect_open() {
    expect_not_closed();
    expect_here("mapping", backend_);
    expect_not_closed(); // also by another thread meanwhile
}

void mapped_memory::expect_writable() const {
    if (read_only_) [[unlikely]]
        raise(PyExc_TypeError, "this mapping is read-only, as the object that was mapped says");
}

void mapped_memory::set_elements(nb::object dtype, std::string format, Py_ssize_t itemsize,
                                 Py_ssize_t offset, std::vector<Py_ssize_t> shape,
                                 std::vector<Py_ssize_t> strides) {
    element_runs runs(shape, strides, static_cast<std::size_t>(itemsize), offset);
    if (runs.is_one())
        runs_.reset();
    else
        runs_ = std::move(runs);
    elements_ = {std::move(dtype), std::move(format), itemsize,
                 offset,           std::move(shape),  std::move(strides)};
}

mapped_memory::range mapped_memory::part(Py_ssize_t offset, Py_ssize_t bytes) const {
    auto const size = static_cast<Py_ssize_t>(runs_ ? runs_->bytes() : window_.size);
    if (offset < 0 || offset > size || bytes > size - offset) [[unlikely]]
        raise(PyExc_IndexError,
              runs_ ? "%zd bytes at offset %zd leave this mapping, whose elements have %zd bytes"
                    : "%zd bytes at offset %zd leave this mapping of %zd bytes",
              bytes, offset, size);
    return {static_cast<std::size_t>(offset), static_cast<std::size_t>(bytes)};
}

mapped_memory::range mapped_memory::part(Py_ssize_t offset, std::optional<Py_ssize_t> bytes) const {
    if (bytes && *bytes < 0) [[unlikely]]
        raise(PyExc_ValueError, "n is %zd: a length cannot be negative", *bytes);
    auto const size = static_cast<Py_ssize_t>(runs_ ? runs_->bytes() : window_.size);
    // Past the end, no length is right.
    return part(offset, bytes ? *bytes : std::max(size - offset, Py_ssize_t{0}));
}

template <class Function>
void mapped_memory::for_each_run(range part, Function function) const {
    if (!runs_)
        return function(window_.subwindow(part.offset, part.bytes));
    runs_->for_each(part.offset, part.bytes, [&](std::size_t place, std::size_t bytes) {
        function(window_.subwindow(place, bytes));
    });
}

void mapped_memory::expect_apart() const {
    if (runs_ && runs_->may_overlap()) [[unlikely]]
        raise(PyExc_ValueError,
              "elements of this mapping share memory (a stride is 0, or shorter than what it steps "
              "over): map the array before it was repeated, and write to that mapping");
}

void mapped_memory::expect_same_elements(nb::handle self, nb::handle buffer) const {
    if (elements_.dtype.is_none() || PyBytes_CheckExact(buffer.ptr()) ||
        PyByteArray_CheckExact(buffer.ptr()))
        return;
    if (PyMemoryView_Check(buffer.ptr())) {
        host_buffer const seen(buffer, PyBUF_FULL_RO);
        char const* const format = seen.format();
        if (!format || std::string_view(format) == "B" || format == elements_.format)
            return;
    }
    // The dtypes of NumPy's own types are one object each, so that this is nearly always enough.
    if (nb::getattr(buffer, "dtype", nb::none()).is(elements_.dtype))
        return;
    if (!nb::steal(barmap_call_method(self.ptr(), "_expect_elements_of", buffer.ptr())))
        throw nb::python_error();
}

void mapped_memory::write(nb::handle self, nb::handle buffer, Py_ssize_t offset) {
    host_buffer const from(buffer, PyBUF_SIMPLE);
    expect_same_elements(self, buffer);
    expect_open(); // after what may have run Python
    expect_writable();
    range const to = part(offset, from.size());
    expect_apart();
    use_without_gil const others_run(*this, copy_direction::to_gpu, to.bytes);
    std::span<std::byte const> left = from.bytes();
    for_each_run(to, [&](window run) {
        mapping_->copy_to_gpu(offset_of(run), left.first(run.size));
        left = left.subspan(run.size);
    });
}

std::size_t mapped_memory::offset_of(window part) const noexcept {
    return static_cast<std::size_t>(part.data - mapping_->data());
}

nb::bytes mapped_memory::read(Py_ssize_t offset, std::optional<Py_ssize_t> bytes) {
    expect_open();
    range const from = part(offset, bytes);
    nb::bytes const result = nb::steal<nb::bytes>(
        PyBytes_FromStringAndSize(nullptr, static_cast<Py_ssize_t>(from.bytes)));
    if (!result.is_valid())
        throw nb::python_error();
    copy_to_cpu(reinterpret_cast<std::byte*>(PyBytes_AsString(result.ptr())), from);
    return result;
}

Py_ssize_t mapped_memory::read_into(nb::handle self, nb::handle buffer, Py_ssize_t offset) {
    host_buffer const to(buffer, PyBUF_WRITABLE);
    expect_same_elements(self, buffer);
    expect_open();
    copy_to_cpu(to.data(), part(offset, to.size()));
    return to.size();
}

void mapped_memory::copy_to_cpu(std::byte* to, range from) {
    use_without_gil const others_run(*this, copy_direction::to_cpu, from.bytes);
    for_each_run(from, [&](window run) {
        mapping_->copy_to_cpu({to, run.size}, offset_of(run));
        to += run.size;
    });
}

void mapped_memory::post(nb::handle value, Py_ssize_t offset, Py_ssize_t size) {
    if (size != 1 && size != 2 && size != 4 && size != 8)
        raise(PyExc_ValueError, "size is %zd: it must be 1, 2, 4 or 8", size);
    std::uint64_t const word = word_of(value, static_cast<int>(size));
    expect_open();
    expect_writable();
    window to;
    for_each_run(part(offset, size), [&](window run) { to = run; });
    if (to.size != static_cast<std::size_t>(size))
        raise(PyExc_ValueError,
              "the word of %zd bytes at offset %zd lies in two elements that are not contiguous: "
              "post it to a mapping of the whole array",
              size, offset);
    if (reinterpret_cast<std::uintptr_t>(to.data) % static_cast<std::size_t>(size) != 0)
        raise(PyExc_ValueError,
              "the GPU address at offset %zd is not a multiple of the word's %zd bytes", offset,
              size);
    switch (size) {
    case 1:
        return barmap::post(to, static_cast<std::uint8_t>(word));
    case 2:
        return barmap::post(to, static_cast<std::uint16_t>(word));
    case 4:
        return barmap::post(to, static_cast<std::uint32_t>(word));
    default:
        return barmap::post(to, word);
    }
}

void mapped_memory::fill(nb::bytes const& pattern, Py_ssize_t offset, Py_ssize_t bytes) {
    expect_open();
    expect_writable();
    range const to = part(offset, std::optional(bytes));
    expect_apart();
    constexpr std::size_t most = std::size_t{64} * 1024; // a fence ends each piece
    std::vector<std::byte> repeated(
        std::max(std::min(to.bytes, most) / pattern.size(), std::size_t{1}) * pattern.size());
    std::memcpy(repeated.data(), pattern.c_str(), pattern.size());
    for (std::size_t made = pattern.size(); made < repeated.size(); made *= 2)
        std::memcpy(&repeated[made], repeated.data(), std::min(made, repeated.size() - made));
    use_without_gil const others_run(*this, copy_direction::to_gpu, to.bytes);
    for_each_run(to, [&](window run) {
        while (run.size != 0) {
            std::size_t const piece = std::min(run.size, repeated.size());
            barmap::write(run, {repeated.data(), piece});
            run = run.subwindow(piece);
        }
    });
}

void mapped_memory::leave_parents_users() noexcept {
    if (is_inherited())
        copies_ = shares_ = 0; // of threads that a child does not have
}

void mapped_memory::close() {
    if (closed())
        return;
    leave_parents_users();
    if (views_ + copies_ != 0)
        raise(PyExc_BufferError,
              "cannot close: a view of this mapping is alive (numpy(), memoryview, DLPack), or "
              "another thread copies or waits for events. Delete the views first; or end a `with` "
              "block instead, which frees the mapping when the last view goes");
    close_after_users(); // shares are over soon, and their caller may be a forked child
}

void mapped_memory::close_after_users() {
    if (closed())
        return;
    leave_parents_users();
    closing_ = true;
    if (!is_used())
        unmap();
}

void mapped_memory::user_gone(std::size_t& users) {
    --users;
    if (closing_ && !is_used())
        unmap();
}

void mapped_memory::unmap() {
    nb::error_scope const kept; // a view may go because of an exception
    leave();
    std::shared_ptr<mapping const> gone = std::move(mapping_);
    pin pin_gone = std::exchange(pin_, {});
    {
        // Unmapping may wait for a kernel that another thread is about to answer.
        released_gil const others_run;
        pin_gone = {};
        gone.reset();
    }
    // Only now may the owner free the memory. A partially constructed object has none.
    if (nb::object const self = nb::find(*this);
        self.is_valid() && PyObject_SetAttrString(self.ptr(), "_owner", Py_None) != 0)
        PyErr_Clear();
}

void mapped_memory::expect_events() const {
    constexpr char what[] = "wait for invalidation events";
    expect_not_closed();
    if (is_inherited())
        throw error(errc::forked_child, what, backend_,
                    "wait for them in the process that mapped the memory, not in a forked child");
    if (!has_events_) // the library's own words are for C++
        throw error(errc::invalid_argument, what, backend_, "map the memory with events=True");
}

int mapped_memory::event_fd() const {
    expect_events();
    return pin_.event_fd();
}

nb::object mapped_memory::next_event() const {
    expect_events();
    std::optional<pin_event> const event = pin_.next_event();
    if (!event)
        return nb::none();
    return nb::make_tuple(event->gpu_address, event->size, event->sequence, event->lost);
}

} // namespace barmap::python
