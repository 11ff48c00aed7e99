#include "recovery/database/recovery_schemes.h"

#include <algorithm>
#include <ranges>
#include <vector>

#include "base/check.h"
#include "recovery/calls/serial_replayer.h"
#include "recovery/calls/sliced_replayer.h"
#include "recovery/log/replayer.h"
#include "recovery/rows/location_replayer.h"
#include "recovery/rows/shuffle_replayer.h"
#include "recovery/rows/unordered_replayer.h"

namespace mneme {

namespace {

// From the slowest scheme to the fastest. A log's default is the last one that can recover it.
constexpr RecoveryScheme kSchemes[] = {
    {.name = "clr",
     .summary = "calls, one after the other",
     .replays = Replays::kCalls,
     .is_parallel = false,
     .shows_calls = true,
     .make = make_serial_replayer},
    {.name = "clr-p",
     .summary = "calls, in parallel",
     .replays = Replays::kCalls,
     .cuts_calls = true,
     .make = make_sliced_replayer},
    {.name = "llr",
     .summary = "rows, in any order, latched",
     .replays = Replays::kKeyedRows,
     .needs_whole_images = true,
     .make = make_unordered_replayer},
    {.name = "llr-p",
     .summary = "rows, distributed to threads by key",
     .replays = Replays::kKeyedRows,
     .make = make_shuffle_replayer},
    {.name = "plr",
     .summary = "rows, by location, then indexes",
     .replays = Replays::kLocatedRows,
     .needs_whole_images = true,
     .builds_indexes_last = true,
     .make = make_location_replayer},
};

// Returns whether such records hold what the scheme replays. Does not check which images they hold.
bool reads(const RecoveryScheme& scheme, RecordContent records) {
  switch (scheme.replays) {
    case Replays::kCalls:
      return holds_calls(records);
    case Replays::kKeyedRows:
      return holds_keys(records);
    case Replays::kLocatedRows:
      return holds_locations(records);
  }
  return false;
}

// Returns whether recovery must leave rows in the slots that the log names. No scheme can put an image of the
// changed columns alone into a slot, so locations beside such images are of no use.
bool must_keep_slots(RecordContent records, TupleImage image) {
  return holds_locations(records) && image == TupleImage::kFull;
}

bool serves(const RecoveryScheme& scheme, RecordContent records, TupleImage image) {
  return reads(scheme, records) && !(scheme.needs_whole_images && image == TupleImage::kChanged);
}

bool leaves_slots_wrong(const RecoveryScheme& scheme, RecordContent records, TupleImage image) {
  return scheme.replays != Replays::kLocatedRows && must_keep_slots(records, image);
}

}  // namespace

std::span<const RecoveryScheme> recovery_schemes() {
  return kSchemes;
}

Result<const RecoveryScheme*> recovery_scheme(std::string_view name) {
  const auto found = std::ranges::find(kSchemes, name, &RecoveryScheme::name);
  if (found != std::end(kSchemes)) return &*found;
  std::vector<std::string_view> names;
  for (const RecoveryScheme& each : kSchemes) names.push_back(each.name);
  return invalid_argument("{} is no recovery scheme: choose one of {}", name, fmt::join(names, ", "));
}

const RecoveryScheme& scheme_that_shows_calls() {
  return *std::ranges::find(kSchemes, true, &RecoveryScheme::shows_calls);
}

Result<void> check_served(const RecoveryScheme& scheme, RecordContent records, TupleImage image) {
  const std::string_view fitting = default_scheme(records, image).name;
  if (scheme.replays_calls() && !holds_calls(records)) {
    return invalid_argument(
        "{} replays procedure calls, and this log holds rows (--log {}): recover it with {}", scheme.name,
        name_of(records), fitting);
  }
  if (!scheme.replays_calls() && !holds_images(records)) {
    return invalid_argument(
        "{} replays the rows that transactions changed, and this log holds procedure calls (--log {}): "
        "recover it with {}",
        scheme.name, name_of(records), fitting);
  }
  if (!reads(scheme, records) && scheme.replays == Replays::kLocatedRows) {
    return invalid_argument(
        "{} puts rows where they lay, and this log does not say where that was (--log {}): recover it with "
        "{}",
        scheme.name, name_of(records), fitting);
  }
  if (!reads(scheme, records)) {
    return invalid_argument(
        "{} finds rows by their primary keys, and this log names them by their locations, also those that "
        "have no key (--log {}): recover it with {}",
        scheme.name, name_of(records), fitting);
  }
  if (serves(scheme, records, image)) return {};
  return invalid_argument(
      "{} lets the newest image of a row win, and this log's updates hold the changed columns alone "
      "(--tuple-image changed), so that older changes of other columns would be lost{}",
      scheme.name, holds_keys(records) ? fmt::format(": recover it with {}", fitting) : "");
}

const RecoveryScheme& default_scheme(RecordContent records, TupleImage image) {
  const RecoveryScheme* reader = nullptr;
  for (const RecoveryScheme& each : kSchemes | std::views::reverse) {
    if (!reads(each, records) || leaves_slots_wrong(each, records, image)) continue;
    if (serves(each, records, image)) return each;
    if (reader == nullptr) reader = &each;
  }
  // No scheme serves the log. check_served() explains why the fastest one that reads it does not.
  CHECK(reader != nullptr);
  return *reader;
}

Result<void> check_served_for_work(const RecoveryScheme& scheme, RecordContent records, TupleImage image) {
  if (leaves_slots_wrong(scheme, records, image)) {
    return invalid_argument(
        "{} does not keep rows where this log (--log {}) says that they lie, and what is logged next must "
        "lie there as well: open it with {}",
        scheme.name, name_of(records), default_scheme(records, image).name);
  }
  return check_served(scheme, records, image);
}

}  // namespace mneme
