#include "cli/crash/crash_round.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <memory>
#include <thread>

#include "base/clock.h"
#include "cli/crash/call_client.h"
#include "cli/crash/child_process.h"
#include "cli/measure/recovery_text.h"
#include "logging/device/remote_options.h"
#include "logging/directory/log_archive.h"
#include "logging/reading/log_truncation.h"
#include "procedures/interpreter/call_codec.h"
#include "workloads/shared/check_query.h"
#include "workloads/shared/load.h"

namespace mneme {
namespace {

uint64_t answered_by(const std::vector<std::unique_ptr<CallClient>>& clients) {
  uint64_t answered = 0;
  for (const auto& client : clients) answered += client->answered();
  return answered;
}

// A server that ends by itself still has to report why, after its clients are cut off.
constexpr std::chrono::seconds kLongestEnding{10};

Result<void> run_hook(const std::string& hook, const char* moment, pid_t server) {
  if (hook.empty()) return {};
  const std::string command = fmt::format("{} {}", hook, moment);
  const std::string with_server = fmt::format("export MNEME_ENGINE_PROCESS={}; {}", server, command);
  if (std::system(with_server.c_str()) == 0) return {};  // NOLINT(cert-env33-c): it is the user's own command
  return failed("the hook failed: {}", command);
}

// A recovery of an examination.
struct Pass {
  const RecoveryScheme* scheme;
  std::string archive;     // of the whole log; empty: from the newest checkpoint on
  bool is_judged = false;  // it sees all that was ever logged

  std::string name() const { return (archive.empty() ? "" : "whole log, ") + std::string(scheme->name); }
};

std::vector<Pass> passes_for(const Manifest& manifest, const std::string& archive) {
  std::vector<Pass> passes;
  for (const RecoveryScheme& scheme : recovery_schemes()) {
    if (check_served(scheme, manifest.records, manifest.tuple_image)) passes.push_back({&scheme, ""});
  }
  // Until a checkpoint has replaced anything, there is no archive, and the log is whole.
  if (!archive.empty() && std::filesystem::exists(archive_folder(archive, manifest.database_id)))
    passes.insert(passes.begin(), {passes.front().scheme, archive});
  passes.front().is_judged = true;
  return passes;
}

}  // namespace

Result<KilledRun> run_until_killed(const CrashSetting& setting, const Workload& workload,
                                   const Program& program, Witness& witness) {
  std::vector<std::string> serve{"crash-target",  setting.directory,
                                 "--device-seed", std::to_string(setting.device_seed),
                                 "--execution",   std::string(name_of(setting.execution))};
  serve.insert(serve.end(), setting.log_content.begin(), setting.log_content.end());
  serve.insert(serve.end(), setting.log.begin(), setting.log.end());
  serve.insert(serve.end(), setting.checkpoints.begin(), setting.checkpoints.end());
  serve.insert(serve.end(), setting.concurrency.begin(), setting.concurrency.end());
  Result<ChildProcess> child = ChildProcess::start(serve, setting.threads);
  if (!child) return child.error();
  const pid_t server = child->pid();

  std::vector<std::unique_ptr<CallClient>> clients;
  std::vector<std::thread> threads;
  std::atomic<uint32_t> running{setting.threads};
  for (uint32_t i = 0; i < setting.threads; ++i) {
    clients.push_back(
        std::make_unique<CallClient>(program, workload.generator({i, setting.threads, setting.incarnation}),
                                     std::move(child->channels()[i]), CallClient::Options{}));
    threads.emplace_back([&client = *clients[i], &running] {
      client.run();
      running.fetch_sub(1, std::memory_order_relaxed);
    });
  }

  uint64_t first_answer_ns = 0;
  KilledRun run;
  Result<void> hooked;
  for (;;) {
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
    if (running.load(std::memory_order_relaxed) < setting.threads) {
      run.ended_by_itself = true;
      break;
    }
    const uint64_t now = monotonic_ns();
    if (first_answer_ns == 0 && answered_by(clients) > 0) {
      first_answer_ns = now;
      hooked = run_hook(setting.hook, "answered", server);
    }
    if (!hooked.ok()) break;
    if (first_answer_ns != 0 && static_cast<double>(now - first_answer_ns) / 1e9 >= setting.kill_after) break;
  }
  if (!run.ended_by_itself) child->kill_now();
  const uint64_t end_ns = monotonic_ns();
  const ChildProcess::Ending ending = child->wait(kLongestEnding);
  run.exit_status = ending.exit_status;
  for (std::thread& thread : threads) thread.join();
  RETURN_IF_ERROR(hooked);

  run.seconds = first_answer_ns == 0 ? 0 : static_cast<double>(end_ns - first_answer_ns) / 1e9;
  for (auto& client : clients) {
    for (const JournalledCall& call : client->journal()) {
      run.answered += call.answered ? 1 : 0;
      run.rolled_back += call.answered && call.status == ReplyStatus::kRolledBack ? 1 : 0;
    }
    witness.add(std::move(client->journal()));
  }
  if (run.ended_by_itself && (!setting.may_end || first_answer_ns == 0)) {
    return failed(
        "the server on {} ended by itself, with status {}, before it was killed; its message is above",
        setting.directory, ending.exit_status);
  }
  RETURN_IF_ERROR(run_hook(setting.hook, "killed", server));
  return run;
}

Result<Examination> examine(const std::string& directory, const std::string& archive,
                            const Workload& workload, const Program& program, const RecoverOptions& how,
                            Witness& witness, bool quiet) {
  const Result<Manifest> manifest = read_manifest(directory);
  if (!manifest) return manifest.error();
  Examination examination;
  examination.checkpoint_lsn = manifest->checkpoint_lsn;
  const Result<std::vector<std::string>> unlisted = unlisted_files(directory, *manifest);
  if (!unlisted) return unlisted.error();
  examination.in_checkpoint = std::ranges::any_of(*unlisted, [](const std::string& path) {
    return std::filesystem::path(path).filename().string().starts_with("checkpoint-");
  });
  Progress progress(quiet);
  for (const Pass& pass : passes_for(*manifest, archive)) {
    RecoverOptions options = how;
    options.scheme = pass.scheme;
    options.log_archive = pass.archive;
    options.keep_log = pass.is_judged;
    show_progress(options, progress);
    ByteBuffer results;
    int128 conserved = 0;
    const bool sees_calls = pass.is_judged && pass.scheme->shows_calls;
    if (sees_calls) {
      options.visit = [&](const ReplayedCall& replayed) {
        results.clear();
        encode_results(program.procedure(replayed.call.procedure), replayed.results, results);
        witness.replayed(replayed.lsn, results.span());
        conserved += workload.conserved_delta(replayed.call, replayed.results);
      };
    }
    Result<RecoveredDatabase> recovered = recover(directory, options);
    progress.finish();
    if (!recovered) return recovered.error();
    examination.schemes.push_back(
        {pass.name(), recovered->report, digest_text(*recovered->database, how.replay.threads)});
    examination.digests_equal &= examination.schemes.back().digest == examination.schemes.front().digest;
    if (!pass.is_judged) continue;
    examination.verdict = witness.judge(recovered->log);
    // A record that no client was told of may be at one server alone, which is away now and back later.
    const bool is_elsewhere = manifest->attributes.contains(kLogServersAttribute) ||
                              manifest->attributes.contains(kLogKindAttribute);
    if (examination.verdict.good() && !is_elsewhere) witness.settle(recovered->log);
    // An ad-hoc transaction's rows don't say by how much it changed what is conserved.
    const bool saw_all = sees_calls && recovered->report.replay.statistics.ad_hoc == 0;
    std::vector<Check> checks =
        workload.check(DatabaseRows(*recovered->database), saw_all ? std::optional(conserved) : std::nullopt);
    for (Check& check :
         run_check_queries(workload.check_queries(), *recovered->program, *recovered->database))
      checks.push_back(std::move(check));
    for (Check& check : checks) {
      ++examination.checks;
      if (!check.ok) examination.failed_checks.push_back(std::move(check));
    }
  }
  return examination;
}

std::string Examination::faults() const {
  std::string text;
  if (!digests_equal) {
    for (const Scheme& scheme : schemes)
      text += fmt::format("{} recovers digest {}; ", scheme.name, scheme.digest);
  }
  if (!verdict.good()) {
    text += fmt::format("{} lost, {} invented, {} with wrong results; first: {}; ", verdict.lost,
                        verdict.invented, verdict.wrong_results, verdict.first_fault);
  }
  for (const Check& check : failed_checks)
    text += fmt::format("{} does not hold: {}; ", check.name, check.detail);
  if (!text.empty()) text.resize(text.size() - 2);
  return text;
}

}  // namespace mneme
