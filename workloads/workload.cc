#include "workloads/workload.h"

#include <fmt/ranges.h>

#include <array>

#include "workloads/smallbank.h"
#include "workloads/tpcc.h"

namespace mneme {
namespace {

constexpr std::array<std::string_view, 2> kNames = {"tpcc", "smallbank"};

}  // namespace

std::span<const std::string_view> workload_names() {
  return kNames;
}

Result<std::unique_ptr<Workload>> make_workload(std::string_view name, const WorkloadOptions& options) {
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
  return invalid_argument("there is no workload '{}'; there are {}", name, fmt::join(kNames, ", "));
}

}  // namespace mneme
