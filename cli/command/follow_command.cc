// mneme follow: a standby: a data directory that receives another engine's replicated log and replays it,
// until it ends or is promoted.
#include <fmt/format.h>
#include <unistd.h>

#include <csignal>
#include <memory>
#include <optional>

#include "base/clock.h"
#include "cli/command/commands.h"
#include "cli/command/served_standby.h"
#include "cli/measure/metrics_page.h"
#include "cli/measure/recovery_text.h"
#include "cli/option/checkpoint_settings.h"
#include "cli/option/execution_option.h"
#include "cli/option/option_table.h"
#include "cli/option/output_options.h"
#include "cli/option/server_settings.h"
#include "cli/output/duration_text.h"
#include "cli/output/output.h"
#include "cli/output/progress.h"
#include "cli/output/text.h"
#include "logging/device/device_factory.h"
#include "logging/device/remote_options.h"
#include "recovery/database/standby_base.h"
#include "recovery/standby/follower.h"

namespace mneme {
namespace {

// Written by handlers of signals, read by the command.
volatile std::sig_atomic_t is_to_end = 0;
volatile std::sig_atomic_t is_to_be_promoted = 0;

void end_following(int) {
  is_to_end = 1;
}
void promote_standby(int) {
  is_to_be_promoted = 1;
}

// The end of a terminal ends the standby in order, unless its parent ignores the signal, as nohup does.
void heed_signals() {
  std::signal(SIGPIPE, SIG_IGN);
  std::signal(SIGTERM, end_following);
  std::signal(SIGINT, end_following);
  std::signal(SIGUSR1, promote_standby);
  if (std::signal(SIGHUP, end_following) == SIG_IGN) std::signal(SIGHUP, SIG_IGN);
}

struct FollowCommand {
  std::string directory;
  std::string from;
  std::string servers;
  std::string stream;
  std::string key_file;
  uint32_t threads = default_threads();
  uint32_t batch = ReplayOptions{}.batch_transactions;
  uint64_t checkpoint_mib = FollowOptions{}.checkpoint_log_bytes >> 20;
  bool promotes = false;
  bool as_is = false;
  bool serves = false;
  std::optional<uint16_t> metrics;
  std::string gone_after;  // of the primary; empty: nobody looks
  ServerSettings server;
  std::string progress_name = "auto";
  ExecutionOption execution;
  Output output;

  Result<void> run(const CLI::App& command) const {
    if (as_is) return promote_directory();
    const Result<std::chrono::milliseconds> patience = primary_patience();
    if (!patience) return patience.error();
    if (!serves) {
      RETURN_IF_ERROR(ServerSettings::refuse(command, "--serve"));
      if (metrics)
        return invalid_argument("--metrics is of a standby that serves: say --serve, too, or leave it out");
    }
    FollowOptions options;
    options.standby.replay.threads = threads;
    options.standby.replay.batch_transactions = batch;
    options.checkpoint_log_bytes = checkpoint_mib << 20;
    const Result<Execution> wanted_execution = execution.get();
    if (!wanted_execution) return wanted_execution.error();
    options.standby.execution = *wanted_execution;
    const Result<ProgressStyle> style = progress_style(progress_name);
    if (!style) return style.error();
    // Before anything is copied: what can't be followed is left as it was.
    const Result<Manifest> named = read_manifest(from.empty() ? directory : from);
    if (!named) return named.error();
    const auto log = replicated_log(*named);
    if (!log) return log.error();
    std::optional<ServedStandby> served;
    CheckpointSettings checkpoints;
    if (serves) {
      Result<ServerOptions> serving = server.choose(command, threads, output);
      if (!serving) return serving.error();
      served.emplace(*std::move(serving));
      served->prepare(options);
      RETURN_IF_ERROR(check_can_be_read(*named));
      RETURN_IF_ERROR(go_on_with_same_log(*named, options.standby.log));
      RETURN_IF_ERROR(checkpoints.take_when_full(options.standby.log));
    }
    auto reader = open_replicated_reader(*log);
    if (!reader) return reader.error();
    if (!from.empty()) RETURN_IF_ERROR(copy_base(from, directory));

    heed_signals();
    const bool is_off = output.quiet() && command.count("--progress") == 0;
    Progress progress(is_off ? ProgressStyle::kOff : *style);
    RecoverOptions shown;
    show_progress(shown, progress);
    options.progress = shown.progress;
    options.checkpointed = [&](const StandbyCheckpoint& taken) {
      output.notice(fmt::format("a checkpoint at LSN {}: {} in {}, {} removed", taken.lsn.value,
                                bytes_text(taken.bytes), seconds_text(taken.seconds),
                                counted(taken.removed_segments, "segment")));
    };
    auto opened = Follower::open(directory, std::move(*reader), options);
    progress.finish();
    if (!opened) return opened.error();
    Follower& follower = **opened;
    Result<std::unique_ptr<MetricsPage>> page = std::unique_ptr<MetricsPage>();
    if (served) {
      RETURN_IF_ERROR(served->start(directory, follower, embedding(*wanted_execution)));
      page = MetricsPage::open_if(metrics, output, [&follower, &served](MetricList& list) {
        add_database(list, *follower.standby().working());
        add_clients(list, served->server().counters());
        add_lag(list, follower.lag());
      });
      if (!page) return page.error();
      tell_ready(served->server());
    }
    output.text(fmt::format(
        "following the log {} of {} from LSN {} on, by {}; signal USR1 to process {} promotes\n", log->stream,
        log->servers, follower.standby().end().value, follower.standby().scheme().name, ::getpid()));
    progress.stage("follow", "", 0, "transactions", asking(follower));
    const Result<std::optional<Promotion>> ended = follow(follower, served ? &*served : nullptr, *patience);
    progress.finish();
    for (const std::string& notice : follower.standby().notices()) output.notice(notice);
    if (!served) return ended ? tell(follower, *ended, progress) : ended.error();
    const bool goes_on = ended.ok() && ended->has_value();
    if (goes_on) tell_promotion(**ended);
    const Result<void> over = end_serving(*served, follower, goes_on ? &checkpoints : nullptr);
    if (!ended) return ended.error();
    RETURN_IF_ERROR(over);
    return tell(follower, *ended, progress);
  }

 private:
  Result<void> promote_directory() const {
    const Result<Lsn> end = mneme::promote_as_is(directory, threads);
    if (!end) return end.error();
    output.text(
        fmt::format("{} is a database, up to LSN {}; no engine was kept from writing its replicated log\n",
                    directory, end->value));
    return output.json({{"command", "follow"}, {"promoted", true}, {"lsn", end->value}});
  }

  // What a promoted standby writes goes behind what it has read, so that others may follow it.
  Result<void> go_on_with_same_log(const Manifest& manifest, DurableLogOptions& log) const {
    const auto device = log_device_kind(attribute_of(manifest, kLogKindAttribute));
    if (!device) return device.error();
    log.device = *device;
    log.device_options.remote = remote_log(manifest);
    return {};
  }

  RemoteLogOptions remote_log(const Manifest& manifest) const {
    RemoteLogOptions remote;
    remote.servers = servers.empty() ? attribute_of(manifest, kLogServersAttribute) : servers;
    // The primary's manifest names a file of its own machine.
    remote.key_file = key_file.empty() ? attribute_of(manifest, kLogKeyAttribute)
                                       : std::filesystem::absolute(key_file).string();
    remote.stream = stream.empty() ? attribute_of(manifest, kLogStreamAttribute) : stream;
    return remote;
  }

  EmbeddedOptions embedding(Execution wanted) const {
    EmbeddedOptions options;
    options.execution = wanted;
    options.notice = [this](const std::string& sentence) { output.notice(sentence); };
    return options;
  }

  // Until a signal ends the server of a promoted standby, which takes `checkpoints`; or, without these, at
  // once.
  Result<void> end_serving(ServedStandby& served, const Follower& follower,
                           const CheckpointSettings* checkpoints) const {
    served.heed_signals();
    if (checkpoints == nullptr || is_to_end != 0) served.stop();
    std::unique_ptr<CheckpointSchedule> schedule;
    if (checkpoints != nullptr) {
      WorkingDatabase& working = *follower.standby().working();
      for (const std::string& notice : working.log().notices()) output.notice(notice);
      schedule = checkpoints->start(working, follower.recovered(), &output);
    }
    return served.end();
  }

  Result<ReplicatedLogOptions> replicated_log(const Manifest& manifest) const {
    const std::string kind = attribute_of(manifest, kLogKindAttribute);
    if (kind.empty()) {
      return invalid_argument(
          "{} names no replicated log to follow: run the primary with --log-device nats or kafka, and copy "
          "its "
          "directory then",
          from.empty() ? directory : from);
    }
    const auto device = log_device_kind(kind);
    if (!device) return device.error();
    if (!traits_of(*device).is_replicated)
      return damaged("the manifest of {} says that the log lies on {}", directory, kind);
    return replicated_log_options(*device, remote_log(manifest), manifest.database_id);
  }

  // Each line shows the speed since the previous one.
  static Progress::Ask asking(const Follower& follower) {
    return [&follower, before = uint64_t{0}, before_ns = monotonic_ns()]() mutable {
      const FollowLag lag = follower.lag();
      const uint64_t now_ns = monotonic_ns();
      Progress::Now now{.done = lag.total_transactions};
      const double passed = static_cast<double>(std::max<uint64_t>(now_ns - before_ns, 1)) * 1e-9;
      now.pace = Progress::Pace{static_cast<double>(lag.total_transactions - before) / passed, 0};
      before = lag.total_transactions;
      before_ns = now_ns;
      now.lsn = lag.replayed.value;
      now.text = lag_text(lag);
      now.fields = lag_json(lag);
      return now;
    };
  }

  static void add_lag(MetricList& list, const FollowLag& lag) {
    list.gauge("mneme_standby_lag_seconds", "How far the state is behind the primary's.", lag.seconds);
    list.gauge("mneme_standby_lag_bytes", "What was received, and not replayed yet.",
               static_cast<double>(lag.bytes));
    list.gauge("mneme_standby_replayed_lsn", "All records below it are in the rows.",
               static_cast<double>(lag.replayed.value));
    list.counter("mneme_standby_transactions_total", "Transactions that were replayed.",
                 static_cast<double>(lag.total_transactions));
  }

  static std::string lag_text(const FollowLag& lag) {
    std::string text = "in step";
    if (lag.bytes > 0 || lag.unread > 0 || lag.seconds > 0) {
      text = fmt::format("behind by {:.1f} s, {}, {}", lag.seconds, bytes_text(lag.bytes),
                         counted(lag.transactions, "transaction"));
      if (lag.unread > 0) text += fmt::format(" and {} to come", counted(lag.unread, "message"));
    }
    if (!lag.trouble.empty()) text += fmt::format(" ({})", lag.trouble);
    return text;
  }

  static Json lag_json(const FollowLag& lag) {
    return {{"log_end_lsn", lag.log_end.value},        {"bytes_behind", lag.bytes},
            {"transactions_behind", lag.transactions}, {"messages_to_come", lag.unread},
            {"seconds_behind", lag.seconds},           {"trouble", lag.trouble}};
  }

  // Until it is to end, or is promoted. `patience`: with the primary; 0: for ever.
  Result<std::optional<Promotion>> follow(Follower& follower, const ServedStandby* served,
                                          std::chrono::milliseconds patience) const {
    for (;;) {
      bool is_alone = false;
      RETURN_IF_ERROR(follower.run([&] {
        is_alone = patience.count() > 0 && follower.is_primary_gone(patience);
        return is_alone || is_to_end != 0 || is_to_be_promoted != 0 || promotes ||
               (served != nullptr && served->is_over());
      }));
      const bool is_asked = is_to_be_promoted != 0 || promotes;
      if (is_to_end != 0 || !(is_asked || is_alone)) {
        RETURN_IF_ERROR(follower.end());
        return std::optional<Promotion>();
      }
      Result<std::optional<Promotion>> promotion =
          follower.promote({.in_place = served != nullptr, .if_first = !is_asked});
      if (!promotion || *promotion) return promotion;
      output.notice("the primary was gone, and another engine has taken its log over: following goes on");
    }
  }

  // How long the primary may be silent.
  Result<std::chrono::milliseconds> primary_patience() const {
    if (gone_after.empty()) return std::chrono::milliseconds(0);
    const Result<std::chrono::nanoseconds> read = duration_of("--promote-when-primary-gone", gone_after);
    if (!read) return read.error();
    const auto patience = std::chrono::duration_cast<std::chrono::milliseconds>(*read);
    if (patience < 2 * kBeatInterval) {
      return invalid_argument(
          "--promote-when-primary-gone {}: a second at least, as an engine that has no work is heard each {} "
          "ms",
          gone_after, kBeatInterval.count());
    }
    return patience;
  }

  void tell_promotion(const Promotion& promotion) const {
    output.text(fmt::format(
        "promoted: term {} has begun, so nobody else writes that log any more; {} replayed for it, in {}\n",
        promotion.term, counted(promotion.transactions, "transaction"), seconds_text(promotion.seconds)));
    std::fflush(stdout);
  }

  Result<void> tell(const Follower& follower, const std::optional<Promotion>& promotion,
                    Progress& progress) const {
    const Standby& standby = follower.standby();
    const FollowLag lag = follower.lag();
    const std::string digest = digest_text(standby.database(), threads);
    const uint64_t end = standby.working()->log().durable().value;
    Json json = {{"command", "follow"},
                 {"promoted", promotion.has_value()},
                 {"scheme", standby.scheme().name},
                 {"threads", threads},
                 {"execution", standby.scheme().replays_calls() ? Json(name_of(standby.executed())) : Json()},
                 {"lsn", end},
                 {"state_digest", digest},
                 {"recovered_transactions", follower.recovered().replay.statistics.transactions},
                 {"transactions", lag.total_transactions},
                 {"rounds", follower.rounds()},
                 {"replay_seconds", follower.replay_seconds()},
                 {"checkpoints", follower.checkpoints()}};
    if (promotion) {
      json["term"] = promotion->term;
      json["promotion_transactions"] = promotion->transactions;
      json["promotion_seconds"] = promotion->seconds;
      if (!serves) tell_promotion(*promotion);
      if (!serves) {
        output.text(fmt::format("{} is a database: mneme run WORKLOAD --resume --data-dir {}\n", directory,
                                directory));
      }
    } else {
      json.update(lag_json(lag));
    }
    progress.result(
        {{"event", promotion ? "promoted" : "followed"}, {"durable_lsn", end}, {"state_digest", digest}});
    output.text(fmt::format("  replayed {} in {} of {} in all, state digest {}, up to LSN {}\n",
                            counted(lag.total_transactions, "transaction"),
                            counted(follower.rounds(), "round"), seconds_text(follower.replay_seconds()),
                            digest, end));
    return output.json(json);
  }
};

}  // namespace

void add_follow_command(CLI::App& program, Action& chosen) {
  auto command = std::make_shared<FollowCommand>();
  CLI::App* app = program.add_subcommand("follow",
                                         "a standby: receives another engine's replicated log and replays "
                                         "it; SIGUSR1 promotes it, SIGTERM ends it");
  const OptionTaker take(*app);
  take("directory", command->directory);
  take("--from", command->from);
  take("--log-server", command->servers);
  take("--log-stream", command->stream);
  take("--log-key", command->key_file);
  take("--threads", command->threads);
  take("--batch", command->batch);
  take("--checkpoint-log", command->checkpoint_mib);
  take("--promote", command->promotes);
  take("--promote-when-primary-gone", command->gone_after);
  take("--serve", command->serves);
  take("--metrics", command->metrics);
  command->server.add_options(*app);
  CLI::Option* as_is = take("--promote-as-is", command->as_is);
  for (CLI::Option* option : app->get_options()) {
    const bool has_use = option == as_is || option->get_positional() || option->check_name("--threads") ||
                         option->check_name("--help");
    if (!has_use) as_is->excludes(option);
  }
  take("--progress", command->progress_name);
  command->execution.add_option(*app);
  add_output_options(*app, command->output);
  app->callback([&chosen, command, app] { chosen = [command, app] { return command->run(*app); }; });
}

}  // namespace mneme
