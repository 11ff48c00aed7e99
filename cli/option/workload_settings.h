// WorkloadSettings: which workload a directory is for, as options on the command line and as attributes of
// the manifest, so that --resume, verify and crash need no options for it. A user's own workload
// (workloads/own/own_workload.h) is kept in the directory, too: its files are copied to DIR/workload.
#pragma once

#include <CLI/CLI.hpp>
#include <map>
#include <memory>
#include <string>

#include "base/result.h"
#include "workloads/workload_table.h"

namespace mneme {

// Whether a workload has a use for an option; empty: the workload is not known.
bool has_use_for(std::string_view option, std::string_view workload);

struct WorkloadSettings {
  std::string name;  // of a user's own, its .sql file's
  WorkloadOptions options;

  // The workload of this name, or the file of a user's own.
  void choose(const std::string& text);
  // Options that shape the database and the calls: --warehouses, --scale, --seed, --mix, and those that only
  // some workloads have.
  void add_options(CLI::App& command);
  // The workload, or why these settings name none.
  Result<std::unique_ptr<Workload>> make() const;

  // After parsing: an option that the chosen workload has no use for is an error, never ignored.
  Result<void> check_options(const CLI::App& command) const;
  // Returns the settings that the directory was created with. Fails if the command line asks for others.
  Result<WorkloadSettings> resumed(const CLI::App& command, const std::string& directory) const;

  // Copies a user's own files into the directory, from which from_attributes() takes them. Before its
  // database is created.
  Result<void> keep_files(const std::string& directory) const;

  std::map<std::string, std::string> attributes() const;
  // Fails where the directory was not made by `mneme run` or `mneme crash`.
  static Result<WorkloadSettings> from_attributes(const std::map<std::string, std::string>& attributes,
                                                  const std::string& directory);

  // "warehouses" or "scale".
  const char* scale_field() const { return name == "tpcc" ? "warehouses" : "scale"; }
};

}  // namespace mneme
