#include "cli/option/log_content_settings.h"

#include <fmt/ranges.h>

#include <algorithm>
#include <thread>

#include "cli/option/option_table.h"
#include "cli/option/record_content_option.h"
#include "logging/directory/manifest.h"

namespace mneme {

LogContentSettings::LogContentSettings() : replay_cores(std::max(1u, std::thread::hardware_concurrency())) {}

void LogContentSettings::add_options(CLI::App& command) {
  OptionTaker{command}("--tuple-image", tuple_image);
  add_run_options(command);
}

void LogContentSettings::add_run_options(CLI::App& command) {
  const OptionTaker take(command);
  take("--log", log);
  take("--hints", hints);
  take("--replay-cores", replay_cores);
  take("--log-growth", log_growth);
  add_ad_hoc_option(command);
  may_adapt_ = true;
}

void LogContentSettings::add_ad_hoc_option(CLI::App& command) {
  OptionTaker{command}("--adhoc", ad_hoc_percent);
}

Result<LogContent> LogContentSettings::content() const {
  const Result<RecordContent> records = may_adapt_ && is_adaptive()
                                            ? Result<RecordContent>(RecordContent::kCommand)
                                            : record_content_option(log, may_adapt_ ? "adaptive" : "");
  if (!records) return records.error();
  const std::optional<TupleImage> image = mneme::tuple_image(tuple_image);
  if (!image)
    return invalid_argument("--tuple-image {}: there are {}", tuple_image,
                            fmt::join(kTupleImageNames, " and "));
  if (ad_hoc_percent > 0 && !holds_calls(*records)) {
    return invalid_argument(
        "--adhoc is for transactions that are logged by rows among calls, and --log {} holds rows "
        "of all of them: leave one of them out",
        log);
  }
  if (*image == TupleImage::kChanged && *records == RecordContent::kPhysical) {
    return invalid_argument(
        "--tuple-image changed: plr, which alone replays --log physical, lets the newest image of a "
        "row win and needs whole ones: leave it out");
  }
  return LogContent{*records, *image, may_adapt_ && has_hints()};
}

Result<void> LogContentSettings::keep(const CLI::App& command, const std::string& directory) {
  const Result<Manifest> manifest = read_manifest(directory);
  if (!manifest) return manifest.error();
  const auto overrule = [&](const char* option, std::string& value, std::string_view held) -> Result<void> {
    if (command.count(option) > 0 && value != held) {
      return invalid_argument("{} was created with {} {}, which --resume keeps: leave the option out",
                              directory, option, held);
    }
    value = held;
    return {};
  };
  if (!is_adaptive()) {
    RETURN_IF_ERROR(overrule("--log", log, name_of(manifest->records)));
  } else if (manifest->records != RecordContent::kCommand) {
    return invalid_argument(
        "--log adaptive goes on with a log of calls, and {} was created with --log {}, which --resume keeps: "
        "leave the option out",
        directory, name_of(manifest->records));
  }
  RETURN_IF_ERROR(overrule("--tuple-image", tuple_image, name_of(manifest->tuple_image)));
  RETURN_IF_ERROR(check_hints(command));
  if (const Result<LogContent> checked = content(); !checked) return checked.error();
  return {};
}

Result<void> LogContentSettings::check_hints(const CLI::App& command) const {
  const bool is_refused = command.count("--hints") > 0 && !is_adaptive() && log != "command";
  if (!is_refused) return {};
  return invalid_argument(
      "--hints is for calls whose keys replay could not know, and --log {} holds rows: leave one of them out",
      log);
}

Result<void> LogContentSettings::check_off(const CLI::App& command) const {
  for (const char* option : {"--tuple-image", "--adhoc", "--hints", "--replay-cores", "--log-growth"}) {
    if (command.count(option) > 0)
      return invalid_argument("{} concerns a log, and --log off keeps none: leave one of them out", option);
  }
  return {};
}

Result<void> LogContentSettings::check_adaptive(const CLI::App& command) const {
  RETURN_IF_ERROR(check_hints(command));
  for (const char* option : {"--replay-cores", "--log-growth"}) {
    if (!is_adaptive() && command.count(option) > 0)
      return invalid_argument("{} is for a log that adapts: give --log adaptive as well", option);
  }
  if (log_growth < 1)
    return invalid_argument(
        "--log-growth {}: 1 is a log that stays as long as one of calls, so give 1 or more", log_growth);
  return {};
}

std::vector<std::string> LogContentSettings::run_arguments() const {
  std::vector<std::string> arguments = {"--adhoc", std::to_string(ad_hoc_percent), "--hints", hints};
  if (is_adaptive()) {
    for (const std::string& word :
         {std::string("--log"), log, std::string("--replay-cores"), std::to_string(replay_cores),
          std::string("--log-growth"), fmt::format("{}", log_growth)})
      arguments.push_back(word);
  }
  return arguments;
}

std::unique_ptr<AdaptiveLogging> LogContentSettings::start_adaptive(const Program& program,
                                                                    const Database& database,
                                                                    SessionOptions& session) const {
  if (!is_adaptive()) return nullptr;
  AdviserOptions options;
  options.cores = replay_cores;
  options.most_growth = log_growth;
  options.log_has_rows = ad_hoc_percent > 0;
  auto adaptive = std::make_unique<AdaptiveLogging>(program, database.schema(), options);
  session.choices = adaptive->choices();
  return adaptive;
}

}  // namespace mneme
