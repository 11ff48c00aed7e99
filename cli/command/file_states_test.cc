// Goal: whatever state a file of a data directory is in, no command loses anything without a word: it finds
// the whole, or is refused as damage with the file's name, and a refusal changes no byte of the directory.
// None waits for ever. Method: for each layout of the log a small database of three lives, the last of which
// was closed, killed, or shortened by a checkpoint. Each file in turn is put in each state, and each command
// run on it in this process. What the commands find of the directory as it is, is the whole.
// Under a sanitizer each database has a third of the cells, another third than its neighbours.
// MNEME_FILE_STATES=FILE appends a line a cell there, from which docs/reliability.md has its table.
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
#include "base/testing/test_effort.h"
#include "cli/command/commands.h"
#include "cli/measure/workload_database.h"
#include "cli/testing/tried_database.h"
#include "engine/checkpoint/online_checkpointer.h"
#include "engine/transaction/digest.h"
#include "logging/directory/database_files.h"
#include "logging/directory/manifest.h"

namespace mneme {
namespace {

namespace fs = std::filesystem;

using test::copy_at_work;
using test::End;
using test::facts_of;
using test::kEnds;
using test::Layout;
using test::layouts;
using test::must;
using test::run_command;
using test::text_of;
using test::TriedDatabase;
using test::write;

// A command that takes longer has been waiting for something that never comes.
constexpr unsigned kLongestCellSeconds = 120;

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
    const bool is_like = path.extension() == ".segment"               ? name.extension() == ".segment"
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
    {"its header alone",
     [](auto& path, auto&, auto&) { resize(path, std::min(fs::file_size(path), kHeader)); }},
    {"half", [](auto& path, auto&, auto&) { resize(path, fs::file_size(path) / 2); }},
    {"a block less",
     [](auto& path, auto&, auto&) { resize(path, std::max(fs::file_size(path), kHeader) - kHeader); }},
    {"a byte less",
     [](auto& path, auto&, auto&) { resize(path, std::max<uintmax_t>(fs::file_size(path), 1) - 1); }},
    {"longer, zeros", [](auto& path, auto&, auto&) { resize(path, fs::file_size(path) + kHeader); }},
    {"longer, junk",
     [](auto& path, auto&, auto&) { std::ofstream(path, std::ios::app) << std::string(6000, 'x'); }},
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
       put(path,
           fs::exists(database.other() / name) ? database.other() / name : another(path, database.other()));
     }},
    {"somebody else's",
     [](auto& path, auto&, auto&) { write(path, "Dear diary, today I learnt about command logging.\n"); }},
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

// The results of the commands that read a directory.
struct Findings {
  std::string recovered;
  std::string inspected;
  auto operator<=>(const Findings&) const = default;
};

std::string json_of(const fs::path& file) {
  std::string text = text_of(file);
  fs::remove(file);
  return text;
}

// Leaves out where the records lie: what a ring in persistent memory holds may stand in a segment as well.
// Leaves out what the log holds below the checkpoint, too: a striped log is whole without it, and which file
// has it depends on when records were flushed.
std::string inspection_of(const fs::path& file) {
  auto json = nlohmann::json::parse(json_of(file));
  const auto checkpoint = json["checkpoint"]["lsn"].get<uint64_t>();
  auto records = nlohmann::json::array();
  for (auto& record : json["records"]) {
    if (record["lsn"].get<uint64_t>() < checkpoint) continue;
    record.erase("file");
    record.erase("offset");
    records.push_back(record);
  }
  json["records"] = records;
  // These stand in the checkpoint, which may be the file that was changed; inspect says so, and goes on.
  for (const char* of_checkpoint : {"tables", "checkpoint"}) json.erase(of_checkpoint);
  if (checkpoint > 0) {
    for (const char* of_whole_log : {"begin_lsn", "log_records", "log_skips", "log_bytes"})
      json.erase(of_whole_log);
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
  FileStates() : home_(memory_folder() / fmt::format("file_states_{}", ::getpid())), layouts_(layouts()) {
    fs::remove_all(home_);
    fs::create_directories(home_);
    database_ =
        std::make_unique<TriedDatabase>(home_, layouts_[std::get<0>(GetParam())], std::get<1>(GetParam()));
  }
  ~FileStates() override {
    ::alarm(0);
    fs::remove_all(home_);
  }

  // Syncs take their time on a disk, and nothing here rests on them.
  static fs::path memory_folder() {
    return ::access("/dev/shm", W_OK) == 0 ? "/dev/shm" : testing::TempDir();
  }
  fs::path json() const { return home_ / "result.json"; }
  fs::path scratch() const { return home_ / "scratch"; }
  static std::vector<std::string> arguments(std::vector<std::string> first,
                                            const std::vector<std::string>& more) {
    first.insert(first.end(), more.begin(), more.end());
    return first;
  }

  Result<void> recover(const fs::path& at) {
    return run_command({"recover", at, "--threads", "1", "--execution", "interpreted", "--json", json()});
  }
  Result<void> verify(const fs::path& at) {
    return run_command({"verify", at, "--threads", "1", "--execution", "interpreted", "--json", json()});
  }
  Result<void> inspect(const fs::path& at) {
    return run_command({"inspect", at, "--limit", "1000000", "--json", json()});
  }
  Result<void> sql(const fs::path& at) {
    return run_command({"sql", at, "--command", "SELECT count(*), sum(balance) FROM account;", "--execution",
                        "interpreted", "--json", json()});
  }
  Result<void> create(const fs::path& at) {
    return run_command({"sql", at, "--create", "--command", "SELECT 1;"});
  }
  Result<void> follow(const fs::path& at) { return run_command({"follow", at}); }
  Result<void> resume(const fs::path& at) {
    return run_command(arguments({"run", "w.sql", "--data-dir", at, "--resume", "--transactions", "1",
                                  "--threads", "2", "--execution", "interpreted", "--json", json()},
                                 database_->layout().options));
  }

  // Returns what the unchanged directory holds, and what a copy holds in which work is done.
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
    Result<WorkloadDatabase> opened =
        WorkloadDatabase::open(scratch(), database_->layout().log, /*hints=*/false, Execution::kInterpreted,
                               nullptr, std::nullopt, true);
    if (!opened) return opened.error();
    return digest_of(opened->working().database(), 1).to_string();
  }

  // Returns what is wrong with a refusal of the file, or an empty text.
  static std::string fault_of(const Error& error, const std::string& name) {
    if (error.kind != ErrorKind::kDamaged)
      return fmt::format("is no damage, of kind {}: {}", static_cast<int>(error.kind), error.message);
    if (error.message.find(name) == std::string::npos) return "doesn't name the file: " + error.message;
    const bool says_what_to_do = error.message.find("put ") != std::string::npos ||
                                 error.message.find("nothing was changed") != std::string::npos ||
                                 error.message.find("use the program") != std::string::npos;
    return says_what_to_do ? "" : "doesn't say what to do: " + error.message;
  }

  // How the directory is now. Faults are appended.
  std::string try_commands(const std::string& name, bool may_be_less, std::string& faults) {
    const auto before = facts_of(database_->path());
    const auto hold = [&](const char* command, const Result<void>& result) {
      if (!result.ok()) {
        if (const std::string fault = fault_of(result.error(), name); !fault.empty())
          faults += fmt::format("\n  {} {}", command, fault);
      }
      return result.ok();
    };
    const auto hold_unchanged = [&](const char* commands) {
      if (facts_of(database_->path()) != before)
        faults += fmt::format("\n  {} has changed the directory", commands);
    };
    std::string outcome = "refused";
    bool is_whole = true;
    const bool recovers = hold("recover", recover(database_->path()));
    if (recovers) {
      const std::string found = recovery_of(json());
      is_whole = found == whole_.recovered;
      outcome = is_whole ? "whole" : "unseen";
      if (!is_whole && !may_be_less)
        faults += fmt::format("\n  recover finds {}, and there was {}", found, whole_.recovered);
    }
    const bool verifies = hold("verify", verify(database_->path()));
    const bool inspects = hold("inspect", inspect(database_->path()));
    if (inspects && inspection_of(json()) != whole_.inspected && is_whole)
      faults += "\n  inspect finds something else";
    if (verifies != recovers) outcome += verifies ? ", verify not" : ", verify refused";
    if (inspects != recovers) outcome += inspects ? ", inspect not" : ", inspect refused";
    // `follow` refuses a directory that is no standby, whatever its files are.
    const auto followed = follow(database_->path());
    if (followed.ok()) faults += "\n  follow works";
    const auto made = create(database_->path());
    if (made.ok() || made.error().kind == ErrorKind::kFailed)
      faults += "\n  sql --create: " + (made.ok() ? "works" : made.error().message);
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
      if (is_whole && !whole_.recovered.starts_with(*worked))
        faults += "\n  who opens it for work finds something else";
      return outcome;
    }
    if (const std::string fault = fault_of(worked.error(), name); !fault.empty())
      faults += "\n  run --resume " + fault;
    for (const auto& [file, fact] : facts_of(scratch())) {
      const auto was = copied.find(file);
      if (was == copied.end() || was->second != fact)
        faults += "\n  run --resume is refused and has changed " + file;
    }
    if (facts_of(scratch()).size() != copied.size())
      faults += "\n  run --resume is refused and has changed which files there are";
    if (!faults.empty()) faults += ": " + worked.error().message;
    return outcome + ", work refused";
  }

  void note(const std::string& kind, const std::string& way, const std::string& outcome) const {
    const char* const file = std::getenv("MNEME_FILE_STATES");
    if (file == nullptr) return;
    std::ofstream(file, std::ios::app)
        << fmt::format("{}|{}|{}|{}|{}\n", database_->layout().name,
                       kEnds[static_cast<int>(database_->end())], kind, way, outcome);
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
  constexpr uint32_t kStep = step_if_sanitized(3);
  uint64_t cell = std::get<0>(GetParam()) + static_cast<uint64_t>(std::get<1>(GetParam()));
  for (const auto& [kind, path] : database_->files()) {
    for (const Way& way : kWays) {
      if (cell++ % kStep != 0) continue;
      begin_cell(kind + ", " + way.name);
      const fs::path aside = home_ / "aside";
      fs::rename(path, aside);
      fs::copy(aside, path);
      way.apply(path, aside, *database_);
      const bool is_as_it_was =
          fs::is_regular_file(fs::symlink_status(path)) && text_of(path) == text_of(aside);
      if (!is_as_it_was) {
        const bool is_last = kind == "last segment" || kind == "segment ahead" || kind == "pepoch.log";
        const bool may_be_less =
            database_->end() == End::kKilled && is_last &&
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
  EXPECT_GT(refused, 40u / kStep);
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
      {"segment", "another database's",
       [&](const fs::path& path) { fs::copy(another(segment, database_->other()), path); }},
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
  const std::map<std::string, std::string> names = {{"segment", "log-000099.segment"},
                                                    {"checkpoint", "checkpoint-00000000000fffff"}};
  for (const auto& [kind, way, make] : extras) {
    const fs::path path = database_->path() / (names.contains(kind) ? names.at(kind) : kind);
    if (fs::exists(path)) continue;
    begin_cell(fmt::format("extra {}, {}", kind, way));
    make(path);
    std::string faults;
    const std::string outcome = try_commands(path.filename(), /*may_be_less=*/false, faults);
    if (!faults.empty())
      ADD_FAILURE() << "extra " << kind << ", " << way << " (" << outcome << "):" << faults;
    note(std::string("extra ") + kind, way, outcome);
    fs::remove_all(path);
  }
  // Leftovers, which an opening removes, stay if the log can't be written.
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
  constexpr const char* kNames[] = {"OneFile", "Striped",     "PersistentMemory",
                                    "Epoch",   "Distributed", "Rings"};
  return fmt::format("{}_{}", kNames[std::get<0>(info.param)],
                     kEnds[static_cast<int>(std::get<1>(info.param))]);
}

INSTANTIATE_TEST_SUITE_P(Layouts, FileStates,
                         testing::Combine(testing::Range<size_t>(0, 6),
                                          testing::Values(End::kClosed, End::kKilled, End::kCheckpoint)),
                         name_of_place);

}  // namespace
}  // namespace mneme
