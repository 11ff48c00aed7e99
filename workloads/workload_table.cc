#include "workloads/workload_table.h"

#include <fmt/ranges.h>

#include <array>

#include "workloads/own/own_workload.h"
#include "workloads/smallbank/smallbank.h"
#include "workloads/tatp/tatp.h"
#include "workloads/tpcb/tpcb.h"
#include "workloads/tpcc/tpcc.h"
#include "workloads/ycsb/ycsb.h"

namespace mneme {
namespace {

constexpr std::array<std::string_view, 5> kNames = {"tpcc", "smallbank", "tatp", "tpcb", "ycsb"};

Result<std::unique_ptr<Workload>> make_ycsb(const WorkloadOptions& options) {
  if (options.ycsb.size() != 1) {
    return invalid_argument("YCSB has no core workload '{}'; there are A, B, C, D, E, F", options.ycsb);
  }
  ycsb::Settings settings;
  settings.core_workload = options.ycsb[0];
  settings.records = options.scale * ycsb::kRecordsPerScale;
  settings.field_bytes = options.field_bytes;
  settings.skew = options.skew.value_or(settings.skew);
  return ycsb::Ycsb::make(settings, options.seed, options.mix);
}

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
  if (name == "tpcc") {
    return tpcc::Tpcc::make({.warehouses = options.scale}, options.seed, options.mix);
  }
  if (name == "smallbank") {
    const smallbank::Hotspot hotspot{options.hotspot_percent, options.hotspot_customers};
    return smallbank::Smallbank::make(options.scale * smallbank::kCustomersPerScale, hotspot, options.seed,
                                      options.mix);
  }
  if (name == "tatp") {
    return tatp::Tatp::make(options.scale * tatp::kSubscribersPerScale, options.seed, options.mix);
  }
  if (name == "tpcb") {
    return tpcb::Tpcb::make({.branches = options.scale}, options.skew.value_or(0), options.seed, options.mix);
  }
  if (name == "ycsb") return make_ycsb(options);
  return invalid_argument("there is no workload '{}'; there are {}, and your own: FILE.sql", name,
                          fmt::join(kNames, ", "));
}

}  // namespace mneme
