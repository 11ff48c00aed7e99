#include "experiments/runner.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <system_error>

#include "base/clock.h"
#include "base/words.h"
#include "experiments/evaluation.h"
#include "measurement/child/child.h"
#include "measurement/machine/host.h"

namespace mneme {
namespace {

using Json = nlohmann::ordered_json;
namespace fs = std::filesystem;

constexpr int kMostAttempts = 3;

// Returns whether the command makes a data directory. If so, the runner must pass --data-dir.
bool needs_directory(const std::vector<std::string>& words) {
  const auto log = std::ranges::find(words, "--log");
  if (words[0] == "run") return log == words.end() || log + 1 == words.end() || *(log + 1) != "off";
  const auto device = std::ranges::find(words, "--log-device");
  return words[0] == "logbench" && device != words.end() && device + 1 != words.end() &&
         *(device + 1) != "null";
}

// Returns the command with this round's seed, if the figure has one.
std::string with_seed(const std::string& command, const Plan& plan, uint32_t round) {
  if (!plan.figure->seed) return command;
  return replaced(command, "{seed}", std::to_string(*plan.figure->seed + round));
}

std::string round_key(const std::string& key, uint32_t round) {
  return fmt::format("{} {}", round, key);
}

// Returns the store's key for a measurement: the command, and the commands that make its databases.
std::string key_of(const Plan& plan, const std::string& command) {
  std::string key = command;
  for (const PlannedDatabase& database : plan.databases_of(command)) key += " of " + database.command;
  return key;
}

// Returns `error`, preceded by the command's place if the command comes from a file.
Error failed_at(const Plan& plan, const std::string& command, const Error& error) {
  const std::string place = place_of_command(plan, command);
  if (place.empty()) return error;
  return {error.kind, fmt::format("{}: {}", place, error.message)};
}

}  // namespace

Result<std::optional<Json>> ExperimentRunner::kept(const std::string& key, uint32_t round) const {
  if (options_.fresh && !measured_.contains(round_key(key, round))) return std::optional<Json>();
  return store_.find(key, round);
}

void ExperimentRunner::tell(const std::string& doing) const {
  if (!options_.progress) return;
  const double pace = guessed_seconds_ > 0 ? real_seconds_ / guessed_seconds_ : 1;
  options_.progress({done_, total_, std::max(0.0, seconds_left_) * pace, doing});
}

Result<void> ExperimentRunner::announce(const std::vector<Plan>& plans) {
  std::set<std::string> missing;
  std::set<std::string> databases;
  for (const Plan& plan : plans) {
    for (const std::string& command : plan.commands) {
      for (uint32_t round = 0; round < plan.rounds; ++round) {
        const std::string seeded = with_seed(command, plan, round);
        const std::string key = key_of(plan, seeded);
        const Result<std::optional<Json>> found = kept(key, round);
        if (!found) return found.error();
        if (found->has_value() || !missing.insert(round_key(key, round)).second) continue;
        seconds_left_ += expected_seconds(command);
        for (const PlannedDatabase& database : plan.databases_of(command)) {
          if (!databases.insert(database.command).second) continue;
          seconds_left_ += expected_seconds(database.command);
          ++total_;
        }
      }
    }
  }
  for (const Plan& plan : plans) {
    const Result<bool> lacks = lacks_any(plan);
    if (!lacks) return lacks.error();
    if (!*lacks) continue;
    for (const std::string& command : plan.commands)
      seconds_left_ += plan.warmup_rounds * expected_seconds(command);
    total_ += plan.warmup_rounds * plan.commands.size();
  }
  total_ += missing.size();
  return {};
}

Result<void> ExperimentRunner::make_database(const PlannedDatabase& database, const std::string& figure) {
  const std::string& command = database.command;
  if (databases_.contains(command)) return {};
  tell(figure);
  // The number keeps apart databases that two figures give the same name.
  const fs::path folder = store_.databases() / fmt::format("{}-{}", database.name, databases_.size() + 1);
  std::vector<std::string> words = words_of(command);
  words.insert(words.end(), {"--data-dir", folder.string(), "--quiet", "--json", "-"});
  const uint64_t begin_ns = monotonic_ns();
  const Result<Json> made = measure_command(words, options_.is_interrupted);
  if (!made) return made.error();
  const double guess = expected_seconds(command);
  real_seconds_ += static_cast<double>(monotonic_ns() - begin_ns) / 1e9;
  guessed_seconds_ += guess;
  seconds_left_ -= guess;
  ++done_;
  databases_.emplace(command, folder);
  return {};
}

Result<Json> ExperimentRunner::measure(const Plan& plan, const std::string& command) {
  std::error_code error;
  fs::create_directories(store_.databases(), error);
  if (error) return failed("cannot make the folder {}: {}", store_.databases().string(), error.message());
  const std::vector<PlannedDatabase> databases = plan.databases_of(command);
  const std::vector<std::string> names = database_names_in(command);
  for (size_t i = 0; i < names.size(); ++i) {
    if (i == databases.size() || databases[i].name != names[i]) {
      return failed("{} recovers a database \"{}\", and there is none", plan.figure->name, names[i]);
    }
    RETURN_IF_ERROR(make_database(databases[i], plan.figure->name));
  }
  tell(plan.figure->name);
  const fs::path scratch = store_.databases() / "measured";
  fs::remove_all(scratch, error);
  fs::create_directories(scratch, error);
  const double load = load_average().value_or(0);
  const uint64_t begin_ns = monotonic_ns();
  Json result;
  for (const PlannedStep& step : steps_of(command)) {
    Result<Json> part = run_step(plan, step.command, scratch);
    if (!part) return part.error();
    if (step.name.empty()) {
      result = std::move(*part);
    } else {
      result[step.name] = std::move(*part);
    }
  }
  const double guess = expected_seconds(command);
  real_seconds_ += static_cast<double>(monotonic_ns() - begin_ns) / 1e9;
  guessed_seconds_ += guess;
  seconds_left_ -= guess;
  ++done_;
  fs::remove_all(scratch, error);
  return Json{{"command", command},
              {"measured_at", utc_text(date())},
              {"load_average", load},
              {"program", options_.program},
              {"result", std::move(result)}};
}

Result<Json> ExperimentRunner::run_step(const Plan& plan, const std::string& command,
                                        const fs::path& scratch) const {
  std::vector<LogServerChild> servers;
  AxisTexts texts = {{std::string(kDirectoryName), (scratch / "database").string()}};
  for (const auto& [name, wanted] : {std::pair(kServerName, 1), std::pair(kServersName, 3)}) {
    if (command.find(fmt::format("{{{}}}", name)) == command.npos) continue;
    std::string& addresses = texts[std::string(name)];
    for (int i = 0; i < wanted; ++i) {
      Result<LogServerChild> server =
          LogServerChild::start(scratch / fmt::format("logd-{}", servers.size() + 1));
      if (!server) return server.error();
      addresses += (addresses.empty() ? "" : ",") + server->address();
      servers.push_back(std::move(*server));
    }
  }
  std::vector<std::string> words = words_of(command);
  for (std::string& word : words) {
    for (const PlannedDatabase& database : plan.databases) {
      if (word == "@" + database.name) word = databases_.at(database.command).string();
    }
    word = with_names(word, texts);
  }
  if (needs_directory(words)) words.insert(words.end(), {"--data-dir", texts[std::string(kDirectoryName)]});
  words.insert(words.end(), {"--quiet", "--json", "-"});
  return measure_command(words, options_.is_interrupted);
}

// Repeats a failed run: on a busy machine a run may give up after thousands of conflicts and succeed the next
// time. An interrupted run and a refused command (kinds other than kFailed) are not repeated.
Result<Json> ExperimentRunner::measure_patiently(const Plan& plan, const std::string& command) {
  Result<Json> result = measure(plan, command);
  for (int again = 1; again < kMostAttempts && !result.ok(); ++again) {
    if (result.error().kind != ErrorKind::kFailed || options_.is_interrupted()) break;
    result = measure(plan, command);
  }
  return result;
}

Result<bool> ExperimentRunner::lacks_any(const Plan& plan) const {
  for (uint32_t round = 0; round < plan.rounds; ++round) {
    for (const std::string& command : plan.commands) {
      const Result<std::optional<Json>> found = kept(key_of(plan, with_seed(command, plan, round)), round);
      if (!found) return found.error();
      if (!found->has_value()) return true;
    }
  }
  return false;
}

Result<void> ExperimentRunner::warm_up(const Plan& plan) {
  if (plan.warmup_rounds == 0) return {};
  const Result<bool> lacks = lacks_any(plan);
  if (!lacks) return lacks.error();
  if (!*lacks) return {};
  for (uint32_t round = 0; round < plan.warmup_rounds; ++round) {
    for (const std::string& command : plan.commands) {
      if (options_.is_interrupted()) return {};
      const Result<Json> result = measure_patiently(plan, with_seed(command, plan, 0));
      if (options_.is_interrupted()) return {};
      if (!result) return failed_at(plan, command, result.error());
      RETURN_IF_ERROR(check_values(plan, command, (*result)["result"]));
    }
  }
  return {};
}

Result<Measurements> ExperimentRunner::run(const Plan& plan) {
  Measurements measured;
  RETURN_IF_ERROR(warm_up(plan));
  for (uint32_t round = 0; round < plan.rounds; ++round) {
    for (size_t i = 0; i < plan.commands.size(); ++i) {
      const std::string& command = plan.commands[(i + round) % plan.commands.size()];
      const std::string seeded = with_seed(command, plan, round);
      const std::string key = key_of(plan, seeded);
      Result<std::optional<Json>> found = kept(key, round);
      if (!found) return found.error();
      if (found->has_value()) {
        reused_ += !measured_.contains(round_key(key, round));
        of_other_builds_ += (**found).value("program", "") != options_.program;
      } else if (!options_.is_interrupted()) {
        Result<Json> result = measure_patiently(plan, seeded);
        // An interrupted run is discarded, whatever it reported.
        if (options_.is_interrupted()) continue;
        if (!result) return failed_at(plan, command, result.error());
        if (plan.figure->seed) (*result)["seed"] = *plan.figure->seed + round;
        RETURN_IF_ERROR(store_.keep(key, round, *result));
        measured_.insert(round_key(key, round));
        *found = std::move(*result);
      }
      std::vector<Json>& rounds = measured[command];
      // Skips all rounds after an interrupted one: the n-th entry of a list must belong to the n-th round.
      if (!found->has_value() || rounds.size() != round) continue;
      if (round == 0) RETURN_IF_ERROR(check_values(plan, command, (**found)["result"]));
      rounds.push_back(std::move(**found));
    }
  }
  tell(plan.figure->name);
  return measured;
}

}  // namespace mneme
