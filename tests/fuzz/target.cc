#include "tests/fuzz/target.h"

#include <algorithm>
#include <array>

#include "base/check.h"

namespace mneme::fuzz {

std::span<const Target> all_targets() {
  static const std::array kAll = {
      kSqlTarget,      kStatementsTarget, kArgumentsTarget, kManifestTarget,
      kLogTarget,      kCheckpointTarget, kCallTarget,      kChangesTarget,
      kRecoveryTarget, kMessagesTarget,   kLogServerTarget, kLogAnswersTarget,
      kSavedLogTarget, kReplicatedTarget, kNativeTarget,    kServerClientTarget,
  };
  return kAll;
}

const Target* find_target(std::string_view name) {
  if (name == kCanary.name) return &kCanary;
  const auto found = std::ranges::find(all_targets(), name, &Target::name);
  return found == all_targets().end() ? nullptr : &*found;
}

void expect_words(const Error& error) {
  CHECK(error.message.size() >= 10);
  CHECK(error.message.find(' ') != std::string::npos);
}

}  // namespace mneme::fuzz
