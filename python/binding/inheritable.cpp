// SPDX-License-Identifier: MIT
#include "inheritable.hpp"

#include <barmap/error.hpp>

#include <algorithm>
#include <map>
#include <utility>

namespace nb = nanobind;

namespace barmap::python {
namespace {

/// The objects that can be shared and are not released, by number. Never destroyed, as objects may outlive any
/// order of destruction. The GIL protects it.
std::map<std::uint64_t, inheritable*>& all() {
    static auto* const known = new std::map<std::uint64_t, inheritable*>;
    return *known;
}

} // namespace

inheritable::inheritable(share_function share, open_function open)
    : share_(std::move(share)), open_(std::move(open)) {
    static std::uint64_t last = 0;
    number_ = ++last;
    all().emplace(number_, this);
}

void inheritable::leave() noexcept {
    all().erase(std::exchange(number_, 0));
}

void inheritable::open_in_child(int descriptor) {
    open_(descriptor);
    maker_ = os::this_process();
}

void inheritable::ask_for(char const* what, std::string_view backend, char const* instead) {
    std::string advice = instead;
    if (open_) {
        nb::object const why_not =
            nb::module_::import_("barmap._sharing.inherited").attr("open_in_child")(nb::find(*this));
        if (why_not.is_none())
            return;
        advice = nb::cast<std::string>(why_not);
    }
    throw error(errc::forked_child, std::string("use a ") + what, std::string(backend),
                std::move(advice));
}

nb::object inheritable::find(std::uint64_t number) {
    auto const known = all().find(number);
    if (known == all().end())
        return nb::none();
    nb::object found = nb::find(*known->second);
    // Python is freeing what had no reference before, and would free it again without this one.
    if (Py_REFCNT(found.ptr()) == 1) {
        (void)found.release();
        return nb::none();
    }
    return found; // of what is being made, nanobind refuses all calls
}

bool inheritable::any_of_this_process() noexcept {
    return std::ranges::any_of(all(),
                               [](auto const& each) { return !each.second->is_inherited(); });
}

void bind_inheritable(nb::module_& module) {
    using self = inheritable;
    nb::class_<self>(module, "Inheritable")
        .def("_share", &self::share_by_descriptor)
        .def("_open_in_child", &self::open_in_child, nb::arg("descriptor"))
        .def_prop_ro("_is_inherited", &self::is_inherited)
        .def_prop_ro("_maker", [](self const& of) { return of.maker().generation; })
        .def_prop_ro("_number", &self::number);
    module.def("find_inheritable", &self::find, nb::arg("number"),
               nb::sig("def find_inheritable(number: int) -> Inheritable | None"));
    module.def("has_inheritables", &self::any_of_this_process);
    module.def("this_process", [] { return os::this_process().generation; });
}

} // namespace barmap::python
