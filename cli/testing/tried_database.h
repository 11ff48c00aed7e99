// TriedDatabase: a small database of three lives, in any layout of the log, whose files a test then puts in
// other states.
//
// Flow  the first lives run a workload out of files; the last one is closed in order, killed, or shortened by
//       a checkpoint. Copies of the directory as it was earlier, and another database, stand beside it, to
//       take files from.
#pragma once

#include <sys/stat.h>
#include <unistd.h>

#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <functional>
#include <map>
#include <set>

#include "base/crc32c.h"
#include "base/file/file.h"
#include "cli/command/commands.h"
#include "cli/measure/workload_database.h"
#include "engine/checkpoint/online_checkpointer.h"
#include "engine/transaction/digest.h"
#include "logging/directory/database_files.h"
#include "logging/directory/manifest.h"
#include "procedures/session/session.h"

namespace mneme::test {

namespace fs = std::filesystem;

inline constexpr const char* kSql = R"(CREATE TABLE account (id BIGINT PRIMARY KEY, balance BIGINT NOT NULL);
CREATE PROCEDURE pay(p_id BIGINT, p_amount BIGINT) LANGUAGE plpgsql AS $$
BEGIN
  UPDATE account SET balance = balance + p_amount WHERE id = p_id;
END;
$$;
)";
inline constexpr int kCalls = 24;

template <typename T>
T must(Result<T> result) {
  if (!result.ok()) throw std::runtime_error(result.error().message);
  return std::move(*result);
}
inline void must(const Result<void>& result) {
  if (!result.ok()) throw std::runtime_error(result.error().message);
}

// One of the program's commands, on its command line.
inline Result<void> run_command(std::vector<std::string> arguments) {
  static const std::map<std::string, void (*)(CLI::App&, Action&)> kCommands = {
      {"recover", add_recover_command}, {"verify", add_verify_command}, {"inspect", add_inspect_command},
      {"run", add_run_command},         {"sql", add_sql_command},       {"follow", add_follow_command}};
  CLI::App program("", "mneme");
  Action chosen;
  kCommands.at(arguments.front())(program, chosen);
  arguments.push_back("--quiet");
  std::ranges::reverse(arguments);
  program.parse(arguments);
  return chosen();
}

inline std::string text_of(const fs::path& path) {
  return must(read_text_file(path));
}
inline void write(const fs::path& path, const std::string& text) {
  std::ofstream(path, std::ios::binary | std::ios::trunc) << text;
}

// Names, kinds and content of all that a directory holds.
inline std::map<std::string, std::string> facts_of(const fs::path& directory) {
  std::map<std::string, std::string> facts;
  for (const auto& each : fs::recursive_directory_iterator(directory)) {
    struct stat found {};
    ::lstat(each.path().c_str(), &found);
    std::string& fact = facts[each.path().string()];
    fact = fmt::format("{:o}", found.st_mode);
    if (S_ISLNK(found.st_mode)) fact += fs::read_symlink(each.path()).string();
    if (S_ISREG(found.st_mode))
      fact += fmt::format(" {} {:08x}", found.st_size, crc32c(as_bytes(text_of(each.path()))));
  }
  return facts;
}

// As a kill would leave it, though a segment is being made ahead: the manifest first, and of the others those
// that it lists.
inline void copy_at_work(const fs::path& from, const fs::path& to) {
  fs::create_directories(to);
  must(replace_text_file(to / "MANIFEST", text_of(from / "MANIFEST")));
  std::set<fs::path> listed;
  for (const SegmentEntry& each : must(read_manifest(to)).segments) listed.insert(from / each.file);
  for (const auto& each : fs::recursive_directory_iterator(from)) {
    const fs::path name = each.path().filename();
    const fs::path copy = to / each.path().lexically_relative(from);
    if (each.is_directory()) {
      fs::create_directory(copy, each.path());
    } else if (name != "MANIFEST" && name.extension() != ".tmp" &&
               (name.extension() != ".segment" || listed.contains(each.path()))) {
      fs::copy(each.path(), copy);
    }
  }
}

enum class End : uint8_t { kClosed, kKilled, kCheckpoint };
inline constexpr const char* kEnds[] = {"closed", "killed", "checkpoint"};

struct Layout {
  const char* name;
  std::vector<std::string> options;  // of the command line
  DurableLogOptions log;
};

inline DurableLogOptions small(DurableLogOptions log) {
  log.helpers = 1;
  log.largest_payload_bytes = 1024;
  log.segments.bytes = size_t{32} << 10;
  log.ring_bytes = size_t{16} << 10;
  log.device_options.latency = std::chrono::nanoseconds(0);
  return log;
}

inline std::vector<Layout> layouts() {
  DurableLogOptions striped{.device = LogDeviceKind::kStriped};
  striped.device_options.directories = {"stripe-1", "stripe-2"};
  DurableLogOptions epoch{.layout = LogLayout::kEpoch};
  epoch.epoch.loggers = 2;
  epoch.workers = 2;
  DurableLogOptions streams{.layout = LogLayout::kDistributed};
  streams.streams.count = 2;
  streams.workers = 2;
  DurableLogOptions rings = streams;
  rings.device = LogDeviceKind::kNvm;
  return {{"one file", {}, small({})},
          {"striped", {"--log-device", "striped"}, small(striped)},
          {"persistent memory", {"--log-device", "nvm"}, small({.device = LogDeviceKind::kNvm})},
          {"epoch", {"--log-buffer", "epoch", "--loggers", "2"}, small(epoch)},
          {"distributed", {"--log-buffer", "distributed", "--streams", "2"}, small(streams)},
          {"distributed, rings",
           {"--log-buffer", "distributed", "--streams", "2", "--log-device", "nvm"},
           small(rings)}};
}

class TriedDatabase {
 public:
  TriedDatabase(fs::path home, const Layout& layout, End end)
      : home_(std::move(home)), layout_(layout), end_(end) {
    write(home_ / "w.sql", kSql);
    write(home_ / "calls.csv", "pay,=1..100,=1..1000\n");
    write(home_ / "rows.csv", "account*100,=number,1000\n");
    make(path(), /*is_tried=*/true);
    make(other(), /*is_tried=*/false);
    manifest_ = must(read_manifest(path()));
  }

  fs::path path() const { return home_ / "database"; }
  // As it was after the life before, and when the last one began.
  fs::path older() const { return home_ / "older"; }
  fs::path begun() const { return home_ / "begun"; }
  fs::path other() const { return home_ / "other"; }
  const fs::path& home() const { return home_; }
  const Layout& layout() const { return layout_; }
  End end() const { return end_; }
  const Manifest& manifest() const { return manifest_; }

  // Returns the files: each one's name in the table, and its path.
  std::vector<std::pair<std::string, fs::path>> files() const {
    std::vector<std::pair<std::string, fs::path>> files{
        {"MANIFEST", "MANIFEST"}, {"catalog.sql", "catalog.sql"}, {"checkpoint", manifest_.checkpoint_file}};
    std::vector<fs::path> used, unused, rings;
    for (const SegmentEntry& each : manifest_.segments) {
      const bool is_last = each.incarnation == manifest_.incarnations.back().number;
      if (each.is_ring) {
        rings.emplace_back(each.file);
      } else if (must(holds_records(path() / each.file))) {
        used.emplace_back(each.file);
      } else if (is_last) {
        unused.emplace_back(each.file);
      }
    }
    if (!used.empty()) files.emplace_back("first segment", used.front());
    if (used.size() > 2) files.emplace_back("middle segment", used[used.size() / 2]);
    if (used.size() > 1) files.emplace_back("last segment", used.back());
    if (!unused.empty()) files.emplace_back("segment ahead", unused.front());
    if (!rings.empty()) files.emplace_back("first ring", rings.front());
    if (rings.size() > 1) files.emplace_back("last ring", rings.back());
    if (fs::exists(path() / kPepochFile)) files.emplace_back("pepoch.log", kPepochFile);
    files.emplace_back("lock", "lock");
    files.emplace_back("workload's procedures", "workload/w.sql");
    files.emplace_back("workload's calls", "workload/calls.csv");
    files.emplace_back("workload's rows", "workload/rows.csv");
    for (auto& [kind, file] : files) file = path() / file;
    return files;
  }

 private:
  void make(const fs::path& directory, bool is_tried) {
    WorkloadSettings settings;
    settings.name = "w.sql";
    settings.options.files = {(home_ / "w.sql").string(), (home_ / "calls.csv").string(),
                              (home_ / "rows.csv").string()};
    {
      WorkloadDatabase created =
          must(WorkloadDatabase::create(directory, settings, {}, layout_.log, Execution::kInterpreted, true));
      call(created, kCalls);
    }
    {
      WorkloadDatabase opened = open(directory);
      call(opened, kCalls);
    }
    if (is_tried) fs::copy(directory, older(), fs::copy_options::recursive);
    const fs::path killed = directory.string() + "-killed";
    {
      WorkloadDatabase opened = open(directory);
      if (is_tried) copy_at_work(directory, begun());
      if (end_ == End::kCheckpoint) {
        call(opened, 3 * kCalls);
        WorkingDatabase& working = opened.working();
        const WorkerId helper{working.database().worker_count()};
        const auto taken =
            OnlineCheckpointer(working.database(), working.log(), working.manifest(), helper, {}).take();
        if (!taken.ok()) throw std::runtime_error(taken.error().message);
      }
      call(opened, kCalls);
      if (end_ == End::kKilled) copy_at_work(directory, killed);
    }
    if (end_ != End::kKilled) return;
    fs::remove_all(directory);
    fs::rename(killed, directory);
  }

  WorkloadDatabase open(const fs::path& directory) const {
    return must(WorkloadDatabase::open(directory, layout_.log, /*hints=*/false, Execution::kInterpreted,
                                       /*scheme=*/nullptr, false, true));
  }

  // All are durable when it returns, each by a flush of its own.
  void call(WorkloadDatabase& database, int count) const {
    WorkingDatabase& working = database.working();
    Session sessions[] = {{working.program(), working.database(), WorkerId{0}},
                          {working.program(), working.database(), WorkerId{layout_.log.workers - 1}}};
    for (int i = 0; i < count; ++i) {
      Call call;
      call.procedure = working.program().find_procedure("pay")->id;
      call.arguments = {Argument::of(Value::of_int(1 + i % 100)), Argument::of(Value::of_int(i))};
      const CallResult result = sessions[i % 2].run(call);
      if (!result.committed() || !working.log().wait_durable(result.lsn))
        throw std::runtime_error(std::string(result.message));
    }
  }

  const fs::path home_;
  const Layout& layout_;
  const End end_;
  Manifest manifest_;
};

}  // namespace mneme::test
