// Fuzz targets for the readers of rows and calls: checkpoints, and the payloads of log records.
#include <algorithm>
#include <array>

#include "base/check.h"
#include "engine/checkpoint/checkpoint_file.h"
#include "engine/checkpoint/checkpoint_writer.h"
#include "engine/schema/change_codec.h"
#include "engine/transaction/digest.h"
#include "engine/transaction/unlogged_writer.h"
#include "logging/testing/test_log.h"
#include "procedures/interpreter/call_codec.h"
#include "procedures/interpreter/call_hints.h"
#include "procedures/testing/test_program.h"
#include "recovery/database/checkpoint_loader.h"
#include "tests/fuzz/archive.h"
#include "tests/fuzz/checksums.h"
#include "tests/fuzz/target.h"

namespace mneme::fuzz {
namespace {

const Program& program() {
  static const std::unique_ptr<Program> compiled =
      *compile(test_procedure("UPDATE entry SET note = 'x' WHERE account = p_id AND number = 1;\n"
                              "UPDATE entry SET note = 'y' WHERE account = p_id AND number = 2;"),
               "test.sql");
  return *compiled;
}

constexpr const char* kCheckpoint = "checkpoint";

Manifest manifest_of_checkpoint() {
  Manifest manifest = test::new_manifest();
  manifest.checkpoint_file = kCheckpoint;
  manifest.checkpoint_catalog_hash = manifest.catalog_hash;
  return manifest;
}

void hold_checkpoint(ByteSpan input) {
  const std::string& folder = scratch_folder();
  std::vector<ArchivedFile> files = unpack(input);
  if (files.empty()) return;
  files.resize(1);
  files[0].name = kCheckpoint;
  unpack_into(folder, files);
  Database once(program().catalog, 1, PageSize::kSmall);
  if (!accepted(load_checkpoint(once, folder, manifest_of_checkpoint(), 1))) return;
  Database again(program().catalog, 1, PageSize::kSmall);
  CHECK(load_checkpoint(again, folder, manifest_of_checkpoint(), 2).ok());
  CHECK(digest_of(once, 1) == digest_of(again, 1));
}

std::vector<Bytes> checkpoint_seeds() {
  std::vector<Bytes> seeds;
  for (const int64_t rows : {0, 40}) {
    test::TemporaryDirectory directory;
    Database database(program().catalog, 1, PageSize::kSmall);
    {
      UnloggedWriter writer(database);
      for (int64_t i = 0; i < rows; ++i) {
        const std::array account = {Value::of_int(i),
                                    Value::of_int(i % 3),
                                    Value::of_text("name"),
                                    i % 4 == 0 ? Value::null() : Value::of_text("ab"),
                                    Value::of_numeric(i * 100 + 5),
                                    Value::of_double(0.5),
                                    Value::of_int(-i),
                                    Value::of_int(int64_t{1} << 40),
                                    Value::of_bool(true),
                                    Value::of_int(1'700'000'000'000'000)};
        const std::array entry = {Value::of_int(i), Value::of_int(1), Value::of_numeric(250),
                                  Value::of_text("a note")};
        CHECK(writer.insert(TableId{0}, account) == AccessStatus::kOk);
        CHECK(writer.insert(TableId{1}, entry) == AccessStatus::kOk);
      }
    }
    const Manifest manifest = manifest_of_checkpoint();
    const auto written = write_checkpoint(database, directory.path(),
                                          {manifest.database_id, manifest.catalog_hash, kCheckpointLsn}, 1);
    CHECK(written.ok());
    std::vector<ArchivedFile> files = files_of(directory.path());
    CHECK(files.size() == 1);
    files[0].name = kCheckpoint;
    seeds.push_back(pack(files));
  }
  return seeds;
}

void repair_archived_checkpoint(Bytes& archive) {
  repair_each(archive, repair_checkpoint);
}

// A call has only one encoding: the decoder accepts no bytes but those that the encoder would have written.
void hold_call(ByteSpan input) {
  Arena arena;
  Call call;
  if (!accepted(decode_call(program(), input, arena, call))) return;
  // A log that an earlier version of the program wrote may hold a timestamp that clients may no longer pass.
  const Result<void> checked = check_call(program(), call);
  CHECK(checked.ok() || checked.error().message.ends_with("lies outside of the years 1 to 9999"));
  ByteBuffer again;
  encode_call(program(), call, again);
  encode_hints(call.hints, again);
  CHECK(std::ranges::equal(again.span(), input));
}

std::vector<Bytes> call_seeds() {
  std::vector<Bytes> seeds;
  const std::array some = {Value::of_int(1), Value::null(), Value::of_int(-70000)};
  for (const bool nulls : {false, true}) {
    Call call;
    call.procedure = ProcedureId{0};
    call.arguments = {Argument::of(Value::of_int(7)), Argument::of(Value::of_text("name")),
                      Argument::of_array(some), Argument::of(Value::of_numeric(12345)),
                      Argument::of_array(std::span(some).first(nulls ? 0 : 1))};
    if (nulls) call.arguments[0] = Argument::of(Value::null());
    ByteBuffer payload;
    encode_call(program(), call, payload);
    seeds.emplace_back(payload.span().begin(), payload.span().end());
    const std::array keys = {Value::of_int(3), Value::of_text("name"), Value::of_int(900),
                             Value::of_text("")};
    const std::array hints = {CallHint{OperationId{0}, 2, keys}, CallHint{OperationId{1}}};
    encode_hints(hints, payload);
    seeds.emplace_back(payload.span().begin(), payload.span().end());
  }
  return seeds;
}

// The input is a byte, the record's kind, and then the record's payload.
void hold_changes(ByteSpan input) {
  if (input.empty()) return;
  static const Schema schema(program().catalog);
  static const ChangeCodec codec(schema);
  const auto kind = static_cast<RecordKind>(input[0]);
  if (const auto call = call_of(kind, input.subspan(1))) hold_call(*call);
  const std::optional<LoggedChanges> changes = changes_of(kind, input.subspan(1));
  if (!changes) return;
  ChangeReader reader(codec, *changes);
  RowChange change;
  while (reader.next(change)) {
    Bytes image(schema.layout(change.table).image_bytes());
    const bool has_row = codec.decode_row(change.table, change.action, change.columns, image.data());
    const bool has_key = codec.decode_key(change.table, change.columns, image.data());
    if (has_row) CHECK(has_key);
    if (change.action != ChangeAction::kUpdate && change.action != ChangeAction::kPatch) continue;
    const std::optional<ColumnBits> changed = codec.changed_columns(change.table, change.columns);
    const bool decoded =
        codec.decode_changed(change.table, change.action, change.columns, nullptr, image.data());
    if (decoded) CHECK(changed.has_value());
    if (changed)
      (void)codec.decode_changed(change.table, change.action, change.columns, &*changed, image.data());
  }
}

std::vector<Bytes> changes_seeds() {
  std::vector<Bytes> seeds;
  const Schema schema(program().catalog);
  const ChangeCodec codec(schema);
  for (const RecordKind kind : {RecordKind::kLogical, RecordKind::kPhysical, RecordKind::kAll}) {
    ChangeRecord record;
    if (kind == RecordKind::kAll) record.put_call(call_seeds()[0]);
    const RowLocation location{3, Lsn{100}, true};
    const RowLocation* where = kind == RecordKind::kLogical ? nullptr : &location;
    record.put_count(4);
    const Bytes row(schema.layout(TableId{1}).image_bytes());
    const Bytes bits(ColumnBits::bytes_for(codec.rest_columns(TableId{1}).size()), std::byte{1});
    const ColumnBits changed(bits);
    record.put(codec, TableId{1}, ChangeAction::kInsert, where, row.data());
    record.put(codec, TableId{1}, ChangeAction::kUpdate, where, row.data(), &changed);
    record.put(codec, TableId{1}, ChangeAction::kPatch, where, row.data(), &changed);
    record.put(codec, TableId{1}, ChangeAction::kErase, where, row.data());
    Bytes seed{static_cast<std::byte>(kind)};
    seed.insert(seed.end(), record.payload().begin(), record.payload().end());
    seeds.push_back(std::move(seed));
  }
  return seeds;
}

}  // namespace

const Target kCheckpointTarget{.name = "checkpoint",
                               .hold = hold_checkpoint,
                               .repair = repair_archived_checkpoint,
                               .seeds = checkpoint_seeds,
                               .is_archive = true};
const Target kCallTarget{.name = "call", .hold = hold_call, .seeds = call_seeds};
const Target kChangesTarget{.name = "changes", .hold = hold_changes, .seeds = changes_seeds};

}  // namespace mneme::fuzz
