#include "workloads/workload_table.h"

#include <fmt/ranges.h>

#include <algorithm>
#include <array>

#include "workloads/smallbank/smallbank.h"
#include "workloads/tatp/tatp.h"
#include "workloads/tpcb/tpcb.h"
#include "workloads/tpcc/tpcc.h"
#include "workloads/ycsb/ycsb.h"

namespace mneme {
namespace {

struct WorkloadEntry {
  std::string_view name;
  Result<std::unique_ptr<Workload>> (*make)(const WorkloadOptions& options);
};

// The only place that names all workloads.
constexpr WorkloadEntry kWorkloads[] = {
    {"tpcc",
     [](const WorkloadOptions& o) { return tpcc::Tpcc::make({.warehouses = o.scale}, o.seed, o.mix); }},
    {"smallbank",
     [](const WorkloadOptions& o) {
       return smallbank::Smallbank::make(o.scale * smallbank::kCustomersPerScale, o.smallbank, o.seed, o.mix);
     }},
    {"tatp",
     [](const WorkloadOptions& o) {
       return tatp::Tatp::make(o.scale * tatp::kSubscribersPerScale, o.seed, o.mix);
     }},
    {"tpcb",
     [](const WorkloadOptions& o) {
       return tpcb::Tpcb::make({.branches = o.scale}, o.skew.value_or(0), o.seed, o.mix);
     }},
    {"ycsb", [](const WorkloadOptions& o) { return ycsb::Ycsb::make(o.ycsb, o); }},
};

constexpr auto kNames = [] {
  std::array<std::string_view, std::size(kWorkloads)> names;
  std::ranges::transform(kWorkloads, names.begin(), &WorkloadEntry::name);
  return names;
}();

}  // namespace

std::span<const std::string_view> workload_names() {
  return kNames;
}

bool is_own_workload(std::string_view name) {
  return name.ends_with(".sql");
}

Result<std::unique_ptr<Workload>> make_workload(std::string_view name, const WorkloadOptions& options) {
  if (is_own_workload(name)) {
    if (options.files.calls.empty()) {
      return invalid_argument(
          "{} says which tables and procedures there are, not what is called: give --calls FILE.csv", name);
    }
    return OwnWorkload::make(name, options.files, options.seed, options.mix);
  }
  if (options.scale == 0)
    return invalid_argument("a {} database of scale 0 would be empty; give 1 or more", name);
  const auto* entry = std::ranges::find(kWorkloads, name, &WorkloadEntry::name);
  if (entry != std::end(kWorkloads)) return entry->make(options);
  return invalid_argument("there is no workload '{}'; there are {}, and your own: FILE.sql", name,
                          fmt::join(kNames, ", "));
}

}  // namespace mneme
