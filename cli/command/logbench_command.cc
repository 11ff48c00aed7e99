// mneme logbench: how many records a second threads can put into a log buffer, one buffer or all of them.
#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <filesystem>
#include <memory>

#include "base/file/directory.h"
#include "cli/command/commands.h"
#include "cli/measure/log_bench.h"
#include "cli/option/log_buffer_settings.h"
#include "cli/option/log_device_settings.h"
#include "cli/option/option_table.h"
#include "cli/option/output_options.h"
#include "cli/output/duration_text.h"
#include "cli/output/output.h"
#include "cli/output/provenance.h"
#include "cli/output/text.h"
#include "logging/record/record_format.h"

namespace mneme {
namespace {

constexpr size_t kLargestRecordBytes = kRecordHeaderBytes + kMaxPayloadBytes;

// Reads a number at the front of `text` and takes it off.
bool take_number(std::string_view& text, double& number) {
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc() || number < 0) return false;
  text.remove_prefix(static_cast<size_t>(end - text.data()));
  return true;
}

// "65536:1.6": bytes and percent.
Result<void> read_outliers(std::string_view text, LogBenchOptions& options) {
  const std::string_view whole = text;
  double bytes = 0;
  double percent = 0;
  const bool good = take_number(text, bytes) && text.starts_with(':') && (text.remove_prefix(1), true) &&
                    take_number(text, percent) && text.empty() && percent <= 100;
  if (!good) return invalid_argument("--outliers {}: say BYTES:PERCENT, as in 65536:1.6", whole);
  options.outlier_bytes = static_cast<size_t>(bytes);
  options.outlier_percent = percent;
  return {};
}

struct LogbenchCommand {
  LogBufferSettings settings;
  LogBenchOptions options;
  std::string work = "0ns";
  std::string outliers;
  LogDeviceSettings device{"null"};
  std::string directory = "./mneme-logbench";
  uint32_t rounds = 1;
  Output output;

  // A buffer, and what it reached round by round.
  struct Measured {
    LogBufferKind kind;
    std::vector<LogBenchReport> runs;

    // The run in the middle, by inserts a second.
    const LogBenchReport& median() const {
      std::vector<const LogBenchReport*> sorted;
      for (const LogBenchReport& run : runs) sorted.push_back(&run);
      std::ranges::sort(sorted, {}, &LogBenchReport::inserts_per_s);
      return *sorted[(sorted.size() - 1) / 2];
    }
  };

  Result<void> run(const CLI::App& command) {
    const Provenance provenance(device.device() == "null" ? "" : directory);
    const Result<std::vector<LogBufferKind>> kinds = settings.kinds(command, /*all_allowed=*/true);
    if (!kinds) return kinds.error();
    RETURN_IF_ERROR(read_options(command));
    std::vector<Measured> measured;
    for (const LogBufferKind kind : *kinds) measured.push_back({kind, {}});
    // Round by round, so that what disturbs the machine for a while falls on all buffers.
    for (uint32_t round = 0; round < rounds; ++round) {
      for (Measured& each : measured) {
        const Result<LogBenchReport> report = measure(each.kind);
        if (!report) return report.error();
        each.runs.push_back(*report);
      }
    }
    for (const std::string& notice : measured.front().runs.front().notices) output.notice(notice);
    output.text(text_of(measured));
    Json json = json_of(measured.front());
    if (settings.name() == "all") {
      json = {{"command", "logbench"}, {"results", Json::array()}};
      for (const Measured& each : measured) json["results"].push_back(json_of(each));
    }
    provenance.add_to(json);
    return output.json(json);
  }

 private:
  Result<void> read_options(const CLI::App& command) {
    const Result<LogBufferTuning> tuning = settings.tuning();
    if (!tuning) return tuning.error();
    options.tuning = *tuning;
    const Result<std::chrono::nanoseconds> work_time = duration_of("--work", work);
    if (!work_time) return work_time.error();
    options.work_ns = static_cast<double>(work_time->count());
    if (!outliers.empty()) RETURN_IF_ERROR(read_outliers(outliers, options));
    const size_t smallest = options.outlier_percent > 0
                                ? std::min(options.record_bytes, options.outlier_bytes)
                                : options.record_bytes;
    const size_t largest = std::max(options.record_bytes, options.outlier_bytes);
    if (smallest < kRecordHeaderBytes || largest > kLargestRecordBytes) {
      return invalid_argument("records have {} bytes, header included, to {}", kRecordHeaderBytes,
                              kLargestRecordBytes);
    }
    if (options.bytes > 0 && command.count("--duration") > 0) {
      return invalid_argument("--bytes takes the place of --duration: leave one of them out");
    }
    if (!bare()) {
      if (settings.is_distributed()) RETURN_IF_ERROR(settings.choose(command, options.log));
      RETURN_IF_ERROR(device.choose(command, options.log));
      if (traits_of(options.log.device).is_bounded) {
        return invalid_argument(
            "a log on other machines goes round, and needs checkpoints, of which logbench takes none: "
            "measure it "
            "by `mneme run`");
      }
      if (options.bytes > 0 && !traits_of(options.log.device).has_flusher) {
        return invalid_argument(
            "--bytes measures a flusher that makes records durable, and {} needs none for that: leave it out",
            device.device());
      }
      return {};
    }
    for (const char* option : option_names(OptionGroup::kLogDevice)) {
      if (std::string_view(option) != "--log-device" && command.count(option) > 0) {
        return invalid_argument(
            "{} is for a durable log, and the null device stands for the buffer alone: choose "
            "--log-device file",
            option);
      }
    }
    if (command.count("--data-dir") > 0) {
      return invalid_argument("--data-dir is for a durable log: the null device needs no directory");
    }
    return {};
  }

  // Whether the buffer alone is measured.
  bool bare() const { return device.device() == "null" && !settings.is_distributed(); }

  Result<LogBenchReport> measure(LogBufferKind kind) {
    options.buffer = kind;
    if (bare()) return run_log_bench(options);
    std::error_code error;
    if (std::filesystem::exists(directory, error)) {
      return invalid_argument("{} exists: name a directory that logbench may make, write to and remove",
                              directory);
    }
    RETURN_IF_ERROR(make_directories(directory));
    options.directory = directory;
    Result<LogBenchReport> report = run_log_bench(options);
    std::filesystem::remove_all(directory, error);
    return report;
  }

  std::string_view name(const Measured& measured) const {
    return !traits_of(options.log.device).has_flusher || settings.is_distributed() ? buffer_name(options.log)
                                                                                   : name_of(measured.kind);
  }

  std::string text_of(const std::vector<Measured>& measured) const {
    std::vector<std::vector<std::string>> rows = {
        {"buffer", "inserts/s", "bytes/s", "p50", "p99", "flush p50", "p99", "crawled"}};
    for (const Measured& each : measured) {
      const LogBenchReport& report = each.median();
      const auto quantile = [&](double q) {
        return seconds_text(static_cast<double>(report.latency_ns.quantile(q)) / 1e9);
      };
      const auto flush_quantile = [&](double q) {
        const bool has_flusher = report.log && !hardens_by_worker(options.log);
        return has_flusher ? seconds_text(static_cast<double>(report.log->flusher.flush_ns.quantile(q)) / 1e9)
                           : "";
      };
      rows.push_back({std::string(name(each)), thousands(static_cast<uint64_t>(report.inserts_per_s())),
                      bytes_text(static_cast<uint64_t>(report.bytes_per_s())), quantile(0.5), quantile(0.99),
                      flush_quantile(0.5), flush_quantile(0.99),
                      report.crawling_ratio ? fmt::format("{:.1f}%", 100 * *report.crawling_ratio) : ""});
    }
    return fmt::format(
               "{} on {}, records of {}{}, {} between inserts{}\n", counted(options.threads, "thread"),
               fmt::format("the {} device", device.device()), bytes_text(options.record_bytes),
               outliers.empty() ? ""
                                : fmt::format(" and {} for {}% of them", bytes_text(options.outlier_bytes),
                                              options.outlier_percent),
               work, rounds == 1 ? "" : fmt::format(", the median of {} rounds", rounds)) +
           table_text(rows);
  }

  Json json_of(const Measured& measured) const {
    const LogBenchReport& report = measured.median();
    Json object = {{"command", "logbench"},
                   {"buffer", name(measured)},
                   {"device", device.device()},
                   {"threads", options.threads},
                   {"record_bytes", options.record_bytes},
                   {"work_ns", options.work_ns},
                   {"outlier_bytes", options.outlier_bytes},
                   {"outlier_percent", options.outlier_percent},
                   {"seconds", report.seconds},
                   {"inserts", report.inserts},
                   {"inserts_per_s", report.inserts_per_s()},
                   {"bytes_per_s", report.bytes_per_s()},
                   {"latency_us", latency_json(report.latency_ns)}};
    if (report.log) {
      object["device_flush_us"] = latency_json(report.log->flusher.flush_ns);
      object["device_flushes"] = report.log->device.flushes;
      object["device_bytes"] = report.log->device.device_bytes;
      object["device_bytes_per_s"] = static_cast<double>(report.log->device.device_bytes) / report.seconds;
      object["segment_waits"] = report.log->device.segment_waits;
      object["flusher_processor_seconds"] = static_cast<double>(report.log->flusher.processor_ns) / 1e9;
    }
    if (report.crawling_ratio) object["crawling_ratio"] = *report.crawling_ratio;
    Json& runs = object["runs_inserts_per_s"] = Json::array();
    for (const LogBenchReport& run : measured.runs) runs.push_back(run.inserts_per_s());
    return object;
  }
};

}  // namespace

void add_logbench_command(CLI::App& program, Action& chosen) {
  auto command = std::make_shared<LogbenchCommand>();
  CLI::App* app =
      program.add_subcommand("logbench", "how many records a second threads put into a log buffer");
  const OptionTaker take(*app);
  command->settings.add_options(*app);
  take("--threads", command->options.threads);
  take("--record-bytes", command->options.record_bytes);
  take("--work", command->work);
  take("--outliers", command->outliers);
  take("--duration", command->options.seconds);
  take("--rounds", command->rounds);
  take("--bytes", command->options.bytes);
  command->device.add_options(*app);
  take("--data-dir", command->directory);
  add_output_options(*app, command->output);
  app->callback([&chosen, command, app] { chosen = [command, app] { return command->run(*app); }; });
}

}  // namespace mneme
