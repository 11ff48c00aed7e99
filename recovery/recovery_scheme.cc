#include "recovery/recovery_scheme.h"

#include <algorithm>
#include <array>

namespace mneme {

namespace {

constexpr std::array<std::string_view, kRecoverySchemes.size()> kSchemeNames = {"clr", "clr-p", "llr",
                                                                                "llr-p"};

}  // namespace

Result<RecoveryScheme> recovery_scheme(std::string_view name) {
  const auto found = std::ranges::find(kSchemeNames, name);
  if (found != kSchemeNames.end()) return static_cast<RecoveryScheme>(found - kSchemeNames.begin());
  return invalid_argument("{} is no recovery scheme: choose one of {}", name, fmt::join(kSchemeNames, ", "));
}

std::string_view name_of(RecoveryScheme scheme) {
  return kSchemeNames[static_cast<size_t>(scheme)];
}

Result<void> check_served(RecoveryScheme scheme, RecordContent records) {
  if (replays_calls(scheme) && !holds_calls(records)) {
    return invalid_argument(
        "{} replays procedure calls, and this log holds rows (--log {}): recover it with {}", name_of(scheme),
        name_of(records), name_of(default_scheme(records)));
  }
  if (!replays_calls(scheme) && !holds_images(records)) {
    return invalid_argument(
        "{} replays the rows that transactions changed, and this log holds procedure calls (--log {}): "
        "recover it "
        "with {}",
        name_of(scheme), name_of(records), name_of(default_scheme(records)));
  }
  return {};
}

RecoveryScheme default_scheme(RecordContent records) {
  return holds_images(records) ? RecoveryScheme::kLlrP : RecoveryScheme::kClrP;
}

}  // namespace mneme
