// mneme_simulator: databases that live and lose power, drawn from seeds, until one is not as it should be.
#include <fmt/format.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <chrono>
#include <cstdio>
#include <filesystem>
#include <map>
#include <nlohmann/json.hpp>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "logging/buffer/log_buffer_factory.h"
#include "logging/directory/log_layout.h"
#include "logging/record/record_content.h"
#include "logging/remote/remote_device.h"
#include "tests/simulator/simulated_disk.h"
#include "tests/simulator/simulated_life.h"

namespace mneme::simulator {

namespace {

struct Settings {
  uint64_t seed = 1;
  uint64_t count = 100;
  double minutes = 0;
  std::string scenario;
  std::string folder;
  bool forgets_syncs = false;
  bool forgets_records = false;
  bool is_remote = false;
  bool twice = false;
  bool json = false;
  bool wants_all = false;
  bool shrinks = true;
};

std::string default_folder() {
  const std::string memory = "/dev/shm";
  const std::string parent =
      std::filesystem::is_directory(memory) ? memory : std::filesystem::temp_directory_path().string();
  return fmt::format("{}/mneme-simulator-{}", parent, ::getpid());
}

// The same fault, as far as anybody can tell, by fewer and simpler means.
Scenario shrink(Scenario scenario, const std::string& folder) {
  for (bool goes_on = true; goes_on;) {
    goes_on = false;
    for (const Scenario& simpler : scenario.simpler()) {
      if (live(simpler, folder).fault.empty()) continue;
      scenario = simpler;
      goes_on = true;
      break;
    }
  }
  return scenario;
}

void tell_fault(const Scenario& scenario, const std::string& fault, const Settings& settings) {
  fmt::print(stderr, "{}\n  mneme_simulator --scenario '{}'\n", fault, scenario.text());
  if (!settings.shrinks) return;
  const Scenario smallest = shrink(scenario, settings.folder);
  fmt::print(stderr, "smaller:\n  {}\n  mneme_simulator --scenario '{}'\n",
             live(smallest, settings.folder).fault, smallest.text());
}

// The records' content, their buffer or layout, whether checkpoints are taken, and the device.
using Setting = std::tuple<std::string_view, std::string_view, bool, std::string_view>;

// As scripts/trust tells it.
std::string_view device_of(const Scenario& scenario) {
  if (scenario.device != 0) return "simulated, remote";
  return scenario.fault != 0 ? "simulated, failing" : "simulated";
}

Setting setting_of(const Scenario& scenario) {
  const auto layout = static_cast<LogLayout>(scenario.layout);
  const std::string_view buffer =
      layout == LogLayout::kStream ? name_of(log_buffer_kinds()[scenario.buffer]) : name_of(layout);
  return {name_of(static_cast<RecordContent>(scenario.records)), buffer, scenario.checkpoints != 0,
          device_of(scenario)};
}

struct Counts {
  uint64_t databases = 0;
  LifeCounts lives;
};

nlohmann::ordered_json json(const std::map<Setting, Counts>& by_setting) {
  auto all = nlohmann::ordered_json::array();
  for (const auto& [setting, counts] : by_setting) {
    const auto& [records, buffer, checkpoints, device] = setting;
    all.push_back({{"log", records},
                   {"log_buffer", buffer},
                   {"log_device", device},
                   {"checkpoints", checkpoints},
                   {"databases", counts.databases},
                   {"power_failures", counts.lives.power_failures},
                   {"acknowledged", counts.lives.acknowledged}});
  }
  return all;
}

// Counts the troubles of the databases by name. Each must have come at some time, or the run shows little.
std::vector<std::pair<std::string, uint64_t>> troubles_of(const LifeCounts& counts) {
  std::vector<std::pair<std::string, uint64_t>> troubles = {
      {"killed", counts.kills},
      {"lost power while opening", counts.while_opening},
      {"lost power after closing", counts.after_the_end},
      {"thread stopped", counts.stops},
      {"sync slow", counts.disk.slow_syncs},
      {"recovered from a later checkpoint", counts.from_checkpoints},
      {"byte rotten", counts.rotten},
      {"former block in a reused segment", counts.stale_blocks},
      {"connection reset", counts.network.resets},
      {"link cut", counts.network.cuts},
      {"server lost", counts.network.lost},
      {"server ended", counts.network.ended},
      {"server hung", counts.network.hung}};
  for (size_t i = 1; i < static_cast<size_t>(Fault::kForgetsSyncs); ++i)
    troubles.emplace_back(fmt::format("disk: {}", name_of(static_cast<Fault>(i))), counts.disk.faults[i]);
  return troubles;
}

nlohmann::ordered_json json(const LifeCounts& counts, uint64_t databases, bool is_good) {
  auto troubles = nlohmann::ordered_json::object();
  for (const auto& [name, count] : troubles_of(counts)) troubles[name] = count;
  return {{"databases", databases},
          {"power_failures", counts.power_failures},
          {"kills", counts.kills},
          {"troubles", troubles},
          {"while_opening", counts.while_opening},
          {"after_closing", counts.after_the_end},
          {"lives_ended_by_faults", counts.ended_by_faults},
          {"acknowledged", counts.acknowledged},
          {"unanswered_lost", counts.lost_calls},
          {"from_later_checkpoints", counts.from_checkpoints},
          {"rotten_bytes", counts.rotten},
          {"rot_refused", counts.rot_refused},
          {"rot_at_the_end", counts.rot_at_the_end},
          {"steps", counts.steps},
          {"good", is_good}};
}

int run(const Settings& settings) {
  using Clock = std::chrono::steady_clock;
  const auto begin = Clock::now();
  const auto seconds = [&] { return std::chrono::duration<double>(Clock::now() - begin).count(); };
  LifeCounts counts;
  std::map<Setting, Counts> by_setting;
  uint64_t done = 0;
  bool is_good = true;
  double told = 0;
  for (uint64_t seed = settings.seed; is_good; ++seed) {
    if (settings.minutes > 0 ? seconds() > 60 * settings.minutes : done == settings.count) break;
    Scenario scenario = Scenario::draw(seed);
    if (!settings.scenario.empty()) scenario = *Scenario::parse(settings.scenario);
    if (settings.is_remote && scenario.device == 0) continue;
    if (settings.forgets_syncs) scenario.fault = static_cast<uint64_t>(Fault::kForgetsSyncs);
    if (settings.forgets_records) {
      scenario = scenario.remote();
      scenario.network = static_cast<uint64_t>(NetworkFault::kForgets);
    }
    Outcome outcome = live(scenario, settings.folder);
    if (settings.twice && outcome.fault.empty()) {
      const Outcome again = live(scenario, settings.folder);
      if (!again.fault.empty() || again.counts != outcome.counts)
        outcome.fault = "the same scenario went another way";
    }
    counts += outcome.counts;
    Counts& of_setting = by_setting[setting_of(scenario)];
    ++of_setting.databases;
    of_setting.lives += outcome.counts;
    ++done;
    is_good = outcome.fault.empty();
    if (!is_good) tell_fault(scenario, outcome.fault, settings);
    if (settings.minutes > 0 && seconds() - told > 30) {
      told = seconds();
      fmt::print(stderr, "{:.0f} s of {:.0f}: {} databases, {} power failures\n", told, 60 * settings.minutes,
                 done, counts.power_failures);
    }
  }
  if (settings.json) {
    auto report = json(counts, done, is_good);
    report["settings"] = json(by_setting);
    fmt::print("{}\n", report.dump());
  } else {
    fmt::print(
        "{} databases: {} power failures and {} kills; {} lives ended by faults; {} calls acknowledged, {} "
        "unanswered ones lost; {} bytes "
        "rotten, {} refused, {} at the log's end; {} steps, {:.1f} s: {}\n",
        done, counts.power_failures, counts.kills, counts.ended_by_faults, counts.acknowledged,
        counts.lost_calls, counts.rotten, counts.rot_refused, counts.rot_at_the_end, counts.steps, seconds(),
        is_good ? "nothing lost" : "FAULTY");
    for (const auto& [name, count] : troubles_of(counts)) fmt::print("  {}: {}\n", name, count);
  }
  if (settings.wants_all) {
    for (const auto& [name, count] : troubles_of(counts)) {
      if (count > 0) continue;
      fmt::print(stderr, "never once: {}\n", name);
      is_good = false;
    }
  }
  return is_good ? 0 : 1;
}

}  // namespace

}  // namespace mneme::simulator

int main(int count, char** arguments) {
  using namespace mneme::simulator;
  mneme::register_remote_device();
  Settings settings;
  CLI::App app{"Simulates databases that lose power, and judges what is recovered."};
  app.add_option("--seed", settings.seed, "the first");
  app.add_option("--count", settings.count, "of databases");
  app.add_option("--minutes", settings.minutes, "in place of a count");
  app.add_option("--scenario", settings.scenario, "as a fault tells it: this one alone");
  app.add_option("--folder", settings.folder,
                 "made, and removed; on a file system in memory where there is one");
  app.add_flag("--forget-syncs", settings.forgets_syncs, "of the disk: a fault must be found");
  app.add_flag("--forget-records", settings.forgets_records,
               "of log servers, which acknowledged them: a fault must be found");
  app.add_flag("--remote", settings.is_remote,
               "of the seeds' databases those alone whose log lies at log servers");
  app.add_flag("--twice", settings.twice, "each, and hold the two against one another");
  app.add_flag("--all-troubles", settings.wants_all, "must have happened, or the exit status is 1");
  app.add_flag("--json", settings.json, "counts as one line of JSON, once all is done");
  app.add_flag("!--no-shrink", settings.shrinks, "leave out the search for a smaller scenario");
  CLI11_PARSE(app, count, arguments);
  if (settings.folder.empty()) settings.folder = default_folder();
  if (!settings.scenario.empty()) {
    settings.count = 1;
    settings.shrinks = false;
    if (const auto parsed = Scenario::parse(settings.scenario); !parsed.ok()) {
      fmt::print(stderr, "{}\n", parsed.error().message);
      return 2;
    }
  }
  return run(settings);
}
