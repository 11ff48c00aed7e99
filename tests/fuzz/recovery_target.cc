// Recovers whole data directories, whose records have right checksums and any content.
#include <array>
#include <optional>

#include "base/check.h"
#include "engine/transaction/digest.h"
#include "engine/transaction/unlogged_writer.h"
#include "logging/testing/test_log.h"
#include "procedures/session/session.h"
#include "procedures/session/sql_session.h"
#include "recovery/database/data_directory.h"
#include "recovery/database/live_session.h"
#include "recovery/database/recover.h"
#include "tests/fuzz/archive.h"
#include "tests/fuzz/checksums.h"
#include "tests/fuzz/target.h"

namespace mneme::fuzz {
namespace {

constexpr const char* kRecoveredSql =
    "CREATE TABLE account (id INT PRIMARY KEY, branch INT NOT NULL, name VARCHAR(10), balance NUMERIC(12,2) "
    "NOT NULL);"
    "CREATE INDEX account_by_branch ON account (branch);"
    "CREATE PROCEDURE deposit(p_id INT, p_amount NUMERIC(12,2)) LANGUAGE plpgsql AS $$ BEGIN "
    "UPDATE account SET balance = balance + p_amount WHERE id = p_id; "
    "IF NOT FOUND THEN INSERT INTO account VALUES (p_id, p_id % 2, NULL, p_amount); END IF; END $$;"
    "CREATE PROCEDURE leave(p_id INT) LANGUAGE plpgsql AS $$ BEGIN DELETE FROM account WHERE id = p_id; END "
    "$$;";

RecoverOptions options_of(std::string_view scheme) {
  RecoverOptions options;
  options.scheme = *recovery_scheme(scheme);
  return options;
}

// Names no file elsewhere, and no server; and its texts are not as long as other targets' may be, as each
// scheme reads them.
bool stays_small(const std::vector<ArchivedFile>& files) {
  return std::ranges::none_of(files, [](const ArchivedFile& file) {
    const bool is_text = file.name.starts_with("catalog") || file.name == "MANIFEST";
    if (is_text && file.content.size() > 8192) return true;
    return file.name == "MANIFEST" && (as_text(file.content).find('/') != std::string_view::npos ||
                                       as_text(file.content).find("log_servers") != std::string_view::npos);
  });
}

// Two schemes that read the same of a log: what the one accepts is a history, which the other recovers, too.
// The other scheme may accept more bytes that are no log: it replays no statement that only guards, and no
// change that changes nothing. Once bytes have been changed, the rest of the log may say something else.
struct Alike {
  std::string_view strict;
  std::string_view other;
};
constexpr std::array<Alike, 3> kAlike = {{
    {"clr", "clr-p"},
    {"llr-p", "llr"},
    {"plr", "plr"},
}};

std::optional<Digest> recovered_by(std::string_view scheme, const std::string& folder) {
  const Result<RecoveredDatabase> recovered = recover(folder, options_of(scheme));
  if (!accepted(recovered)) return std::nullopt;
  return digest_of(*recovered->database, 1);
}

void hold_recovery(ByteSpan input) {
  const std::vector<ArchivedFile> files = unpack(input);
  if (!stays_small(files)) return;
  const std::string& folder = scratch_folder();
  unpack_into(folder, files);
  for (const Alike& each : kAlike) {
    const std::optional<Digest> digest = recovered_by(each.strict, folder);
    const std::optional<Digest> again = recovered_by(each.other, folder);
    if (digest) CHECK(digest == again);
  }
}

std::vector<Bytes> recovery_seeds() {
  std::vector<Bytes> made;
  for (const RecordContent records :
       {RecordContent::kCommand, RecordContent::kLogical, RecordContent::kAll}) {
    test::TemporaryDirectory directory;
    CreateOptions options;
    options.records = records;
    options.log = test::small_log();
    options.log.segments.bytes = size_t{16} << 10;
    options.log.largest_payload_bytes = 1000;
    const auto load = [](Database& database) -> Result<void> {
      UnloggedWriter rows(database);
      for (int64_t i = 0; i < 5; ++i) {
        const std::array account = {Value::of_int(i), Value::of_int(i % 2), Value::of_text("name"),
                                    Value::of_numeric(i * 100)};
        CHECK(rows.insert(TableId{0}, account) == AccessStatus::kOk);
      }
      return {};
    };
    {
      auto program = compile(kRecoveredSql, "bank.sql");
      CHECK(program.ok());
      auto created = create_database(directory.path(), std::move(*program), load, options);
      CHECK(created.ok());
      WorkingDatabase& working = created->working;
      SqlSession session(working.program(), working.database(), WorkerId{0});
      for (const char* statement : {"CALL deposit(1, 2.50)", "CALL deposit(7, 10)", "CALL leave(2)",
                                    "UPDATE account SET name = 'other' WHERE id = 1"}) {
        const ParsedStatement parsed = parse_statement(statement);
        CHECK(session.run(*parsed.command).ok());
      }
    }
    std::vector<ArchivedFile> files = files_of(directory.path());
    unpack_into(scratch_folder(), files);
    CHECK(recover(scratch_folder(), {}).ok());
    made.push_back(pack(files));
  }
  return made;
}

}  // namespace

const Target kRecoveryTarget{.name = "recovery",
                             .hold = hold_recovery,
                             .repair = repair_directory,
                             .seeds = recovery_seeds,
                             .is_archive = true};

}  // namespace mneme::fuzz
