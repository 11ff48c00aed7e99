#include "cli/option/workload_settings.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <charconv>
#include <filesystem>
#include <string_view>
#include <vector>

#include "base/file/directory.h"
#include "base/file/file.h"
#include "cli/option/option_table.h"
#include "logging/directory/manifest.h"

namespace mneme {
namespace {

// An option, what it is called in a manifest, and the workloads that have it: none means all.
struct SettingOption {
  const char* option;
  const char* attribute;
  std::vector<std::string_view> workloads;
  bool of_own = false;  // also of users' own workloads

  bool is_for(std::string_view workload) const {
    if (is_own_workload(workload)) return of_own;
    return workloads.empty() || std::ranges::find(workloads, workload) != workloads.end();
  }
  // The scale has two names, one of them TPC-C's.
  std::string_view name_for(std::string_view workload) const {
    return attribute == std::string_view("scale") && workload != "tpcc" ? "--scale" : option;
  }
  std::string users() const {
    if (of_own) return "your own workloads (FILE.sql)";
    return workloads.empty() ? "the workloads that come with the program"
                             : fmt::format("{}", fmt::join(workloads, " and "));
  }
};

constexpr std::string_view kOwn = "FILE.sql";  // no workload that comes with the program is called so

const std::vector<SettingOption>& setting_options() {
  static const std::vector<SettingOption> options = {{"--warehouses", "scale", {}},
                                                     {"--seed", "seed", {}, true},
                                                     {"--mix", "mix", {}, true},
                                                     {"--calls", "calls", {kOwn}, true},
                                                     {"--rows", "rows", {kOwn}, true},
                                                     {"--checks", "checks", {kOwn}, true},
                                                     {"--hotspot-percent", "hotspot_percent", {"smallbank"}},
                                                     {"--hotspot-size", "hotspot_customers", {"smallbank"}},
                                                     {"--skew", "skew", {"tpcb", "ycsb"}},
                                                     {"--ycsb", "ycsb", {"ycsb"}},
                                                     {"--field-bytes", "field_bytes", {"ycsb"}}};
  return options;
}

using Attributes = std::map<std::string, std::string>;

// Empty where there is no such attribute.
std::string value_of(const Attributes& attributes, const char* key) {
  const auto found = attributes.find(key);
  return found == attributes.end() ? std::string() : found->second;
}

template <typename Number>
bool read_number(const Attributes& attributes, const char* key, Number& to) {
  const std::string text = value_of(attributes, key);
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), to);
  return error == std::errc() && end == text.data() + text.size();
}

std::string file_name(const std::string& path) {
  return std::filesystem::path(path).filename();
}

std::string kept_file(const std::string& directory, const std::string& name) {
  return directory + "/workload/" + name;
}

// --resume keeps a workload's files. An error where the command line names one that says something else.
Result<void> check_same(const std::string& given, const WorkloadFiles& stored, const std::string& kept) {
  if (given.empty() || !std::filesystem::exists(given)) return {};
  const Result<std::string> wanted = read_text_file(given);
  if (!wanted) return wanted.error();
  const Result<std::string> held = stored.read(kept);
  if (!held) return held.error();
  if (*wanted == *held) return {};
  return invalid_argument(
      "{} is not what the database was created with, {}, which --resume keeps: go on with that, or load "
      "another directory",
      given, kept);
}

bool read_own_attributes(const Attributes& attributes, const std::string& name, WorkloadOptions& options) {
  if (name == "smallbank") {
    return read_number(attributes, "hotspot_percent", options.smallbank.percent) &&
           read_number(attributes, "hotspot_customers", options.smallbank.customers);
  }
  if (attributes.contains("skew") && !read_number(attributes, "skew", options.skew.emplace())) return false;
  if (name != "ycsb") return true;
  options.ycsb.core_workload = value_of(attributes, "ycsb");
  return !options.ycsb.core_workload.empty() &&
         read_number(attributes, "field_bytes", options.ycsb.field_bytes);
}

}  // namespace

void WorkloadSettings::choose(const std::string& text) {
  name = text;
  if (!is_own_workload(text)) return;
  options.files.sql = text;
  name = file_name(text);
}

void WorkloadSettings::add_options(CLI::App& command) {
  const OptionTaker take(command);
  take.function("workload", [this](const std::string& text) { choose(text); });
  take("--calls", options.files.calls);
  take("--rows", options.files.rows);
  take("--checks", options.files.checks);
  take("--warehouses,--scale", options.scale);
  take("--seed", options.seed);
  take("--mix", options.mix);
  take("--hotspot-percent", options.smallbank.percent);
  take("--hotspot-size", options.smallbank.customers);
  take("--skew", options.skew);
  take("--ycsb", options.ycsb.core_workload);
  take("--field-bytes", options.ycsb.field_bytes);
}

Result<std::unique_ptr<Workload>> WorkloadSettings::make() const {
  Result<std::unique_ptr<Workload>> workload = make_workload(name, options);
  // Files that the database keeps were right when it was made.
  const bool is_kept = is_own_workload(name) && !options.files.directory.empty();
  if (workload.ok() || !is_kept || workload.error().kind != ErrorKind::kInvalidArgument) return workload;
  return damaged(
      "{}/workload is not what the database was made with; nothing was changed: put its files back from a "
      "copy of the directory: {}",
      options.files.directory, workload.error().message);
}

bool has_use_for(std::string_view option, std::string_view workload) {
  return workload.empty() || std::ranges::all_of(setting_options(), [&](const SettingOption& each) {
           return each.option != option || each.is_for(workload);
         });
}

Result<void> WorkloadSettings::check_options(const CLI::App& command) const {
  for (const SettingOption& option : setting_options()) {
    if (!option.is_for(name) && command.count(option.option) > 0) {
      return invalid_argument("{} is an option of {}, and {} has no use for it: leave it out", option.option,
                              option.users(), name);
    }
  }
  return {};
}

Result<WorkloadSettings> WorkloadSettings::resumed(const CLI::App& command,
                                                   const std::string& directory) const {
  const Result<Manifest> manifest = read_manifest(directory);
  if (!manifest) return manifest.error();
  Result<WorkloadSettings> stored = from_attributes(manifest->attributes, directory);
  if (!stored) return stored.error();
  if (stored->name != name) {
    return invalid_argument("{} holds {}, not {}: resume that, or choose another directory", directory,
                            stored->name, name);
  }
  if (is_own_workload(name)) {
    RETURN_IF_ERROR(check_same(options.files.sql, stored->options.files, stored->options.files.sql));
    RETURN_IF_ERROR(check_same(options.files.calls, stored->options.files, stored->options.files.calls));
    RETURN_IF_ERROR(check_same(options.files.rows, stored->options.files, stored->options.files.rows));
    RETURN_IF_ERROR(check_same(options.files.checks, stored->options.files, stored->options.files.checks));
  }
  const Attributes wanted = attributes();
  const Attributes held = stored->attributes();
  for (const SettingOption& option : setting_options()) {
    const std::string value = value_of(held, option.attribute);
    if (command.count(option.option) > 0 && value_of(wanted, option.attribute) != value) {
      return invalid_argument("{} was created {} {}{}, which --resume keeps: leave the option out", directory,
                              value.empty() ? "without" : "with", option.name_for(name),
                              value.empty() ? "" : " " + value);
    }
  }
  return stored;
}

Result<void> WorkloadSettings::keep_files(const std::string& directory) const {
  if (!is_own_workload(name)) return {};
  const WorkloadFiles& files = options.files;
  const std::pair<const char*, const std::string&> kept[] = {{"the workload", files.sql},
                                                             {"--calls", files.calls},
                                                             {"--rows", files.rows},
                                                             {"--checks", files.checks}};
  for (const auto& [option, file] : kept) {
    for (const auto& [other, same] : kept) {
      if (&file == &same || file.empty() || file_name(file) != file_name(same)) continue;
      return invalid_argument("{} {} and {} {} have one name, and are kept side by side: rename one", option,
                              file, other, same);
    }
  }
  RETURN_IF_ERROR(make_directories(kept_file(directory, "")));
  for (const std::string& file : {files.sql, files.calls, files.rows, files.checks}) {
    if (file.empty()) continue;
    const Result<std::string> text = read_text_file(file);
    if (!text) return text.error();
    RETURN_IF_ERROR(replace_text_file(kept_file(directory, file_name(file)), *text));
  }
  return {};
}

std::map<std::string, std::string> WorkloadSettings::attributes() const {
  Attributes attributes = {{"workload", name},
                           {"scale", std::to_string(options.scale)},
                           {"seed", std::to_string(options.seed)},
                           {"mix", options.mix}};
  if (name == "smallbank") {
    attributes["hotspot_percent"] = std::to_string(options.smallbank.percent);
    attributes["hotspot_customers"] = std::to_string(options.smallbank.customers);
  }
  if (is_own_workload(name)) {
    attributes["calls"] = file_name(options.files.calls);
    if (!options.files.rows.empty()) attributes["rows"] = file_name(options.files.rows);
    if (!options.files.checks.empty()) attributes["checks"] = file_name(options.files.checks);
  }
  if (options.skew.has_value()) attributes["skew"] = fmt::format("{}", *options.skew);
  if (name == "ycsb") {
    attributes["ycsb"] = options.ycsb.core_workload;
    attributes["field_bytes"] = std::to_string(options.ycsb.field_bytes);
  }
  return attributes;
}

Result<WorkloadSettings> WorkloadSettings::from_attributes(
    const std::map<std::string, std::string>& attributes, const std::string& directory) {
  WorkloadSettings settings;
  settings.name = value_of(attributes, "workload");
  settings.options.mix = value_of(attributes, "mix");
  if (settings.name.empty() || settings.options.mix.empty() ||
      !read_number(attributes, "scale", settings.options.scale) ||
      !read_number(attributes, "seed", settings.options.seed) ||
      !read_own_attributes(attributes, settings.name, settings.options)) {
    return invalid_argument(
        "the manifest in {} names no workload: the directory was not made by `mneme run`; name another one",
        directory);
  }
  if (is_own_workload(settings.name)) {
    WorkloadFiles& files = settings.options.files;
    files.directory = directory;
    files.sql = kept_file(directory, settings.name);
    files.calls = kept_file(directory, value_of(attributes, "calls"));
    if (attributes.contains("rows")) files.rows = kept_file(directory, value_of(attributes, "rows"));
    if (attributes.contains("checks")) files.checks = kept_file(directory, value_of(attributes, "checks"));
  }
  return settings;
}

}  // namespace mneme
