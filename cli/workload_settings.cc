#include "cli/workload_settings.h"
#include "cli/number_checks.h"

#include <charconv>
#include <utility>

#include "logging/manifest.h"

namespace mneme {
namespace {

template <typename Integer>
bool read_number(const std::map<std::string, std::string>& attributes, const char* key, Integer& to) {
  const auto found = attributes.find(key);
  if (found == attributes.end()) return false;
  const std::string& text = found->second;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), to);
  return error == std::errc() && end == text.data() + text.size();
}

}  // namespace

void WorkloadSettings::add_options(CLI::App& command) {
  command.add_option("workload", name, "tpcc or smallbank")->required();
  command.add_option("--warehouses,--scale", options.scale,
                     "tpcc: warehouses, about 100 MiB each; smallbank: times 18,000 customers")
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
}

Result<std::unique_ptr<Workload>> WorkloadSettings::make() const { return make_workload(name, options); }

Result<void> WorkloadSettings::check_options(const CLI::App& command) const {
  for (const char* option : {"--hotspot-percent", "--hotspot-customers"}) {
    if (name != "smallbank" && command.count(option) > 0) {
      return invalid_argument("{} is smallbank's: {} has no hotspot; leave it out", option, name);
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
  const std::map<std::string, std::string> wanted = attributes();
  const std::map<std::string, std::string> held = stored->attributes();
  const std::pair<const char*, const char*> options[] = {{"--warehouses", "scale"},
                                                         {"--seed", "seed"},
                                                         {"--mix", "mix"},
                                                         {"--hotspot-percent", "hotspot_percent"},
                                                         {"--hotspot-customers", "hotspot_customers"}};
  for (const auto& [option, attribute] : options) {
    if (command.count(option) > 0 && wanted.at(attribute) != held.at(attribute)) {
      return invalid_argument("{} was created with {} {}, which --resume keeps: leave the option out", directory, option,
                              held.at(attribute));
    }
  }
  return stored;
}

std::map<std::string, std::string> WorkloadSettings::attributes() const {
  return {{"workload", name},
          {"scale", std::to_string(options.scale)},
          {"seed", std::to_string(options.seed)},
          {"mix", options.mix},
          {"hotspot_percent", std::to_string(options.hotspot_percent)},
          {"hotspot_customers", std::to_string(options.hotspot_customers)}};
}

Result<WorkloadSettings> WorkloadSettings::from_attributes(const std::map<std::string, std::string>& attributes,
                                                           const std::string& directory) {
  WorkloadSettings settings;
  const auto name = attributes.find("workload");
  const auto mix = attributes.find("mix");
  if (name == attributes.end() || mix == attributes.end() ||
      !read_number(attributes, "scale", settings.options.scale) ||
      !read_number(attributes, "seed", settings.options.seed) ||
      !read_number(attributes, "hotspot_percent", settings.options.hotspot_percent) ||
      !read_number(attributes, "hotspot_customers", settings.options.hotspot_customers)) {
    return invalid_argument(
        "the manifest in {} names no workload: the directory was not made by `mneme run`; name another one", directory);
  }
  settings.name = name->second;
  settings.options.mix = mix->second;
  return settings;
}

}  // namespace mneme
