// mneme inspect: what a data directory holds: its tables and procedures, its manifest, and its log record by
// record.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <chrono>
#include <cstdint>
#include <memory>

#include "base/memory/arena.h"
#include "cli/command/commands.h"
#include "cli/measure/recovery_text.h"
#include "cli/option/option_table.h"
#include "cli/option/output_options.h"
#include "cli/output/output.h"
#include "cli/output/text.h"
#include "logging/directory/directory_lock.h"
#include "logging/directory/manifest.h"
#include "logging/directory/newest_manifest.h"
#include "logging/reading/log_reader.h"
#include "procedures/interpreter/call_codec.h"
#include "procedures/interpreter/call_text.h"
#include "procedures/session/change_text.h"
#include "recovery/database/checkpoint_loader.h"
#include "recovery/database/recover.h"
#include "recovery/database/schema_change.h"

namespace mneme {
namespace {

struct InspectCommand {
  std::string directory;
  uint64_t limit = 20;
  Output output;

  Result<void> run() const {
    if (!holds_database(directory)) return read_manifest(directory).error();
    const Result<DirectoryLock> lock = DirectoryLock::for_reading(directory);
    if (!lock) return lock.error();
    Result<Manifest> manifest = read_manifest(directory);
    if (!manifest) return manifest.error();
    RETURN_IF_ERROR(check_is_newest(directory, *manifest));
    Result<std::unique_ptr<Program>> program = read_catalog(directory, *manifest);
    if (!program) return program.error();
    LogReadOptions read;
    read.threads = default_threads();
    read.with_skips = true;
    Result<LogContents> log = read_log(directory, *manifest, read);
    if (!log) return log.error();

    // The log tells something even where the checkpoint is damaged.
    const Result<CheckpointSummary> summary =
        summarize_checkpoint(directory, *manifest, (*program)->catalog.tables().size());
    if (!summary) output.notice(summary.error().message);
    const CheckpointSummary* const checkpoint = summary ? &*summary : nullptr;

    output.text(program_text(**program, checkpoint));
    output.text(directory_text(*manifest, checkpoint, *log));
    Json object = directory_json(*manifest, checkpoint, *log);
    add_program(object, **program, checkpoint);
    Json& records = object["records"] = Json::array();
    auto schema = std::make_unique<Schema>((*program)->catalog);
    auto codec = std::make_unique<ChangeCodec>(*schema);
    Arena arena;
    for (uint64_t i = 0; i < limit && i < log->records.size(); ++i) {
      Result<Json> record = record_json(**program, *schema, *codec, *log, log->records[i], arena);
      if (!record) return record.error();
      output.text(fmt::format("{:>14}  {:<8} {:>5} bytes  {}:{}  {}\n", (*record)["lsn"].get<uint64_t>(),
                              (*record)["kind"].get<std::string>(), (*record)["bytes"].get<uint64_t>(),
                              (*record)["file"].get<std::string>(), (*record)["offset"].get<uint64_t>(),
                              (*record)["call"].get<std::string>()));
      if (record->contains("rows")) {
        for (const Json& row : (*record)["rows"])
          output.text(fmt::format("{:>16}{}\n", "", row.get<std::string>()));
      }
      records.push_back(*std::move(record));
      if (log->records[i].kind != RecordKind::kSchema) continue;
      // The rest is another program's.
      Result<std::unique_ptr<Program>> changed = program_after(**program, log->records[i]);
      if (!changed) return changed.error();
      codec.reset();
      schema = std::make_unique<Schema>((*changed)->catalog);
      codec = std::make_unique<ChangeCodec>(*schema);
      program = std::move(changed);
    }
    if (log->records.size() > limit) {
      output.text(
          fmt::format("... {} more records; --limit shows more\n", thousands(log->records.size() - limit)));
    }
    return output.json(object);
  }

  // The records of transactions: recovery's number. The list has the skips besides, as places of the log.
  static uint64_t transactions_of(const LogContents& log) { return log.records.size() - log.skips; }

  // Tables and procedures as the checkpoint has them; what the log adds stands among its records.
  static std::string program_text(const Program& program, const CheckpointSummary* checkpoint) {
    std::string text;
    for (const TableDefinition& table : program.catalog.tables()) {
      text += fmt::format("{:<10}  {}: ", is_sequence(table) ? "sequence" : "table", table.name);
      if (checkpoint != nullptr) {
        const CheckpointSummary::Table& part = checkpoint->tables[table.id.value];
        text += fmt::format("{} in {}, ", counted(part.rows, "row"), bytes_text(part.bytes));
      }
      text += counted(table.indexes.size(), "index", "indexes") + "\n";
    }
    std::vector<std::string_view> procedures;
    for (const ir::Procedure& procedure : program.procedures) procedures.push_back(procedure.name);
    if (!procedures.empty()) text += fmt::format("procedures  {}\n", fmt::join(procedures, ", "));
    return text;
  }

  static void add_program(Json& object, const Program& program, const CheckpointSummary* checkpoint) {
    Json& tables = object["tables"] = Json::array();
    for (const TableDefinition& table : program.catalog.tables()) {
      Json indexes = Json::array();
      for (const IndexId index : table.indexes) indexes.push_back(program.catalog.index(index).name);
      tables.push_back(
          {{"name", table.name},
           {"rows", checkpoint == nullptr ? Json() : Json(checkpoint->tables[table.id.value].rows)},
           {"bytes", checkpoint == nullptr ? Json() : Json(checkpoint->tables[table.id.value].bytes)},
           {"indexes", indexes}});
    }
    Json& procedures = object["procedures"] = Json::array();
    for (const ir::Procedure& procedure : program.procedures) procedures.push_back(procedure.name);
  }

  static std::string directory_text(const Manifest& manifest, const CheckpointSummary* checkpoint,
                                    const LogContents& log) {
    const std::string size = checkpoint == nullptr ? "" : ", " + bytes_text(checkpoint->file_bytes);
    std::string text = fmt::format("checkpoint  {} at LSN {}{}\nrecords     {}\n", manifest.checkpoint_file,
                                   manifest.checkpoint_lsn.value, size, name_of(manifest.records));
    for (const auto& [key, value] : manifest.attributes) text += fmt::format("{:<10}  {}\n", key, value);
    for (const Incarnation& incarnation : manifest.incarnations) {
      text += fmt::format("incarnation {} begins at LSN {}\n", incarnation.number, incarnation.begin.value);
    }
    text += fmt::format("log         {} in {} of {}, {} skipped, from LSN {} to {}\n",
                        counted(transactions_of(log), "record"), bytes_text(log.record_bytes),
                        counted(log.segments.size(), "segment"), thousands(log.skips), log.begin().value,
                        log.end.value);
    if (log.streams && manifest.layout == LogLayout::kEpoch) {
      text += fmt::format(
          "            {}; the last epoch that all persisted: {}\n", counted(log.streams->count, "logger"),
          log.streams->pepoch ? thousands(*log.streams->pepoch) : "none of the last incarnation");
    } else if (log.streams) {
      text += fmt::format("            {} in the last incarnation\n", counted(log.streams->count, "stream"));
    }
    for (const LogHole& hole : log.holes) {
      text += fmt::format("            nothing from LSN {} to {}: a hole that a crash left\n",
                          hole.begin.value, hole.end.value);
    }
    if (!log.dropped_reason.empty()) text += fmt::format("            {}\n", log.dropped_reason);
    return text;
  }

  static Json directory_json(const Manifest& manifest, const CheckpointSummary* checkpoint,
                             const LogContents& log) {
    Json incarnations = Json::array();
    for (const Incarnation& incarnation : manifest.incarnations) {
      incarnations.push_back({{"number", incarnation.number}, {"begin", incarnation.begin.value}});
    }
    Json holes = Json::array();
    for (const LogHole& hole : log.holes)
      holes.push_back({{"begin", hole.begin.value}, {"end", hole.end.value}});
    return {{"command", "inspect"},
            {"checkpoint",
             {{"file", manifest.checkpoint_file},
              {"lsn", manifest.checkpoint_lsn.value},
              {"bytes", checkpoint == nullptr ? Json() : Json(checkpoint->file_bytes)}}},
            {"records_hold", name_of(manifest.records)},
            {"attributes", manifest.attributes},
            {"incarnations", incarnations},
            {"log_records", transactions_of(log)},
            {"log_skips", log.skips},
            {"log_bytes", log.record_bytes},
            {"log_holes", holes},
            {"begin_lsn", log.begin().value},
            {"end_lsn", log.end.value},
            {"layout", name_of(manifest.layout)},
            {"loggers", manifest.layout == LogLayout::kEpoch ? Json(log.streams->count) : Json()},
            {"pepoch", log.streams && log.streams->pepoch ? Json(*log.streams->pepoch) : Json()},
            {"streams", manifest.layout == LogLayout::kDistributed ? Json(log.streams->count) : Json()},
            {"dropped_reason", log.dropped_reason}};
  }

  Result<Json> record_json(const Program& program, const Schema& schema, const ChangeCodec& codec,
                           const LogContents& log, const RecordView& record, Arena& arena) const {
    const LogContents::Place place = log.place_of(record);
    const auto not_of_this_catalog = [&](std::string_view what) {
      return damaged("{}/{}, offset {}: the record at LSN {} is none of this catalog's: {}", directory,
                     place.file, place.offset, record.lsn.value, what);
    };
    std::string text;
    std::vector<std::string> hints;
    if (const std::optional<ByteSpan> bytes = call_of(record.kind, record.payload)) {
      arena.reset();
      Call call;
      if (Result<void> decoded = decode_call(program, *bytes, arena, call); !decoded)
        return not_of_this_catalog(decoded.error().message);
      text = print_call(program, call);
      for (const CallHint& hint : call.hints)
        hints.push_back(print_hint(program.procedure(call.procedure), hint));
    }
    if (record.kind == RecordKind::kSchema) {
      text.assign(reinterpret_cast<const char*>(record.payload.data()), record.payload.size());
    }
    Json object{{"lsn", record.lsn.value},
                {"kind", kind_name(record.kind)},
                {"bytes", kRecordHeaderBytes + record.payload.size()},
                {"file", place.file},
                {"offset", place.offset},
                {"call", text}};
    if (!hints.empty()) object["hints"] = hints;
    if (const std::optional<LoggedChanges> logged = changes_of(record.kind, record.payload)) {
      const auto changes = print_changes(schema, codec, *logged);
      if (!changes) return not_of_this_catalog("it holds no rows of its tables");
      object["rows"] = *changes;
    }
    return object;
  }

  static std::string_view kind_name(RecordKind kind) {
    switch (kind) {
      case RecordKind::kSkip:
        return "skip";
      case RecordKind::kCommand:
        return name_of(RecordContent::kCommand);
      case RecordKind::kLogical:
        return name_of(RecordContent::kLogical);
      case RecordKind::kPhysical:
        return name_of(RecordContent::kPhysical);
      case RecordKind::kSchema:
        return "schema";
      case RecordKind::kAll:
        return name_of(RecordContent::kAll);
    }
    return "unknown";
  }
};

}  // namespace

void add_inspect_command(CLI::App& program, Action& chosen) {
  auto command = std::make_shared<InspectCommand>();
  CLI::App* app =
      program.add_subcommand("inspect", "what a data directory holds: manifest, and log record by record");
  const OptionTaker take(*app);
  take("directory", command->directory);
  take("--limit", command->limit);
  add_output_options(*app, command->output);
  app->callback([&chosen, command] { chosen = [command] { return command->run(); }; });
}

}  // namespace mneme
