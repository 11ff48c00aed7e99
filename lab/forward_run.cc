#include "lab/forward_run.h"

#include <fcntl.h>
#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <memory>
#include <random>

#include "base/memory/arena.h"
#include "engine/checkpoint/online_checkpointer.h"
#include "engine/transaction/digest.h"
#include "lab/disk_queue.h"
#include "lab/statements.h"
#include "lab/watched_log.h"
#include "logging/record/block_format.h"
#include "procedures/interpreter/call_codec.h"
#include "procedures/interpreter/call_text.h"
#include "recovery/database/data_directory.h"
#include "recovery/database/live_session.h"

namespace mneme::lab {

namespace {

// A small log, so that a page can show all of it.
constexpr size_t kRingBytes = size_t{128} << 10;
constexpr size_t kLargestPayload = size_t{16} << 10;

DurableLogOptions log_options(DiskState& disk) {
  DurableLogOptions options;
  options.helpers = 1;  // takes checkpoints
  // As small as the largest record allows. Each file is a fresh one: a page shows zeros before the blocks.
  options.segments = {.bytes = 0, .ahead = 1, .at_need = true, .reuse = false};
  options.group = {.interval = std::chrono::hours(1), .bytes = kRingBytes, .only_waiters = true};
  options.device_options.make_queue = [&disk] { return std::make_unique<DiskQueue>(disk); };
  return options;
}

DurableLogOptions log_options(const ForwardRequest& request, DiskState& disk) {
  DurableLogOptions options = log_options(disk);
  options.largest_payload_bytes = kLargestPayload;
  options.ring_bytes = kRingBytes;
  options.segments.bytes = (request.segment_blocks + 1) * kBlockBytes;
  return options;
}

Result<TakenCheckpoint> take_checkpoint(WorkingDatabase& working) {
  OnlineCheckpointOptions options;
  options.keep_catalog = [&working](Manifest& manifest) {
    return write_catalog(working.manifest().directory(), working.program(), manifest);
  };
  return OnlineCheckpointer(working.database(), working.database().log(), working.manifest(),
                            WorkerId{working.database().worker_count()}, options)
      .take();
}

Error in_line(const ScriptStatement& statement, const std::string& message) {
  return Error{ErrorKind::kInvalidArgument, fmt::format("line {}: {}", statement.line, message)};
}

Result<void> set_up(const ForwardRequest& request, const std::string& directory) {
  DiskState disk;
  Result<std::unique_ptr<Program>> program = compile("", "");
  if (!program) return program.error();
  CreateOptions create;
  create.log = log_options(disk);
  Result<CreatedDatabase> created = create_database(
      directory, *std::move(program), [](Database&) { return Result<void>(); }, create);
  if (!created) return created.error();
  WorkingDatabase& working = created->working;
  {
    LiveSession session(working, WorkerId{0}, 1);
    for (const ScriptStatement& statement : split_script(request.setup)) {
      const StatementResult result = session.run(statement.text);
      if (!result.ok()) return in_line(statement, result.message);
    }
  }
  const Result<TakenCheckpoint> taken = take_checkpoint(working);
  if (!taken) return taken.error();
  return {};
}

// The rows of a SELECT, as text.
class ShownRows final : public ResultSink {
 public:
  void begin(std::span<const ResultColumn> columns) override {
    columns_.assign(columns.begin(), columns.end());
    rows_ = Json::array();
  }
  void add(std::span<const Argument> row) override {
    Json texts = Json::array();
    for (size_t i = 0; i < row.size(); ++i) {
      const std::optional<std::string> text = print_argument(columns_[i].type, row[i]);
      texts.push_back(text ? Json(*text) : Json());
    }
    rows_.push_back(std::move(texts));
  }
  Json columns() const {
    Json names = Json::array();
    for (const ResultColumn& column : columns_) names.push_back(column.name);
    return names;
  }
  Json take_rows() { return std::move(rows_); }

 private:
  std::vector<ResultColumn> columns_;
  Json rows_ = Json::array();
};

class Run {
 public:
  Run(const ForwardRequest& request, const std::string& directory, const std::string& crashed)
      : request_(request),
        directory_(directory),
        crashed_(crashed),
        journal_(request.crash_behind, [this] { lose_power(); }) {}

  Result<ForwardRun> run() {
    RETURN_IF_ERROR(set_up(request_, directory_));
    disk_.seed = request_.disk_seed;
    // There is no log behind the checkpoint, and no other thread to replay it.
    RecoverOptions serially;
    serially.scheme = *recovery_scheme("clr");
    Result<OpenedDatabase> opened = open_for_work(directory_, serially, log_options(request_, disk_));
    if (!opened) return opened.error();
    working_ = &opened->working;
    view_ = std::make_unique<TableView>(working_->database());
    log_ = std::make_unique<WatchedLog>(
        working_->log(), journal_, kLargestPayload,
        [this](RecordKind kind, ByteSpan payload) { return text_of(kind, payload); },
        [this] { return changed(); });
    run_.report["tables"] = describe_tables(working_->database());
    run_.report["first_rows"] = view_->changes();
    run_.report["begin"] = working_->manifest().current().incarnations.back().begin.value;
    run_.report["buffer"] = {
        {"bytes", kRingBytes}, {"block_bytes", kBlockBytes}, {"sector_bytes", kSectorBytes}};
    keep_digest(0);
    // Opening has written, and synced, what it had to. From here on each step is an event.
    disk_.journal = &journal_;
    working_->database().attach_log(*log_, working_->database().record_content(),
                                    working_->database().tuple_image());
    RETURN_IF_ERROR(run_calls());
    journal_.add({{"kind", "end"}});
    if (request_.crash_behind && *request_.crash_behind > journal_.size()) {
      return invalid_argument("the power is to fail behind event {}, and there are {}",
                              *request_.crash_behind, journal_.size());
    }
    disk_.journal = nullptr;
    if (failure_) return *failure_;
    run_.report["steps"] = journal_.take();
    working_->database().attach_log(working_->log(), working_->database().record_content(),
                                    working_->database().tuple_image());
    return std::move(run_);
  }

 private:
  Result<void> run_calls() {
    LiveSession session(*working_, WorkerId{0}, 1);
    uint32_t number = 0;
    for (const ScriptStatement& statement : split_script(request_.calls)) {
      journal_.add(
          {{"kind", "begin"}, {"statement", number}, {"line", statement.line}, {"text", statement.text}});
      if (statement.is_sync()) {
        flush();
      } else if (statement.is_checkpoint()) {
        const Result<TakenCheckpoint> taken = take_checkpoint(*working_);
        if (!taken) return in_line(statement, taken.error().message);
        acknowledge();
        journal_.add({{"kind", "checkpoint"}, {"lsn", taken->lsn.value}, {"rows", taken->rows}});
      } else {
        RETURN_IF_ERROR(run_statement(session, statement, number));
      }
      ++number;
    }
    return {};
  }

  Result<void> run_statement(LiveSession& session, const ScriptStatement& statement, uint32_t number) {
    const ParsedStatement parsed = parse_statement(statement.text);
    if (parsed.command && parsed.command->changes_schema())
      return in_line(statement,
                     "the tables and procedures are made before the calls: put this above, with them");
    ShownRows rows;
    StatementResult result = parsed.failure;
    if (parsed.command) result = execute(session, *parsed.command, rows);
    Json answer = {{"kind", "answer"}, {"statement", number}, {"ok", result.ok()}};
    if (result.ok()) {
      answer["tag"] = result.tag;
      answer["columns"] = rows.columns();
      answer["rows"] = rows.take_rows();
      for (const std::vector<std::optional<std::string>>& row : result.rows) {
        Json texts = Json::array();
        for (const std::optional<std::string>& text : row) texts.push_back(text ? Json(*text) : Json());
        answer["rows"].push_back(std::move(texts));
      }
    } else {
      answer["message"] = result.message;
      answer["sqlstate"] = result.sqlstate;
    }
    const Lsn durable = working_->log().durable();
    const bool waits = result.lsn && *result.lsn >= durable;
    if (waits) {
      answer["lsn"] = result.lsn->value;
      unanswered_.emplace_back(result.lsn->value, number);
    }
    answer["waits"] = waits;
    answer["changes"] = changed();
    journal_.add(std::move(answer));
    if (log_->last() != last_seen_) {
      last_seen_ = log_->last();
      if (++ungrouped_ >= request_.group) flush();
    }
    return {};
  }

  static StatementResult execute(LiveSession& session, const syntax::Command& command, ShownRows& rows) {
    using Kind = syntax::Command::Kind;
    if (command.kind == Kind::kOperation || command.kind == Kind::kCall || command.kind == Kind::kDo) {
      PreparedStatement prepared(std::make_shared<const syntax::Command>(command), {});
      return *session.execute(prepared, {}, {}, rows);
    }
    return *session.control(command);
  }

  // Makes all records durable.
  void flush() {
    if (log_->last() && !(*log_->last() < working_->log().durable())) {
      if (!log_->wait_durable(*log_->last())) failure_ = working_->log().failure();
    }
    acknowledge();
  }

  void acknowledge() {
    ungrouped_ = 0;
    const Lsn durable = working_->log().durable();
    Json acknowledged = Json::array();
    std::erase_if(unanswered_, [&](const auto& waiting) {
      if (waiting.first >= durable.value) return false;
      acknowledged.push_back(waiting.second);
      if (!has_crashed_) run_.acknowledged.push_back(waiting);
      return true;
    });
    journal_.add({{"kind", "durable"}, {"lsn", durable.value}, {"acknowledged", std::move(acknowledged)}});
  }

  Json changed() {
    Json changes = view_->changes();
    if (log_->last()) keep_digest(log_->last()->value);
    return changes;
  }

  void keep_digest(uint64_t lsn) {
    std::string digest = digest_of(working_->database(), 1).to_string();
    if (!run_.digests.empty() && run_.digests.back().first == lsn)
      run_.digests.back().second = std::move(digest);
    else
      run_.digests.emplace_back(lsn, std::move(digest));
  }

  std::string text_of(RecordKind kind, ByteSpan payload) const {
    if (kind == RecordKind::kSkip) return "a place that no transaction took: the LSN of a checkpoint";
    if (kind == RecordKind::kCommand) {
      Arena arena;
      Call call;
      const Result<void> decoded = decode_call(working_->program(), payload, arena, call);
      return decoded.ok() ? print_call(working_->program(), call) : decoded.error().message;
    }
    return "the rows that the statement changed";
  }

  void lose_power() {
    has_crashed_ = true;
    namespace fs = std::filesystem;
    std::error_code error;
    fs::create_directories(crashed_, error);
    for (const auto& entry : fs::directory_iterator(directory_, error)) {
      if (entry.path().filename() == "lock" || entry.is_directory()) continue;
      const Result<std::string> bytes = read_text_in(directory_, entry.path().filename().string());
      if (!bytes) return fail(bytes.error());
      const Result<File> copy =
          File::open(crashed_ + "/" + entry.path().filename().string(), O_RDWR | O_CREAT);
      if (!copy) return fail(copy.error());
      if (const Result<void> written = copy->write_at(as_bytes(*bytes), 0); !written)
        return fail(written.error());
    }
    draw_fates();
  }

  // A sector of the cache may have reached the medium, or not, each by itself.
  void draw_fates() {
    std::mt19937_64 random(request_.crash_seed);
    Json sectors = Json::array();
    const Result<Manifest> manifest = read_manifest(crashed_);
    if (!manifest) return fail(manifest.error());
    for (const UnsyncedSector& sector : disk_.unsynced) {
      const bool is_kept = random() % 2 == 0;
      sectors.push_back({{"segment", sector.segment}, {"offset", sector.offset}, {"kept", is_kept}});
      const auto entry = std::ranges::find(manifest->segments, sector.segment, &SegmentEntry::number);
      if (!is_kept || entry == manifest->segments.end()) continue;
      const Result<File> file = File::open(crashed_ + "/" + entry->file, O_RDWR);
      if (!file) return fail(file.error());
      if (const auto written = file->write_at(sector.bytes, sector.offset); !written)
        return fail(written.error());
    }
    run_.report["crash"] = {{"behind", *request_.crash_behind}, {"sectors", std::move(sectors)}};
  }

  void fail(const Error& error) {
    if (!failure_) failure_ = error;
  }

  const ForwardRequest& request_;
  const std::string directory_;
  const std::string crashed_;
  DiskState disk_;
  Journal journal_;
  ForwardRun run_;
  WorkingDatabase* working_ = nullptr;
  std::unique_ptr<TableView> view_;
  std::unique_ptr<WatchedLog> log_;
  std::optional<Lsn> last_seen_;
  uint32_t ungrouped_ = 0;                                 // records since the last flush
  std::vector<std::pair<uint64_t, uint32_t>> unanswered_;  // LSN, statement
  bool has_crashed_ = false;
  std::optional<Error> failure_;
};

}  // namespace

Result<ForwardRun> run_forward(const ForwardRequest& request, const std::string& directory,
                               const std::string& crashed) {
  return Run(request, directory, crashed).run();
}

}  // namespace mneme::lab
