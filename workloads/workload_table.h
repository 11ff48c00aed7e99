// The workloads by name: the benchmarks that are built into the program, and a user's own, out of files.
#pragma once

#include <memory>
#include <span>
#include <string_view>

#include "base/result.h"
#include "workloads/own/own_workload.h"
#include "workloads/shared/workload.h"
#include "workloads/smallbank/smallbank_schema.h"
#include "workloads/ycsb/ycsb_schema.h"

namespace mneme {

// The options that all workloads share, and each workload's own part, which its folder declares.
struct WorkloadOptions : SharedWorkloadOptions {
  smallbank::Hotspot smallbank = {};
  ycsb::Options ycsb = {};
  WorkloadFiles files = {};
};

// Whether it is the name of a user's own workload: that of its .sql file.
bool is_own_workload(std::string_view name);

// `name` is one of workload_names(), or a user's own.
Result<std::unique_ptr<Workload>> make_workload(std::string_view name, const WorkloadOptions& options);
std::span<const std::string_view> workload_names();

}  // namespace mneme
