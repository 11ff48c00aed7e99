#include "cli/workload_settings.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <charconv>
#include <string_view>
#include <vector>

#include "cli/number_checks.h"
#include "logging/manifest.h"

namespace mneme {
namespace {

// An option, what it is called in a manifest, and the workloads that have it: none means all.
struct SettingOption {
  const char* option;
  const char* attribute;
  std::vector<std::string_view> workloads;

  bool is_for(std::string_view workload) const {
    return workloads.empty() || std::ranges::find(workloads, workload) != workloads.end();
  }
};

const std::vector<SettingOption>& setting_options() {
  static const std::vector<SettingOption> options = {
      {"--warehouses", "scale", {}},
      {"--seed", "seed", {}},
      {"--mix", "mix", {}},
      {"--hotspot-percent", "hotspot_percent", {"smallbank"}},
      {"--hotspot-customers", "hotspot_customers", {"smallbank"}},
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

bool read_own_attributes(const Attributes& attributes, const std::string& name, WorkloadOptions& options) {
  if (name == "smallbank") {
    return read_number(attributes, "hotspot_percent", options.hotspot_percent) &&
           read_number(attributes, "hotspot_customers", options.hotspot_customers);
  }
  if (attributes.contains("skew") && !read_number(attributes, "skew", options.skew.emplace())) return false;
  if (name != "ycsb") return true;
  options.ycsb = value_of(attributes, "ycsb");
  return !options.ycsb.empty() && read_number(attributes, "field_bytes", options.field_bytes);
}

}  // namespace

void WorkloadSettings::add_options(CLI::App& command) {
  command.add_option("workload", name, fmt::format("one of {}", fmt::join(workload_names(), ", ")))->required();
  command.add_option("--warehouses,--scale", options.scale,
                     "tpcc: warehouses, about 100 MiB each; smallbank: times 18,000 customers; tatp: times 100,000 "
                     "subscribers, about 75 MiB; tpcb: branches, each with 100,000 accounts, about 15 MiB; ycsb: times "
                     "100,000 records, about 100 MiB")
      ->check(positive())
      ->capture_default_str();
  command.add_option("--seed", options.seed, "of the population and of the calls")
      ->check(not_negative())
      ->capture_default_str();
  command.add_option("--mix", options.mix, "NAME=PCT,... in place of the specification's mix")->capture_default_str();
  command.add_option("--hotspot-percent", options.hotspot_percent, "smallbank: share of calls to the hotspot")
      ->check(CLI::Range(0, 100))
      ->capture_default_str();
  command.add_option("--hotspot-customers", options.hotspot_customers, "smallbank: customers in the hotspot")
      ->check(positive())
      ->capture_default_str();
  command.add_option("--skew", options.skew,
                     "Zipfian theta from 0, uniform, to below 1; tpcb: of branches and accounts (default 0); ycsb: of "
                     "records (default 0.99)");
  command.add_option("--ycsb", options.ycsb, "ycsb: the core workload, A to F")->capture_default_str();
  command.add_option("--field-bytes", options.field_bytes, "ycsb: the length of each of a record's ten fields")
      ->check(positive())
      ->capture_default_str();
}

Result<std::unique_ptr<Workload>> WorkloadSettings::make() const { return make_workload(name, options); }

Result<void> WorkloadSettings::check_options(const CLI::App& command) const {
  for (const SettingOption& option : setting_options()) {
    if (!option.is_for(name) && command.count(option.option) > 0) {
      return invalid_argument("{} is an option of {}, and {} has no use for it: leave it out", option.option,
                              fmt::join(option.workloads, " and "), name);
    }
  }
  return {};
}

Result<WorkloadSettings> WorkloadSettings::resumed(const CLI::App& command, const std::string& directory) const {
  const Result<Manifest> manifest = read_manifest(directory);
  if (!manifest) return manifest.error();
  Result<WorkloadSettings> stored = from_attributes(manifest->attributes, directory);
  if (!stored) return stored.error();
  if (stored->name != name) {
    return invalid_argument("{} holds {}, not {}: resume that, or choose another directory", directory, stored->name,
                            name);
  }
  const Attributes wanted = attributes();
  const Attributes held = stored->attributes();
  for (const SettingOption& option : setting_options()) {
    const std::string value = value_of(held, option.attribute);
    if (command.count(option.option) > 0 && value_of(wanted, option.attribute) != value) {
      return invalid_argument("{} was created {} {}{}, which --resume keeps: leave the option out", directory,
                              value.empty() ? "without" : "with", option.option, value.empty() ? "" : " " + value);
    }
  }
  return stored;
}

std::map<std::string, std::string> WorkloadSettings::attributes() const {
  Attributes attributes = {{"workload", name},
                           {"scale", std::to_string(options.scale)},
                           {"seed", std::to_string(options.seed)},
                           {"mix", options.mix}};
  if (name == "smallbank") {
    attributes["hotspot_percent"] = std::to_string(options.hotspot_percent);
    attributes["hotspot_customers"] = std::to_string(options.hotspot_customers);
  }
  if (options.skew.has_value()) attributes["skew"] = fmt::format("{}", *options.skew);
  if (name == "ycsb") {
    attributes["ycsb"] = options.ycsb;
    attributes["field_bytes"] = std::to_string(options.field_bytes);
  }
  return attributes;
}

Result<WorkloadSettings> WorkloadSettings::from_attributes(const std::map<std::string, std::string>& attributes,
                                                           const std::string& directory) {
  WorkloadSettings settings;
  settings.name = value_of(attributes, "workload");
  settings.options.mix = value_of(attributes, "mix");
  if (settings.name.empty() || settings.options.mix.empty() ||
      !read_number(attributes, "scale", settings.options.scale) ||
      !read_number(attributes, "seed", settings.options.seed) ||
      !read_own_attributes(attributes, settings.name, settings.options)) {
    return invalid_argument(
        "the manifest in {} names no workload: the directory was not made by `mneme run`; name another one", directory);
  }
  return settings;
}

}  // namespace mneme
