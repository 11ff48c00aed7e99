#include "recovery/log/recovery_scheme.h"

#include <algorithm>
#include <array>

namespace mneme {

namespace {

constexpr std::array<std::string_view, kRecoverySchemes.size()> kSchemeNames = {"clr", "clr-p", "llr",
                                                                                "llr-p", "plr"};

// Locations beside images that PLR refuses are of use to nobody.
bool must_keep_slots(RecordContent records, TupleImage image) {
  return holds_locations(records) && image == TupleImage::kFull;
}

}  // namespace

Result<RecoveryScheme> recovery_scheme(std::string_view name) {
  const auto found = std::ranges::find(kSchemeNames, name);
  if (found != kSchemeNames.end()) return static_cast<RecoveryScheme>(found - kSchemeNames.begin());
  return invalid_argument("{} is no recovery scheme: choose one of {}", name, fmt::join(kSchemeNames, ", "));
}

std::string_view name_of(RecoveryScheme scheme) {
  return kSchemeNames[static_cast<size_t>(scheme)];
}

Result<void> check_served(RecoveryScheme scheme, RecordContent records, TupleImage image) {
  if (replays_calls(scheme) && !holds_calls(records)) {
    return invalid_argument(
        "{} replays procedure calls, and this log holds rows (--log {}): recover it with {}", name_of(scheme),
        name_of(records), name_of(default_scheme(records, image)));
  }
  if (!replays_calls(scheme) && !holds_images(records)) {
    return invalid_argument(
        "{} replays the rows that transactions changed, and this log holds procedure calls (--log {}): "
        "recover it "
        "with {}",
        name_of(scheme), name_of(records), name_of(default_scheme(records, image)));
  }
  if (scheme == RecoveryScheme::kPlr && !holds_locations(records)) {
    return invalid_argument(
        "plr puts rows where they lay, and this log does not say where that was (--log {}): recover it with "
        "{}",
        name_of(records), name_of(default_scheme(records, image)));
  }
  if (!replays_calls(scheme) && scheme != RecoveryScheme::kPlr && !holds_keys(records)) {
    return invalid_argument(
        "{} finds rows by their primary keys, and this log names them by their locations, also those that "
        "have no "
        "key (--log {}): recover it with {}",
        name_of(scheme), name_of(records), name_of(default_scheme(records, image)));
  }
  const bool needs_whole = scheme == RecoveryScheme::kLlr || scheme == RecoveryScheme::kPlr;
  if (needs_whole && image == TupleImage::kChanged) {
    return invalid_argument(
        "{} lets the newest image of a row win, and this log's updates hold the changed columns alone "
        "(--tuple-image changed), so that older changes of other columns would be lost{}",
        name_of(scheme), holds_keys(records) ? ": recover it with llr-p" : "");
  }
  return {};
}

RecoveryScheme default_scheme(RecordContent records, TupleImage image) {
  if (records == RecordContent::kPhysical || must_keep_slots(records, image)) return RecoveryScheme::kPlr;
  return holds_images(records) ? RecoveryScheme::kLlrP : RecoveryScheme::kClrP;
}

Result<void> check_served_for_work(RecoveryScheme scheme, RecordContent records, TupleImage image) {
  if (scheme != RecoveryScheme::kPlr && must_keep_slots(records, image)) {
    return invalid_argument(
        "{} does not keep rows where this log (--log {}) says that they lie, and what is logged next must "
        "lie there as "
        "well: open it with plr",
        name_of(scheme), name_of(records));
  }
  return check_served(scheme, records, image);
}

}  // namespace mneme
