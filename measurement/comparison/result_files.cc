#include "measurement/comparison/result_files.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <filesystem>
#include <fstream>
#include <span>

#include "measurement/machine/command_line.h"

namespace mneme {
namespace {

namespace fs = std::filesystem;
using ResultJson = nlohmann::ordered_json;

enum class Headline : uint8_t { kNo, kYes, kWithoutRate, kWithRate, kCounted };

constexpr std::string_view kInstructions = "instructions_per_call";

// A "*" stands for any one name, "**" for all that follow.
struct MetricRow {
  std::string_view command;
  std::string_view path;
  bool is_higher_better;
  Headline headline = Headline::kNo;
};

constexpr bool kHigher = true;
constexpr bool kLower = false;

constexpr MetricRow kMetrics[] = {{"run", kInstructions, kLower, Headline::kCounted},
                                  {"recover", kInstructions, kLower, Headline::kCounted},
                                  {"run", "throughput_tps", kHigher, Headline::kWithoutRate},
                                  {"run", "latency_us.p50", kLower, Headline::kWithRate},
                                  {"run", "latency_us.p99", kLower, Headline::kWithRate},
                                  {"run", "latency_us.*", kLower},
                                  {"run", "by_procedure.*.latency_us.*", kLower},
                                  {"run", "device_flush_us.*", kLower},
                                  {"run", "log_bytes_per_txn", kLower},
                                  {"run", "peak_rss_bytes", kLower},
                                  {"run", "memory_per_row_byte", kLower},
                                  {"recover", "total_seconds", kLower, Headline::kYes},
                                  {"recover", "checkpoint_seconds", kLower},
                                  {"recover", "log_load_seconds", kLower},
                                  {"recover", "analysis_seconds", kLower},
                                  {"recover", "replay_seconds", kLower},
                                  {"recover", "replay_tps", kHigher},
                                  {"recover", "peak_rss_bytes", kLower},
                                  {"recover", "memory_bytes", kLower},
                                  {"logbench", "inserts_per_s", kHigher, Headline::kYes},
                                  {"logbench", "results.*.inserts_per_s", kHigher, Headline::kYes},
                                  {"logbench", "bytes_per_s", kHigher},
                                  {"logbench", "results.*.bytes_per_s", kHigher},
                                  {"logbench", "latency_us.*", kLower},
                                  {"logbench", "results.*.latency_us.*", kLower},
                                  {"logbench", "device_flush_us.*", kLower},
                                  {"logbench", "results.*.device_flush_us.*", kLower},
                                  {"crash", "schemes.*.seconds", kLower, Headline::kYes},
                                  {"crash", "lost", kLower},
                                  {"crash", "invented", kLower},
                                  {"crash", "wrong_results", kLower}};

// Numbers that an option, the data or the machine decides.
constexpr std::string_view kNumbersThatAreSettings[] = {"threads",
                                                        "warehouses",
                                                        "scale",
                                                        "seed",
                                                        "adhoc",
                                                        "rate",
                                                        "mix.*",
                                                        "skew",
                                                        "transactions",
                                                        "warmup_seconds",
                                                        "loggers",
                                                        "duration_seconds",
                                                        "epoch_us",
                                                        "streams",
                                                        "numa_nodes",
                                                        "record_bytes",
                                                        "work_ns",
                                                        "outlier_bytes",
                                                        "rounds",
                                                        "outlier_percent",
                                                        "batch",
                                                        "lanes",
                                                        "host.cores",
                                                        "lanes_per_block",
                                                        "host.memory_bytes",
                                                        "host.numa_nodes",
                                                        "results.*.threads",
                                                        "results.*.record_bytes",
                                                        "results.*.work_ns",
                                                        "results.*.outlier_bytes",
                                                        "results.*.outlier_percent"};

// They differ from run to run, and are no conditions of it.
constexpr std::string_view kLeftOut[] = {"started", "state_digest", "acknowledged_lsn", "durable_lsn"};

// Options whose value is a place, which is another one in each run.
constexpr std::string_view kPlaces[] = {"--data-dir", "--json", "--histogram", "--trace", "--trace-html"};

// What the command line asks for, without the program's name and without places.
std::string request_of(std::string_view command_line) {
  const std::vector<std::string> words = command_line_words(command_line);
  std::vector<std::string> kept;
  for (size_t i = 1; i < words.size(); ++i) {
    const std::string_view option = std::string_view(words[i]).substr(0, words[i].find('='));
    if (std::ranges::find(kPlaces, option) == std::end(kPlaces)) {
      kept.push_back(words[i]);
    } else if (option.size() == words[i].size()) {
      ++i;
    }
  }
  return command_line_text(kept);
}

std::string_view first_part(std::string_view path) {
  return path.substr(0, path.find('.'));
}

std::string_view behind_first_part(std::string_view path) {
  const size_t dot = path.find('.');
  return dot == std::string_view::npos ? std::string_view() : path.substr(dot + 1);
}

bool matches(std::string_view pattern, std::string_view path) {
  while (!pattern.empty() && !path.empty()) {
    if (first_part(pattern) != "*" && first_part(pattern) != first_part(path)) return false;
    pattern = behind_first_part(pattern);
    path = behind_first_part(path);
  }
  return pattern.empty() && path.empty();
}

bool is_in(std::span<const std::string_view> patterns, std::string_view path) {
  return std::ranges::any_of(patterns, [&](std::string_view each) { return matches(each, path); });
}

void add_fields(const ResultJson& json, const std::string& path, ResultFields& fields) {
  if (is_in(kLeftOut, path)) return;
  if (json.is_object()) {
    for (const auto& [name, value] : json.items())
      add_fields(value, path.empty() ? name : path + "." + name, fields);
  } else if (json.is_array()) {
    if (path != "results") return;
    for (const ResultJson& each : json) {
      if (each.is_object()) add_fields(each, path + "." + each.value("buffer", "unnamed"), fields);
    }
  } else if (json.is_number() && !is_in(kNumbersThatAreSettings, path)) {
    fields.measured[path] = json.get<double>();
  } else if (path == "command_line" && json.is_string()) {
    fields.settings[path] = request_of(json.get<std::string>());
  } else {
    fields.settings[path] = json.is_string() ? json.get<std::string>() : json.dump();
  }
}

bool decides(Headline headline, const ResultFields& result) {
  if (result.is_counted) return headline == Headline::kCounted;
  switch (headline) {
    case Headline::kYes:
      return true;
    case Headline::kWithRate:
      return result.has_rate;
    case Headline::kWithoutRate:
      return !result.has_rate;
    case Headline::kNo:
    case Headline::kCounted:
      break;
  }
  return false;
}

Result<ResultFields> read_result(const std::string& path) {
  std::ifstream file(path);
  if (!file)
    return invalid_argument("cannot read {}: check that it is a file and that you may read it", path);
  const ResultJson json = ResultJson::parse(file, nullptr, false);
  if (!json.is_object()) {
    return invalid_argument("{} holds no JSON object: name results that a command wrote by --json", path);
  }
  return result_fields(path, json);
}

Result<std::vector<std::string>> files_of(const std::string& path) {
  std::error_code error;
  if (!fs::exists(path, error)) {
    return invalid_argument("there is no file or folder {}: name results that a command wrote by --json",
                            path);
  }
  if (!fs::is_directory(path, error)) return std::vector<std::string>{path};
  std::vector<std::string> files;
  for (const fs::directory_entry& entry : fs::directory_iterator(path, error)) {
    if (entry.path().extension() == ".json") files.push_back(entry.path());
  }
  if (error) return invalid_argument("cannot look through {}: {}", path, error.message());
  if (files.empty()) {
    return invalid_argument("{} holds no .json file: name a folder of results that a command wrote by --json",
                            path);
  }
  std::ranges::sort(files);
  return files;
}

}  // namespace

Result<ResultFields> result_fields(const std::string& path, const ResultJson& result) {
  ResultFields fields;
  fields.path = path;
  const auto command = result.find("command");
  if (command != result.end() && command->is_string()) fields.command = command->get<std::string>();
  const bool is_known =
      std::ranges::any_of(kMetrics, [&](const MetricRow& row) { return row.command == fields.command; });
  if (!is_known) {
    return invalid_argument("{} holds no result of run, recover, logbench or crash: only theirs are compared",
                            path);
  }
  if (const auto partial = result.find("partial"); partial != result.end() && *partial == true) {
    return invalid_argument("{} is what a command had come to when it was interrupted: leave it out", path);
  }
  const auto rate = result.find("rate");
  fields.has_rate = rate != result.end() && rate->is_number();
  if (const auto started = result.find("started"); started != result.end() && started->is_string())
    fields.started = *started;
  add_fields(result, "", fields);
  fields.is_counted = fields.measured.contains(std::string(kInstructions));
  return fields;
}

Result<std::vector<ResultFields>> read_results(const std::string& path) {
  const Result<std::vector<std::string>> files = files_of(path);
  if (!files) return files.error();
  std::vector<ResultFields> results;
  for (const std::string& file : *files) {
    Result<ResultFields> fields = read_result(file);
    if (!fields) return fields.error();
    if (!results.empty() && results.front().command != fields->command) {
      return invalid_argument("{} is a result of {}, and {} of {}: compare those of one command",
                              results.front().path, results.front().command, file, fields->command);
    }
    results.push_back(*std::move(fields));
  }
  return results;
}

std::optional<MetricKind> metric_kind(const ResultFields& result, std::string_view path) {
  for (const MetricRow& row : kMetrics) {
    if (row.command != result.command || !matches(row.path, path)) continue;
    return MetricKind{row.is_higher_better, decides(row.headline, result)};
  }
  return std::nullopt;
}

}  // namespace mneme
