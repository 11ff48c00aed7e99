#include "tests/simulator/examination.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <span>
#include <utility>
#include <vector>

#include "cli/measure/recovery_text.h"
#include "engine/transaction/digest.h"
#include "logging/directory/log_archive.h"
#include "logging/testing/stale_blocks.h"
#include "recovery/database/recover.h"
#include "recovery/database/recovery_schemes.h"
#include "tests/simulator/ledger_judge.h"
#include "tests/simulator/log_hashes.h"
#include "tests/simulator/rot.h"
#include "tests/simulator/simulated_threads.h"

namespace mneme::simulator {

namespace {

class Examination {
 public:
  Examination(const Scenario& scenario, uint64_t lives, LifesEnd end, const Folders& folders,
              Manifest manifest, Shared& shared)
      : scenario_(scenario),
        lives_(lives),
        end_(end),
        folders_(folders),
        manifest_(std::move(manifest)),
        // A log in memories lets go of what a checkpoint has passed, and no archive keeps it; nor does one
        // keep segments that are reused: what lies before is not judged.
        is_whole_((scenario.device == 0 && scenario.reuse == 0) ||
                  manifest_.checkpoint_lsn == kCheckpointLsn),
        shared_(shared),
        judge_(scenario, lives, shared) {}

  std::optional<std::string> run() {
    for (const RecoveryScheme& each : recovery_schemes()) {
      if (check_served(each, manifest_.records, manifest_.tuple_image)) schemes_.push_back(&each);
    }
    if (manifest_.checkpoint_lsn != kCheckpointLsn) ++shared_.counts.from_checkpoints;
    shared_.counts.stale_blocks += test::count_stale_blocks(folders_.data, manifest_);
    // First of the whole log, which an archive has where checkpoints have shortened it.
    RecoverOptions whole;
    whole.scheme = schemes_.front();
    whole.keep_log = true;
    if (std::filesystem::exists(archive_folder(folders_.archive, manifest_.database_id)))
      whole.log_archive = folders_.archive;
    if (auto trouble = take_whole(whole)) return trouble;
    for (const RecoveryScheme* each : schemes_) {
      RecoverOptions how;
      how.scheme = each;
      how.replay.threads = 2;
      const auto recovered = take(how, std::string(each->name));
      if (!recovered) return recovered.error().message;
    }
    if (scenario_.rot == 0) return std::nullopt;
    const RotSetting setting{scenario_,         lives_,  folders_, manifest_, schemes_,
                             whole.log_archive, digest_, judge_,   is_whole_};
    return examine_rot(setting, shared_.counts);
  }

 private:
  Result<RecoveredDatabase> take(const RecoverOptions& how, const std::string& name) {
    auto recovered = recover(folders_.data, how);
    if (!recovered) return failed("{} can't recover: {}", name, recovered.error().message);
    const std::string digest = digest_text(*recovered->database, 1);
    if (digest_.empty()) digest_ = digest;
    if (digest != digest_) return failed("{} recovers {}, and serial replay {}", name, digest, digest_);
    const auto indexes = verify_indexes(*recovered->database);
    if (!indexes)
      return failed("{} recovers indexes that are not the rows': {}", name, indexes.error().message);
    return recovered;
  }

  std::optional<std::string> take_whole(const RecoverOptions& whole) {
    const auto recovered = take(whole, fmt::format("{} of the whole log", whole.scheme->name));
    if (!recovered) return recovered.error().message;
    if (!is_whole_) {
      shared_.found = kNever;
      return judge_.judge_records(recovered->log, manifest_.checkpoint_lsn);
    }
    if (auto trouble = compare_with_before(recovered->log)) return trouble;
    if (auto trouble = judge_.judge(recovered->log, *recovered->database)) return trouble;
    // A record that no client was told of may be at only one server, which is away now and back later.
    if (scenario_.network == 0 && end_ == LifesEnd::kPowerFailed) judge_.settle();
    return std::nullopt;
  }

  // Nothing that was there may go or change, and nothing come before its end.
  std::optional<std::string> compare_with_before(const LogContents& log) {
    const std::vector<uint64_t> hashes = hashes_of(log);
    const FoundLog before = shared_.has_cached && shared_.has_opened ? shared_.cached : shared_.settled;
    const bool is_alike =
        before.records == 0 || (before.records <= hashes.size() && hashes[before.records - 1] == before.hash);
    if (!is_alike)
      return fmt::format("of the {} records that the log had before, not all are there as they were",
                         before.records);
    shared_.found = hashes.size();
    // A record that no client was told of may be at only one server, which may be away when the log is read
    // for work.
    const Lsn last = scenario_.network == 0 ? Lsn{kNever} : judge_.last_acknowledged();
    FoundLog found;
    found.records = static_cast<uint64_t>(std::ranges::count_if(log.records, [&](const RecordView& each) {
      return each.kind != RecordKind::kSkip && each.lsn <= last;
    }));
    found.hash = found.records == 0 ? 0 : hashes[found.records - 1];
    shared_.has_cached = end_ == LifesEnd::kKilled;
    shared_.settled = shared_.has_cached ? before : found;
    shared_.cached = found;
    return std::nullopt;
  }

  const Scenario& scenario_;
  const uint64_t lives_;
  const LifesEnd end_;
  const Folders& folders_;
  const Manifest manifest_;
  const bool is_whole_;
  Shared& shared_;
  LedgerJudge judge_;
  std::vector<const RecoveryScheme*> schemes_;
  std::string digest_;  // of the first recovery
};

}  // namespace

std::optional<std::string> examine(const Scenario& scenario, uint64_t lives, LifesEnd end,
                                   const Folders& folders, Shared& shared) {
  auto manifest = read_manifest(folders.data);
  if (!manifest) return manifest.error().message;
  return Examination(scenario, lives, end, folders, std::move(*manifest), shared).run();
}

}  // namespace mneme::simulator
