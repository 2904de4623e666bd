// SPDX-License-Identifier: MIT
#include "base/lists.hpp"

#include <utility>

struct barmap_list {
    barmap_list() = default;
    barmap_list(barmap_list const&) = delete;
    barmap_list& operator=(barmap_list const&) = delete;
    virtual ~barmap_list() = default;
    [[nodiscard]] virtual std::size_t count() const noexcept = 0;
    [[nodiscard]] virtual void const* row(std::size_t index) const noexcept = 0;
};

namespace barmap::c {
namespace {

/// A report, whose texts its row points at.
template <class Report, class Row>
struct entry {
    explicit entry(Report of) : report(std::move(of)) {}
    Report report;
    Row row{};
};

/// The row of a backend, and the texts that it points at.
template <>
struct entry<backend_report, barmap_backend_row> {
    explicit entry(backend_report of) : report(std::move(of)) {}
    backend_report report;
    barmap_backend_row row{};
    std::vector<barmap_memory_kind_row> kinds;
    std::vector<int> pins;
};

void fill(entry<backend_report, barmap_backend_row>& of) {
    backend_report const& report = of.report;
    for (memory_kind_report const& each : report.kinds)
        of.kinds.push_back(
            {each.reason.c_str(), static_cast<int>(each.kind), each.usable ? 1 : 0});
    for (memory_kind const each : report.pins)
        of.pins.push_back(static_cast<int>(each));
    auto const flag = [](bool is_set, unsigned flag) { return is_set ? flag : 0; };
    module_version const module = report.module.value_or(module_version{});
    of.row = {report.name.c_str(),
              report.reason.c_str(),
              report.advice.c_str(),
              report.start_us,
              static_cast<int>(report.state),
              flag(report.persistent, BARMAP_BACKEND_PERSISTENT) |
                  flag(report.forces_pcie, BARMAP_BACKEND_FORCES_PCIE) |
                  flag(report.events, BARMAP_BACKEND_EVENTS) |
                  flag(report.allocates, BARMAP_BACKEND_ALLOCATES) |
                  flag(report.module.has_value(), BARMAP_BACKEND_HAS_MODULE),
              module.major,
              module.minor,
              of.kinds.data(),
              of.kinds.size(),
              of.pins.data(),
              of.pins.size()};
}

void fill(entry<engine_report, barmap_engine_row>& of) {
    engine_report const& report = of.report;
    of.row = {report.name.c_str(), report.reason.c_str(), report.advice.c_str(), report.start_us,
              report.copies,       report.bytes,          static_cast<int>(report.state),
              report.failures};
}

void fill(entry<copy_crossover, barmap_crossover_row>& of) {
    copy_crossover const& report = of.report;
    of.row = {report.method.c_str(), report.from_bytes, static_cast<int>(report.direction),
              report.host == host_memory_kind::pinned ? 1 : 0, report.of_cuda_malloc ? 1 : 0};
}

void fill(entry<copy_routine_report, barmap_copy_routine_row>& of) {
    of.row = {of.report.name.c_str(), of.report.needs.c_str(), of.report.supported ? 1 : 0};
}

void fill(entry<policy_report, barmap_policy_row>& of) {
    policy_report const& report = of.report;
    of.row = {report.name.c_str(), report.unit.c_str(), report.from.c_str(), report.why.c_str(),
              report.value,        report.least,        report.most};
}

void fill(entry<setting_report, barmap_setting_row>& of) {
    setting_report const& report = of.report;
    of.row = {report.name.data(), report.value.c_str(), report.from.data(), report.allowed.data(),
              report.meaning.data()};
}

template <class Report, class Row>
class list final : public barmap_list {
public:
    explicit list(std::vector<Report> reports) {
        entries_.reserve(reports.size()); // where they are, rows point at
        for (Report& each : reports)
            fill(entries_.emplace_back(std::move(each)));
    }
    [[nodiscard]] std::size_t count() const noexcept override { return entries_.size(); }
    [[nodiscard]] void const* row(std::size_t index) const noexcept override {
        return &entries_[index].row;
    }

private:
    std::vector<entry<Report, Row>> entries_;
};

} // namespace

barmap_list* list_of(std::vector<backend_report> reports) {
    return new list<backend_report, barmap_backend_row>(std::move(reports));
}
barmap_list* list_of(std::vector<engine_report> reports) {
    return new list<engine_report, barmap_engine_row>(std::move(reports));
}
barmap_list* list_of(std::vector<copy_crossover> reports) {
    return new list<copy_crossover, barmap_crossover_row>(std::move(reports));
}
barmap_list* list_of(std::vector<copy_routine_report> reports) {
    return new list<copy_routine_report, barmap_copy_routine_row>(std::move(reports));
}
barmap_list* list_of(std::vector<policy_report> reports) {
    return new list<policy_report, barmap_policy_row>(std::move(reports));
}
barmap_list* list_of(std::vector<setting_report> reports) {
    return new list<setting_report, barmap_setting_row>(std::move(reports));
}

} // namespace barmap::c

std::size_t barmap_list_count(barmap_list const* list) {
    return list->count();
}

void const* barmap_list_row(barmap_list const* list, std::size_t row) {
    return row < list->count() ? list->row(row) : nullptr;
}

void barmap_list_destroy(barmap_list* list) {
    barmap::c::free_handle(list);
}
