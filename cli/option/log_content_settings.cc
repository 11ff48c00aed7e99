#include "cli/option/log_content_settings.h"

#include <fmt/ranges.h>

#include "cli/option/option_table.h"
#include "cli/option/record_content_option.h"
#include "logging/directory/manifest.h"

namespace mneme {

void LogContentSettings::add_options(CLI::App& command) {
  const OptionTaker take(command);
  take("--log", log);
  take("--tuple-image", tuple_image);
  add_ad_hoc_option(command);
}

void LogContentSettings::add_ad_hoc_option(CLI::App& command) {
  OptionTaker{command}("--adhoc", ad_hoc_percent);
}

Result<LogContent> LogContentSettings::content() const {
  const Result<RecordContent> records = record_content_option(log, "");
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
  return LogContent{*records, *image};
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
  RETURN_IF_ERROR(overrule("--log", log, name_of(manifest->records)));
  RETURN_IF_ERROR(overrule("--tuple-image", tuple_image, name_of(manifest->tuple_image)));
  if (const Result<LogContent> checked = content(); !checked) return checked.error();
  return {};
}

Result<void> LogContentSettings::check_off(const CLI::App& command) const {
  for (const char* option : {"--tuple-image", "--adhoc"}) {
    if (command.count(option) > 0)
      return invalid_argument("{} concerns a log, and --log off keeps none: leave one of them out", option);
  }
  return {};
}

}  // namespace mneme
