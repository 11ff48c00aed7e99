// Goal: the workloads' procedures mean the same as machine code and interpreted. Method: two databases with
// one population get the same calls, one at a time: one interprets them, the other runs what the emitter made
// of them. Each call must end alike, results and errors included, and in the end the databases must be equal,
// down to their indexes.
#include <gtest/gtest.h>

#include <array>
#include <chrono>
#include <map>
#include <memory>
#include <set>
#include <string>

#include "engine/testing/test_database.h"
#include "engine/transaction/digest.h"
#include "engine/transaction/transaction.h"
#include "procedures/binder/program.h"
#include "procedures/interpreter/call_text.h"
#include "procedures/interpreter/interpreter.h"
#include "procedures/native/emitter.h"
#include "procedures/native/native_code.h"
#include "workloads/shared/load.h"
#include "workloads/workload_table.h"

namespace mneme {
namespace {

// A database in memory on which one worker runs calls, one way or the other.
class Side {
 public:
  Side(const Program& program, const Workload& workload)
      : program_(program),
        database_(program.catalog, 1),
        transaction_(database_, database_.worker(WorkerId(0))),
        interpreter_(database_.schema()) {
    CHECK(load(workload, database_, /*threads=*/2, [](uint32_t, uint32_t) {}).ok());
    database_.attach_log(log_);
  }

  // How the call ends, as text.
  std::string run(const Call& call, NativeRunFunction native) {
    const ir::Procedure& procedure = program_.procedure(call.procedure);
    transaction_.begin();
    RunRequest request = RunRequest::of(procedure, call.arguments, transaction_);
    request.native = native;
    const auto start = std::chrono::steady_clock::now();
    const Outcome outcome = interpreter_.run(request);
    time_ += std::chrono::steady_clock::now() - start;
    std::string text = fmt::format("{} {} {} at {}:{}", static_cast<int>(outcome.kind), outcome.sqlstate,
                                   outcome.message, outcome.where.line, outcome.where.column);
    if (!outcome.completed()) {
      transaction_.roll_back();
      return text;
    }
    size_t next = 0;
    for (const ir::Parameter& parameter : procedure.parameters) {
      if (!parameter.inout) continue;
      const Type& type = procedure.variables[parameter.variable.value].type;
      text += " " + print_argument(type, interpreter_.results()[next++]).value_or("NULL");
    }
    CHECK(transaction_.commit(as_bytes("a call")).status == CommitStatus::kCommitted);
    return text;
  }

  const Database& database() const { return database_; }
  double seconds() const { return std::chrono::duration<double>(time_).count(); }

 private:
  const Program& program_;
  CountingLog log_;
  Database database_;
  Transaction transaction_;
  Interpreter interpreter_;
  std::chrono::steady_clock::duration time_{};
};

NativeCode compiled(const Program& program, const Schema& schema) {
  std::vector<NativeUnit> units;
  for (const ir::Procedure& procedure : program.procedures) {
    units.push_back({procedure.name, &procedure, procedure.body});
  }
  const auto toolchain = NativeToolchain::of_this_program();
  CHECK(toolchain.ok());
  auto code = NativeCode::load(emit_cpp(program, schema, units), units.size(), NativeFolders{}, *toolchain);
  if (!code.ok()) fmt::print(stderr, "{}\n", code.error().message);
  CHECK(code.ok());
  return std::move(code).value();
}

void expect_equal(std::string_view name, uint64_t calls, std::string mix = "default") {
  const auto workload = make_workload(name, {{.scale = 1, .seed = 7, .mix = std::move(mix)}});
  ASSERT_TRUE(workload.ok());
  const auto program = compile((*workload)->sql(), name);
  ASSERT_TRUE(program.ok());
  const Schema schema((*program)->catalog);
  const NativeCode code = compiled(**program, schema);

  Side interpreted(**program, **workload);
  Side native(**program, **workload);
  const auto generator = (*workload)->generator({});
  for (uint64_t position = 0; position < calls; ++position) {
    const Call& call = generator->call(position);
    const std::string expected = interpreted.run(call, nullptr);
    const std::string found = native.run(call, code.unit(call.procedure.value).run_on_transaction);
    ASSERT_EQ(found, expected) << "call " << position << ": " << print_call(**program, call);
  }
  EXPECT_EQ(digest_of(native.database(), 2), digest_of(interpreted.database(), 2));
  EXPECT_TRUE(verify_indexes(native.database()).ok());
  fmt::print("{}: {} calls interpreted in {:.2f} s, native in {:.2f} s\n", name, calls, interpreted.seconds(),
             native.seconds());
}

// Passes accesses on, and notes the keys that are looked for, a range's by its lower end.
class WatchedRows final : public RowAccess {
 public:
  WatchedRows(RowAccess& rows, const Schema& schema) : rows_(rows), schema_(schema) {}

  AccessStatus find_parts(IndexId index, const IndexKey& key, ImageParts parts, Purpose purpose,
                          RowRef& row) override {
    note(index, key);
    return rows_.find_parts(index, key, parts, purpose, row);
  }
  AccessStatus scan_parts(IndexId index, const KeyRange& range, Direction direction, ImageParts parts,
                          Purpose purpose, FunctionRef<bool(const RowRef&)> visit) override {
    note(index, range.low);
    return rows_.scan_parts(index, range, direction, parts, purpose, visit);
  }
  AccessStatus insert(TableId table, std::span<const Value> values) override {
    return rows_.insert(table, values);
  }
  std::byte* new_image(TableId table) override { return rows_.new_image(table); }
  AccessStatus insert_image(TableId table, std::byte* image) override {
    for (const IndexId index : schema_.catalog().table(table).indexes)
      inserted.emplace_back(index, schema_.codec(index).of_row(image, 0));
    return rows_.insert_image(table, image);
  }
  AccessStatus update(TableId table, RowRef& row, std::span<const ColumnValue> changes) override {
    return rows_.update(table, row, changes);
  }
  AccessStatus change_parts(TableId table, RowRef& row, ImageParts changed, std::byte*& image) override {
    return rows_.change_parts(table, row, changed, image);
  }
  AccessStatus erase(TableId table, RowRef& row) override { return rows_.erase(table, row); }
  void prefetch(std::span<const RowLookup> lookups) override { prefetched += lookups.size(); }

  static std::string name_of(IndexId index, const IndexKey& key) {
    std::string name = fmt::format("{}:", index.value);
    for (const uint64_t word : key.span()) name += fmt::format(" {:x}", word);
    return name;
  }

  // Whether an entry with the first key word of `place`'s went there: behind that word's other entries, up to
  // the key.
  bool inserted_at(const RowLookup& place) const {
    return std::ranges::any_of(inserted, [&](const auto& entry) {
      return entry.first == place.index && entry.second.words[0] <= place.key.words[0] &&
             entry.second.words[0] >> 32 == place.key.words[0] >> 32;
    });
  }

  bool has_inserted(const RowLookup& lookup) const {
    return std::ranges::find(inserted, std::pair(lookup.index, lookup.key.index_key())) != inserted.end();
  }

  std::set<std::string> looked_for;
  std::vector<std::pair<IndexId, IndexKey>> inserted;
  size_t prefetched = 0;

 private:
  void note(IndexId index, const IndexKey& key) { looked_for.insert(name_of(index, key)); }

  RowAccess& rows_;
  const Schema& schema_;
};

// Returns the look-ups that all rounds name. Each round is given the rows that the rounds before it have
// found.
std::vector<RowLookup> lookups_of(const NativeFunctions& functions, Database& database, const Call& call) {
  Prefetcher prefetcher;
  RowPeeks peeks(prefetcher);
  peeks.begin();
  std::vector<RowLookup> all;
  for (const NativeLookupFunction lookups : functions.lookups) {
    if (lookups == nullptr) break;
    peeks.begin_round();
    std::array<RowLookup, Prefetcher::kMaxLookups> named;
    const size_t count =
        lookups({.schema = &database.schema(), .arguments = call.arguments, .peeks = &peeks}, named);
    prefetcher.add(database, std::span(named).first(count));
    all.insert(all.end(), named.begin(), named.begin() + count);
  }
  return all;
}

// A procedure looks for the rows that its look-ups name beforehand, and New-Order's look-ups name all of
// them.
TEST(NativeWorkload, LookupsNameTheRowsThatAreLookedFor) {
  const auto workload = make_workload("tpcc", {{.scale = 1, .seed = 7}});
  const auto program = compile((*workload)->sql(), "tpcc");
  ASSERT_TRUE(program.ok());
  const Schema schema((*program)->catalog);
  const NativeCode code = compiled(**program, schema);
  CountingLog log;
  Database database((*program)->catalog, 1);
  CHECK(load(**workload, database, /*threads=*/2, [](uint32_t, uint32_t) {}).ok());
  database.attach_log(log);
  Transaction transaction(database, database.worker(WorkerId(0)));
  WatchedRows rows(transaction, schema);
  Interpreter interpreter(schema);
  const auto generator = (*workload)->generator({});
  std::map<std::string, size_t> most;
  for (uint64_t position = 0; position < 2'000; ++position) {
    const Call& call = generator->call(position);
    const ir::Procedure& procedure = (*program)->procedure(call.procedure);
    const NativeFunctions& functions = code.unit(call.procedure.value);
    const std::vector<RowLookup> lookups = lookups_of(functions, database, call);
    rows.looked_for.clear();
    rows.inserted.clear();
    RunRequest request = RunRequest::of(procedure, call.arguments, rows);
    request.native = functions.run_on_any;
    transaction.begin();
    const bool completed = interpreter.run(request).completed();
    transaction.abort();
    if (!completed) continue;
    std::set<std::string> named;
    size_t places = 0;
    for (const RowLookup& lookup : lookups) {
      if (lookup.is_place) {
        ++places;
        EXPECT_TRUE(rows.inserted_at(lookup))
            << procedure.name << " " << WatchedRows::name_of(lookup.index, lookup.key.index_key());
        continue;
      }
      const std::string name = WatchedRows::name_of(lookup.index, lookup.key.index_key());
      if (rows.has_inserted(lookup)) continue;
      named.insert(name);
      EXPECT_TRUE(rows.looked_for.contains(name)) << procedure.name << " " << name;
    }
    most[procedure.name] = std::max(most[procedure.name], lookups.size());
    if (procedure.name == "new_order") {
      EXPECT_EQ(named, rows.looked_for);
      EXPECT_EQ(places, 3u) << "of the order by its customer, of the new order, of the lines";
    }
  }
  EXPECT_EQ(most["new_order"], 3 + 3 + 2 * 15u);
  EXPECT_EQ(most["payment"], 3u);
  EXPECT_EQ(most["order_status"], 0u) << "one look-up alone overlaps nothing";
  EXPECT_EQ(most["delivery"], 5 * 10u)
      << "of each district: the oldest new order, twice, its order, lines, and customer";
  EXPECT_EQ(most["stock_level"], 0u);
  EXPECT_GT(rows.prefetched, 0u) << "stock_level fetches the stock of its order lines ahead";
}

TEST(NativeWorkload, TpccMeansTheSame) {
  expect_equal("tpcc", 10'000);
}
TEST(NativeWorkload, SmallbankMeansTheSame) {
  expect_equal("smallbank", 50'000);
}
TEST(NativeWorkload, TatpMeansTheSame) {
  expect_equal("tatp", 50'000);
}
TEST(NativeWorkload, TpcbMeansTheSame) {
  expect_equal("tpcb", 20'000);
}
TEST(NativeWorkload, YcsbMeansTheSame) {
  expect_equal("ycsb", 20'000,
               "read_record=20,update_record=20,insert_record=20,scan_records=20,read_modify_write=20");
}

}  // namespace
}  // namespace mneme
