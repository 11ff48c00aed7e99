#include "recovery/log/recovery_report.h"

#include <algorithm>
#include <array>

namespace mneme {

namespace {

constexpr std::array<std::string_view, 6> kStageNames = {"checkpoint",  "log",    "analysis",
                                                         "compilation", "replay", "indexes"};

}  // namespace

std::string_view name_of(RecoveryStage stage) {
  return kStageNames[static_cast<size_t>(stage)];
}

void RecoveryReport::add_notice(const std::string& notice) {
  if (std::ranges::find(notices, notice) == notices.end()) notices.push_back(notice);
}

}  // namespace mneme
