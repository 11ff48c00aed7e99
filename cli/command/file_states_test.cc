// Goal: whatever state a file of a data directory is in, no command loses anything without a word: it finds the whole, or is refused as
// damage with the file's name, and a refusal changes no byte of the directory. None waits for ever.
// Method: for each layout of the log a small database of three lives, the last of which was closed, killed, or shortened by a checkpoint. Each
// file in turn is put in each state, and each command run on it in this process. What the commands find of the directory as it is, is the
// whole. MNEME_FILE_STATES=FILE appends a line a cell there, from which docs/reliability.md has its table.
#include <gtest/gtest.h>
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

namespace mneme {
namespace {

namespace fs = std::filesystem;

constexpr const char* kSql = R"(CREATE TABLE account (id BIGINT PRIMARY KEY, balance BIGINT NOT NULL);
CREATE PROCEDURE pay(p_id BIGINT, p_amount BIGINT) LANGUAGE plpgsql AS $$
BEGIN
  UPDATE account SET balance = balance + p_amount WHERE id = p_id;
END;
$$;
)";
constexpr int kCalls = 24;
// A command that takes longer has been waiting for something that never comes.
constexpr unsigned kLongestCellSeconds = 120;

template <typename T>
T must(Result<T> result) {
  if (!result.ok()) throw std::runtime_error(result.error().message);
  return std::move(*result);
}
void must(const Result<void>& result) {
  if (!result.ok()) throw std::runtime_error(result.error().message);
}

// One of the program's commands, on its command line.
Result<void> run_command(std::vector<std::string> arguments) {
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

std::string text_of(const fs::path& path) {
  return must(read_text_file(path));
}
void write(const fs::path& path, const std::string& text) {
  std::ofstream(path, std::ios::binary | std::ios::trunc) << text;
}

// Names, kinds and content of all that a directory holds.
std::map<std::string, std::string> facts_of(const fs::path& directory) {
  std::map<std::string, std::string> facts;
  for (const auto& each : fs::recursive_directory_iterator(directory)) {
    struct stat found {};
    ::lstat(each.path().c_str(), &found);
    std::string& fact = facts[each.path().string()];
    fact = fmt::format("{:o}", found.st_mode);
    if (S_ISLNK(found.st_mode)) fact += fs::read_symlink(each.path()).string();
    if (S_ISREG(found.st_mode)) fact += fmt::format(" {} {:08x}", found.st_size, crc32c(as_bytes(text_of(each.path()))));
  }
  return facts;
}

// As a kill would leave it, though a segment is being made ahead: the manifest first, and of the others those that it lists.
void copy_at_work(const fs::path& from, const fs::path& to) {
  fs::create_directories(to);
  must(replace_text_file(to / "MANIFEST", text_of(from / "MANIFEST")));
  std::set<fs::path> listed;
  for (const SegmentEntry& each : must(read_manifest(to)).segments) listed.insert(from / each.file);
  for (const auto& each : fs::recursive_directory_iterator(from)) {
    const fs::path name = each.path().filename();
    const fs::path copy = to / each.path().lexically_relative(from);
    if (each.is_directory()) {
      fs::create_directory(copy, each.path());
    } else if (name != "MANIFEST" && name.extension() != ".tmp" && (name.extension() != ".segment" || listed.contains(each.path()))) {
      fs::copy(each.path(), copy);
    }
  }
}

enum class End : uint8_t { kClosed, kKilled, kCheckpoint };
constexpr const char* kEnds[] = {"closed", "killed", "checkpoint"};

struct Layout {
  const char* name;
  std::vector<std::string> options;  // of the command line
  DurableLogOptions log;
};

DurableLogOptions small(DurableLogOptions log) {
  log.helpers = 1;
  log.largest_payload_bytes = 1024;
  log.segment_bytes = size_t{32} << 10;
  log.ring_bytes = size_t{16} << 10;
  log.device_latency = std::chrono::nanoseconds(0);
  return log;
}

std::vector<Layout> layouts() {
  DurableLogOptions striped{.device = LogDeviceKind::kStriped};
  striped.directories = {"stripe-1", "stripe-2"};
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
          {"distributed, rings", {"--log-buffer", "distributed", "--streams", "2", "--log-device", "nvm"}, small(rings)}};
}

// A database that is made once.
class TriedDatabase {
 public:
  TriedDatabase(fs::path home, const Layout& layout, End end) : home_(std::move(home)), layout_(layout), end_(end) {
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

  // What each file is called in the table, and its path.
  std::vector<std::pair<std::string, fs::path>> files() const {
    std::vector<std::pair<std::string, fs::path>> files{{"MANIFEST", "MANIFEST"},
                                                        {"catalog.sql", "catalog.sql"},
                                                        {"checkpoint", manifest_.checkpoint_file}};
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
    settings.options.files = {(home_ / "w.sql").string(), (home_ / "calls.csv").string(), (home_ / "rows.csv").string()};
    {
      WorkloadDatabase created = must(WorkloadDatabase::create(directory, settings, {}, layout_.log, Execution::kInterpreted, true));
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
        const auto taken = OnlineCheckpointer(working.database(), working.log(), working.manifest(), helper, {}).take();
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
    return must(WorkloadDatabase::open(directory, layout_.log, Execution::kInterpreted, true));
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
      if (!result.committed() || !working.log().wait_durable(result.lsn)) throw std::runtime_error(std::string(result.message));
    }
  }

  const fs::path home_;
  const Layout& layout_;
  const End end_;
  Manifest manifest_;
};

void resize(const fs::path& path, uintmax_t bytes) {
  fs::resize_file(path, bytes);
}

// With zeros from `begin` on, and as large as it was.
void put_zeros(const fs::path& path, uintmax_t begin) {
  const uintmax_t bytes = fs::file_size(path);
  resize(path, std::min(begin, bytes));
  resize(path, bytes);
}

void put(const fs::path& path, const fs::path& other) {
  fs::remove(path);
  if (fs::exists(other)) fs::copy(other, path);
}

// One of the same kind, not the same file; an empty path: there is none.
fs::path another(const fs::path& path, const fs::path& directory) {
  std::set<fs::path> found;
  for (const auto& each : fs::recursive_directory_iterator(directory)) {
    const fs::path name = each.path().filename();
    const bool is_like = path.extension() == ".segment" ? name.extension() == ".segment"
                         : names_checkpoint(path.filename().string()) ? names_checkpoint(name.string())
                                                                      : name == path.filename();
    if (is_like && each.is_regular_file() && each.path() != path) found.insert(each.path());
  }
  return found.empty() ? fs::path() : *found.rbegin();
}

struct Way {
  const char* name;
  // `path` is a copy of the file; `aside` the file itself.
  void (*apply)(const fs::path& path, const fs::path& aside, const TriedDatabase& database);
};

constexpr uintmax_t kHeader = 4096;
const Way kWays[] = {
    {"missing", [](auto& path, auto&, auto&) { fs::remove(path); }},
    {"empty", [](auto& path, auto&, auto&) { resize(path, 0); }},
    {"zeroed", [](auto& path, auto&, auto&) { put_zeros(path, 0); }},
    {"zeroed behind its header", [](auto& path, auto&, auto&) { put_zeros(path, kHeader); }},
    {"its header alone", [](auto& path, auto&, auto&) { resize(path, std::min(fs::file_size(path), kHeader)); }},
    {"half", [](auto& path, auto&, auto&) { resize(path, fs::file_size(path) / 2); }},
    {"a block less", [](auto& path, auto&, auto&) { resize(path, std::max(fs::file_size(path), kHeader) - kHeader); }},
    {"a byte less", [](auto& path, auto&, auto&) { resize(path, std::max<uintmax_t>(fs::file_size(path), 1) - 1); }},
    {"longer, zeros", [](auto& path, auto&, auto&) { resize(path, fs::file_size(path) + kHeader); }},
    {"longer, junk", [](auto& path, auto&, auto&) { std::ofstream(path, std::ios::app) << std::string(6000, 'x'); }},
    {"older",
     [](auto& path, auto&, auto& database) {
       const fs::path name = path.lexically_relative(database.path());
       put(path, fs::exists(database.older() / name) ? database.older() / name : database.begun() / name);
     }},
    {"swapped",
     [](auto& path, auto&, auto& database) {
       if (const fs::path other = another(path, database.path()); !other.empty()) put(path, other);
     }},
    {"of another database",
     [](auto& path, auto&, auto& database) {
       const fs::path name = path.lexically_relative(database.path());
       put(path, fs::exists(database.other() / name) ? database.other() / name : another(path, database.other()));
     }},
    {"somebody else's", [](auto& path, auto&, auto&) { write(path, "Dear diary, today I learnt about command logging.\n"); }},
    {"a link to it",
     [](auto& path, auto& aside, auto&) {
       fs::remove(path);
       fs::create_symlink(aside, path);
     }},
    {"a link to nothing",
     [](auto& path, auto&, auto&) {
       fs::remove(path);
       fs::create_symlink("nothing", path);
     }},
    {"a directory",
     [](auto& path, auto&, auto&) {
       fs::remove(path);
       fs::create_directory(path);
     }},
    {"a pipe",
     [](auto& path, auto&, auto&) {
       fs::remove(path);
       ASSERT_EQ(::mkfifo(path.c_str(), 0600), 0);
     }},
};

// What the commands find of a directory.
struct Findings {
  std::string recovered;
  std::string inspected;
  auto operator<=>(const Findings&) const = default;
};

std::string json_of(const fs::path& file) {
  const std::string text = text_of(file);
  fs::remove(file);
  return text;
}

// But where the records lie: what a ring in persistent memory holds may stand in a segment as well.
std::string inspection_of(const fs::path& file) {
  auto json = nlohmann::json::parse(json_of(file));
  for (auto& record : json["records"]) {
    record.erase("file");
    record.erase("offset");
  }
  return json.dump();
}

std::string recovery_of(const fs::path& file) {
  const auto json = nlohmann::json::parse(json_of(file));
  return fmt::format("{} up to {}", json["state_digest"].get<std::string>(), json["durable_lsn"].dump());
}

std::string hanging;  // the cell that is being tried, for the alarm

void tell_hang(int) {
  (void)!::write(STDERR_FILENO, hanging.data(), hanging.size());
  ::_exit(1);
}

class FileStates : public testing::TestWithParam<std::tuple<size_t, End>> {
 protected:
  FileStates()
      : home_(memory_folder() / fmt::format("file_states_{}", ::getpid())), layouts_(layouts()) {
    fs::remove_all(home_);
    fs::create_directories(home_);
    database_ = std::make_unique<TriedDatabase>(home_, layouts_[std::get<0>(GetParam())], std::get<1>(GetParam()));
  }
  ~FileStates() override {
    ::alarm(0);
    fs::remove_all(home_);
  }

  // Syncs take their time on a disk, and nothing here rests on them.
  static fs::path memory_folder() { return ::access("/dev/shm", W_OK) == 0 ? "/dev/shm" : testing::TempDir(); }
  fs::path json() const { return home_ / "result.json"; }
  fs::path scratch() const { return home_ / "scratch"; }
  static std::vector<std::string> arguments(std::vector<std::string> first, const std::vector<std::string>& more) {
    first.insert(first.end(), more.begin(), more.end());
    return first;
  }

  Result<void> recover(const fs::path& at) { return run_command({"recover", at, "--threads", "1", "--execution", "interpreted", "--json", json()}); }
  Result<void> verify(const fs::path& at) { return run_command({"verify", at, "--threads", "1", "--execution", "interpreted", "--json", json()}); }
  Result<void> inspect(const fs::path& at) { return run_command({"inspect", at, "--limit", "1000000", "--json", json()}); }
  Result<void> sql(const fs::path& at) {
    return run_command({"sql", at, "--command", "SELECT count(*), sum(balance) FROM account;", "--execution", "interpreted", "--json", json()});
  }
  Result<void> create(const fs::path& at) { return run_command({"sql", at, "--create", "--command", "SELECT 1;"}); }
  Result<void> follow(const fs::path& at) { return run_command({"follow", at}); }
  Result<void> resume(const fs::path& at) {
    return run_command(arguments({"run", "w.sql", "--data-dir", at, "--resume", "--transactions", "1", "--threads", "2", "--execution",
                                  "interpreted", "--json", json()}, database_->layout().options));
  }

  // What the directory as it is holds; also a copy's, in which work is done.
  Findings whole() {
    Findings found;
    must(recover(database_->path()));
    found.recovered = recovery_of(json());
    must(verify(database_->path()));
    must(inspect(database_->path()));
    found.inspected = inspection_of(json());
    copy_to_scratch();
    EXPECT_TRUE(found.recovered.starts_with(must(work_on_scratch())));
    return found;
  }
  void copy_to_scratch() {
    fs::remove_all(scratch());
    fs::create_directory(scratch());
    for (const auto& each : fs::recursive_directory_iterator(database_->path())) {
      const fs::path to = scratch() / each.path().lexically_relative(database_->path());
      if (each.is_fifo()) {
        ASSERT_EQ(::mkfifo(to.c_str(), 0600), 0);
      } else if (each.is_symlink() || !each.is_directory()) {
        fs::copy(each.path(), to, fs::copy_options::copy_symlinks);
      } else {
        fs::create_directory(to, each.path());
      }
    }
  }
  // Opens the copy for work, as `run --resume` does, with small segments. Returns the state's digest.
  Result<std::string> work_on_scratch() {
    Result<WorkloadDatabase> opened = WorkloadDatabase::open(scratch(), database_->layout().log, Execution::kInterpreted, true);
    if (!opened) return opened.error();
    return digest_of(opened->working().database(), 1).to_string();
  }

  // What is wrong with a refusal of the file; empty: nothing.
  static std::string fault_of(const Error& error, const std::string& name) {
    if (error.kind != ErrorKind::kDamaged) return fmt::format("is no damage, of kind {}: {}", static_cast<int>(error.kind), error.message);
    if (error.message.find(name) == std::string::npos) return "doesn't name the file: " + error.message;
    const bool says_what_to_do = error.message.find("put ") != std::string::npos || error.message.find("nothing was changed") != std::string::npos ||
                                 error.message.find("use the program") != std::string::npos;
    return says_what_to_do ? "" : "doesn't say what to do: " + error.message;
  }

  // How the directory is now. Faults are appended.
  std::string try_commands(const std::string& name, bool may_be_less, std::string& faults) {
    const auto before = facts_of(database_->path());
    const auto hold = [&](const char* command, const Result<void>& result) {
      if (!result.ok()) {
        if (const std::string fault = fault_of(result.error(), name); !fault.empty()) faults += fmt::format("\n  {} {}", command, fault);
      }
      return result.ok();
    };
    const auto hold_unchanged = [&](const char* commands) {
      if (facts_of(database_->path()) != before) faults += fmt::format("\n  {} has changed the directory", commands);
    };
    std::string outcome = "refused";
    bool is_whole = true;
    const bool recovers = hold("recover", recover(database_->path()));
    if (recovers) {
      const std::string found = recovery_of(json());
      is_whole = found == whole_.recovered;
      outcome = is_whole ? "whole" : "unseen";
      if (!is_whole && !may_be_less) faults += fmt::format("\n  recover finds {}, and there was {}", found, whole_.recovered);
    }
    const bool verifies = hold("verify", verify(database_->path()));
    const bool inspects = hold("inspect", inspect(database_->path()));
    if (inspects && inspection_of(json()) != whole_.inspected && is_whole) faults += "\n  inspect finds something else";
    if (verifies != recovers) outcome += verifies ? ", verify not" : ", verify refused";
    if (inspects != recovers) outcome += inspects ? ", inspect not" : ", inspect refused";
    // What follows a file that is not the manifest is never told that it is damaged.
    const auto followed = follow(database_->path());
    if (followed.ok()) faults += "\n  follow works";
    const auto made = create(database_->path());
    if (made.ok() || made.error().kind == ErrorKind::kFailed) faults += "\n  sql --create: " + (made.ok() ? "works" : made.error().message);
    hold_unchanged("recover, verify, inspect, follow or sql --create");
    // Where these work, they do so on a copy.
    if (!recovers) {
      if (hold("sql", sql(database_->path()))) faults += "\n  sql works";
      if (hold("run --resume", resume(database_->path()))) faults += "\n  run --resume works";
      hold_unchanged("sql or run --resume");
      return outcome;
    }
    copy_to_scratch();
    const auto copied = facts_of(scratch());
    const auto worked = work_on_scratch();
    if (worked.ok()) {
      if (is_whole && !whole_.recovered.starts_with(*worked)) faults += "\n  who opens it for work finds something else";
      return outcome;
    }
    if (const std::string fault = fault_of(worked.error(), name); !fault.empty()) faults += "\n  run --resume " + fault;
    for (const auto& [file, fact] : facts_of(scratch())) {
      const auto was = copied.find(file);
      if (was == copied.end() || was->second != fact) faults += "\n  run --resume is refused and has changed " + file;
    }
    if (facts_of(scratch()).size() != copied.size()) faults += "\n  run --resume is refused and has changed which files there are";
    if (!faults.empty()) faults += ": " + worked.error().message;
    return outcome + ", work refused";
  }

  void note(const std::string& kind, const std::string& way, const std::string& outcome) const {
    const char* const file = std::getenv("MNEME_FILE_STATES");
    if (file == nullptr) return;
    std::ofstream(file, std::ios::app) << fmt::format("{}|{}|{}|{}|{}\n", database_->layout().name, kEnds[static_cast<int>(database_->end())], kind,
                                                      way, outcome);
  }

  static void begin_cell(const std::string& name) {
    hanging = name + " hangs\n";
    std::signal(SIGALRM, tell_hang);
    ::alarm(kLongestCellSeconds);
  }

  const fs::path home_;
  const std::vector<Layout> layouts_;
  std::unique_ptr<TriedDatabase> database_;
  Findings whole_;
};

TEST_P(FileStates, EachFileInEachState) {
  whole_ = whole();
  size_t refused = 0;
  for (const auto& [kind, path] : database_->files()) {
    for (const Way& way : kWays) {
      begin_cell(kind + ", " + way.name);
      const fs::path aside = home_ / "aside";
      fs::rename(path, aside);
      fs::copy(aside, path);
      way.apply(path, aside, *database_);
      const bool is_as_it_was = fs::is_regular_file(fs::symlink_status(path)) && text_of(path) == text_of(aside);
      if (!is_as_it_was) {
        const bool is_last = kind == "last segment" || kind == "segment ahead" || kind == "pepoch.log";
        const bool may_be_less = database_->end() == End::kKilled && is_last &&
                                 (way.name == std::string("zeroed behind its header") || way.name == std::string("older"));
        std::string faults;
        const std::string outcome = try_commands(path.filename(), may_be_less, faults);
        if (!faults.empty()) ADD_FAILURE() << kind << ", " << way.name << " (" << outcome << "):" << faults;
        note(kind, way.name, outcome);
        refused += outcome == "refused" ? 1 : 0;
      }
      fs::remove_all(path);
      fs::rename(aside, path);
    }
  }
  EXPECT_GT(refused, 40u);
  EXPECT_EQ(whole(), whole_);
}

// Files besides, which are none of the database's.
TEST_P(FileStates, EachFileThatIsExtra) {
  whole_ = whole();
  const auto pipe = [](const fs::path& path) { ASSERT_EQ(::mkfifo(path.c_str(), 0600), 0); };
  const auto link = [](const fs::path& path) { fs::create_symlink("nothing", path); };
  const auto folder = [](const fs::path& path) { fs::create_directory(path); };
  const auto junk = [](const fs::path& path) { write(path, std::string(9000, 'x')); };
  const auto segment = database_->path() / database_->manifest().segments.back().file;
  const std::vector<std::tuple<const char*, const char*, std::function<void(const fs::path&)>>> extras = {
      {"segment", "another database's", [&](const fs::path& path) { fs::copy(another(segment, database_->other()), path); }},
      {"segment", "a copy of one", [&](const fs::path& path) { fs::copy(segment, path); }},
      {"segment", "somebody else's", junk},
      {"segment", "a link to nothing", link},
      {"segment", "a directory", folder},
      {"segment", "a pipe", pipe},
      {"checkpoint", "somebody else's", junk},
      {"checkpoint", "a directory", folder},
      {"checkpoint", "a pipe", pipe},
      {"MANIFEST.tmp", "somebody else's", junk},
      {"MANIFEST.tmp", "a directory", folder},
      {"MANIFEST.tmp", "a pipe", pipe},
      {"unfinished", "somebody else's", junk},
      {"unfinished", "a pipe", pipe},
      {"pepoch.log", "somebody else's", junk},
      {"pepoch.log", "a link to nothing", link},
      {"pepoch.log", "a directory", folder},
      {"pepoch.log", "a pipe", pipe},
      {"native", "somebody else's", junk},
      {"native", "a pipe", pipe},
      {"notes", "somebody else's", junk},
  };
  const std::map<std::string, std::string> names = {{"segment", "log-000099.segment"}, {"checkpoint", "checkpoint-00000000000fffff"}};
  for (const auto& [kind, way, make] : extras) {
    const fs::path path = database_->path() / (names.contains(kind) ? names.at(kind) : kind);
    if (fs::exists(path)) continue;
    begin_cell(fmt::format("extra {}, {}", kind, way));
    make(path);
    std::string faults;
    const std::string outcome = try_commands(path.filename(), /*may_be_less=*/false, faults);
    if (!faults.empty()) ADD_FAILURE() << "extra " << kind << ", " << way << " (" << outcome << "):" << faults;
    note(std::string("extra ") + kind, way, outcome);
    fs::remove_all(path);
  }
  // What an opening would remove stays where the log can't be written.
  for (const auto& [kind, path] : database_->files()) {
    if (kind != "last segment") continue;
    begin_cell("a link, and an extra segment");
    const fs::path leftover = database_->path() / names.at("segment");
    junk(leftover);
    fs::rename(path, home_ / "aside");
    fs::create_symlink(home_ / "aside", path);
    std::string faults;
    const std::string outcome = try_commands(path.filename(), /*may_be_less=*/false, faults);
    EXPECT_EQ(faults, "") << outcome;
    fs::remove(path);
    fs::rename(home_ / "aside", path);
    fs::remove(leftover);
  }
  EXPECT_EQ(whole(), whole_);
}

std::string name_of_place(const testing::TestParamInfo<std::tuple<size_t, End>>& info) {
  constexpr const char* kNames[] = {"OneFile", "Striped", "PersistentMemory", "Epoch", "Distributed", "Rings"};
  return fmt::format("{}_{}", kNames[std::get<0>(info.param)], kEnds[static_cast<int>(std::get<1>(info.param))]);
}

INSTANTIATE_TEST_SUITE_P(Layouts, FileStates,
                         testing::Combine(testing::Range<size_t>(0, 6), testing::Values(End::kClosed, End::kKilled, End::kCheckpoint)),
                         name_of_place);

}  // namespace
}  // namespace mneme
